// PTX to cubin. Each compile is a link of its own: nvJitLink cannot complete one twice. A failed create still returns a
// handle, whose log says why, and a completion after a failed add reports success: every step is checked.
#include "src/toolkit/nvjitlink.hpp"

#include "cucore/error.hpp"
#include "src/toolkit/library.hpp"
#include "src/toolkit/running_call.hpp"

namespace cucore::toolkit {
namespace {

std::string log_of(NvJitLinkHandle handle, NvJitLinkResult (*get_size)(NvJitLinkHandle, std::size_t*),
                   NvJitLinkResult (*get)(NvJitLinkHandle, char*)) {
  std::size_t size = 0;
  if (handle == nullptr || get_size(handle, &size) != NvJitLinkResult::success || size == 0) return {};
  std::string text(size, '\0');
  if (get(handle, text.data()) != NvJitLinkResult::success) return {};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

bool has_one_digit(std::string_view flag) {
  constexpr std::string_view start = "-arch=sm_";
  return flag.starts_with(start) && flag.size() == start.size() + 1 && flag.back() >= '1' && flag.back() <= '9';
}

}  // namespace

NvJitLinkResult create_link(NvJitLinkHandle* handle, const std::vector<std::string>& flags) {
  std::vector<const char*> options;
  for (const std::string& flag : flags) {
    if (has_one_digit(flag)) return NvJitLinkResult::unrecognized_arch;
    options.push_back(flag.c_str());
  }
  return nvjitlink().nvJitLinkCreate(handle, static_cast<std::uint32_t>(options.size()), options.data());
}

std::string hint_for(NvJitLinkResult result) {
  switch (result) {
    case NvJitLinkResult::ptx_compile:
      return "correct the PTX where the log points";
    case NvJitLinkResult::unrecognized_option:
    case NvJitLinkResult::unrecognized_arch:
    case NvJitLinkResult::unsupported_arch: {
      const ToolkitLibrary& found = nvjitlink_library();
      return "this nvJitLink is version " + std::to_string(found.major) + "." + std::to_string(found.minor) + " at " +
             found.path.string();
    }
    default:
      return {};
  }
}

NativeLink::~NativeLink() {
  if (handle == nullptr) return;
  if (const RunningCall running; running) nvjitlink().nvJitLinkDestroy(&handle);
}

std::string NativeLink::error_log() const {
  return log_of(handle, nvjitlink().nvJitLinkGetErrorLogSize, nvjitlink().nvJitLinkGetErrorLog);
}

std::string NativeLink::info_log() const {
  return log_of(handle, nvjitlink().nvJitLinkGetInfoLogSize, nvjitlink().nvJitLinkGetInfoLog);
}

LinkedCubin compile_ptx_with_nvjitlink(std::string_view ptx, const std::string& name,
                                       const std::vector<std::string>& flags, std::unique_ptr<NativeLink>& native) {
  const RunningCall running("nvJitLinkComplete");
  const NvJitLinkTable& table = nvjitlink();
  const std::string what = "compiling PTX '" + name + "' to cubin";
  native = std::make_unique<NativeLink>();
  NativeLink& link = *native;
  const auto require = [&](NvJitLinkResult result, const char* call) {
    if (result != NvJitLinkResult::success) check(result, call, what, link.error_log(), hint_for(result));
  };
  require(create_link(&link.handle, flags), "nvJitLinkCreate");
  const std::string terminated(ptx);
  require(
      table.nvJitLinkAddData(link.handle, NvJitLinkInput::ptx, terminated.c_str(), terminated.size() + 1, name.c_str()),
      "nvJitLinkAddData");
  require(table.nvJitLinkComplete(link.handle), "nvJitLinkComplete");
  std::size_t size = 0;
  require(table.nvJitLinkGetLinkedCubinSize(link.handle, &size), "nvJitLinkGetLinkedCubinSize");
  LinkedCubin result;
  result.image.resize(size);
  require(table.nvJitLinkGetLinkedCubin(link.handle, result.image.data()), "nvJitLinkGetLinkedCubin");
  result.log = link.info_log();
  return result;
}

}  // namespace cucore::toolkit
