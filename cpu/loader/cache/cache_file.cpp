// Frames of files: see cache_file.hpp.
#include "cpu/loader/cache/cache_file.hpp"

#include "cpu/loader/cache/digest.hpp"

namespace cucore::cpu::loader {
namespace {

constexpr std::size_t digest_bytes = sizeof(Digest::Bytes);

template <typename Bytes>
std::string_view view_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Digest::Bytes digest_of(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.finish();
}

}  // namespace

std::string framed(std::string_view mark, const KernelKey& key, std::string_view content) {
  std::string bytes;
  bytes.reserve(mark.size() + key.digest.size() + content.size() + digest_bytes);
  bytes.append(mark).append(view_of(key.digest)).append(content);
  return bytes.append(view_of(digest_of(bytes)));
}

std::optional<std::string_view> content_of(std::string_view mark, const KernelKey& key, std::string_view bytes) {
  const std::size_t content_at = mark.size() + key.digest.size();
  if (bytes.size() < content_at + digest_bytes || !bytes.starts_with(mark)) return std::nullopt;
  if (bytes.substr(mark.size(), key.digest.size()) != view_of(key.digest)) return std::nullopt;
  const std::string_view digested = bytes.substr(0, bytes.size() - digest_bytes);
  if (bytes.substr(digested.size()) != view_of(digest_of(digested))) return std::nullopt;
  return digested.substr(content_at);
}

}  // namespace cucore::cpu::loader
