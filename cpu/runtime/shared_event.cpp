// Events between processes: see shared_event.hpp.
#include "cpu/runtime/shared_event.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace cucore::cpu::runtime {

namespace {

constexpr std::uint64_t kMagic = 0x746e657665726f63;

std::string names_of_this_process() { return "/cucore-event-" + std::to_string(getpid()) + "-"; }

std::string name_in(const CUipcEventHandle& handle) {
  return {handle.reserved, strnlen(handle.reserved, sizeof handle.reserved)};
}

}  // namespace

SharedEvent::SharedEvent(std::string name, State* state, bool is_owner)
    : name_(std::move(name)), state_(state), is_owner_(is_owner) {}

SharedEvent::~SharedEvent() {
  munmap(state_, sizeof(State));
  if (is_owner_) shm_unlink(name_.c_str());
}

std::shared_ptr<SharedEvent> SharedEvent::create() {
  static std::atomic<std::uint64_t> serial{0};
  const std::string name = names_of_this_process() + std::to_string(serial.fetch_add(1));
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (ftruncate(file, sizeof(State)) == 0)
    memory = mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) {
    shm_unlink(name.c_str());
    return nullptr;
  }
  auto* const state = new (memory) State{kMagic, {0}, {0}};
  return std::shared_ptr<SharedEvent>(new SharedEvent(name, state, true));
}

bool SharedEvent::is_own(const CUipcEventHandle& handle) {
  return name_in(handle).starts_with(names_of_this_process());
}

std::shared_ptr<SharedEvent> SharedEvent::open(const CUipcEventHandle& handle) {
  const std::string name = name_in(handle);
  if (!name.starts_with("/cucore-event-") || name.find('/', 1) != std::string::npos) return nullptr;
  const int file = shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (file < 0) return nullptr;
  struct stat status{};
  void* memory = MAP_FAILED;
  if (fstat(file, &status) == 0 && status.st_size >= static_cast<off_t>(sizeof(State)))
    memory = mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  auto* const state = static_cast<State*>(memory);
  if (state->magic == kMagic) return std::shared_ptr<SharedEvent>(new SharedEvent(name, state, false));
  munmap(memory, sizeof(State));
  return nullptr;
}

void SharedEvent::write(CUipcEventHandle* handle) const {
  *handle = {};
  name_.copy(handle->reserved, sizeof handle->reserved - 1);
}

std::uint64_t SharedEvent::begin() { return state_->begun.fetch_add(1) + 1; }

void SharedEvent::reach(std::uint64_t number) {
  std::uint64_t seen = state_->reached.load();
  while (seen < number && !state_->reached.compare_exchange_weak(seen, number)) {
  }
}

std::uint64_t SharedEvent::latest() const { return state_->begun.load(); }

bool SharedEvent::is_reached(std::uint64_t number) const { return state_->reached.load() >= number; }

}  // namespace cucore::cpu::runtime
