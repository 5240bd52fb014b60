// A large image for loading_bench.py: algorithms of CUB and Thrust for ten types, nearly 500 kernels in 22 MB of PTX.
// None is ever run:
//   nvcc -std=c++17 -arch=compute_90 -fatbin -o loading_kernels.fatbin bench/loading_kernels.cu
#include <thrust/device_ptr.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include <cub/cub.cuh>

template <class Key>
void algorithms(Key* in, Key* out, int* counts, int count) {
  std::size_t size = 0;
  void* const memory = nullptr;
  cub::DeviceReduce::Sum(memory, size, in, out, count);
  cub::DeviceReduce::Min(memory, size, in, out, count);
  cub::DeviceReduce::Max(memory, size, in, out, count);
  cub::DeviceReduce::ArgMin(memory, size, in, out, static_cast<long long*>(nullptr), static_cast<long long>(count));
  cub::DeviceScan::InclusiveSum(memory, size, in, out, count);
  cub::DeviceScan::ExclusiveSum(memory, size, in, out, count);
  cub::DeviceRadixSort::SortKeys(memory, size, in, out, count);
  cub::DeviceRadixSort::SortKeysDescending(memory, size, in, out, count);
  cub::DeviceRadixSort::SortPairs(memory, size, in, out, counts, counts, count);
  cub::DeviceSelect::Unique(memory, size, in, out, counts, count);
  cub::DeviceRunLengthEncode::Encode(memory, size, in, out, counts, counts, count);
  cub::DeviceSegmentedReduce::Sum(memory, size, in, out, count, counts, counts);
  cub::DeviceMergeSort::SortKeys(memory, size, in, count, cuda::std::less<Key>());
  const thrust::device_ptr<Key> first(in), result(out);
  thrust::sort(first, first + count);
  thrust::stable_sort_by_key(first, first + count, result);
  thrust::inclusive_scan(first, first + count, result);
  thrust::reduce_by_key(first, first + count, result, first, result);
  thrust::unique(first, first + count);
}

int main() {
  algorithms<char>(nullptr, nullptr, nullptr, 0);
  algorithms<short>(nullptr, nullptr, nullptr, 0);
  algorithms<int>(nullptr, nullptr, nullptr, 0);
  algorithms<long long>(nullptr, nullptr, nullptr, 0);
  algorithms<unsigned char>(nullptr, nullptr, nullptr, 0);
  algorithms<unsigned short>(nullptr, nullptr, nullptr, 0);
  algorithms<unsigned>(nullptr, nullptr, nullptr, 0);
  algorithms<unsigned long long>(nullptr, nullptr, nullptr, 0);
  algorithms<float>(nullptr, nullptr, nullptr, 0);
  algorithms<double>(nullptr, nullptr, nullptr, 0);
}
