/* A client of the run-time library (libcudart) in C: kernels in PTX, loaded as a library, launched with attributes. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

static const char kPtx[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry twice(.param .u64 p) {\n"
    "  .reg .b64 %rd<4>;\n  .reg .b32 %r<6>;\n"
    "  ld.param.u64 %rd1, [p];\n  mov.u32 %r1, %tid.x;\n  mov.u32 %r4, %ctaid.x;\n  mad.lo.u32 %r5, %r4, 32, %r1;\n"
    "  mul.wide.u32 %rd2, %r5, 4;\n  add.s64 %rd3, %rd1, %rd2;\n"
    "  ld.global.u32 %r2, [%rd3];\n  add.u32 %r3, %r2, %r2;\n  st.global.u32 [%rd3], %r3;\n  ret;\n}\n";

#define CHECK(call)                                               \
  do {                                                            \
    cudaError_t result = (call);                                  \
    if (result != cudaSuccess) {                                  \
      printf("FAILED %s: %s\n", #call, cudaGetErrorName(result)); \
      return 1;                                                   \
    }                                                             \
  } while (0)

int main(void) {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  cudaStream_t stream;
  cudaEvent_t first, last;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaLaunchConfig_t configuration;
  cudaLaunchAttribute attribute;
  unsigned int numbers[64];
  unsigned int* memory;
  void* arguments[1];
  float milliseconds;
  int devices, i;
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaLibraryLoadData(&library, kPtx, NULL, NULL, 0, NULL, NULL, 0));
  CHECK(cudaLibraryGetKernel(&kernel, library, "twice"));
  CHECK(cudaMalloc((void**)&memory, sizeof numbers));
  for (i = 0; i < 64; ++i) numbers[i] = (unsigned int)i;
  CHECK(cudaMemcpy(memory, numbers, sizeof numbers, cudaMemcpyHostToDevice));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&first));
  CHECK(cudaEventCreate(&last));
  memset(&configuration, 0, sizeof configuration);
  memset(&attribute, 0, sizeof attribute);
  configuration.gridDim.x = 2, configuration.gridDim.y = configuration.gridDim.z = 1;
  configuration.blockDim.x = 32, configuration.blockDim.y = configuration.blockDim.z = 1;
  configuration.stream = stream;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  arguments[0] = &memory;
  CHECK(cudaEventRecord(first, stream));
  CHECK(cudaLaunchKernelExC(&configuration, (const void*)kernel, arguments));
  CHECK(cudaEventRecord(last, stream));
  CHECK(cudaEventSynchronize(last));
  CHECK(cudaEventElapsedTime(&milliseconds, first, last));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaLaunchKernelExC(&configuration, (const void*)kernel, arguments));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(numbers, memory, sizeof numbers, cudaMemcpyDeviceToHost));
  for (i = 0; i < 64; ++i)
    if (numbers[i] != 4u * (unsigned int)i) {
      printf("FAILED numbers[%d] is %u\n", i, numbers[i]);
      return 1;
    }
  configuration.blockDim.x = 4096;
  if (cudaLaunchKernelExC(&configuration, (const void*)kernel, arguments) == cudaSuccess) {
    printf("FAILED a block of 4096 threads was launched\n");
    return 1;
  }
  if (cudaGetLastError() == cudaSuccess || cudaGetLastError() != cudaSuccess) {
    printf("FAILED the error of the launch was not kept once\n");
    return 1;
  }
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaEventDestroy(first));
  CHECK(cudaEventDestroy(last));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(memory));
  CHECK(cudaLibraryUnload(library));
  CHECK(cudaDeviceReset());
  printf("ok c_runtime_client\n");
  return 0;
}
