// The traced table: see trace.hpp. Each entry of functions.def has a function of its own that notes the call; the names
// of the parameters are read out of the list itself.
#include "src/driver/trace.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/driver/trace_file.hpp"
#include "src/driver/trace_spans.hpp"
#include "src/formats/demangle.hpp"
#include "src/settings/settings.hpp"

namespace cucore::driver::trace {
namespace {

/// Everything a trace needs; made once, never destroyed.
struct Trace {
  Table driver;
  File file;
  Spans spans{driver, file};
  int process = static_cast<int>(getpid());
  std::atomic<std::uint64_t> next_flow{1};
  std::mutex names_mutex;
  std::map<const void*, std::string> kernel_names;                    ///< by kernel or function handle
  std::map<std::tuple<const void*, int, unsigned>, int> occupancies;  ///< in percent; also under names_mutex
};

Trace* trace = nullptr;              // written before the first traced call
std::atomic<bool> is_active{false};  // false: calls are only forwarded
void (*we_write)(int) = nullptr;     // tells the CPU device whose the calls of this thread are; null for other drivers
constexpr Nanoseconds most_wait_at_exit = 1'000'000'000;

enum class Work { none, span, mark };

Work work_of(std::string_view name) {
  if (name == "cuLaunchKernelEx" || name == "cuGraphLaunch") return Work::span;
  if (name.starts_with("cuMemcpy") || name.starts_with("cuMemset")) return Work::span;
  return name.starts_with("cuEventRecord") ? Work::mark : Work::none;
}

/// "stream", "flags" of "(CUstream stream, unsigned flags)".
std::vector<std::string> parameter_names(std::string_view list) {
  constexpr std::string_view word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t end = list.find_first_of(",)");
    const std::string_view one = list.substr(0, end);
    const std::size_t last = one.find_last_of(word);
    if (last != std::string_view::npos) {
      const std::size_t before = one.find_last_not_of(word, last);
      names.emplace_back(one.substr(before + 1, last - before));
    }
    if (end == std::string_view::npos) break;
    list.remove_prefix(end + 1);
  }
  return names;
}

bool is_address(std::string_view name) { return name == "address" || name == "destination" || name == "source"; }

/// A handle: a pointer to something that only the driver knows.
template <class T>
consteval bool points_to_unknown() {
  if constexpr (std::is_pointer_v<T> && std::is_class_v<std::remove_pointer_t<T>>) {
    return !requires { sizeof(std::remove_pointer_t<T>); };
  } else {
    return false;
  }
}
template <class T>
constexpr bool is_handle = points_to_unknown<T>();

template <class T>
void add_value(Arguments& arguments, std::string_view name, T value) {
  if constexpr (is_handle<T>) {
    arguments.address(name, reinterpret_cast<std::uintptr_t>(value));
  } else if constexpr (std::is_same_v<T, const char*>) {
    if (value != nullptr) arguments.add(name, std::string_view(value));
  } else if constexpr (std::is_integral_v<T>) {
    if (is_address(name)) {
      arguments.address(name, static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_signed_v<T>) {
      arguments.add(name, static_cast<std::int64_t>(value));
    } else {
      arguments.add(name, static_cast<std::uint64_t>(value));
    }
  }
}

/// What a call gave back: results are first parameters.
template <class T>
void add_result(Arguments& arguments, std::string_view name, T first) {
  if constexpr (std::is_pointer_v<T> && !is_handle<T>) {
    using Value = std::remove_pointer_t<T>;
    if constexpr (!std::is_const_v<Value> &&
                  (is_handle<Value> || (std::is_integral_v<Value> && !std::is_same_v<Value, char>))) {
      if (first != nullptr) add_value(arguments, name, *first);
    }
  }
}

CUstream stream_in() { return nullptr; }
template <class First, class... Rest>
CUstream stream_in(First first, Rest... rest) {
  if constexpr (std::is_same_v<First, CUstream>) {
    return first;
  } else if constexpr (std::is_same_v<First, const CUlaunchConfig*>) {
    return first->hStream;
  } else {
    return stream_in(rest...);
  }
}

std::string spelt(unsigned x, unsigned y, unsigned z) {
  return std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z);
}

void name_kernel(const void* handle, std::string name) {
  const std::scoped_lock lock(trace->names_mutex);
  trace->kernel_names[handle] = std::move(name);
}

std::string kernel_name(const void* handle) {
  const std::scoped_lock lock(trace->names_mutex);
  const auto known = trace->kernel_names.find(handle);
  return known == trace->kernel_names.end() ? std::string() : known->second;
}

/// Of the threads that a multiprocessor takes, how many blocks of this launch fill, in percent; 0: not known.
int occupancy_percent(CUfunction function, const CUlaunchConfig& config) {
  constexpr int warp = 32;
  constexpr int threads_per_multiprocessor = 39;  // CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR
  const auto threads = static_cast<int>(config.blockDimX * config.blockDimY * config.blockDimZ);
  const std::scoped_lock lock(trace->names_mutex);
  const auto [known, is_new] = trace->occupancies.try_emplace({function, threads, config.sharedMemBytes}, 0);
  CUdevice device = 0;
  int blocks = 0, most = 0;
  if (is_new && trace->driver.cuCtxGetDevice(&device) == CUDA_SUCCESS &&
      trace->driver.cuDeviceGetAttribute(&most, threads_per_multiprocessor, device) == CUDA_SUCCESS && most > 0 &&
      trace->driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, config.sharedMemBytes) ==
          CUDA_SUCCESS)
    known->second = blocks * ((threads + warp - 1) / warp * warp) * 100 / most;
  return known->second;
}

// What to add for some calls beyond their parameters, and what to remember of them. The tag is the function's place in
// the table.
template <auto Slot>
struct Tag {};

template <auto Slot, class... Parameters>
void describe(Tag<Slot>, Arguments&, Parameters...) {}

void describe(Tag<&Table::cuLaunchKernelEx>, Arguments& arguments, const CUlaunchConfig* config, CUfunction function,
              void**, void**) {
  if (const std::string name = kernel_name(function); !name.empty()) {
    arguments.add("kernel", detail::demangled(name));
  }
  arguments.add("grid", spelt(config->gridDimX, config->gridDimY, config->gridDimZ))
      .add("block", spelt(config->blockDimX, config->blockDimY, config->blockDimZ))
      .add("shared_bytes", std::uint64_t{config->sharedMemBytes})
      .address("stream", reinterpret_cast<std::uintptr_t>(config->hStream));
  if (const int percent = occupancy_percent(function, *config); percent > 0)
    arguments.add("occupancy_percent", std::int64_t{percent});
}

template <auto Slot, class... Parameters>
void learn(Tag<Slot>, Parameters...) {}

void learn(Tag<&Table::cuLibraryGetKernel>, CUkernel* kernel, CUlibrary, const char* name) {
  name_kernel(*kernel, name);
}
void learn(Tag<&Table::cuKernelGetFunction>, CUfunction* function, CUkernel kernel) {
  name_kernel(*function, kernel_name(kernel));
}
void learn(Tag<&Table::cuKernelGetName>, const char** name, CUkernel kernel) { name_kernel(kernel, *name); }

template <auto Slot, class... Parameters>
std::string span_name(Tag<Slot>, std::string_view call, Parameters...) {
  return std::string(call.substr(2, call.find("Async") - 2));  // "Memcpy", "MemsetD8"
}
std::string span_name(Tag<&Table::cuLaunchKernelEx>, std::string_view, const CUlaunchConfig*, CUfunction function,
                      void**, void**) {
  const std::string name = kernel_name(function);
  return name.empty() ? "kernel" : detail::demangled(name);
}

/// A slice for the call itself; the thread's name before its first one.
void write_call(std::string_view name, Nanoseconds begin, Nanoseconds end, std::uint64_t flow,
                const Arguments& arguments) {
  const Place place{trace->process, thread_number()};
  thread_local bool is_named = false;
  if (!is_named) {
    is_named = true;
    std::array<char, 32> text{};
    pthread_getname_np(pthread_self(), text.data(), text.size());
    Arguments named;
    named.add("name", std::string_view(text.data()));
    Event event('M', "thread_name", "__metadata", place, 0);
    trace->file.write(std::move(event.arguments(named)));
  }
  Event event('X', name, "driver", place, begin);
  trace->file.write(std::move(event.duration(end - begin).arguments(arguments)));
  if (flow == 0) return;
  Event arrow('s', "launch", "flow", place, begin);
  trace->file.write(std::move(arrow.flow(flow)));
}

/// While it stands the thread's calls are written here, not by the driver.
class OwnCalls {
 public:
  OwnCalls() {
    if (we_write != nullptr) we_write(1);
  }
  ~OwnCalls() {
    if (we_write != nullptr) we_write(0);
  }
  OwnCalls(const OwnCalls&) = delete;
  OwnCalls& operator=(const OwnCalls&) = delete;
};

template <auto Slot>
struct Traced;

template <class... Parameters, CUresult (*Table::*Slot)(Parameters...)>
struct Traced<Slot> {
  static inline std::string_view name;
  static inline Work work = Work::none;
  static inline const std::vector<std::string>* names = nullptr;

  static CUresult call(Parameters... parameters) {
    const auto real = trace->driver.*Slot;
    if (!is_active.load(std::memory_order_relaxed)) return real(parameters...);
    const OwnCalls here;
    const CUstream stream = work == Work::none ? nullptr : stream_in(parameters...);
    const Spans::Open open = work == Work::span ? trace->spans.begin(stream) : Spans::Open{};
    const Nanoseconds begin = now();
    const CUresult code = real(parameters...);
    const Nanoseconds end = now();

    Arguments arguments;
    [[maybe_unused]] std::size_t n = 0;
    (add_value(arguments, (*names)[n++], parameters), ...);
    describe(Tag<Slot>{}, arguments, parameters...);
    if (code == CUDA_SUCCESS) {
      learn(Tag<Slot>{}, parameters...);
      if constexpr (sizeof...(Parameters) > 0) add_first_result(arguments, parameters...);
    } else {
      arguments.add("result", result_name(code));
    }
    const std::uint64_t flow = open.clock != nullptr && code == CUDA_SUCCESS ? trace->next_flow.fetch_add(1) : 0;
    write_call(name, begin, end, flow, arguments);
    if (work == Work::span) {
      trace->spans.end(open, stream, span_name(Tag<Slot>{}, name, parameters...), {flow, begin}, arguments,
                       code == CUDA_SUCCESS);
    } else if (work == Work::mark && code == CUDA_SUCCESS) {
      trace->spans.mark(stream, "event", arguments);
    }
    trace->spans.collect();
    return code;
  }

  template <class First, class... Rest>
  static void add_first_result(Arguments& arguments, First first, Rest...) {
    // What an enumeration gives is an array that may be empty.
    if (name != "cuLibraryEnumerateKernels") add_result(arguments, (*names)[0], first);
  }
};

template <auto Slot>
void attach_one(Table& table, const char* name, const char* parameters) {
  if (Traced<Slot>::names == nullptr) Traced<Slot>::names = new std::vector<std::string>(parameter_names(parameters));
  Traced<Slot>::name = name;
  Traced<Slot>::work = work_of(name);
  table.*Slot = &Traced<Slot>::call;
}

/// Takes part in the CPU device's trace; nothing: the driver has none. False: it could not open the file, and said so.
std::optional<bool> join(void* library) {
  const auto find = [&]<class Function>(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    return function != nullptr;
  };
  int (*join_trace)() = nullptr;
  void (*caller_writes)(int) = nullptr;
  Writer writer;
  const bool has_all = find(join_trace, "cucore_cpu_trace_join") && find(writer.write, "cucore_cpu_trace_write") &&
                       find(writer.end, "cucore_cpu_trace_end") &&
                       find(caller_writes, "cucore_cpu_trace_caller_writes");
  if (!has_all) return std::nullopt;
  if (trace == nullptr) trace = new Trace;
  trace->file.join({});  // ours, if another driver was tried before: it would lock the other out
  if (join_trace() != 1) return false;
  trace->file.join(writer);
  we_write = caller_writes;
  return true;
}

bool open_file(const char* path) {
  if (trace == nullptr) trace = new Trace;
  if (const std::string why = trace->file.open(path); !why.empty()) {
    // The library does not print otherwise; but a trace was asked for, and there is no other way to say that there is
    // none.
    std::fprintf(stderr, "cucore: CUCORE_TRACE: no trace is written: cannot open %s\n", why.c_str());
    return false;
  }
  Arguments arguments;
  arguments.add("name", std::string_view(program_invocation_short_name));
  Event event('M', "process_name", "__metadata", {trace->process, 0}, 0);
  trace->file.write(std::move(event.arguments(arguments)));
  return true;
}

}  // namespace

void attach(Table& table, void* library) {
  const std::string path = setting(Setting::trace);
  if (path.empty()) return;
  const std::optional<bool> joined = join(library);
  static const bool opened = joined.has_value() || open_file(path.c_str());
  if (!joined.value_or(opened)) return;
  trace->driver = table;
#define DRIVER_FUNCTION(name, version, parameters) attach_one<&Table::name>(table, #name, #parameters);
#include "src/driver/functions.def"
  is_active.store(true);
}

void finish() noexcept {
  if (!is_active.exchange(false)) return;
  try {
    const OwnCalls here;
    Arguments arguments;
    arguments.add("spans_not_measured", trace->spans.finish(now() + most_wait_at_exit));
    Event event('i', "exit", "process", {trace->process, thread_number()}, now());
    trace->file.close(std::move(event.arguments(arguments)));
  } catch (...) {  // no memory: the array stays open
  }
}

void abandon() noexcept {
  if (is_active.exchange(false)) trace->file.abandon();
}

}  // namespace cucore::driver::trace
