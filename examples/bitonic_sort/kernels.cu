// One step of a bitonic sort: each thread compares a pair `distance` apart, up or down by the bit `length` of its place.
extern "C" __global__ void step(unsigned* x, unsigned length, unsigned distance) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, partner = i ^ distance;
  if (partner < i) return;  // the other thread of the pair does it
  const unsigned a = x[i], b = x[partner];
  const bool ascending = (i & length) == 0;
  if ((a > b) == ascending) x[i] = b, x[partner] = a;
}
