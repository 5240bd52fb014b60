/* A client of the driver in C: what a program written against cuda.h does, with the library found by the loader. */
#include <cuda.h>
#include <stdio.h>

static const char kPtx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry twice(.param .u64 p) {\n"
    "  .reg .b64 %rd<4>;\n  .reg .b32 %r<4>;\n"
    "  ld.param.u64 %rd1, [p];\n  mov.u32 %r1, %tid.x;\n  mul.wide.u32 %rd2, %r1, 4;\n  add.s64 %rd3, %rd1, %rd2;\n"
    "  ld.global.u32 %r2, [%rd3];\n  add.u32 %r3, %r2, %r2;\n  st.global.u32 [%rd3], %r3;\n  ret;\n}\n";

#define CHECK(call)                           \
  do {                                        \
    CUresult result = (call);                 \
    if (result != CUDA_SUCCESS) {             \
      const char* name = "?";                 \
      cuGetErrorName(result, &name);          \
      printf("FAILED %s: %s\n", #call, name); \
      return 1;                               \
    }                                         \
  } while (0)

int main(void) {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction function;
  CUdeviceptr memory;
  CUstream stream;
  CUgraph graph;
  CUgraphExec executable;
  unsigned int numbers[32];
  void* arguments[1];
  int i;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoadData(&module, kPtx));
  CHECK(cuModuleGetFunction(&function, module, "twice"));
  CHECK(cuMemAlloc(&memory, sizeof numbers));
  for (i = 0; i < 32; ++i) numbers[i] = (unsigned int)i;
  CHECK(cuMemcpyHtoD(memory, numbers, sizeof numbers));
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  arguments[0] = &memory;
  CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL));
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL));
  CHECK(cuStreamEndCapture(stream, &graph));
  CHECK(cuGraphInstantiate(&executable, graph, 0));
  CHECK(cuGraphLaunch(executable, stream));
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuMemcpyDtoH(numbers, memory, sizeof numbers));
  for (i = 0; i < 32; ++i)
    if (numbers[i] != 4u * (unsigned int)i) {
      printf("FAILED numbers[%d] is %u\n", i, numbers[i]);
      return 1;
    }
  CHECK(cuGraphExecDestroy(executable));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuStreamDestroy(stream));
  CHECK(cuMemFree(memory));
  CHECK(cuModuleUnload(module));
  CHECK(cuDevicePrimaryCtxRelease(device));
  printf("ok c_client\n");
  return 0;
}
