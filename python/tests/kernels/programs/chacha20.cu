// ChaCha20: 64 bytes of key stream for each block number, added to the text.
extern "C" __global__ void encrypt(const unsigned* key, const unsigned* nonce, unsigned first, unsigned* text, int blocks) {
  unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
  if (number >= blocks) return;
  unsigned start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, s[16];
  for (int i = 0; i < 8; ++i) start[4 + i] = key[i];
  start[12] = first + number;
  for (int i = 0; i < 3; ++i) start[13 + i] = nonce[i];
  for (int i = 0; i < 16; ++i) s[i] = start[i];
  auto quarter = [&](int a, int b, int c, int d) {
    auto turn = [](unsigned x, int n) { return x << n | x >> (32 - n); };
    s[a] += s[b], s[d] = turn(s[d] ^ s[a], 16);
    s[c] += s[d], s[b] = turn(s[b] ^ s[c], 12);
    s[a] += s[b], s[d] = turn(s[d] ^ s[a], 8);
    s[c] += s[d], s[b] = turn(s[b] ^ s[c], 7);
  };
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 4; ++i) quarter(i, 4 + i, 8 + i, 12 + i);
    for (int i = 0; i < 4; ++i) quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
  }
  for (int i = 0; i < 16; ++i) text[16 * number + i] ^= s[i] + start[i];
}
