// Writes and reads records of images: see image_record.hpp.
#include "cpu/loader/cache/image_record.hpp"

#include <cstring>
#include <utility>

#include "cpu/loader/cache/cache_file.hpp"
#include "cpu/loader/cache/digest.hpp"
#include "cpu/loader/cache/host_identity.hpp"

namespace cucore::cpu::loader {
namespace {

/// The last bytes are the layouts' versions.
constexpr std::string_view image_mark("cucpui\n\x01", 8);
constexpr std::string_view excerpt_mark("cucpue\n\x01", 8);

class Writer {
 public:
  void add(std::uint64_t number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    bytes += text;
  }
  void add(const ptx::Excerpt& excerpt) {
    add(std::string_view(excerpt.text));
    add(std::uint64_t{excerpt.pieces.size()});
    for (const ptx::TextPiece& piece : excerpt.pieces)
      for (const std::uint64_t number :
           {std::uint64_t{piece.offset}, std::uint64_t{piece.position.line}, std::uint64_t{piece.position.column}})
        add(number);
  }

  std::string bytes;
};

/// What is not there reads as nothing, and is_whole() then says so.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t number = 0;
    const std::string_view bytes = take(sizeof number);
    if (!bytes.empty()) std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }
  std::string text() { return std::string(take(number())); }
  /// `read()` as often as the next number says, as far as there are bytes.
  template <class F>
  void list(const F& read) {
    for (std::uint64_t left = number(); left > 0 && is_good_; --left) read();
  }
  ptx::Excerpt excerpt() {
    ptx::Excerpt excerpt{.text = text(), .pieces = {}};
    list([&] {
      ptx::TextPiece& piece = excerpt.pieces.emplace_back();
      piece.offset = static_cast<std::size_t>(number());
      piece.position.line = static_cast<std::uint32_t>(number());
      piece.position.column = static_cast<std::uint32_t>(number());
    });
    return excerpt;
  }
  bool is_whole() const { return is_good_ && bytes_.empty(); }

 private:
  std::string_view take(std::uint64_t size) {
    is_good_ = is_good_ && size <= bytes_.size();
    if (!is_good_) return {};
    const std::string_view taken = bytes_.substr(0, static_cast<std::size_t>(size));
    bytes_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view bytes_;
  bool is_good_ = true;
};

void add_part(Digest& digest, std::string_view part) {
  const std::uint64_t size = part.size();
  digest.add({reinterpret_cast<const char*>(&size), sizeof size});
  digest.add(part);
}

std::string_view view_of(const KernelKey& key) {
  return {reinterpret_cast<const char*>(key.digest.data()), key.digest.size()};
}

}  // namespace

std::optional<KernelKey> key_of_image(const std::vector<std::string_view>& parts, int capability) {
  if (own_library().build_id.empty()) return std::nullopt;
  Digest digest;
  add_part(digest, image_mark);
  add_part(digest, own_library().build_id);
  add_part(digest, std::to_string(capability));
  for (const std::string_view part : parts) add_part(digest, part);
  return KernelKey{.digest = digest.finish()};
}

KernelKey key_of_excerpt(const KernelKey& image, std::string_view kernel) {
  Digest digest;
  add_part(digest, excerpt_mark);
  add_part(digest, view_of(image));
  add_part(digest, kernel);
  return {.digest = digest.finish()};
}

std::string encode(const KernelKey& key, const ImageRecord& record) {
  Writer writer;
  for (const std::uint64_t number :
       {std::uint64_t{record.is_cubin}, std::uint64_t{record.is_for_this_device}, std::uint64_t{record.max_registers}})
    writer.add(number);
  writer.add(std::uint64_t{record.registers.size()});
  for (const auto& [kernel, registers] : record.registers) {
    writer.add(std::string_view(kernel));
    writer.add(std::uint64_t{registers});
  }
  writer.add(std::uint64_t{record.kernels.size()});
  for (const std::string_view kernel : record.kernels) writer.add(kernel);
  writer.add(record.variables);
  return framed(image_mark, key, writer.bytes);
}

std::string encode(const KernelKey& key, const ptx::Excerpt& excerpt) {
  Writer writer;
  writer.add(excerpt);
  return framed(excerpt_mark, key, writer.bytes);
}

std::optional<ImageRecord> decode_image(const KernelKey& key, std::string_view bytes) {
  const std::optional<std::string_view> content = content_of(image_mark, key, bytes);
  if (!content) return std::nullopt;
  Reader reader(*content);
  ImageRecord record;
  record.is_cubin = reader.number() != 0;
  record.is_for_this_device = reader.number() != 0;
  record.max_registers = static_cast<std::uint32_t>(reader.number());
  reader.list([&] {
    std::string kernel = reader.text();
    record.registers.emplace(std::move(kernel), static_cast<std::uint32_t>(reader.number()));
  });
  reader.list([&] { record.kernels.push_back(reader.text()); });
  record.variables = reader.excerpt();
  if (!reader.is_whole()) return std::nullopt;
  return record;
}

std::optional<ptx::Excerpt> decode_excerpt(const KernelKey& key, std::string_view bytes) {
  const std::optional<std::string_view> content = content_of(excerpt_mark, key, bytes);
  if (!content) return std::nullopt;
  Reader reader(*content);
  ptx::Excerpt excerpt = reader.excerpt();
  if (!reader.is_whole()) return std::nullopt;
  return excerpt;
}

}  // namespace cucore::cpu::loader
