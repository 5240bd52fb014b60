/* OpenMP on a device, as gcc compiles it for NVIDIA's: what runs there, how its threads work together, what is mapped.
 */
#include <complex.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
#define CHECK(what, condition)                                  \
  do {                                                          \
    failures += !(condition);                                   \
    printf("%s %s\n", (condition) ? "passed" : "FAILED", what); \
  } while (0)

#pragma omp declare target
int counter = 5;
static double table[4] = {1, 2, 3, 4};
static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
double twice(double x) { return 2 * x; }
double thrice(double x) { return 3 * x; }
double (*const functions[2])(double) = {twice, thrice};
#pragma omp end declare target

int main(void) {
  enum { n = 10000 };
  int on_host = 1;
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
  CHECK("runs on the device", !on_host && omp_get_num_devices() >= 1);

  double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), sum = 0, most = -1;
  for (int i = 0; i < n; ++i) x[i] = i;
#pragma omp target teams distribute parallel for map(to : x[0 : n]) map(from : y[0 : n])
  for (int i = 0; i < n; ++i) y[i] = sqrt(x[i]) + sin(x[i]) * exp(-x[i] / n) + pow(x[i] + 1, 0.25) + fmod(x[i], 7);
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const double want = sqrt(x[i]) + sin(x[i]) * exp(-x[i] / n) + pow(x[i] + 1, 0.25) + fmod(x[i], 7);
    wrong += fabs(y[i] - want) > 1e-12 * fabs(want);
  }
  CHECK("mathematics", wrong == 0);

#pragma omp target teams distribute parallel for simd reduction(+ : sum) reduction(max : most) map(to : x[0 : n])
  for (int i = 0; i < n; ++i) {
    sum += x[i];
    if (x[i] > most) most = x[i];
  }
  CHECK("reductions", sum == (double)n * (n - 1) / 2 && most == n - 1);

  for (int again = 0; again < 3; ++again) { /* two results: the teams take a lock in turn */
    sum = 0;
    most = -1;
#pragma omp target teams distribute parallel for reduction(+ : sum) reduction(max : most) map(to : x[0 : n])
    for (int i = 0; i < n; ++i) {
      sum += x[i];
      if (x[i] > most) most = x[i];
    }
    if (sum != (double)n * (n - 1) / 2 || most != n - 1) break;
  }
  CHECK("reductions under a lock", sum == (double)n * (n - 1) / 2 && most == n - 1);

  int histogram[10] = {0}, ticket = 0, under_lock = 0;
#pragma omp target teams distribute parallel for map(tofrom : histogram, ticket)
  for (int i = 0; i < n; ++i) {
#pragma omp atomic
    ++histogram[i % 10];
    int mine;
#pragma omp atomic capture
    mine = ticket++;
    (void)mine;
  }
  wrong = 0;
  for (int i = 0; i < 10; ++i) wrong += histogram[i] != n / 10;
  CHECK("atomics", wrong == 0 && ticket == n);

#pragma omp target map(tofrom : under_lock)
#pragma omp parallel for num_threads(8)
  for (int i = 0; i < 1000; ++i) {
#pragma omp critical
    under_lock += i;
  }
  CHECK("critical sections", under_lock == 999 * 1000 / 2);

  int order[8], threads = 0, singles = 0, value = 0;
#pragma omp target map(from : order, threads) map(tofrom : singles, value)
#pragma omp parallel num_threads(8)
  {
    order[omp_get_thread_num()] = omp_get_thread_num() * 10;
#pragma omp barrier
#pragma omp single
    {
      threads = omp_get_num_threads();
      ++singles;
    }
#pragma omp for schedule(dynamic, 3) reduction(+ : value)
    for (int i = 0; i < 100; ++i) value += order[i % threads];
#pragma omp sections
    {
#pragma omp section
      {
#pragma omp atomic
        singles += 10;
      }
#pragma omp section
      {
#pragma omp atomic
        singles += 100;
      }
    }
#pragma omp master
    {
#pragma omp atomic
      singles += 1000;
    }
  }
  int want = 0;
  for (int i = 0; i < 100; ++i) want += i % threads * 10;
  CHECK("threads of a team", threads == 8 && value == want && singles == 1111);

  int teams = 0, matrix[16][16];
#pragma omp target teams distribute num_teams(4) thread_limit(64) map(tofrom : teams)
  for (int i = 0; i < 4; ++i) {
#pragma omp atomic
    teams += omp_get_num_teams() == 4;
  }
#pragma omp target teams distribute parallel for collapse(2) map(from : matrix)
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) matrix[i][j] = i * 100 + j;
  wrong = 0;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) wrong += matrix[i][j] != i * 100 + j;
  CHECK("teams and collapsed loops", teams == 4 && wrong == 0);

  int fib = 0, seen = 0;
  double by_pointer = 0;
#pragma omp target map(from : fib, seen, by_pointer)
  {
    fib = fibonacci(15);
    seen = counter++ + (int)table[2];
    by_pointer = functions[seen & 1](21) + functions[1](1);
  }
#pragma omp target update from(counter)
  CHECK("functions and variables", fib == 610 && seen == 8 && counter == 6 && by_pointer == 45);

  char text[64];
  int length = 0;
#pragma omp target map(from : text, length)
  {
    char* block = malloc(32);
    strcpy(block, "made on the device");
    length = (int)strlen(block);
    memcpy(text, block, 32);
    free(block);
  }
  CHECK("memory and strings", length == 18 && strcmp(text, "made on the device") == 0);

  double complex z = 0;
#pragma omp target map(tofrom : z)
  for (int i = 0; i < 4; ++i) z = z * z + 0.3 + 0.5 * I;
  double complex w = 0;
  for (int i = 0; i < 4; ++i) w = w * w + 0.3 + 0.5 * I;
  CHECK("complex numbers", cabs(z - w) < 1e-14);

  int tasks = 0;
#pragma omp target map(tofrom : tasks)
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < 20; ++i) {
#pragma omp task firstprivate(i) shared(tasks)
    {
#pragma omp atomic
      tasks += i;
    }
  }
  CHECK("tasks", tasks == 190);

  int steps[3] = {0};
#pragma omp target enter data map(to : steps)
#pragma omp target nowait depend(out : steps)
  steps[0] = 1;
#pragma omp target nowait depend(inout : steps)
  steps[1] = steps[0] + 1;
#pragma omp target depend(in : steps)
  steps[2] = steps[1] + 1;
#pragma omp taskwait
#pragma omp target exit data map(from : steps)
  CHECK("data regions and dependences", steps[2] == 3);

  double* device = omp_target_alloc(n * sizeof *device, 0);
  omp_target_memcpy(device, x, n * sizeof *device, 0, 0, 0, omp_get_initial_device());
#pragma omp target teams distribute parallel for is_device_ptr(device)
  for (int i = 0; i < n; ++i) device[i] = -device[i];
  omp_target_memcpy(y, device, n * sizeof *device, 0, 0, omp_get_initial_device(), 0);
  omp_target_free(device, 0);
  CHECK("device pointers", y[7] == -7 && y[n - 1] == -(n - 1.0));

#pragma omp target
  printf("printed on the device: %d %s %.2f\n", 42, "words", 1.5);

  __int128 wide = 1;
#pragma omp target map(tofrom : wide)
  for (int i = 1; i < 30; ++i) wide *= i;
  __int128 wanted = 1;
  for (int i = 1; i < 30; ++i) wanted *= i;
  CHECK("integers of 128 bits", wide == wanted);
  printf("%d failures\n", failures);
  return failures != 0;
}
