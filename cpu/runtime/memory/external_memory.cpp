// Memory of others: see external_memory.hpp.
#include "cpu/runtime/memory/external_memory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpu/runtime/address_space/address_space.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/process/handle_table.hpp"

namespace cucore::cpu::runtime {

namespace {

class ExternalMemory {
 public:
  ExternalMemory(int file, std::size_t size) : file_(file), size_(size) {}
  ~ExternalMemory() { close(file_); }
  ExternalMemory(const ExternalMemory&) = delete;
  ExternalMemory& operator=(const ExternalMemory&) = delete;

  int file() const { return file_; }
  std::size_t size() const { return size_; }

 private:
  const int file_;
  const std::size_t size_;
};

using Table = HandleTable<ExternalMemory, HandleKind::ExternalMemory>;
Table& table() {
  static auto* instance = new Table;
  return *instance;
}

/// Regular files and memory of sufficient size, open for reading and writing: what can be mapped without later faults.
bool can_be_mapped(int file, std::size_t size) {
  struct stat status{};
  return size != 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
         static_cast<std::size_t>(status.st_size) >= size && (fcntl(file, F_GETFL) & O_ACCMODE) == O_RDWR;
}

}  // namespace

Result<CUexternalMemory> import_external_memory(int file, std::size_t size) {
  if (!can_be_mapped(file, size)) return ErrorCode::InvalidValue;
  return reinterpret_cast<CUexternalMemory>(table().insert(std::make_shared<ExternalMemory>(file, size)));
}

Result<void> destroy_external_memory(CUexternalMemory handle) {
  return table().remove(handle) ? Result<void>() : ErrorCode::InvalidHandle;
}

Result<std::uintptr_t> map_external_buffer(Context& context, CUexternalMemory handle, std::size_t offset,
                                           std::size_t size) {
  const auto memory = table().find(handle);
  if (!memory) return ErrorCode::InvalidHandle;
  if (size == 0 || offset > memory->size() || size > memory->size() - offset) return ErrorCode::InvalidValue;
  const std::uintptr_t base = AddressSpace::instance().map_part(memory->file(), offset, size);
  if (base == 0) return ErrorCode::OutOfMemory;
  Allocation allocation;
  allocation.base = base;
  allocation.size = size;
  allocation.context = &context.home();
  allocation.device = context.device().ordinal();
  allocation.origin = Allocation::Origin::External;
  enter_allocation(std::move(allocation));
  return base;
}

}  // namespace cucore::cpu::runtime
