// The names, the layout and the order of writes are those of "JIT Compilation Interface" in gdb's manual: a debugger
// breaks on the function below and reads the list when it is called, or when it attaches later.
#include "cpu/loader/jit_debugger.hpp"

#include <cstdint>
#include <mutex>
#include <utility>

extern "C" {

struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  std::uint64_t symfile_size;
};

struct jit_descriptor {
  std::uint32_t version;
  std::uint32_t action_flag;
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};

// The interface's own names, which are reserved to it. NOLINTBEGIN(bugprone-reserved-identifier)
__attribute__((visibility("default"))) jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};

__attribute__((visibility("default"), noinline)) void __jit_debug_register_code() {
  asm volatile("" ::: "memory");  // a call of an empty function would go
}
// NOLINTEND(bugprone-reserved-identifier)
}

namespace cucore::cpu::loader {
namespace {

constexpr std::uint32_t register_number = 1;
constexpr std::uint32_t unregister = 2;

/// Never destroyed: code may go when the process ends.
std::mutex& list_mutex() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

void tell(std::uint32_t action, jit_code_entry* entry) {
  __jit_debug_descriptor.relevant_entry = entry;
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_register_code();
  __jit_debug_descriptor.action_flag = 0;
  __jit_debug_descriptor.relevant_entry = nullptr;
}

}  // namespace

struct KnownToDebuggers::Entry {
  std::string object;
  jit_code_entry listed{};
};

KnownToDebuggers::KnownToDebuggers(std::string object) : entry_(std::make_unique<Entry>()) {
  entry_->object = std::move(object);
  jit_code_entry& listed = entry_->listed;
  listed.symfile_addr = entry_->object.data();
  listed.symfile_size = entry_->object.size();
  const std::lock_guard lock(list_mutex());
  listed.next_entry = __jit_debug_descriptor.first_entry;
  if (listed.next_entry != nullptr) listed.next_entry->prev_entry = &listed;
  __jit_debug_descriptor.first_entry = &listed;
  tell(register_number, &listed);
}

KnownToDebuggers::~KnownToDebuggers() {
  jit_code_entry& listed = entry_->listed;
  const std::lock_guard lock(list_mutex());
  if (listed.next_entry != nullptr) listed.next_entry->prev_entry = listed.prev_entry;
  (listed.prev_entry != nullptr ? listed.prev_entry->next_entry : __jit_debug_descriptor.first_entry) =
      listed.next_entry;
  tell(unregister, &listed);
}

}  // namespace cucore::cpu::loader
