/* OpenACC, as gcc compiles it for NVIDIA's devices: gangs, workers and vectors, reductions, data regions, queues. */
#include <math.h>
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>
static int failures;
#define CHECK(what, condition)                                  \
  do {                                                          \
    failures += !(condition);                                   \
    printf("%s %s\n", (condition) ? "passed" : "FAILED", what); \
  } while (0)
#pragma acc routine seq
static float square(float x) { return x * x; }
#pragma acc routine vector
static void fill(float* row, int n, float v) {
#pragma acc loop vector
  for (int i = 0; i < n; ++i) row[i] = v + i;
}
int main(void) {
  enum { n = 512 };
  CHECK("a device", acc_get_num_devices(acc_device_nvidia) >= 1);
  float *a = malloc(n * n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c);
  for (int i = 0; i < n * n; ++i) a[i] = (float)(i % 13);
  for (int i = 0; i < n; ++i) b[i] = (float)(i % 7);
#pragma acc parallel loop gang copyin(a[0 : n * n], b[0 : n]) copyout(c[0 : n])
  for (int i = 0; i < n; ++i) {
    float sum = 0;
#pragma acc loop vector reduction(+ : sum)
    for (int j = 0; j < n; ++j) sum += a[i * n + j] * b[j];
    c[i] = square(sum);
  }
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += a[i * n + j] * b[j];
    wrong += fabs(c[i] - sum * sum) > 1e-4 * sum * sum;
  }
  CHECK("matrix and vector", wrong == 0);
#pragma acc data copyout(a[0 : n * n])
  {
#pragma acc parallel loop gang worker num_workers(4) vector_length(32) present(a[0 : n * n])
    for (int i = 0; i < n; ++i) fill(a + i * n, n, (float)i);
#pragma acc kernels present(a[0 : n * n])
#pragma acc loop independent
    for (int i = 0; i < n * n; ++i) a[i] += 1;
  }
  wrong = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) wrong += a[i * n + j] != i + j + 1;
  CHECK("gangs, workers and vectors", wrong == 0);
  int count = 0, most = 0;
#pragma acc parallel loop copy(count) reduction(max : most)
  for (int i = 0; i < 1000; ++i) {
#pragma acc atomic update
    count += 1;
    if (i > most) most = i;
  }
  CHECK("atomics and maxima", count == 1000 && most == 999);
#pragma acc enter data copyin(b[0 : n]) create(c[0 : n]) async(1)
#pragma acc parallel loop present(b[0 : n], c[0 : n]) async(1)
  for (int i = 0; i < n; ++i) c[i] = b[i] * 2;
#pragma acc parallel loop present(b[0 : n], c[0 : n]) async(2) wait(1)
  for (int i = 0; i < n; ++i) c[i] += 1;
#pragma acc update self(c[0 : n]) async(2)
#pragma acc wait
#pragma acc exit data delete (b[0 : n], c[0 : n])
  wrong = 0;
  for (int i = 0; i < n; ++i) wrong += c[i] != b[i] * 2 + 1;
  CHECK("queues", wrong == 0);
  double pi = 0;
#pragma acc parallel loop gang worker vector reduction(+ : pi)
  for (int i = 0; i < 100000; ++i) {
    const double x = (i + 0.5) / 100000;
    pi += 4 / (1 + x * x) / 100000;
  }
  CHECK("a sum of doubles", fabs(pi - M_PI) < 1e-9);
  printf("%d failures\n", failures);
  return failures != 0;
}
