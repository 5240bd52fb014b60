// Events between processes: see shared_event.hpp.
#include "cpu/runtime/objects/shared_event.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace cucore::cpu::runtime {

namespace {

constexpr std::uint64_t event_magic = 0x746e657665726f63;

/// What CUipcEventHandle holds.
struct EventHandle {
  std::uint64_t magic;
  SharedFileName name;
};
static_assert(sizeof(EventHandle) <= sizeof(CUipcEventHandle));

EventHandle read(const CUipcEventHandle& handle) {
  EventHandle given{};
  std::memcpy(&given, &handle, sizeof given);
  return given;
}

}  // namespace

SharedEvent::State* SharedEvent::map(int file) {
  void* const memory = mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<State*>(memory);
}

SharedEvent::~SharedEvent() {
  if (state_) munmap(state_, sizeof(State));
}

std::shared_ptr<SharedEvent> SharedEvent::create() {
  const int file = memfd_create("cucore event", MFD_CLOEXEC);
  const auto name = name_of_file(file);
  if (!name) return nullptr;
  std::shared_ptr<SharedEvent> event(new SharedEvent(file, *name));
  if (ftruncate(file, sizeof(State)) != 0) return nullptr;
  event->state_ = map(file);
  if (!event->state_) return nullptr;
  new (event->state_) State{event_magic, {0}, {0}};
  return event;
}

bool SharedEvent::is_own(const CUipcEventHandle& handle) {
  const EventHandle given = read(handle);
  return given.magic == event_magic && given.name.is_own();
}

std::shared_ptr<SharedEvent> SharedEvent::open(const CUipcEventHandle& handle) {
  const EventHandle given = read(handle);
  if (given.magic != event_magic) return nullptr;
  std::shared_ptr<SharedEvent> event(new SharedEvent(open_shared_file(given.name), given.name));
  if (event->file_.size() < sizeof(State)) return nullptr;
  event->state_ = map(event->file_.number());
  return event->state_ && event->state_->magic == event_magic ? event : nullptr;
}

void SharedEvent::write(CUipcEventHandle* handle) const {
  const EventHandle made{event_magic, name_};
  *handle = {};
  std::memcpy(handle, &made, sizeof made);
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
