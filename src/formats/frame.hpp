// Framed data: the byte format of serialised object code and of cache entries. The same on every machine.
//
//   offset  size
//   0       8     magic "CUCORE\x1a\n" (the control characters show a transfer in text mode)
//   8       4     version of the payload, little-endian, now 1
//   12      4     kind of the payload: "OBJC" object code, "CACH" cache entry, "PART" parts of a cache key
//   16      8     size of the payload in bytes, little-endian
//   24      n     payload
//   24+n    8     checksum of everything before it (XXH64), little-endian
//
// The frame itself is the same in all later versions, so that a reader can tell "damaged" from "newer". Numbers in a
// payload are little-endian; a string is its size in 8 bytes, then its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cucore::detail {

inline constexpr std::uint32_t frame_version = 1;

enum class FrameKind : std::uint32_t {
  object_code = 0x434a424f,
  cache_entry = 0x48434143,
  cache_key_parts = 0x54524150
};

/// Collects a payload and frames it.
class FrameWriter {
 public:
  /// `payload`: how many bytes are expected to come, if that is known.
  explicit FrameWriter(FrameKind kind, std::size_t payload = 0);
  void number(std::uint64_t value);
  void text(std::string_view value);
  /// The whole frame; the writer is empty after. `known`: the checksum, if the same has been framed before.
  std::string finish(std::optional<std::uint64_t> known = {});

 private:
  std::string bytes_;
};

/// Checks a frame and takes its payload apart. Every member throws ValueError that says what is wrong: not such data,
/// truncated, damaged, written by a newer version, or not of the expected kind. `bytes` must outlive the reader.
class FrameReader {
 public:
  FrameReader(std::string_view bytes, FrameKind kind);
  std::uint64_t number();
  std::string_view text();
  /// Bytes of the payload that have not been read.
  std::size_t left() const noexcept { return payload_.size(); }
  /// Throws if there are any.
  void finish() const;

 private:
  std::string_view payload_;
};

/// The checksum that a whole frame ends with, for FrameWriter::finish.
std::uint64_t checksum_of_frame(std::string_view frame) noexcept;

/// Throws the ValueError of all of these.
[[noreturn]] void throw_bad_frame(const std::string& fault);

}  // namespace cucore::detail
