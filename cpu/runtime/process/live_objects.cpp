// Live objects: see live_objects.hpp.
#include "cpu/runtime/process/live_objects.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "cpu/abi/demangle.hpp"
#include "cpu/runtime/process/settings.hpp"

namespace cucore::cpu::runtime::live_objects {
namespace {

constexpr int most_frames = 24;
constexpr int shown_frames = 8;

using Running = std::shared_ptr<std::atomic<bool>>;

struct Birth {
  const char* kind = "";
  long thread = 0;
  Running thread_runs;
  std::string place;  ///< in the caller's language
  std::array<void*, most_frames> frames{};
  int frame_count = 0;
};

struct Registry {
  std::mutex mutex;
  std::map<std::string_view, long> counts;           // by literals
  std::unordered_map<std::uintptr_t, Birth> births;  // only when they are to be reported
};

Registry& registry() {
  static auto* instance = new Registry;  // never destroyed: objects may go very late
  return *instance;
}

std::atomic<Origin> origin{nullptr};

bool places_wanted() {
  static const bool wanted = is_set_to(Setting::report_leaks, "1");
  return wanted;
}

long thread_number() { return syscall(SYS_gettid); }

// True as long as the thread has not ended.
const Running& this_thread_runs() {
  struct Flag {
    Running running = std::make_shared<std::atomic<bool>>(true);
    ~Flag() { running->store(false); }
  };
  thread_local const Flag flag;
  return flag.running;
}

Birth birth(const char* kind) {
  Birth birth;
  birth.kind = kind;
  birth.thread = thread_number();
  birth.thread_runs = this_thread_runs();
  if (const Origin ask = origin.load()) {
    std::array<char, 512> text;
    birth.place.assign(text.data(), ask(text.data(), text.size()));
  }
  birth.frame_count = backtrace(birth.frames.data(), most_frames);
  return birth;
}

std::string name_of(const Dl_info& info, const void* address) {
  std::string text = info.dli_fname;
  text.erase(0, text.rfind('/') + 1);
  if (info.dli_sname == nullptr) return text;
  text += " " + demangled(info.dli_sname);
  char offset[24];
  std::snprintf(offset, sizeof offset, "+0x%tx",
                static_cast<const char*>(address) - static_cast<const char*>(info.dli_saddr));
  return text + offset;
}

void write(std::uintptr_t object, const Birth& birth) {
  std::fprintf(stderr, "  %s 0x%llx, made by thread %ld", birth.kind, static_cast<unsigned long long>(object),
               birth.thread);
  if (!birth.place.empty()) std::fprintf(stderr, " at %s", birth.place.c_str());
  std::fputc('\n', stderr);
  Dl_info own{};
  dladdr(reinterpret_cast<void*>(&report_at_exit), &own);
  int shown = 0;
  for (int i = 0; i < birth.frame_count && shown < shown_frames; ++i) {
    Dl_info info{};
    void* const frame = birth.frames[static_cast<std::size_t>(i)];
    if (dladdr(frame, &info) == 0 || info.dli_fname == nullptr || info.dli_fbase == own.dli_fbase) continue;
    std::fprintf(stderr, "    #%d %s\n", shown++, name_of(info, frame).c_str());
  }
}

}  // namespace

void made(const char* kind, std::uintptr_t object) {
  Registry& self = registry();
  if (!places_wanted()) {
    const std::lock_guard lock(self.mutex);
    ++self.counts[kind];
    return;
  }
  Birth where = birth(kind);
  const std::lock_guard lock(self.mutex);
  ++self.counts[kind];
  self.births.insert_or_assign(object, std::move(where));
}

void gone(const char* kind, std::uintptr_t object) {
  Registry& self = registry();
  const std::lock_guard lock(self.mutex);
  --self.counts[kind];
  self.births.erase(object);
}

std::string summary() {
  Registry& self = registry();
  const std::lock_guard lock(self.mutex);
  std::string text;
  for (const auto& [kind, count] : self.counts)
    if (count != 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + ' ' + std::string(kind);
  return text;
}

std::string caller() {
  const Birth here = birth("");
  if (!here.place.empty()) return here.place;
  Dl_info own{};
  dladdr(reinterpret_cast<void*>(&report_at_exit), &own);
  for (int i = 0; i < here.frame_count; ++i) {
    Dl_info info{};
    void* const frame = here.frames[static_cast<std::size_t>(i)];
    if (dladdr(frame, &info) != 0 && info.dli_fname != nullptr && info.dli_fbase != own.dli_fbase)
      return name_of(info, frame);
  }
  return {};
}

void set_origin(Origin ask) { origin.store(ask); }

void report_at_exit() {
  if (!places_wanted()) return;
  Registry& self = registry();
  const std::lock_guard lock(self.mutex);
  const long ending = thread_number();
  std::map<std::uintptr_t, const Birth*> leaked;
  for (const auto& [object, where] : self.births)
    if (where.thread == ending || !where.thread_runs->load()) leaked.emplace(object, &where);
  if (leaked.empty()) return;
  std::fprintf(stderr, "cucore CPU device: %zu objects are alive at exit:\n", leaked.size());
  for (const auto& [object, where] : leaked) write(object, *where);
}

}  // namespace cucore::cpu::runtime::live_objects
