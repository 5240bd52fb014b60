// Calls NVRTC: see device_code.hpp.
#include "cpu/toolkit_shims/device_code.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "cpu/toolkit_shims/cubin_ptx.hpp"
#include "cpu/toolkit_shims/nvrtc_headers.hpp"
#include "cpu/toolkit_shims/real_library.hpp"

namespace cucore::cpu::toolkit_shims {

namespace {

/// What a pair of functions of NVRTC gives, "nvrtcGet" + `what` + "Size" and without; empty if there is nothing.
std::string bytes_of(void* program, const std::string& what) {
  auto* const get_size = real<int(void*, std::size_t*)>(("nvrtcGet" + what + "Size").c_str());
  auto* const get = real<int(void*, char*)>(("nvrtcGet" + what).c_str());
  std::size_t size = 0;
  if (!get_size || !get || get_size(program, &size) != 0) return {};
  std::string bytes(size, '\0');
  if (size != 0 && get(program, bytes.data()) != 0) bytes.clear();
  return bytes;
}

std::string text_of(void* program, const std::string& what) {
  std::string text = bytes_of(program, what);
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

template <class Number>
void put(std::string& bytes, std::size_t offset, Number value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

std::string fat_binary_entry(std::uint16_t kind, std::string payload, std::uint32_t architecture, std::uint64_t flags) {
  const bool is_ptx = kind == 1;
  payload.resize((payload.size() + (is_ptx ? 1 : 0) + 7) / 8 * 8, '\0');
  std::string header(is_ptx ? 80 : 64, '\0');
  put(header, 0, kind);
  put(header, 2, std::uint16_t{0x0101});
  put(header, 4, static_cast<std::uint32_t>(header.size()));
  put(header, 8, static_cast<std::uint64_t>(payload.size()));
  if (is_ptx) {  // where the compiler's options are described and where they lie: none
    put(header, 20, std::uint32_t{64});
    put(header, 64, std::uint64_t{72});
  }
  put(header, 24, is_ptx ? std::uint32_t{0x00090000} : std::uint32_t{0x00010008});
  put(header, 28, architecture);
  put(header, 40, flags);
  return header + payload;
}

}  // namespace

Result<DeviceCode> compile_device_code(const std::filesystem::path& library, const Source& source,
                                       const std::vector<std::string>& options) {
  cucore_shim_forward_to(library.c_str());
  auto* const create =
      real<int(void**, const char*, const char*, int, const char* const*, const char* const*)>("nvrtcCreateProgram");
  auto* const compile = real<int(void*, int, const char* const*)>("nvrtcCompileProgram");
  if (!create || !compile)
    return Failure(ErrorCode::NotFound, "nvcc fatal   : " + library.string() + " could not be loaded\n");
  std::vector<const char*> names, texts, words;
  for (const MemoryHeader& header : standard_headers()) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  for (const std::string& option : options) words.push_back(option.c_str());
  void* program = nullptr;
  if (create(&program, source.text.c_str(), source.name.c_str(), static_cast<int>(names.size()), texts.data(),
             names.data()) != 0)
    return Failure(ErrorCode::Unknown, "nvcc fatal   : NVRTC made no program of '" + source.name + "'\n");
  const int result = compile(program, static_cast<int>(words.size()), words.data());
  DeviceCode code{
      .cubin = bytes_of(program, "CUBIN"), .ptx = text_of(program, "PTX"), .log = text_of(program, "ProgramLog")};
  if (result != 0 || code.ptx.empty() || code.cubin.empty())
    return Failure(ErrorCode::InvalidPtx, code.log.empty() ? "nvcc fatal   : NVRTC failed\n" : code.log);
  return code;
}

std::string fat_binary_of(const DeviceCode& code, const std::string& arch) {
  const auto number = static_cast<std::uint32_t>(std::atoi(arch.c_str() + std::min<std::size_t>(3, arch.size())));
  std::uint64_t flags = 0x11;  // 64 bits, Linux
  if (arch.ends_with('a')) flags |= 0x100000;
  if (arch.ends_with('f')) flags |= 0x200000;
  const std::string entries =
      fat_binary_entry(2, code.cubin, number, flags) + fat_binary_entry(1, code.ptx, number, flags);
  std::string image(16, '\0');
  put(image, 0, std::uint32_t{0xba55ed50});
  put(image, 4, std::uint16_t{1});
  put(image, 6, std::uint16_t{16});
  put(image, 8, static_cast<std::uint64_t>(entries.size()));
  return image + entries;
}

std::pair<int, int> nvrtc_version(const std::filesystem::path& library) {
  int major = 13, minor = 0;
  if (!library.empty()) {
    cucore_shim_forward_to(library.c_str());
    auto* const version = real<int(int*, int*)>("nvrtcVersion");
    if (version) version(&major, &minor);
  }
  return {major, minor};
}

}  // namespace cucore::cpu::toolkit_shims
