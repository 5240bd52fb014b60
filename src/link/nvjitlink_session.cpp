// Linking with nvJitLink. A failed create still returns a handle, whose log says why, and a completion after a failed
// add reports success: every step is checked.
#include <utility>

#include "src/link/link_session.hpp"
#include "src/toolkit/library.hpp"
#include "src/toolkit/nvjitlink.hpp"
#include "src/toolkit/running_call.hpp"

namespace cucore::detail {
namespace {

using toolkit::NvJitLinkHandle;
using toolkit::NvJitLinkInput;
using toolkit::NvJitLinkResult;

NvJitLinkInput nvjitlink_input_type(CodeType type) {
  switch (type.value()) {
    case CodeType::ptx:
      return NvJitLinkInput::ptx;
    case CodeType::cubin:
      return NvJitLinkInput::cubin;
    case CodeType::ltoir:
      return NvJitLinkInput::ltoir;
    case CodeType::fatbin:
      return NvJitLinkInput::fatbin;
    case CodeType::object:
      return NvJitLinkInput::object;
    case CodeType::library:
      return NvJitLinkInput::library;
  }
  return NvJitLinkInput::any;
}

// The text between the first quotes after `before`, e.g. the symbol in "Undefined reference to 'f' in 'k'".
std::string quoted_after(const std::string& log, std::string_view before) {
  const std::size_t at = log.find(before);
  const std::size_t begin = at == std::string::npos ? at : log.find('\'', at);
  const std::size_t end = begin == std::string::npos ? begin : log.find('\'', begin + 1);
  return end == std::string::npos ? std::string() : log.substr(begin + 1, end - begin - 1);
}

std::string hint_for(NvJitLinkResult result, const std::string& log) {
  for (const std::string_view words :
       {"Undefined reference to", "Unresolved extern function", "Unresolved extern variable"}) {
    if (const std::string symbol = quoted_after(log, words); !symbol.empty()) {
      return "symbol '" + symbol + "' is declared but defined by no input: add the object that defines it";
    }
  }
  if (result == NvJitLinkResult::incorrect_input_type) return "the bytes are not what their code type says";
  return toolkit::hint_for(result);
}

class NvJitLinkSession final : public LinkSession {
 public:
  NvJitLinkSession(std::string description, const std::vector<std::string>& flags, CodeType target)
      : description_(std::move(description)), target_(target) {
    const toolkit::RunningCall running("nvJitLinkCreate");
    std::string joined;
    for (const std::string& flag : flags) joined += " " + flag;
    const NvJitLinkResult result = toolkit::create_link(&handle_, flags);
    if (result == NvJitLinkResult::success) return;
    const std::string log = error_log();
    destroy();
    toolkit::check(result, "nvJitLinkCreate", description_ + " with" + joined, log, hint_for(result, log));
  }
  NvJitLinkSession(const NvJitLinkSession&) = delete;
  NvJitLinkSession& operator=(const NvJitLinkSession&) = delete;
  ~NvJitLinkSession() override { destroy(); }

  void add(const LinkInput& input) override {
    const toolkit::RunningCall running("nvJitLinkAddData");
    const bool ptx = input.type == CodeType(CodeType::ptx);  // a std::string ends with the NUL that PTX needs
    require(toolkit::nvjitlink().nvJitLinkAddData(handle_, nvjitlink_input_type(input.type), input.bytes.c_str(),
                                                  input.bytes.size() + (ptx ? 1 : 0), input.name.c_str()),
            "nvJitLinkAddData", ": input '" + input.name + "' (" + std::string(input.type.name()) + ")");
  }

  void complete() override {
    const toolkit::RunningCall running("nvJitLinkComplete");
    require(toolkit::nvjitlink().nvJitLinkComplete(handle_), "nvJitLinkComplete");
  }

  std::string image() override {
    const toolkit::RunningCall running("nvJitLinkGetLinkedCubin");
    const toolkit::NvJitLinkTable& table = toolkit::nvjitlink();
    std::size_t size = 0;
    std::string image;
    if (target_ == CodeType(CodeType::ptx)) {
      require(table.nvJitLinkGetLinkedPtxSize(handle_, &size), "nvJitLinkGetLinkedPtxSize");
      image.resize(size);
      require(table.nvJitLinkGetLinkedPtx(handle_, image.data()), "nvJitLinkGetLinkedPtx");
      while (image.ends_with('\0')) image.pop_back();
    } else if (target_ == CodeType(CodeType::ltoir)) {
      require(table.nvJitLinkGetLinkedLTOIRSize(handle_, &size), "nvJitLinkGetLinkedLTOIRSize");
      image.resize(size);
      require(table.nvJitLinkGetLinkedLTOIR(handle_, image.data()), "nvJitLinkGetLinkedLTOIR");
    } else {
      require(table.nvJitLinkGetLinkedCubinSize(handle_, &size), "nvJitLinkGetLinkedCubinSize");
      image.resize(size);
      require(table.nvJitLinkGetLinkedCubin(handle_, image.data()), "nvJitLinkGetLinkedCubin");
    }
    return image;
  }

  std::string info_log() const override {
    return log(toolkit::nvjitlink().nvJitLinkGetInfoLogSize, toolkit::nvjitlink().nvJitLinkGetInfoLog);
  }
  std::string error_log() const override {
    return log(toolkit::nvjitlink().nvJitLinkGetErrorLogSize, toolkit::nvjitlink().nvJitLinkGetErrorLog);
  }
  void* handle() const noexcept override { return handle_; }

 private:
  std::string log(NvJitLinkResult (*get_size)(NvJitLinkHandle, std::size_t*),
                  NvJitLinkResult (*get)(NvJitLinkHandle, char*)) const {
    std::size_t size = 0;
    if (handle_ == nullptr || get_size(handle_, &size) != NvJitLinkResult::success || size == 0) return {};
    std::string text(size, '\0');
    if (get(handle_, text.data()) != NvJitLinkResult::success) return {};
    while (text.ends_with('\0')) text.pop_back();
    return text;
  }

  void require(NvJitLinkResult result, const char* call, const std::string& on = {}) const {
    if (result == NvJitLinkResult::success) return;
    const std::string log = error_log();
    toolkit::check(result, call, description_ + on, log, hint_for(result, log));
  }

  void destroy() noexcept {
    const toolkit::RunningCall running;
    if (handle_ != nullptr && running) toolkit::nvjitlink().nvJitLinkDestroy(&handle_);
    handle_ = nullptr;
  }

  const std::string description_;
  const CodeType target_;
  NvJitLinkHandle handle_ = nullptr;
};

}  // namespace

std::unique_ptr<LinkSession> nvjitlink_session(const std::string& description, const std::vector<std::string>& flags,
                                               CodeType target) {
  return std::make_unique<NvJitLinkSession>(description, flags, target);
}

}  // namespace cucore::detail
