// Kernels of device_launch_test.cpp; device_launch_kernels.ptx is this file through nvcc -rdc=true -ptx for compute_80.
struct Log {
  int count;
  int entries[127];
};

__device__ void note(Log* log, int what) {
  __threadfence();
  log->entries[atomicAdd(&log->count, 1)] = what;
}

__device__ bool wait_for(volatile int* flag, int value) {
  for (int i = 0; i < 10000000 && *flag != value; ++i) __nanosleep(100);
  return *flag == value;
}

struct Large {
  int values[32];
};

extern "C" {

__global__ void leaf(Log* log, int what) { note(log, what); }

// One stream.
__global__ void in_order(Log* log) {
  note(log, 100);
  for (int i = 0; i < 6; ++i) leaf<<<1, 1>>>(log, i);
}

__global__ void middle(Log* log, int what) {
  leaf<<<1, 1>>>(log, what);
  leaf<<<1, 1>>>(log, what + 1);
}
__global__ void nested(Log* log) {
  middle<<<1, 1>>>(log, 10);
  middle<<<1, 1>>>(log, 20);
}

__global__ void tail(Log* log, int what) {
  leaf<<<1, 1, 0, cudaStreamTailLaunch>>>(log, what + 2);
  leaf<<<1, 1, 0, cudaStreamTailLaunch>>>(log, what + 3);
  leaf<<<1, 1>>>(log, what + 1);
  note(log, what);
}
__global__ void tails(Log* log) {
  tail<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 20);
  tail<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 30);
  leaf<<<1, 1>>>(log, 10);
  leaf<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 40);
}
__global__ void chain(Log* log, int left) {
  if (left == 0) note(log, 0);
  if (left > 0) chain<<<1, 1, 0, cudaStreamTailLaunch>>>(log, left - 1);
  if (const int error = cudaGetLastError()) note(log, 1000 + error);
}
__global__ void long_chain(Log* log) { chain<<<1, 1>>>(log, 3000); }
__global__ void forget(Log* log) {
  leaf<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 2);
  leaf<<<1, 1, 0, cudaStreamFireAndForget>>>(log, 1);
}

__global__ void with_event(Log* log) {
  cudaStream_t first, second;
  cudaEvent_t event;
  int failed = cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  failed |= cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  failed |= cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  middle<<<1, 1, 0, first>>>(log, 1);
  failed |= cudaEventRecord(event, first);
  failed |= cudaStreamWaitEvent(second, event, 0);
  leaf<<<1, 1, 0, second>>>(log, 3);
  failed |= cudaEventDestroy(event);
  failed |= cudaStreamDestroy(first);
  failed |= cudaStreamDestroy(second);
  if (failed) note(log, 1000 + failed);
}

// The null stream is the block's.
__global__ void of_block(Log* log) {
  if (threadIdx.x == 0) leaf<<<1, 1>>>(log, 0);
  __syncthreads();
  if (threadIdx.x == 33) leaf<<<1, 1>>>(log, 1);
  __syncthreads();
  if (threadIdx.x == 1) leaf<<<1, 1>>>(log, 2);
}

__global__ void add_one(int* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += 1;
}
// Each thread launches a grid that goes over its own row.
__global__ void rows(int* values, int width) {
  for (int i = 0; i < width; ++i) values[threadIdx.x * width + i] = threadIdx.x;
  for (int i = 0; i < 3; ++i) add_one<<<(width + 63) / 64, 64>>>(values + threadIdx.x * width, width);
}

__global__ void quicksort(int* values, int left, int right) {
  if (right - left < 16) {
    for (int i = left; i <= right; ++i)
      for (int j = i + 1; j <= right; ++j)
        if (values[j] < values[i]) {
          const int swapped = values[i];
          values[i] = values[j];
          values[j] = swapped;
        }
    return;
  }
  const int pivot = values[(left + right) / 2];
  int l = left, r = right;
  while (l <= r) {
    while (values[l] < pivot) ++l;
    while (values[r] > pivot) --r;
    if (l > r) break;
    const int swapped = values[l];
    values[l++] = values[r];
    values[r--] = swapped;
  }
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (left < r) quicksort<<<1, 1, 0, stream>>>(values, left, r);
  cudaStreamDestroy(stream);
  if (l < right) quicksort<<<1, 1>>>(values, l, right);
}

__global__ void set_flag(volatile int* flag) { *flag = 1; }

// All of them at once.
__global__ void meets_others(int* counts, int all) {
  volatile int* const begun = counts;
  atomicAdd(counts, 1);
#pragma unroll 1
  for (int i = 0; i < 1000000000 && *begun != all; ++i) __nanosleep(100);
  if (*begun == all) atomicAdd(counts + 1, 1);
}
__global__ void launches_some_that_meet(int* counts, int all) {
  for (int i = 0; i < all; ++i) meets_others<<<1, 1, 0, cudaStreamFireAndForget>>>(counts, all);
}

__global__ void waits_for_child(int* flag, int* seen) {
  set_flag<<<1, 1, 0, cudaStreamFireAndForget>>>(flag);
  *seen = wait_for(flag, 1);
}

__global__ void shape(int* out, Large large) {
  extern __shared__ int shared[];
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  shared[thread] = large.values[thread];
  __syncthreads();
  if (thread == 0 && blockIdx.x + blockIdx.y + blockIdx.z == 0) {
    out[0] = gridDim.x * 100 + gridDim.y * 10 + gridDim.z;
    out[1] = blockDim.x * 100 + blockDim.y * 10 + blockDim.z;
    out[2] = shared[blockDim.x * blockDim.y * blockDim.z - 1];
  }
  atomicAdd(&out[3], 1);
}
__device__ void (*table[2])(int*, Large) = {nullptr, shape};
__global__ void shapes(int* out, Large large) {
  shape<<<dim3(2, 3, 4), dim3(4, 3, 2), 96>>>(out, large);
  table[1]<<<dim3(1, 2, 1), dim3(1, 1, 3), 12>>>(out + 4, large);
  void* buffer = cudaGetParameterBuffer(64, 8 + sizeof(Large));
  *static_cast<int**>(buffer) = out + 8;
  *reinterpret_cast<Large*>(static_cast<int**>(buffer) + 1) = large;
  out[12] = cudaLaunchDevice((void*)shape, buffer, dim3(3), dim3(5), 20, 0);
}

__device__ int source[64], target[64];
__global__ void copies(int* out) {
  for (int i = 0; i < 64; ++i) source[i] = i;
  out[0] = cudaMemsetAsync(target, 0x11, sizeof target, 0);
  out[1] = cudaMemcpyAsync(target + 8, source + 8, 64, cudaMemcpyDeviceToDevice, 0);
  out[2] = cudaMemset2DAsync(target + 32, 32, 0x22, 8, 3, 0);
  out[3] = cudaMemcpy2DAsync(target + 34, 32, source + 34, 32, 4, 3, cudaMemcpyDeviceToDevice, 0);
}
__global__ void copied(int* out) {
  for (int i = 0; i < 64; ++i) out[i] = target[i];
}

__global__ void facts(long long* out) {
  int value = -1;
  size_t size = 0;
  int* heap = nullptr;
  cudaFuncAttributes attributes;
  out[0] = cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0);
  out[1] = value;
  out[2] = cudaGetDevice(&value);
  out[3] = value;
  out[4] = cudaDeviceGetLimit(&size, cudaLimitDevRuntimePendingLaunchCount);
  out[5] = size;
  out[6] = cudaFuncGetAttributes(&attributes, add_one);
  out[7] = attributes.maxThreadsPerBlock;
  out[8] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, add_one, 64, 0);
  out[9] = value > 0;
  out[10] = cudaMalloc(&heap, 400);
  heap[99] = 7;
  out[11] = heap[99];
  out[12] = cudaFree(heap);
  out[13] = cudaGetErrorName(cudaErrorInvalidConfiguration)[9];  // cudaError|I
}

__global__ void errors(int* out) {
  add_one<<<1, 0>>>(nullptr, 0);
  out[0] = cudaPeekAtLastError();
  out[1] = cudaGetLastError();
  out[2] = cudaGetLastError();
  add_one<<<1, 2000>>>(nullptr, 0);
  out[3] = cudaGetLastError();
  add_one<<<1, 1, 0, (cudaStream_t)0x1234567>>>(nullptr, 0);
  out[4] = cudaGetLastError();
  out[5] = cudaStreamDestroy(cudaStreamTailLaunch);
  cudaGetLastError();
  if (threadIdx.x == 0) out[6] = cudaGetLastError();
}

__global__ void too_many(int* out, int launches) {
  for (int i = 0; i < launches; ++i) {
    add_one<<<1, 1, 0, cudaStreamTailLaunch>>>(out + 2, 1);
    if (const int error = cudaGetLastError()) {
      out[0] = error;
      out[1] = i;
      return;
    }
  }
}
__global__ void deep(int* out, int level) {
  out[0] = level;
  if (level == 100) return;
  deep<<<1, 1>>>(out, level + 1);
  if (const int error = cudaGetLastError()) out[1] = error;
}

__global__ void fault() { *(volatile int*)16 = 1; }
__global__ void parent_of_fault(int* flag) {
  fault<<<1, 1, 0, cudaStreamFireAndForget>>>();
  wait_for(flag, 1);  // which nobody sets
}

__global__ void launch_graph(Log* log, int what, cudaGraphExec_t graph, unsigned long long stream) {
  note(log, what);
  if (const int error = cudaGraphLaunch(graph, (cudaStream_t)stream)) note(log, 1000 + error);
}
__global__ void forget_and_tail(Log* log, cudaGraphExec_t forgotten, cudaGraphExec_t first, cudaGraphExec_t second) {
  int failed = cudaGraphLaunch(first, cudaStreamGraphTailLaunch);
  failed |= cudaGraphLaunch(second, cudaStreamGraphTailLaunch);
  failed |= cudaGraphLaunch(forgotten, cudaStreamGraphFireAndForget);
  note(log, failed);
}
__global__ void relaunch(Log* log, int* left) {
  note(log, *left);
  if (--*left > 0 && cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch)) note(log, 1000);
}
__global__ void is_in_device_graph(Log* log) { note(log, cudaGetCurrentGraphExec() != nullptr); }

// Notes what blocks and a parameter there are, in the order of blocks.
__global__ void note_shape(Log* log, int mark) {
  if (blockIdx.x + blockIdx.y + blockIdx.z == 0) note(log, 1000 * mark + 100 * gridDim.z + 10 * gridDim.y + gridDim.x);
}
__global__ void change(Log* log, cudaGraphDeviceNode_t node, int x, int mark, int is_enabled) {
  int failed = cudaGraphKernelNodeSetGridDim(node, dim3(x, 2, 1));
  failed |= cudaGraphKernelNodeSetParam(node, 8, mark);
  failed |= cudaGraphKernelNodeSetEnabled(node, is_enabled != 0);
  note(log, failed);
}
__global__ void change_at_once(Log* log, cudaGraphDeviceNode_t node, int* mark) {
  alignas(8) unsigned char storage[3 * sizeof(cudaGraphKernelNodeUpdate)] = {};  // it has no default constructor
  auto* const updates = reinterpret_cast<cudaGraphKernelNodeUpdate*>(storage);
  for (int i = 0; i < 3; ++i) updates[i].node = node;
  updates[0].field = cudaGraphKernelNodeFieldGridDim;
  updates[0].updateData.gridDim = dim3(5, 1, 3);
  updates[1].field = cudaGraphKernelNodeFieldParam;
  updates[1].updateData.param = {mark, 8, sizeof *mark};
  updates[2].field = cudaGraphKernelNodeFieldEnabled;
  updates[2].updateData.isEnabled = 1;
  note(log, cudaGraphKernelNodeUpdatesApply(updates, 3));
}
__global__ void change_wrongly(Log* log, cudaGraphDeviceNode_t node) {
  note(log, cudaGraphKernelNodeSetGridDim(node, dim3(0, 1, 1)));
  note(log, cudaGraphKernelNodeSetParam(node, 12, 7));
  note(log, cudaGraphKernelNodeSetEnabled((cudaGraphDeviceNode_t)16, true));
}
}
