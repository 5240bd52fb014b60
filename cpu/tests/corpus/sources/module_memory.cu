// Variables of module scope: every linkage, initial values, addresses in initial values, constants, managed memory.
__device__ int counter = 7;
__device__ float matrix[2][3] = {{1.0f, 2.0f, 3.0f}, {4.0f, -5.5f}};
__constant__ double weights[4] = {0.5, 0.25, 1e-300, -0.0};
__constant__ float4 quad = {1, 2, 3, 4};
__device__ int* pointer_to_counter = &counter;
__device__ float* inside = &matrix[1][1];
__device__ const char* greeting = "hello, \"PTX\"\n\t";
struct Record { char tag; short count; const int* where; long long big; };
__device__ Record records[2] = {{'a', -2, &counter, 1ll << 40}, {'b', 3, nullptr, -1}};
__device__ unsigned char bytes[5] = {1, 2, 255};
__managed__ int shared_with_host = 3;
static __device__ long long hidden;
__device__ bool flags[3] = {true, false, true};

extern "C" __global__ void use_memory(int* out) {
  __shared__ int tile[33];
  tile[threadIdx.x] = bytes[threadIdx.x % 5] + flags[threadIdx.x % 3];
  __syncthreads();
  atomicAdd(&counter, *pointer_to_counter);
  hidden += static_cast<long long>(*inside * weights[threadIdx.x & 3]) + records[1].count + *records[0].where;
  out[threadIdx.x] = greeting[threadIdx.x] + tile[32 - threadIdx.x] + shared_with_host + static_cast<int>(hidden + quad.w);
  atomicCAS(&counter, 3, 4);
  atomicExch_system(&out[3], 5);
  atomicMax(reinterpret_cast<unsigned long long*>(&hidden), 9ull);
  atomicInc(reinterpret_cast<unsigned*>(&out[1]), 17);
  atomicAdd_block(reinterpret_cast<float*>(&out[2]), 1.0f);
  atomicAdd(reinterpret_cast<double*>(&hidden), 1.0);
}
