// The integral of the square root from `from` to `to`: where two trapezoids differ too much from one, the kernel launches
// itself for either half. Nobody on the host knows how many launches that takes.
extern "C" __global__ void integrate(double from, double to, double* sum, int* launches) {
  atomicAdd(launches, 1);
  const double middle = (from + to) / 2, whole = (sqrt(from) + sqrt(to)) * (to - from) / 2;
  const double halves = (sqrt(from) + 2 * sqrt(middle) + sqrt(to)) * (to - from) / 4;
  if (fabs(halves - whole) < 1e-7) {
    atomicAdd(sum, halves + (halves - whole) / 3);
  } else {
    integrate<<<1, 1>>>(from, middle, sum, launches);
    integrate<<<1, 1>>>(middle, to, sum, launches);
  }
}
