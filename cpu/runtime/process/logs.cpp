// The driver's messages: see logs.hpp.
#include "cpu/runtime/process/logs.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <vector>

namespace cucore::cpu::runtime::logs {

namespace {

constexpr const char* missing = "older messages are not shown\n";

struct Receiver {
  CUlogsCallback callback = nullptr;
  void* data = nullptr;
};

struct Logs {
  std::mutex mutex;
  std::deque<std::string> messages;  ///< each with its newline
  CUlogIterator first = 0;           ///< the number of the oldest of them
  std::size_t bytes = 0;
  std::map<std::uintptr_t, Receiver> receivers;
  std::uintptr_t next_handle = 1;

  CUlogIterator end() const { return first + static_cast<CUlogIterator>(messages.size()); }
};

Logs& self() {
  static auto* instance = new Logs;
  return *instance;
}

}  // namespace

void add(const std::string& message) {
  std::string line = message.substr(0, room_bytes - 1);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  std::vector<Receiver> receivers;
  {
    Logs& logs = self();
    const std::lock_guard lock(logs.mutex);
    logs.bytes += line.size() + 1;
    logs.messages.push_back(line + '\n');
    for (; logs.bytes > room_bytes; ++logs.first) {
      logs.bytes -= logs.messages.front().size();
      logs.messages.pop_front();
    }
    for (const auto& [handle, receiver] : logs.receivers) receivers.push_back(receiver);
  }
  // With no lock held: a callback may call the driver.
  for (const Receiver& each : receivers) each.callback(each.data, CU_LOG_LEVEL_ERROR, line.data(), line.size());
}

CUlogsCallbackHandle register_callback(CUlogsCallback callback, void* data) {
  const std::lock_guard lock(self().mutex);
  const std::uintptr_t handle = self().next_handle++;
  self().receivers[handle] = {callback, data};
  return reinterpret_cast<CUlogsCallbackHandle>(handle);
}

bool unregister_callback(CUlogsCallbackHandle handle) {
  const std::lock_guard lock(self().mutex);
  return self().receivers.erase(reinterpret_cast<std::uintptr_t>(handle)) != 0;
}

CUlogIterator current() {
  const std::lock_guard lock(self().mutex);
  return self().end();
}

bool take(CUlogIterator* from, std::size_t room, std::string* text) {
  Logs& logs = self();
  const std::lock_guard lock(logs.mutex);
  const CUlogIterator wanted = from ? *from : 0;
  if (wanted > logs.end()) return false;
  CUlogIterator at = logs.end();
  std::size_t bytes = 0;
  // As many of the last as there is room for, and for the line that says so, unless it is all.
  const std::size_t notice = std::char_traits<char>::length(missing);
  const auto fits = [&](CUlogIterator number) {
    const std::size_t with_it = bytes + logs.messages[number - logs.first].size();
    return with_it + (number == wanted ? 0 : notice) <= room;
  };
  for (; at > wanted && at > logs.first && fits(at - 1); --at) bytes += logs.messages[at - 1 - logs.first].size();
  if (at == logs.end() && wanted < logs.end()) return false;
  text->assign(at > wanted ? missing : "");
  for (CUlogIterator number = at; number < logs.end(); ++number) *text += logs.messages[number - logs.first];
  if (from) *from = logs.end();
  return true;
}

}  // namespace cucore::cpu::runtime::logs
