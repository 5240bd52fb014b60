// Calls: not inlined, recursive, through pointers and virtual functions, and with structs by value.
struct Triple { double a; int b; char c; };
struct Shape { __device__ virtual float area() const = 0; };
struct Square : Shape { float side; __device__ float area() const override; };
struct Circle : Shape { float radius; __device__ float area() const override; };
__device__ float Square::area() const { return side * side; }
__device__ float Circle::area() const { return 3.14f * radius * radius; }

__device__ __noinline__ Triple twist(Triple t, const int* p) { return {t.a * 2, t.b + p[1], static_cast<char>(t.c - 1)}; }
__device__ __noinline__ unsigned factorial(unsigned n) { return n < 2 ? 1 : n * factorial(n - 1) + factorial(n - 2); }
__device__ __noinline__ float twice(float x) { return x + x; }
__device__ __noinline__ float half_of(float x) { return x / 2; }
__device__ float (*const table[2])(float) = {twice, half_of};
__device__ float (*chosen)(float) = twice;

extern "C" __global__ void call_all(float* out, Triple t, const int* p, int which) {
  Triple u = twist(t, p);
  out[0] = static_cast<float>(u.a) + u.b + u.c + factorial(which);
  out[1] = table[which & 1](out[2]) + chosen(out[3]);
  Square square; square.side = out[4];
  Circle circle; circle.radius = out[5];
  const Shape* shape = which ? static_cast<const Shape*>(&square) : &circle;
  out[6] = shape->area();
}
