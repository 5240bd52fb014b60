// All places of a word in a text: each thread tries its own.
extern "C" __global__ void find(const char* text, int size, const char* word, int length, int* places, int* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + length > size) return;
  for (int j = 0; j < length; ++j)
    if (text[i + j] != word[j]) return;
  places[atomicAdd(count, 1)] = i;
}
