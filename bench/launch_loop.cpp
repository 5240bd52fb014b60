// The C++ side of the launch costs: each way to launch, in a loop between two marks (null_driver.cpp). Prints the names
// in order; with --time, the nanoseconds of one launch as well. Allocations are counted: a launch makes none.
#include <dlfcn.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <tuple>

#include "cucore/cucore.hpp"

namespace {

long allocations = 0;

std::string kernel_ptx(std::size_t parameters) {
  std::string ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(";
  for (std::size_t i = 0; i < parameters; ++i)
    ptx += (i != 0 ? ", .param .u64 p" : ".param .u64 p") + std::to_string(i);
  return ptx + ")\n{\n  ret;\n}\n";
}

class Measurement {
 public:
  explicit Measurement(bool timed) : timed_(timed) {
    void* const library = dlopen(cucore::driver_info().path.c_str(), RTLD_NOW);
    mark_ = reinterpret_cast<bool (*)()>(dlsym(library, "null_driver_mark"));
    if (mark_ == nullptr) {
      std::fputs("launch_loop: CUCORE_CPU_DRIVER is not the null driver\n", stderr);
      std::exit(1);
    }
  }

  template <class Operation>
  void measure(const std::string& name, Operation operation) const {
    const long loops = timed_ ? 2'000'000 : 1000;
    operation();
    const long before = allocations;
    mark_();
    const auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < loops; ++i) operation();
    const auto stop = std::chrono::steady_clock::now();
    mark_();
    const double nanoseconds =
        std::chrono::duration<double, std::nano>(stop - start).count() / static_cast<double>(loops);
    std::printf("%s\t%ld\t%.1f\n", name.c_str(), loops, timed_ ? nanoseconds : 0.0);
    if (allocations != before) {
      std::fprintf(stderr, "launch_loop: %s allocates\n", name.c_str());
      std::exit(1);
    }
  }

 private:
  bool timed_;
  bool (*mark_)() = nullptr;
};

template <std::size_t Count>
void measure_launches(const Measurement& with, const cucore::Stream& stream) {
  const cucore::Kernel kernel = cucore::ObjectCode::from_ptx(kernel_ptx(Count)).get_kernel("k");
  const cucore::LaunchConfig config{.grid = {2}, .block = {64}};
  const cucore::Launcher launcher(kernel, config);
  std::array<std::uint64_t, Count> values{};
  const std::string arguments = ", " + std::to_string(Count) + " arguments";
  with.measure("C++ launch" + arguments, [&] {
    std::apply([&](const auto&... value) { cucore::launch(stream, config, kernel, value...); }, values);
  });
  with.measure("C++ Launcher" + arguments,
               [&] { std::apply([&](const auto&... value) { launcher(stream, value...); }, values); });
}

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main(int count, char** arguments) {
  const Measurement with(count > 1 && std::strcmp(arguments[1], "--time") == 0);
  const cucore::Device device(0);
  device.set_current();
  const cucore::Stream stream = device.create_stream();
  measure_launches<0>(with, stream);
  measure_launches<3>(with, stream);
  measure_launches<16>(with, stream);
  return 0;
}
