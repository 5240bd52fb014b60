// Writing and checking frames.
#include "src/formats/frame.hpp"

#include <bit>
#include <cstring>

#include "cucore/error.hpp"
#include "src/formats/checksum.hpp"

namespace cucore::detail {
namespace {

constexpr std::string_view frame_magic("CUCORE\x1a\n", 8);
constexpr std::size_t header_size = 24;
constexpr std::size_t checksum_size = 8;

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

void put_number(std::string& out, std::uint64_t value, std::size_t bytes) {
  out.append(reinterpret_cast<const char*>(&value), bytes);
}

std::uint64_t get(std::string_view bytes, std::size_t offset, std::size_t size) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, size);
  return value;
}

}  // namespace

void throw_bad_frame(const std::string& fault) {
  throw ValueError({.call = "deserialize",
                    .message = "these bytes are not usable: " + fault,
                    .hint = "make them again with serialize()"});
}

FrameWriter::FrameWriter(FrameKind kind, std::size_t payload) {
  bytes_.reserve(header_size + payload + checksum_size);
  bytes_ = frame_magic;
  put_number(bytes_, frame_version, 4);
  put_number(bytes_, static_cast<std::uint32_t>(kind), 4);
  put_number(bytes_, 0, 8);
}

void FrameWriter::number(std::uint64_t value) { put_number(bytes_, value, 8); }

void FrameWriter::text(std::string_view value) {
  number(value.size());
  bytes_ += value;
}

std::string FrameWriter::finish(std::optional<std::uint64_t> known) {
  const std::uint64_t size = bytes_.size() - header_size;
  std::memcpy(bytes_.data() + 16, &size, 8);
  put_number(bytes_, known ? *known : checksum(bytes_), checksum_size);
  return std::move(bytes_);
}

std::uint64_t checksum_of_frame(std::string_view frame) noexcept {
  return get(frame, frame.size() - checksum_size, checksum_size);
}

FrameReader::FrameReader(std::string_view bytes, FrameKind kind) {
  if (bytes.substr(0, frame_magic.size()) != frame_magic.substr(0, bytes.size())) {
    throw_bad_frame("they do not begin with the signature of cucore's format");
  }
  if (bytes.size() < header_size + checksum_size) {
    throw_bad_frame("truncated: only " + std::to_string(bytes.size()) + " bytes");
  }
  const std::uint64_t available = bytes.size() - header_size - checksum_size;
  const std::uint64_t size = get(bytes, 16, 8);
  if (size > available) {
    throw_bad_frame("truncated: " + std::to_string(size) + " bytes of content announced, " + std::to_string(available) +
                    " there");
  }
  if (size < available) throw_bad_frame(std::to_string(available - size) + " bytes follow the end");
  const std::string_view covered = bytes.substr(0, bytes.size() - checksum_size);
  if (checksum(covered) != checksum_of_frame(bytes)) throw_bad_frame("damaged: the checksum does not match");
  const std::uint64_t version = get(bytes, 8, 4);
  if (version != frame_version) {
    throw_bad_frame("written in version " + std::to_string(version) + " of the format" +
                    (version > frame_version ? " by a newer cucore" : "") + "; this one reads version " +
                    std::to_string(frame_version));
  }
  if (get(bytes, 12, 4) != static_cast<std::uint32_t>(kind)) throw_bad_frame("they hold another kind of object");
  payload_ = covered.substr(header_size);
}

std::uint64_t FrameReader::number() {
  if (payload_.size() < 8) throw_bad_frame("malformed: a number is missing");
  const std::uint64_t value = get(payload_, 0, 8);
  payload_.remove_prefix(8);
  return value;
}

std::string_view FrameReader::text() {
  const std::uint64_t size = number();
  if (size > payload_.size()) throw_bad_frame("malformed: a text is longer than what is left");
  const std::string_view value = payload_.substr(0, size);
  payload_.remove_prefix(size);
  return value;
}

void FrameReader::finish() const {
  if (!payload_.empty()) throw_bad_frame("malformed: content is left over");
}

}  // namespace cucore::detail
