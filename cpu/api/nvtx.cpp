// NVTX ranges and marks in the trace (docs/tracing.md). A program's NVTX, which is in its own code, opens the library
// that NVTX_INJECTION64_PATH names and hands it tables of function pointers to fill; this library can be that one.
// What is needed of NVTX's binary interface, version 3, stands here: its headers are not at hand where this is built.
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "cpu/api/cucore_cpu.h"
#include "cpu/runtime/process/trace.hpp"

namespace {

namespace trace = cucore::cpu::runtime::trace;

// ---- NVTX's interface ----------------------------------------------------------------------------------------------

struct Domain {
  std::string name;
};

struct Attributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;  // 1: ARGB
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  union {
    std::uint64_t unsigned_64;
    std::int64_t signed_64;
    double binary_64;
    std::uint32_t unsigned_32;
    std::int32_t signed_32;
    float binary_32;
  } payload;
  std::int32_t message_type;  // 1: bytes, 2: wide characters, 3: a registered string
  union {
    const char* bytes;
    const wchar_t* wide;
    const std::string* registered;
  } message;
};
static_assert(sizeof(Attributes) == 48);

using Function = void (*)();

struct Callbacks {
  std::size_t size;
  int (*function_table)(int module, Function*** table, unsigned int* size);
};
constexpr std::uint32_t callbacks_table = 1;

// ---- what is known of ranges ---------------------------------------------------------------------------------------

struct Range {
  std::string name;
  trace::Row row;
};

struct Known {
  std::mutex mutex;
  std::uint64_t last_range = 0;
  std::map<std::uint64_t, Range> ranges;  ///< that were started and have not ended
  std::map<std::pair<const Domain*, std::uint32_t>, std::string> categories;
};

Known& known() {
  static auto* const instance = new Known;
  return *instance;
}

thread_local int depth = 0;  ///< ranges that the thread has pushed

std::string utf8(const wchar_t* text) {
  std::string bytes;
  for (; text != nullptr && *text != 0; ++text) {
    const auto c = std::bit_cast<std::uint32_t>(*text);
    const auto add = [&](std::uint32_t byte) { bytes += static_cast<char>(byte); };
    if (c < 0x80) {
      add(c);
    } else if (c < 0x800) {
      add(0xC0 | c >> 6), add(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
      add(0xE0 | c >> 12), add(0x80 | (c >> 6 & 0x3F)), add(0x80 | (c & 0x3F));
    } else {
      add(0xF0 | (c >> 18 & 7)), add(0x80 | (c >> 12 & 0x3F)), add(0x80 | (c >> 6 & 0x3F)), add(0x80 | (c & 0x3F));
    }
  }
  return bytes;
}

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

bool is_whole(const Attributes* attributes) { return attributes != nullptr && attributes->size >= sizeof *attributes; }

std::string name_of(const Attributes* attributes) {
  std::string name;
  if (is_whole(attributes) && attributes->message.bytes != nullptr) {
    if (attributes->message_type == 1) name = attributes->message.bytes;
    if (attributes->message_type == 2) name = utf8(attributes->message.wide);
    if (attributes->message_type == 3) name = *attributes->message.registered;
  }
  return name.empty() ? "range" : name;
}

trace::Arguments facts_of(const Domain* domain, const Attributes* attributes) {
  trace::Arguments facts;
  if (domain != nullptr) facts.add("domain", domain->name);
  if (!is_whole(attributes)) return facts;
  if (attributes->category != 0) {
    const std::lock_guard lock(known().mutex);
    const auto named = known().categories.find({domain, attributes->category});
    if (named != known().categories.end())
      facts.add("category", named->second);
    else
      facts.add("category", std::uint64_t{attributes->category});
  }
  switch (attributes->payload_type) {
    case 1:
      facts.add("payload", attributes->payload.unsigned_64);
      break;
    case 2:
      facts.raw("payload", std::to_string(attributes->payload.signed_64));
      break;
    case 3:
      facts.add("payload", std::to_string(attributes->payload.binary_64));
      break;
    case 4:
      facts.add("payload", std::uint64_t{attributes->payload.unsigned_32});
      break;
    case 5:
      facts.raw("payload", std::to_string(attributes->payload.signed_32));
      break;
    case 6:
      facts.add("payload", std::to_string(attributes->payload.binary_32));
      break;
    default:
      break;
  }
  return facts;
}

// ---- marks, ranges of a thread, ranges -----------------------------------------------------------------------------

void mark(const Domain* domain, const std::string& name, const Attributes* attributes) {
  trace::write(
      trace::event('i', name, "nvtx", trace::thread_row(), trace::now(), facts_of(domain, attributes), R"(,"s":"t")"));
}

int push(const Domain* domain, const std::string& name, const Attributes* attributes) {
  trace::write(trace::event('B', name, "nvtx", trace::thread_row(), trace::now(), facts_of(domain, attributes)));
  return depth++;
}

int pop() {
  constexpr int nothing_pushed = -1;
  if (depth == 0) return nothing_pushed;
  trace::write(trace::event('E', "", "nvtx", trace::thread_row(), trace::now()));
  return --depth;
}

std::string with_id(std::uint64_t id) { return ",\"id\":" + std::to_string(id); }

std::uint64_t start(const Domain* domain, const std::string& name, const Attributes* attributes) {
  const trace::Row row = trace::thread_row();
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(known().mutex);
    id = ++known().last_range;
    known().ranges[id] = {name, row};
  }
  trace::write(trace::event('b', name, "nvtx", row, trace::now(), facts_of(domain, attributes), with_id(id)));
  return id;
}

void end(std::uint64_t id) {
  Range range;
  {
    const std::lock_guard lock(known().mutex);
    const auto found = known().ranges.find(id);
    if (found == known().ranges.end()) return;
    range = std::move(found->second);
    known().ranges.erase(found);
  }
  trace::write(trace::event('e', range.name, "nvtx", range.row, trace::now(), {}, with_id(id)));
}

void name_category(const Domain* domain, std::uint32_t category, std::string name) {
  const std::lock_guard lock(known().mutex);
  known().categories[{domain, category}] = std::move(name);
}

void name_thread(std::uint32_t thread, const std::string& name) {
  trace::Arguments arguments;
  arguments.add("name", name);
  (void)trace::thread_row();  // whose own name must not come later
  trace::write(trace::event('M', "thread_name", "__metadata", {getpid(), thread}, 0, arguments));
}

// ---- the tables ----------------------------------------------------------------------------------------------------

/// Fills what there is of a module's table. Entry 0 is none.
class Table {
 public:
  Table(const Callbacks& callbacks, int module) {
    if (callbacks.function_table(module, &table_, &size_) == 0) size_ = 0;
  }
  template <class F>
  void set(unsigned int index, F* function) const {
    if (index < size_ && table_[index] != nullptr) *table_[index] = reinterpret_cast<Function>(function);
  }

 private:
  Function** table_ = nullptr;
  unsigned int size_ = 0;
};

void fill_core(const Table& table) {
  table.set(1, +[](const Attributes* each) { mark(nullptr, name_of(each), each); });
  table.set(2, +[](const char* name) { mark(nullptr, text_of(name), nullptr); });
  table.set(3, +[](const wchar_t* name) { mark(nullptr, utf8(name), nullptr); });
  table.set(4, +[](const Attributes* each) { return start(nullptr, name_of(each), each); });
  table.set(5, +[](const char* name) { return start(nullptr, text_of(name), nullptr); });
  table.set(6, +[](const wchar_t* name) { return start(nullptr, utf8(name), nullptr); });
  table.set(7, +[](std::uint64_t id) { end(id); });
  table.set(8, +[](const Attributes* each) { return push(nullptr, name_of(each), each); });
  table.set(9, +[](const char* name) { return push(nullptr, text_of(name), nullptr); });
  table.set(10, +[](const wchar_t* name) { return push(nullptr, utf8(name), nullptr); });
  table.set(11, +[] { return pop(); });
  table.set(12, +[](std::uint32_t id, const char* name) { name_category(nullptr, id, text_of(name)); });
  table.set(13, +[](std::uint32_t id, const wchar_t* name) { name_category(nullptr, id, utf8(name)); });
  table.set(14, +[](std::uint32_t thread, const char* name) { name_thread(thread, text_of(name)); });
  table.set(15, +[](std::uint32_t thread, const wchar_t* name) { name_thread(thread, utf8(name)); });
}

// Domains and registered strings stay: their handles may be used until the process ends.
void fill_domains(const Table& table) {
  table.set(1, +[](const Domain* domain, const Attributes* each) { mark(domain, name_of(each), each); });
  table.set(2, +[](const Domain* domain, const Attributes* each) { return start(domain, name_of(each), each); });
  table.set(3, +[](const Domain*, std::uint64_t id) { end(id); });
  table.set(4, +[](const Domain* domain, const Attributes* each) { return push(domain, name_of(each), each); });
  table.set(5, +[](const Domain*) { return pop(); });
  table.set(
      8, +[](const Domain* domain, std::uint32_t id, const char* name) { name_category(domain, id, text_of(name)); });
  table.set(
      9, +[](const Domain* domain, std::uint32_t id, const wchar_t* name) { name_category(domain, id, utf8(name)); });
  table.set(10, +[](const Domain*, const char* text) { return new std::string(text_of(text)); });
  table.set(11, +[](const Domain*, const wchar_t* text) { return new std::string(utf8(text)); });
  table.set(12, +[](const char* name) { return new Domain{text_of(name)}; });
  table.set(13, +[](const wchar_t* name) { return new Domain{utf8(name)}; });
}

}  // namespace

#pragma GCC visibility push(default)

int InitializeInjectionNvtx2(const void* (*export_table)(uint32_t id)) {
  constexpr int core = 1, domains = 5;
  trace::start();
  if (!trace::is_open() || export_table == nullptr) return 0;
  const auto* const callbacks = static_cast<const Callbacks*>(export_table(callbacks_table));
  if (callbacks == nullptr || callbacks->size < sizeof *callbacks) return 0;
  fill_core(Table(*callbacks, core));
  fill_domains(Table(*callbacks, domains));
  return 1;
}
