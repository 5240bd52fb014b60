// Linking with the driver (cuLink...): without LTO-IR, in the current context or that of device 0.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "cucore/error.hpp"
#include "src/device/context_state.hpp"
#include "src/driver/table.hpp"
#include "src/formats/architecture.hpp"
#include "src/handles/context_scope.hpp"
#include "src/link/link_session.hpp"

namespace cucore::detail {
namespace {

int input_type(CodeType type) {
  switch (type.value()) {
    case CodeType::ptx:
      return driver::CU_JIT_INPUT_PTX;
    case CodeType::fatbin:
      return driver::CU_JIT_INPUT_FATBINARY;
    case CodeType::object:
      return driver::CU_JIT_INPUT_OBJECT;
    case CodeType::library:
      return driver::CU_JIT_INPUT_LIBRARY;
    default:
      return driver::CU_JIT_INPUT_CUBIN;
  }
}

// A context for the calls, which the thread need not have.
class LinkContext {
 public:
  LinkContext() : scope_(current_context() == nullptr ? primary_context(0)->handle : nullptr) {}

 private:
  ContextScope scope_;
};

class DriverSession final : public LinkSession {
 public:
  DriverSession(std::string description, const std::vector<JitOption>& options)
      : description_(std::move(description)), info_(log_size), error_(log_size) {
    const auto option = [this](int name, std::uintptr_t value) {
      names_.push_back(name);
      values_.push_back(reinterpret_cast<void*>(value));  // NOLINT(performance-no-int-to-ptr): the driver's own form
    };
    option(driver::CU_JIT_INFO_LOG_BUFFER, reinterpret_cast<std::uintptr_t>(info_.data()));
    option(driver::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, log_size);
    option(driver::CU_JIT_ERROR_LOG_BUFFER, reinterpret_cast<std::uintptr_t>(error_.data()));
    option(driver::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, log_size);
    for (const auto& [name, value] : options) option(name, value);
    const LinkContext context;
    require(driver::table().cuLinkCreate(static_cast<unsigned>(names_.size()), names_.data(), values_.data(), &state_),
            "cuLinkCreate", "");
  }
  DriverSession(const DriverSession&) = delete;
  DriverSession& operator=(const DriverSession&) = delete;
  ~DriverSession() override {
    // Destroyed before the logs and options, which the driver's object points into.
    const driver::Table* table = driver::table_for_release();
    if (table != nullptr && state_ != nullptr) table->cuLinkDestroy(state_);
  }

  void add(const LinkInput& input) override {
    const LinkContext context;
    const bool ptx = input.type == CodeType(CodeType::ptx);
    // The driver takes a pointer that is not const and does not write through it.
    void* bytes = const_cast<char*>(input.bytes.c_str());
    require(driver::table().cuLinkAddData(state_, input_type(input.type), bytes, input.bytes.size() + (ptx ? 1 : 0),
                                          input.name.c_str(), 0, nullptr, nullptr),
            "cuLinkAddData", ": input '" + input.name + "' (" + std::string(input.type.name()) + ")");
  }

  void complete() override {
    const LinkContext context;
    void* image = nullptr;
    std::size_t size = 0;
    require(driver::table().cuLinkComplete(state_, &image, &size), "cuLinkComplete", "");
    image_.assign(static_cast<const char*>(image), size);
  }

  std::string image() override { return image_; }
  std::string info_log() const override { return text(info_); }
  std::string error_log() const override { return text(error_); }
  void* handle() const noexcept override { return state_; }

 private:
  static constexpr std::size_t log_size = std::size_t{1} << 18;

  static std::string text(const std::vector<char>& log) {
    return {log.begin(), std::find(log.begin(), log.end(), '\0')};
  }

  void require(driver::CUresult code, const char* call, const std::string& on) const {
    if (code != driver::CUDA_SUCCESS) driver::fail(code, call, description_ + on, {}, error_log());
  }

  const std::string description_;
  std::vector<char> info_;
  std::vector<char> error_;
  std::vector<int> names_;
  std::vector<void*> values_;
  driver::CUlinkState state_ = nullptr;
  std::string image_;
};

}  // namespace

int driver_target(std::string_view arch) noexcept {
  const Architecture parts = parse_architecture(arch);
  if (parts.suffix == 'a') return parts.number + driver::accelerated_target;
  if (parts.suffix == 'f') return parts.number + driver::family_target;
  return parts.number;
}

std::unique_ptr<LinkSession> driver_session(const std::string& description, const std::vector<JitOption>& options) {
  return std::make_unique<DriverSession>(description, options);
}

}  // namespace cucore::detail
