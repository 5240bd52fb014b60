// C++ benchmarks: each operation through cucore and as the bare driver call, in one process. Names are
// OPERATION/bare and OPERATION/cucore; bench/run.py pairs them.
#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "bench/bare_driver.hpp"
#include "cucore/cucore.hpp"

namespace {

constexpr int batch = 256;  // operations between synchronisations, so that the driver's queue never fills

std::string kernel_ptx(int parameters) {
  std::string ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty(";
  for (int i = 0; i < parameters; ++i) ptx += (i != 0 ? ", .param .u64 p" : ".param .u64 p") + std::to_string(i);
  return ptx + ")\n{\n  ret;\n}\n";
}

struct Session {
  cucore::Device device{0};
  cucore::Stream stream;
  bare::Driver driver{cucore::driver_info().path.c_str()};

  Session() {
    device.set_current();
    stream = device.create_stream();
  }
  static Session& get() {
    static Session session;
    return session;
  }
};

/// Times `batch` calls of `operation`, then synchronises outside the measured time.
template <class Operation>
void run_batches(benchmark::State& state, Operation operation) {
  Session& session = Session::get();
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < batch; ++i) operation();
    const auto stop = std::chrono::steady_clock::now();
    state.SetIterationTime(std::chrono::duration<double>(stop - start).count() / batch);
    session.stream.sync();
  }
}

template <int Count>
void launch_bare(benchmark::State& state) {
  Session& session = Session::get();
  const auto code = cucore::ObjectCode::from_ptx(kernel_ptx(Count));
  const cucore::Kernel kernel = code.get_kernel("empty");
  std::array<std::uint64_t, Count + 1> values{};
  std::array<void*, Count + 1> pointers{};
  for (std::size_t i = 0; i < Count; ++i) pointers[i] = &values[i];
  const bare::LaunchConfig config{{1, 1, 1}, {1, 1, 1}, 0, session.stream.handle(), nullptr, 0};
  run_batches(state, [&] {
    bare::check(session.driver.launch_kernel_ex(&config, kernel.handle(), pointers.data(), nullptr),
                "cuLaunchKernelEx");
  });
}

template <int Count>
void launch_cucore(benchmark::State& state) {
  Session& session = Session::get();
  const auto code = cucore::ObjectCode::from_ptx(kernel_ptx(Count));
  const cucore::Kernel kernel = code.get_kernel("empty");
  const cucore::LaunchConfig config{.grid = {1}, .block = {1}};
  std::array<std::uint64_t, Count> values{};
  run_batches(state, [&] {
    std::apply([&](const auto&... value) { cucore::launch(session.stream, config, kernel, value...); }, values);
  });
}

void event_record_bare(benchmark::State& state) {
  Session& session = Session::get();
  const cucore::Event event = session.device.create_event();
  run_batches(state, [&] {
    bare::check(session.driver.event_record(event.handle(), session.stream.handle()), "cuEventRecord");
  });
}

void event_record_cucore(benchmark::State& state) {
  Session& session = Session::get();
  const cucore::Event event = session.device.create_event();
  run_batches(state, [&] { event.record(session.stream); });
}

void event_create_bare(benchmark::State& state) {
  Session& session = Session::get();
  run_batches(state, [&] {
    void* event = nullptr;
    bare::check(session.driver.event_create(&event, 2), "cuEventCreate");
    bare::check(session.driver.event_destroy(event), "cuEventDestroy");
  });
}

void event_create_cucore(benchmark::State& state) {
  Session& session = Session::get();
  run_batches(state, [&] { benchmark::DoNotOptimize(session.device.create_event()); });
}

void stream_create_bare(benchmark::State& state) {
  Session& session = Session::get();
  run_batches(state, [&] {
    void* stream = nullptr;
    bare::check(session.driver.stream_create(&stream, 1, 0), "cuStreamCreateWithPriority");
    bare::check(session.driver.stream_destroy(stream), "cuStreamDestroy");
  });
}

void stream_create_cucore(benchmark::State& state) {
  Session& session = Session::get();
  run_batches(state, [&] { benchmark::DoNotOptimize(session.device.create_stream()); });
}

// "Bare" is what any pool must do at least: take from a free list and give back.
void event_pool_bare(benchmark::State& state) {
  std::vector<cucore::EventHandle> free{nullptr};
  run_batches(state, [&] {
    cucore::EventHandle event = free.back();
    free.pop_back();
    benchmark::DoNotOptimize(event);
    free.push_back(event);
  });
}

void event_pool_cucore(benchmark::State& state) {
  const auto pool = Session::get().device.event_pool();
  run_batches(state, [&] { benchmark::DoNotOptimize(pool->get()); });
}

void current_device_bare(benchmark::State& state) {
  Session& session = Session::get();
  run_batches(state, [&] {
    void* current = nullptr;
    bare::check(session.driver.context_get_current(&current), "cuCtxGetCurrent");
  });
}

void current_device_cucore(benchmark::State& state) {
  run_batches(state, [] { benchmark::DoNotOptimize(cucore::Device::current()); });
}

void allocate_bare(benchmark::State& state) {
  Session& session = Session::get();
  session.device.memory_resource();  // raises the pool's release threshold, for both sides
  run_batches(state, [&] {
    std::uint64_t address = 0;
    bare::check(session.driver.mem_alloc_async(&address, 4096, session.stream.handle()), "cuMemAllocAsync");
    bare::check(session.driver.mem_free_async(address, session.stream.handle()), "cuMemFreeAsync");
  });
}

void allocate_cucore(benchmark::State& state) {
  Session& session = Session::get();
  run_batches(state, [&] { benchmark::DoNotOptimize(session.device.allocate(4096, session.stream)); });
}

void module_load_bare(benchmark::State& state) {
  Session& session = Session::get();
  const std::string ptx = kernel_ptx(3);
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    void* library = nullptr;
    void* kernel = nullptr;
    bare::check(session.driver.library_load_data(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                "cuLibraryLoadData");
    bare::check(session.driver.library_get_kernel(&kernel, library, "empty"), "cuLibraryGetKernel");
    bare::check(session.driver.library_unload(library), "cuLibraryUnload");
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}

void module_load_cucore(benchmark::State& state) {
  const std::string ptx = kernel_ptx(3);
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(cucore::ObjectCode::from_ptx(ptx).get_kernel("empty"));
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}

}  // namespace

// Fixed iterations: the reported time is that of one operation, while an iteration of most benchmarks does a batch.
#define BENCH(name, function, iterations) \
  BENCHMARK(function)->Name(name)->UseManualTime()->Iterations(iterations)->Repetitions(5)->ReportAggregatesOnly()
#define PAIR(name, iterations, bare_function, cucore_function) \
  BENCH(name "/bare", bare_function, iterations);              \
  BENCH(name "/cucore", cucore_function, iterations)

PAIR("launch, 0 arguments", 200, launch_bare<0>, launch_cucore<0>);
PAIR("launch, 3 arguments", 200, launch_bare<3>, launch_cucore<3>);
PAIR("launch, 16 arguments", 200, launch_bare<16>, launch_cucore<16>);
PAIR("event record", 200, event_record_bare, event_record_cucore);
PAIR("event create and destroy", 100, event_create_bare, event_create_cucore);
PAIR("event pool get and put", 200, event_pool_bare, event_pool_cucore);
PAIR("current device", 200, current_device_bare, current_device_cucore);
PAIR("stream create and destroy", 4, stream_create_bare, stream_create_cucore);
PAIR("allocate and free", 100, allocate_bare, allocate_cucore);
PAIR("module load", 20, module_load_bare, module_load_cucore);

BENCHMARK_MAIN();
