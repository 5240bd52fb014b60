// Changing the current context, or the mode of captures, and back: see context_scope.hpp.
#include "src/handles/context_scope.hpp"

#include "src/error/hexadecimal.hpp"
#include "src/handles/release_report.hpp"

namespace cucore::detail {

ContextHandle current_handle() {
  ContextHandle current = nullptr;
  driver::check(driver::table().cuCtxGetCurrent(&current), "cuCtxGetCurrent", "the calling thread");
  return current;
}

ContextScope::ContextScope(ContextHandle context) {
  if (context == nullptr) return;
  previous_ = current_handle();
  if (previous_ == context) return;
  driver::check(driver::table().cuCtxSetCurrent(context), "cuCtxSetCurrent",
                [&] { return "Context " + hexadecimal(context); });
  switched_ = true;
}

void ContextScope::restore() {
  if (!switched_) return;
  switched_ = false;
  const driver::CUresult code = driver::table().cuCtxSetCurrent(previous_);
  if (code == driver::CUDA_SUCCESS) return;
  driver::CUcontext current = nullptr;
  driver::table().cuCtxGetCurrent(&current);
  driver::fail(code, "cuCtxSetCurrent", "the caller's Context " + hexadecimal(previous_),
               "the thread's current context is now " + hexadecimal(current) + "; call set_current() again");
}

ContextScope::~ContextScope() {
  if (!switched_) return;
  const driver::Table* table = driver::table_for_release();
  if (table == nullptr) return;
  const driver::CUresult code = table->cuCtxSetCurrent(previous_);
  if (code != driver::CUDA_SUCCESS && code != driver::CUDA_ERROR_DEINITIALIZED) {
    report_release_failure(code, "cuCtxSetCurrent", previous_);
  }
}

ReleaseScope::ReleaseScope(const driver::Table& table, ContextHandle context) noexcept
    : table_(table), capture_mode_(driver::CU_STREAM_CAPTURE_MODE_RELAXED) {
  exchanged_ = table_.cuThreadExchangeStreamCaptureMode(&capture_mode_) == driver::CUDA_SUCCESS;
  if (context == nullptr) return;
  if (table_.cuCtxGetCurrent(&previous_) != driver::CUDA_SUCCESS || previous_ == context) return;
  switched_ = table_.cuCtxSetCurrent(context) == driver::CUDA_SUCCESS;
}

ReleaseScope::~ReleaseScope() {
  if (switched_) {
    const driver::CUresult code = table_.cuCtxSetCurrent(previous_);
    if (code != driver::CUDA_SUCCESS && code != driver::CUDA_ERROR_DEINITIALIZED) {
      report_release_failure(code, "cuCtxSetCurrent", previous_);
    }
  }
  if (exchanged_) table_.cuThreadExchangeStreamCaptureMode(&capture_mode_);
}

RelaxedCaptureScope::RelaxedCaptureScope() noexcept : mode_(driver::CU_STREAM_CAPTURE_MODE_RELAXED) {
  if (const driver::Table* table = driver::table_for_release()) {
    exchanged_ = table->cuThreadExchangeStreamCaptureMode(&mode_) == driver::CUDA_SUCCESS;
  }
}

RelaxedCaptureScope::~RelaxedCaptureScope() {
  const driver::Table* table = driver::table_for_release();
  if (exchanged_ && table != nullptr) table->cuThreadExchangeStreamCaptureMode(&mode_);
}

}  // namespace cucore::detail
