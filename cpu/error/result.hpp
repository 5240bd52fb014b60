// How functions below the driver's entries fail: `Result<T>` is a value or a Failure, which is one of the driver's
// codes and, where there is more to say, a sentence.
//
//   Result<std::string> read(const char* path) {
//     if (!path) return ErrorCode::InvalidValue;
//     ...
//     return Failure(ErrorCode::FileNotFound, "there is no file " + std::string(path));
//   }
//
//   Result<void> load(const char* path) {
//     Result<std::string> text = read(path);
//     if (!text) return std::move(text).failure();                       // passed on as it is
//     if (Result<void> checked = check(*text); !checked) return checked;  // moved, since it is the same type
//     return {};                                                          // success
//   }
//
// Only the PTX parser returns something else, ParseResult, since it may have to report many faults of one text.
//
// A Result<void> is one word, zero for success: no allocation, one test. A code without a sentence needs no allocation
// either, since it may be a frequent answer (NotReady). Entries of the driver translate codes (driver_result.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace cucore::cpu {

/// Numbered as the driver's are; there is no success among them.
enum class ErrorCode : std::uint16_t {
#define ERROR_CODE(name, number, of_driver) name = number,
#include "cpu/error/codes.def"
#undef ERROR_CODE
};

template <class T>
class Result;

class [[nodiscard]] Failure {
 public:
  explicit Failure(ErrorCode code) noexcept : word_(std::uintptr_t{static_cast<std::uint16_t>(code)} << 1 | 1) {}
  Failure(ErrorCode code, std::string sentence)
      : word_(sentence.empty() ? Failure(code).word_
                               : reinterpret_cast<std::uintptr_t>(new Said{code, std::move(sentence)})) {}
  Failure(Failure&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
  Failure& operator=(Failure&& other) noexcept {
    std::swap(word_, other.word_);
    return *this;
  }
  ~Failure() {
    if (has_sentence()) delete said();
  }

  ErrorCode code() const { return has_sentence() ? said()->code : static_cast<ErrorCode>(word_ >> 1); }
  /// What is wrong, and what to do if that is known; empty where the code says it all.
  std::string sentence() const& { return has_sentence() ? said()->sentence : std::string(); }
  std::string sentence() && { return has_sentence() ? std::move(said()->sentence) : std::string(); }

 private:
  template <class T>
  friend class Result;

  struct Said {
    ErrorCode code;
    std::string sentence;
  };

  Failure() noexcept = default;  // none: success, or moved from
  bool has_sentence() const { return word_ != 0 && (word_ & 1) == 0; }
  Said* said() const { return reinterpret_cast<Said*>(word_); }

  std::uintptr_t word_ = 0;  ///< 0: none; odd: a code; else the address of what is said
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() noexcept = default;
  Result(ErrorCode code) noexcept : failure_(code) {}
  Result(Failure failure) noexcept : failure_(std::move(failure)) {}

  explicit operator bool() const { return failure_.word_ == 0; }
  const Failure& failure() const& { return failure_; }
  Failure failure() && { return std::move(failure_); }

 private:
  Failure failure_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(ErrorCode code) noexcept : failure_(code) {}
  Result(Failure failure) noexcept : failure_(std::move(failure)) {}
  /// Of whatever a T is made from, as `return` would.
  template <class From = T>
    requires(std::is_convertible_v<From &&, T> && !std::is_same_v<std::remove_cvref_t<From>, ErrorCode> &&
             !std::is_same_v<std::remove_cvref_t<From>, Failure> && !std::is_same_v<std::remove_cvref_t<From>, Result>)
  Result(From&& value) : value_(std::forward<From>(value)) {}

  explicit operator bool() const { return value_.has_value(); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  const Failure& failure() const& { return failure_; }
  Failure failure() && { return std::move(failure_); }

 private:
  Failure failure_;
  std::optional<T> value_;
};

}  // namespace cucore::cpu
