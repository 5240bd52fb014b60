// A program as nvcc's users write them: kernels launched with <<<>>>, symbols, managed variables, templates, printf.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#ifdef __CUDACC_RDC__
extern __device__ float times(float value, float by);
#else
#include "runtime_program_unit.cu"
#endif

__constant__ float factor;
__device__ int launches;
__managed__ int seen_by_both = 5;

__global__ void scale(float* values, float by, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = times(values[i], by * factor);
  if (i == 0) atomicAdd(&launches, 1);
}

template <class T>
__global__ void reverse(T* values) {
  extern __shared__ char memory[];
  T* const block = reinterpret_cast<T*>(memory);
  block[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = block[blockDim.x - 1 - threadIdx.x];
  if (threadIdx.x == 0) printf("a block of %d, %d\n", blockDim.x, seen_by_both++);
}

__global__ void write_to(int* address) { *address = 1; }

/// Gives its memory back after main, when the driver has ended: refused, and no more.
struct Late {
  float* memory = nullptr;
  ~Late() {
    if (cudaFree(memory) != cudaErrorCudartUnloading) std::puts("FAILED a call after the end was not refused");
  }
} late;

#define CHECK(call)                                                    \
  do {                                                                 \
    const cudaError_t result = (call);                                 \
    if (result != cudaSuccess) {                                       \
      std::printf("FAILED %s: %s\n", #call, cudaGetErrorName(result)); \
      return 1;                                                        \
    }                                                                  \
  } while (false)

#define EXPECT(condition)                     \
  do {                                        \
    if (!(condition)) {                       \
      std::printf("FAILED %s\n", #condition); \
      return 1;                               \
    }                                         \
  } while (false)

int main() {
  constexpr int kCount = 1000;
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  EXPECT(properties.warpSize == 32);
  std::vector<float> values(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = static_cast<float>(i);
  float* memory = nullptr;
  CHECK(cudaMalloc(&memory, kCount * sizeof(float)));
  CHECK(cudaMemcpy(memory, values.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  const float three = 3;
  CHECK(cudaMemcpyToSymbol(factor, &three, sizeof three));

  scale<<<8, 128>>>(memory, 2, kCount);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(values.data(), memory, kCount * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i) EXPECT(values[i] == 6.0f * static_cast<float>(i));
  int count = 0;
  CHECK(cudaMemcpyFromSymbol(&count, launches, sizeof count));
  EXPECT(count == 1);

  reverse<float><<<1, 256, 256 * sizeof(float)>>>(memory);
  CHECK(cudaDeviceSynchronize());
  EXPECT(seen_by_both == 6);
  CHECK(cudaMemcpy(values.data(), memory, 256 * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 256; ++i) EXPECT(values[i] == 6.0f * static_cast<float>(255 - i));

  cudaFuncAttributes attributes;
  CHECK(cudaFuncSetAttribute(reverse<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  CHECK(cudaFuncGetAttributes(&attributes, reverse<float>));
  EXPECT(attributes.maxDynamicSharedSizeBytes == 65536);
  int grid = 0, block = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale));
  EXPECT(grid > 0 && block > 0);

  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  scale<<<8, 128, 0, stream>>>(memory, 2, kCount);
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphNode_t node;
  std::size_t nodes = 1;
  cudaKernelNodeParams parameters;
  CHECK(cudaGraphGetNodes(graph, &node, &nodes));
  CHECK(cudaGraphKernelNodeGetParams(node, &parameters));
  EXPECT(parameters.func == reinterpret_cast<void*>(scale) && parameters.blockDim.x == 128);
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpyFromSymbol(&count, launches, sizeof count));
  EXPECT(count == 2);

  scale<<<1, 4096>>>(memory, 2, kCount);
  EXPECT(cudaGetLastError() != cudaSuccess && cudaGetLastError() == cudaSuccess);

  CHECK(cudaDeviceReset());
  CHECK(cudaMalloc(&memory, kCount * sizeof(float)));
  scale<<<8, 128>>>(memory, 2, kCount);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpyFromSymbol(&count, launches, sizeof count));
  EXPECT(count == 1);  // a reset device has its variables anew
  CHECK(cudaMalloc(&late.memory, sizeof(float)));

  write_to<<<1, 1>>>(reinterpret_cast<int*>(16));
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  EXPECT(cudaMalloc(&memory, kCount * sizeof(float)) == cudaErrorIllegalAddress);
  std::puts("ok runtime_program");
}
