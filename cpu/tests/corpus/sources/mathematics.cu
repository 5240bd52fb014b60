// The mathematical functions, both precisions and their fast forms, and every conversion.
extern "C" __global__ void singles(float* v, int i) {
  float x = v[threadIdx.x];
  x = sinf(x) + cosf(x) + tanf(x) + expf(x) + logf(x) + powf(x, 1.5f) + sqrtf(x) + rsqrtf(x) + erff(x) + tgammaf(x);
  x += __sinf(x) + __expf(x) + __logf(x) + __fdividef(x, 3.0f) + __frcp_rn(x) + __fsqrt_rz(x) + __fadd_ru(x, x) + tanhf(x);
  x += floorf(x) + ceilf(x) + truncf(x) + rintf(x) + fmodf(x, 2.0f) + copysignf(x, -1.0f) + fminf(x, 1.0f) + ldexpf(x, i);
  v[threadIdx.x] = isnan(x) || isinf(x) ? 0.0f : x;
}

extern "C" __global__ void doubles(double* v, long long* l, unsigned char* c) {
  double x = v[threadIdx.x];
  x = sin(x) + exp(x) + log(x) + sqrt(x) + cbrt(x) + atan2(x, 2.0) + fma(x, x, x) + __ddiv_rn(x, 3.0) + __dmul_rd(x, x);
  v[threadIdx.x] = x;
  l[0] = static_cast<long long>(x) + __double2ll_rn(x) + static_cast<unsigned long long>(x) + __double_as_longlong(x);
  c[0] = static_cast<unsigned char>(x) + static_cast<signed char>(static_cast<float>(x)) + static_cast<unsigned short>(x);
  v[1] = static_cast<double>(l[1]) + static_cast<double>(static_cast<unsigned long long>(l[2])) + c[1] + static_cast<float>(l[3] / (l[4] | 1));
}
