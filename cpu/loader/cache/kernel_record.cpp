// Writes and reads the bytes of a compiled kernel's file: see kernel_record.hpp.
#include "cpu/loader/kernel_record.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/loader/digest.hpp"

namespace cucore::cpu::loader {
namespace {

/// The last byte is the layout's version.
constexpr std::string_view mark("cucpuk\n\x04", 8);
constexpr std::size_t digest_bytes = sizeof(Digest::Bytes);

static_assert(sizeof(KernelInfo) == 32, "write the new field, read it back, and give the layout a new version");

/// The fixed part of a record, as it stands in memory: files do not leave the machine's kind of processor.
struct Fixed {
  std::uint32_t static_shared, shared_alignment, local_bytes, param_bytes, registers;
  std::uint16_t needs_fibers, counts_laps;
  std::uint32_t runs_rows, form, frame_bytes, waiting_bytes;
  std::uint64_t refusal_bytes, object_bytes;
};
static_assert(sizeof(Fixed) == 56, "padding would have no value");

constexpr std::size_t fixed_at = mark.size() + sizeof(KernelKey::digest);
constexpr std::size_t text_at = fixed_at + sizeof(Fixed);

template <typename Bytes>
std::string_view view_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(&bytes), sizeof bytes};
}

Digest::Bytes digest_of(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.finish();
}

}  // namespace

std::string encode(const KernelKey& key, const KernelRecord& record) {
  const KernelInfo& info = record.info;
  const Fixed fixed{.static_shared = info.static_shared,
                    .shared_alignment = info.shared_alignment,
                    .local_bytes = info.local_bytes,
                    .param_bytes = info.param_bytes,
                    .registers = info.registers,
                    .needs_fibers = info.needs_fibers,
                    .counts_laps = info.counts_laps,
                    .runs_rows = info.runs_rows,
                    .form = static_cast<std::uint32_t>(info.form),
                    .frame_bytes = info.frame_bytes,
                    .waiting_bytes = info.waiting_bytes,
                    .refusal_bytes = record.refusal.size(),
                    .object_bytes = record.object.size()};
  std::string bytes;
  bytes.reserve(text_at + record.refusal.size() + record.object.size() + digest_bytes);
  bytes += mark;
  bytes += view_of(key.digest);
  bytes += view_of(fixed);
  bytes += record.refusal;
  bytes += record.object;
  bytes += view_of(digest_of(bytes));
  return bytes;
}

std::optional<KernelRecord> decode(const KernelKey& key, std::string_view bytes) {
  if (bytes.size() < text_at + digest_bytes || !bytes.starts_with(mark)) return std::nullopt;
  if (bytes.substr(mark.size(), sizeof key.digest) != view_of(key.digest)) return std::nullopt;
  const std::string_view digested = bytes.substr(0, bytes.size() - digest_bytes);
  if (bytes.substr(digested.size()) != view_of(digest_of(digested))) return std::nullopt;

  Fixed fixed;
  std::memcpy(&fixed, bytes.data() + fixed_at, sizeof fixed);
  const std::string_view text = digested.substr(text_at);
  if (fixed.refusal_bytes > text.size() || fixed.object_bytes != text.size() - fixed.refusal_bytes) return std::nullopt;
  return KernelRecord{.info = {.static_shared = fixed.static_shared,
                               .shared_alignment = fixed.shared_alignment,
                               .local_bytes = fixed.local_bytes,
                               .param_bytes = fixed.param_bytes,
                               .registers = fixed.registers,
                               .needs_fibers = fixed.needs_fibers != 0,
                               .runs_rows = fixed.runs_rows != 0,
                               .counts_laps = fixed.counts_laps != 0,
                               .form = fixed.form == 0 ? FormOfCode::Scalar : FormOfCode::Vector,
                               .frame_bytes = fixed.frame_bytes,
                               .waiting_bytes = fixed.waiting_bytes},
                      .refusal = std::string(text.substr(0, fixed.refusal_bytes)),
                      .object = std::string(text.substr(fixed.refusal_bytes))};
}

}  // namespace cucore::cpu::loader
