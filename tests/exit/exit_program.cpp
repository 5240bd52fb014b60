// Ends the process with live objects, in the way the argument names.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <future>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include "cucore/cucore.hpp"
#include "tests/exit/exit_program.hpp"

namespace {

using namespace cucore;

const char* const ptx = R"(.version 7.8
.target sm_75
.address_size 64
.visible .entry k() { ret; }
)";

// A graph that was launched, with a callback that holds what only the graph keeps alive.
Graph launched_graph(const GraphDefinition& definition, const Kernel& kernel, const Stream& stream) {
  definition.launch({}, kernel).callback([held = std::make_shared<Event>(stream.record())] {});
  Graph graph = definition.instantiate();
  graph.launch(stream);
  stream.sync();
  return graph;
}

// The driver lets go of what this keeps while the process exits, when it can no longer be released.
void leave_a_graph_on_its_way() {
  static const Stream stream = Device(0).create_stream();
  static const Event event = stream.record();
  const GraphDefinition definition;
  definition.callback([] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }).record(event);
  static const Graph graph = definition.instantiate();
  graph.launch(stream);
}

struct Everything {
  Stream stream = Device(0).create_stream();
  Event event = stream.record({.timing_enabled = true});
  Buffer buffer = Device(0).allocate(1 << 16, stream);
  std::shared_ptr<MemoryResource> pool = DeviceMemoryResource::create(Device(0), DeviceMemoryResourceOptions{});
  Buffer from_pool = pool->allocate(4096, stream);
  ObjectCode code = ObjectCode::from_ptx(ptx);
  Kernel kernel = code.get_kernel("k");
  std::shared_ptr<EventPool> events = EventPool::create(Device(0).context());
  PooledEvent pooled = events->get();
  Timer timer = timed(stream, [] {});
  Timer read = timed(stream, [] {});
  GraphDefinition definition;
  Graph graph = launched_graph(definition, kernel, stream);
  Everything() { launch(stream, {.grid = {4}, .block = {32}}, kernel); }
};

// Made before the driver is opened, filled after: destroyed after the driver's table is closed.
std::optional<Everything> made_first;
thread_local std::optional<Everything> of_thread;

void fail_at_exit_if_anything_failed() {
  std::atexit([] {
    if (release_failures() != 0) _exit(3);
  });
}

// What a forked child answers when it uses CUDA after the parent did.
int in_child() {
  try {
    Device(0).create_stream();
  } catch (const DriverError& error) {
    return error.code_name() == "CUDA_ERROR_NOT_INITIALIZED" && std::strstr(error.what(), "forked") != nullptr ? 0 : 4;
  } catch (...) {
    return 5;
  }
  return 6;
}

}  // namespace

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 7;
}

int use_plugin(const char* function, bool close) {
  void* const plugin = dlopen(CUCORE_EXIT_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return 12;
  const auto use = reinterpret_cast<int (*)()>(dlsym(plugin, function));
  if (use == nullptr || use() != 0) return 13;
  if (!close) return 0;
  if (dlclose(plugin) != 0) return 14;
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // with which it stays: see CMakeLists.txt
  if (dlopen(CUCORE_EXIT_PLUGIN, RTLD_NOW | RTLD_NOLOAD) != nullptr) return 15;
#endif
  return 0;
}

namespace {

int run(const std::string& which) {
  if (which == "static_objects") {
    static const Everything everything;
    return 0;
  }
  if (which == "static_made_first") {
    made_first.emplace();
    return 0;
  }
  if (which == "thread_local_objects") {
    of_thread.emplace();
    std::thread([] { of_thread.emplace(); }).join();
    return 0;
  }
  if (which == "detached_thread") {
    // Never destroyed: an object must outlive the thread that uses it, and this one is still at it at exit.
    static Everything& everything = *new Everything;
    std::thread([] {
      try {
        for (;;) everything.stream.record().sync();
      } catch (const Error&) {  // the process is exiting: cucore or the driver says so, whichever ends first
        for (;;) pause();
      }
    }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return 0;
  }
  if (which == "exit_from_thread") {
    made_first.emplace();
    std::thread([] {
      of_thread.emplace();
      std::exit(0);
    }).join();
    return 8;
  }
  if (which == "fork_child") {
    Everything everything;
    everything.stream.sync();
    const pid_t child = fork();
    if (child == 0) {
      // Objects that came with the fork may be dropped: nothing is called for them.
      const int answer = in_child();
      everything = Everything(std::move(everything));
      std::exit(answer);
    }
    const int answer = wait_for(child);
    everything.stream.sync();  // the parent is not disturbed
    return answer;
  }
  if (which == "fork_before_use") {
    const pid_t child = fork();
    if (child == 0) {
      {
        const Everything everything;
        everything.stream.sync();
      }
      std::exit(0);
    }
    return wait_for(child);
  }
  if (which == "at_exit_uses_objects") {
    static const Everything everything;
    std::atexit([] {
      everything.stream.sync();
      const Stream another = Device(0).create_stream();
      another.record().sync();
    });
    return 0;
  }
  if (which == "exit_without_destructors") {
    static const Everything everything;
    _exit(0);
  }
  if (which == "quick_exit") {
    static const Everything everything;
    std::quick_exit(0);
  }
  if (which == "devices_own_pool") {
    static const std::shared_ptr<EventPool> pool = Device(0).event_pool();
    static const PooledEvent event = pool->get();
    {
      const PooledEvent idle = pool->get();
    }
    return 0;
  }
  if (which == "plugin_closed" || which == "plugin_left_open")
    return use_plugin("plugin_use", which == "plugin_closed");
  if (which == "thread_still_has_objects") {
    static std::promise<void>& made = *new std::promise<void>;
    std::thread([] {
      of_thread.emplace();
      made.set_value();
      for (;;) pause();
    }).detach();
    made.get_future().wait();
    return 0;
  }
  if (which == "many_threads_at_exit") {
    for (int i = 0; i < 4; ++i) {
      std::thread([] {
        try {
          for (;;) {
            const Stream stream = Device(0).create_stream();
            Device(0).allocate(4096, stream);
            stream.record().sync();
          }
        } catch (const Error&) {  // the process is exiting
          for (;;) pause();
        }
      }).detach();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return 0;
  }
  if (which == "graph_on_its_way") {
    driver_info();
    fail_at_exit_if_anything_failed();
    leave_a_graph_on_its_way();
    return 0;
  }
  if (which == "handler_at_exit") {
    driver_info();
    fail_at_exit_if_anything_failed();
    static const Everything everything;
    return 0;
  }
  return run_compiling(which);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 10;
  try {
    return run(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 11;
  }
}
