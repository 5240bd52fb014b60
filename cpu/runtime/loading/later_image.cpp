// Reads large images by parts: see later_image.hpp.
#include "cpu/runtime/loading/later_image.hpp"

#include <utility>

#include "cpu/image/image.hpp"
#include "cpu/loader/cache/kernel_cache.hpp"
#include "cpu/ptx/parser.hpp"
#include "cpu/runtime/loading/forms/kernel_source.hpp"

namespace cucore::cpu::runtime {

std::unique_ptr<LaterImage> LaterImage::of(const void* image, std::string_view bytes, int capability, ImageStays stays,
                                           std::size_t large) {
  if (!image::locate_parts(image).empty()) return nullptr;
  const image::PartsRead read = image::parts_read(bytes, static_cast<std::uint32_t>(capability));
  if (read.most_ptx < large) return nullptr;
  auto later = std::unique_ptr<LaterImage>(new LaterImage(bytes, capability, stays));
  if (kernel_cache() != nullptr) later->key_ = loader::key_of_image(read.parts, capability);
  return later;
}

bool LaterImage::recall() {
  const std::optional<std::string> bytes = key_ ? kernel_cache()->read(*key_) : std::nullopt;
  std::optional<loader::ImageRecord> record = bytes ? loader::decode_image(*key_, *bytes) : std::nullopt;
  if (!record) return false;
  source_ = {.ptx = {},
             .is_cubin = record->is_cubin,
             .is_for_this_device = record->is_for_this_device,
             .max_registers = record->max_registers,
             .registers = std::move(record->registers)};
  kernels_ = std::move(record->kernels);
  variables_ = std::move(record->variables);
  if (stays_ == ImageStays::No) {
    copy_ = image::image_of_parts(image_, static_cast<std::uint32_t>(capability_));
    image_ = copy_;
  }
  return true;
}

bool LaterImage::read(ImageSource& source) {
  source_ = std::move(source);
  index_ = ptx::ModuleIndex::of(source_.ptx);
  if (!index_) {
    source = std::move(source_);
    return false;
  }
  kernels_.clear();
  for (const std::string_view name : index_->kernels()) kernels_.emplace_back(name);
  variables_ = index_->variables();
  image_ = {};
  return true;
}

void LaterImage::remember() const {
  if (!key_) return;
  const loader::ImageRecord record{.is_cubin = source_.is_cubin,
                                   .is_for_this_device = source_.is_for_this_device,
                                   .max_registers = source_.max_registers,
                                   .registers = source_.registers,
                                   .kernels = kernels_,
                                   .variables = variables_};
  kernel_cache()->write(*key_, loader::encode(*key_, record));
}

void LaterImage::release_names() {
  kernels_ = {};
  variables_ = {};
}

Result<void> LaterImage::read_text() {
  if (index_) return {};
  if (image_.empty()) return Failure(ErrorCode::InvalidImage, "the image was unloaded before this kernel was used");
  Result<ImageSource> source = ptx_of_image(image_.data(), image_.size(), capability_);
  if (!source) return std::move(source).failure();
  source_.ptx = std::move(source->ptx);
  index_ = ptx::ModuleIndex::of(source_.ptx);
  if (!index_) return Failure(ErrorCode::InvalidImage, "the image has changed since it was loaded");
  image_ = {};
  copy_ = {};
  return {};
}

Result<ptx::Excerpt> LaterImage::kernel(std::string_view name) {
  const std::optional<loader::KernelKey> key = key_ ? std::optional(key_of_excerpt(*key_, name)) : std::nullopt;
  if (const std::optional<std::string> bytes = key ? kernel_cache()->read(*key) : std::nullopt)
    if (std::optional<ptx::Excerpt> known = loader::decode_excerpt(*key, *bytes)) return *std::move(known);
  ptx::Excerpt excerpt;
  {
    const std::lock_guard lock(mutex_);
    if (Result<void> there = read_text(); !there) return std::move(there).failure();
    excerpt = index_->kernel(name);
  }
  if (key) kernel_cache()->write(*key, loader::encode(*key, excerpt));
  return excerpt;
}

Result<std::shared_ptr<const ptx::Module>> LaterImage::whole() {
  const std::lock_guard lock(mutex_);
  if (whole_) return whole_;
  if (Result<void> there = read_text(); !there) return std::move(there).failure();
  ptx::ParseResult parsed = ptx::parse(source_.ptx);
  if (!parsed.module) return Failure(ErrorCode::InvalidPtx, ptx::format(parsed.diagnostics));
  whole_ = std::move(parsed.module);
  return whole_;
}

void LaterImage::forget() {
  const std::lock_guard lock(mutex_);
  if (stays_ == ImageStays::UntilForgotten) image_ = {};
}

}  // namespace cucore::cpu::runtime
