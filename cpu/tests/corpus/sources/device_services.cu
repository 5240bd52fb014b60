// What the device run-time serves: printf, assert, malloc, free, trap, clocks, nanosleep.

extern "C" __global__ void speak(const char* name, float value, int n) {
  printf("%s: %f of %d\n", name, value, n);
  assert(n > 0);
  if (threadIdx.x == 0) printf("100%%\n");
  int* heap = static_cast<int*>(malloc(n * sizeof(int)));
  if (heap == nullptr) __trap();
  heap[0] = static_cast<int>(clock64());
  __nanosleep(20);
  __threadfence();
  free(heap);
}
