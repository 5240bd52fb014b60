// cuInit: see start.hpp.
#include "cpu/runtime/start/start.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "cpu/abi/pages.hpp"
#include "cpu/runtime/address_space/address_space.hpp"
#include "cpu/runtime/graph/capture.hpp"
#include "cpu/runtime/grid/checker.hpp"
#include "cpu/runtime/loading/module.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/memory/memory_pool.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/objects/stream.hpp"
#include "cpu/runtime/process/check_settings.hpp"
#include "cpu/runtime/process/device_identity.hpp"
#include "cpu/runtime/process/live_objects.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/threads/faults.hpp"
#include "cpu/runtime/threads/fiber.hpp"

namespace cucore::cpu::runtime {

namespace {

void* map_stack(std::size_t size) {
  AddressSpace& space = AddressSpace::instance();
  const std::uintptr_t low = space.reserve(size, page_bytes, 0);
  if (low == 0) return nullptr;
  if (mprotect(reinterpret_cast<void*>(low), size, PROT_READ | PROT_WRITE) == 0) return reinterpret_cast<void*>(low);
  space.unreserve(low, size);
  return nullptr;
}

void unmap_stack(void* low, std::size_t size) {
  AddressSpace::instance().unreserve(reinterpret_cast<std::uintptr_t>(low), size);
}

std::shared_ptr<MemoryPool> make_default_pool(int ordinal) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, ordinal};
  return MemoryPool::create(properties, true);
}

Result<void> start() {
  const std::vector<int> visible = visible_devices();
  if (visible.empty()) return ErrorCode::NoDevice;
  install_fault_handler();
  // Checked code has its variables in memory that the checker knows.
  if (checker::checks(check_class::memory_checks | check_class::init_checks))
    set_stack_memory({map_stack, unmap_stack});
  at_end_of_capturing_streams(Capture::abandon);
  at_end_of_contexts(remove_modules_of);
  at_end_of_contexts(free_memory_of);
  const int capability = compute_capability_from_environment();
  int ordinal = 0;
  for (const int index : visible) {
    add_device(std::make_unique<Device>(ordinal, index, capability, make_default_pool(ordinal)));
    ++ordinal;
  }
  return {};
}

void report_at_exit() {
  checker::write_summary();
  live_objects::report_at_exit();
}

/// After everything that the program does at its end, which may write files.
[[gnu::destructor]] void end_with_the_checkers_status() {
  if (!has_exited()) return;
  const int status = checker::status_of_process();
  if (status == 0) return;
  std::fflush(nullptr);  // which exit would do after this
  std::_Exit(status);
}

}  // namespace

Result<void> initialize(unsigned int flags) {
  if (flags != 0) return ErrorCode::InvalidValue;
  return start_process(start, report_at_exit);
}

}  // namespace cucore::cpu::runtime
