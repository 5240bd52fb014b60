// Opens the driver once, fills the table, and keeps it from being called when it must not be.
//
// Three moments matter after opening. At process exit an atexit function, registered after cuInit and therefore run
// before the driver's own, closes the table for releases: objects that die later (statics made before the driver was
// opened, objects of other threads) leave their handles to the process's end. In a child of fork() the driver does not
// work; the table is closed the same way and calls are refused with an explanation. Otherwise nothing ever closes it.
#include "src/driver/table.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "src/driver/open.hpp"
#include "src/driver/trace.hpp"

namespace cucore::driver {

std::atomic<const Table*> current_table{nullptr};

namespace {

constexpr int oldest_driver = 12000;

template <class Function>
struct Missing;

template <class... Arguments>
struct Missing<CUresult (*)(Arguments...)> {
  static CUresult call(Arguments...) { return CUDA_ERROR_NOT_SUPPORTED; }
};

struct OpenDriver {
  Table table;
  DriverInfo info;
  int device_count = 0;
  std::vector<std::string> missing;
  std::size_t (*last_fault)(char* text, std::size_t size) = nullptr;  ///< the CPU device's
};

enum class Phase { closed, opening, open, forked, exiting };

// All of this, and current_table, outlives everything else in the process: plain pointers and trivially destroyed
// statics.
std::atomic<Phase> phase{Phase::closed};
const OpenDriver* opened = nullptr;  // written once, before current_table
std::exception_ptr* open_failure = nullptr;

std::mutex& opening_mutex() {
  static std::mutex* const mutex = new std::mutex;
  return *mutex;
}

void close_for_exit() {
  trace::finish();  // while the driver still works
  phase.store(Phase::exiting);
  current_table.store(nullptr);
}

void close_in_child() {
  trace::abandon();
  if (phase.load() != Phase::closed) {
    phase.store(Phase::forked);
    current_table.store(nullptr);
  }
}

using GetProcAddress = CUresult (*)(const char* symbol, void** function, int version, std::uint64_t flags, int* status);

// Fills the table; `refusal` says why not.
std::unique_ptr<OpenDriver> load(const OpenLibrary& library, std::string& refusal) {
  if (library.handle == nullptr) {
    refusal = library.refusal;
    return nullptr;
  }
  const auto get_proc_address = reinterpret_cast<GetProcAddress>(dlsym(library.handle, "cuGetProcAddress_v2"));
  if (get_proc_address == nullptr) {
    refusal = "older than CUDA 12.0 (it has no cuGetProcAddress_v2)";
    return nullptr;
  }
  auto driver = std::make_unique<OpenDriver>();
  const auto resolve = [&]<class Function>(Function& slot, const char* name, int version) {
    void* function = nullptr;
    const CUresult code = get_proc_address(name, &function, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, nullptr);
    if (code == CUDA_SUCCESS && function != nullptr) {
      slot = reinterpret_cast<Function>(function);
    } else {
      slot = &Missing<Function>::call;
      driver->missing.emplace_back(name);
    }
  };
  Table& table = driver->table;
#define DRIVER_FUNCTION(name, version, parameters) resolve(table.name, #name, version);
#include "src/driver/functions.def"
  trace::attach(table, library.handle);

  if (const CUresult code = table.cuInit(0); code != CUDA_SUCCESS) {
    refusal = "cuInit answered " + result_name(code);
    return nullptr;
  }
  if (table.cuDriverGetVersion(&driver->info.version) != CUDA_SUCCESS || driver->info.version < oldest_driver) {
    refusal = "it implements CUDA " + std::to_string(driver->info.version / 1000) + "." +
              std::to_string(driver->info.version % 1000 / 10) + "; 12.0 is needed";
    return nullptr;
  }
  if (const CUresult code = table.cuDeviceGetCount(&driver->device_count); code != CUDA_SUCCESS) {
    refusal = "cuDeviceGetCount answered " + result_name(code);
    return nullptr;
  }
  driver->last_fault = reinterpret_cast<decltype(driver->last_fault)>(dlsym(library.handle, "cucore_cpu_last_fault"));
  driver->info.kind = library.kind;
  driver->info.path = library.path;
  return driver;
}

[[noreturn]] void refuse(const std::string& message, const char* hint) {
  throw UnavailableError({.call = "driver_info", .message = message, .hint = hint});
}

std::unique_ptr<OpenDriver> choose() {
  const DeviceChoice choice = device_choice();
  std::string system_refusal;
  if (choice != DeviceChoice::cpu) {
    OpenLibrary library = open_system_driver();
    if (choice == DeviceChoice::gpu && library.handle != nullptr && library.kind == DriverKind::cpu) {
      library.handle = nullptr;
      library.refusal = library.path + " is the CPU device";
    }
    if (auto driver = load(library, system_refusal)) {
      if (driver->device_count > 0) {
        driver->info.chosen_by = choice == DeviceChoice::gpu ? "CUCORE_DEVICE=gpu" : "CUCORE_DEVICE=auto";
        return driver;
      }
      system_refusal = library.path + " has no device";
    }
    if (choice == DeviceChoice::gpu) {
      refuse("CUCORE_DEVICE=gpu, but no GPU driver can be used: " + system_refusal,
             "install a driver of CUDA 12.0 or newer, or set CUCORE_DEVICE=auto or cpu to run on the CPU device");
    }
  }
  std::string cpu_refusal;
  const OpenLibrary library = open_cpu_device();
  if (auto driver = load(library, cpu_refusal)) {
    driver->info.chosen_by =
        choice == DeviceChoice::cpu ? "CUCORE_DEVICE=cpu" : "CUCORE_DEVICE=auto; no GPU: " + system_refusal;
    return driver;
  }
  if (choice == DeviceChoice::cpu) {
    refuse("CUCORE_DEVICE=cpu, but the CPU device cannot be used: " + cpu_refusal,
           "set CUCORE_CPU_DRIVER to the file of the CPU device");
  }
  refuse("no driver can be used. GPU: " + system_refusal + ". CPU device: " + cpu_refusal,
         "install a GPU driver, or set CUCORE_CPU_DRIVER to the file of the CPU device");
}

[[noreturn]] void refuse_closed(Phase now) {
  if (now == Phase::forked) {
    throw DriverError(
        {.call = "fork",
         .code = 3,
         .code_name = "CUDA_ERROR_NOT_INITIALIZED",
         .message = "CUDA was initialised before this process was forked, and cannot be used in the child",
         .hint = "start processes with spawn or exec (in Python: multiprocessing start method 'spawn' or "
                 "'forkserver'), or fork before the first CUDA call"});
  }
  throw StateError({.call = "exit",
                    .message = "the process is exiting; the CUDA driver cannot be called any more",
                    .hint = "finish CUDA work before main() returns or exit() is called"});
}

const OpenDriver& open_driver() {
  if (const Phase now = phase.load(); now == Phase::forked || now == Phase::exiting) refuse_closed(now);
  const std::scoped_lock lock(opening_mutex());
  if (opened != nullptr) return *opened;
  if (open_failure != nullptr) std::rethrow_exception(*open_failure);
  phase.store(Phase::opening);
  try {
    static const int registered = pthread_atfork(nullptr, nullptr, &close_in_child);
    static_cast<void>(registered);
    opened = choose().release();
  } catch (const Error&) {
    // The environment is read once: the same answer every time.
    open_failure = new std::exception_ptr(std::current_exception());
    phase.store(Phase::closed);
    throw;
  } catch (...) {
    phase.store(Phase::closed);
    throw;
  }
  std::atexit(&close_for_exit);
  phase.store(Phase::open);
  current_table.store(&opened->table, std::memory_order_release);
  return *opened;
}

}  // namespace

const Table& open_table() { return open_driver().table; }

bool is_gpu() noexcept { return is_open() && opened->info.kind == DriverKind::gpu; }

std::string last_fault() {
  if (!is_open() || opened->last_fault == nullptr) return {};
  std::string text(opened->last_fault(nullptr, 0) + 1, '\0');
  const std::size_t whole = opened->last_fault(text.data(), text.size());
  text.resize(std::min(whole, text.size() - 1));
  return text;
}

}  // namespace cucore::driver

namespace cucore {

DriverInfo driver_info() {
  driver::table();
  return driver::opened->info;
}

bool driver_available() noexcept {
  try {
    driver::table();
    return true;
  } catch (...) {
    return false;
  }
}

std::vector<std::string> management_library_places() {
  const std::string name = "libnvidia-ml.so.1";
  const auto beside = [&](const std::string& driver) {
    return (std::filesystem::path(driver).parent_path() / name).string();
  };
  if (driver::is_open())
    return {driver::opened->info.kind == DriverKind::cpu ? beside(driver::opened->info.path) : name};
  const driver::DeviceChoice choice = driver::device_choice();
  std::vector<std::string> places;
  if (choice != driver::DeviceChoice::cpu) places.push_back(name);
  if (choice == driver::DeviceChoice::gpu) return places;
  try {
    places.push_back(beside(cpu_driver_path()));
  } catch (const UnavailableError&) {
    if (choice == driver::DeviceChoice::cpu) throw;
  }
  return places;
}

std::vector<std::string> missing_driver_functions() {
  driver::table();
  return driver::opened->missing;
}

}  // namespace cucore
