// A large image of which only what is asked for is read: its kernels' names and its variables at the load, each
// kernel's PTX at the kernel's first use. Both are kept in the cache of kernels, by the image's digest, so that a
// process that finds them there does not even decompress the image. Thread-safe once it is loaded.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/loader/cache/image_record.hpp"
#include "cpu/ptx/module_index.hpp"
#include "cpu/ptx/tree/ast.hpp"
#include "cpu/runtime/loading/image_source.hpp"

namespace cucore::cpu::runtime {

/// What may be done with an image after the call that loads it.
enum class ImageStays : std::uint8_t { No, UntilForgotten };

class LaterImage {
 public:
  /// Nothing for an image that must be read whole: one whose PTX cannot be `large` bytes, or has to be linked first.
  static std::unique_ptr<LaterImage> of(const void* image, std::string_view bytes, int capability, ImageStays stays,
                                        std::size_t large);

  /// What the cache knows of it. False: nothing.
  bool recall();
  /// What its PTX says, which is taken then. False if there are no excerpts of it.
  bool read(ImageSource& source);
  /// Puts into the cache what was read.
  void remember() const;

  /// What the image says beside its PTX.
  const ImageSource& source() const { return source_; }
  const std::vector<std::string>& kernels() const { return kernels_; }
  const ptx::Excerpt& variables() const { return variables_; }
  /// Gives back what read() took.
  ImageSource release_source() { return std::move(source_); }
  /// When kernels and variables have been used.
  void release_names();

  Result<ptx::Excerpt> kernel(std::string_view name);
  /// All of it.
  Result<std::shared_ptr<const ptx::Module>> whole();

  /// An image that stayed is not touched any more. What would have to be read from it fails.
  void forget();

 private:
  LaterImage(std::string_view image, int capability, ImageStays stays)
      : image_(image), capability_(capability), stays_(stays) {}

  Result<void> read_text();  ///< with the mutex held

  std::string_view image_;  ///< empty once it is not needed, or forgotten
  std::string copy_;        ///< of an image that does not stay
  const int capability_;
  const ImageStays stays_;
  std::optional<loader::KernelKey> key_;
  ImageSource source_;  ///< its PTX is there if it was needed
  std::vector<std::string> kernels_;
  ptx::Excerpt variables_;
  std::mutex mutex_;
  std::optional<ptx::ModuleIndex> index_;  ///< of the PTX
  std::shared_ptr<const ptx::Module> whole_;
};

}  // namespace cucore::cpu::runtime
