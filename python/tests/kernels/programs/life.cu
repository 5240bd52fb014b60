// A generation of Conway's Game of Life on a torus, 32 cells a word.
extern "C" __global__ void generation(const unsigned* in, unsigned* out, int words, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= words) return;
  unsigned ones = 0, twos = 0, fours = 0, here = in[y * words + x];  // counts of neighbours, a bit of each in a word
  auto add = [&](unsigned bits) {
    unsigned carry = ones & bits, more = twos & carry;
    ones ^= bits, twos ^= carry, fours |= more;
  };
  for (int dy = -1; dy <= 1; ++dy) {
    const unsigned* row = in + (y + dy + height) % height * words;
    unsigned left = row[(x + words - 1) % words], middle = row[x], right = row[(x + 1) % words];
    add(__funnelshift_l(left, middle, 1));
    if (dy != 0) add(middle);
    add(__funnelshift_r(middle, right, 1));
  }
  out[y * words + x] = twos & ~fours & (ones | here);
}
