// Names, numbers and memory of the CPU devices: see device_identity.hpp.
#include "cpu/runtime/process/device_identity.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include "cpu/runtime/process/settings.hpp"

namespace cucore::cpu::runtime {

int device_count_from_environment() { return number_of(Setting::devices, 1, 0, 64); }

std::vector<int> visible_devices() {
  const int count = device_count_from_environment();
  const std::optional<std::string> listed = setting(Setting::visible_devices);
  std::vector<int> visible;
  if (!listed) {
    for (int index = 0; index < count; ++index) visible.push_back(index);
    return visible;
  }
  std::istringstream entries(*listed);
  for (std::string entry; std::getline(entries >> std::ws, entry, ',');) {
    std::vector<int> named;
    for (int index = 0; index < count; ++index)
      if (entry == std::to_string(index) ||
          (entry.starts_with("GPU-") && text_of(device_uuid(index)).starts_with(entry)))
        named.push_back(index);
    if (named.size() != 1 || std::ranges::find(visible, named[0]) != visible.end()) break;
    visible.push_back(named[0]);
  }
  return visible;
}

int compute_capability_from_environment() {
  constexpr int own = 90;
  const std::string text = setting(Setting::compute_capability).value_or("");
  if (text.empty()) return own;
  std::string digits = text;
  std::erase(digits, '.');
  const bool is_number = digits.find_first_not_of("0123456789") == std::string::npos;
  if (is_number && (digits.size() == 2 || digits.size() == 3)) return std::atoi(digits.c_str());
  ignore(Setting::compute_capability, text, "no compute capability such as 8.0; it is as if it were 9.0");
  return own;
}

unsigned int worker_count() {
  static const unsigned int count = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned int>(std::max(1, CPU_COUNT(&set)));
    return static_cast<unsigned int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  }();
  return count;
}

unsigned int multiprocessor_count() {
  static const auto count =
      static_cast<unsigned int>(number_of(Setting::multiprocessors, static_cast<int>(worker_count()), 1, 1024));
  return count;
}

std::string device_name() {
  const unsigned int cores = worker_count();
  return "cucore CPU device (" + std::to_string(cores) + (cores == 1 ? " core)" : " cores)");
}

// FNV-1a over the machine id and the index.
CUuuid device_uuid(int index) {
  std::string seed;
  std::ifstream("/etc/machine-id") >> seed;
  seed += "cucore cpu device " + std::to_string(index);
  CUuuid uuid{};
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (int half = 0; half < 2; ++half) {
    for (const char c : seed) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    for (int byte = 0; byte < 8; ++byte) uuid.bytes[half * 8 + byte] = static_cast<char>(hash >> (8 * byte));
  }
  uuid.bytes[6] = static_cast<char>((uuid.bytes[6] & 0x0f) | 0x40);  // version 4, variant 1
  uuid.bytes[8] = static_cast<char>((uuid.bytes[8] & 0x3f) | 0x80);
  return uuid;
}

std::string text_of(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (std::size_t byte = 0; byte < 16; ++byte) {
    char pair[3];
    std::snprintf(pair, sizeof pair, "%02x", static_cast<unsigned int>(static_cast<unsigned char>(uuid.bytes[byte])));
    if (byte == 4 || byte == 6 || byte == 8 || byte == 10) text += '-';
    text += pair;
  }
  return text;
}

unsigned int pci_bus(int index) { return static_cast<unsigned int>(index + 1) & 0xffu; }

}  // namespace cucore::cpu::runtime
