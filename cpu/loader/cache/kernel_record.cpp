// Writes and reads the bytes of a compiled kernel's file: see kernel_record.hpp.
#include "cpu/loader/cache/kernel_record.hpp"

#include <cstring>

#include "cpu/loader/cache/cache_file.hpp"

namespace cucore::cpu::loader {
namespace {

/// The last byte is the layout's version.
constexpr std::string_view mark("cucpuk\n\x06", 8);
static_assert(sizeof(KernelInfo) == 40, "write the new field, read it back, and give the layout a new version");

/// The fixed part of a record, as it stands in memory: files do not leave the machine's kind of processor.
struct Fixed {
  std::uint32_t static_shared, declared_shared, shared_alignment, local_bytes, param_bytes, registers;
  std::uint8_t needs_fibers, counts_laps;
  std::uint16_t runs_rows;
  std::uint32_t form, frame_bytes, waiting_bytes, threads_of_fiber, unused;
  std::uint64_t refusal_bytes, object_bytes;
};
static_assert(sizeof(Fixed) == 64, "padding would have no value");

}  // namespace

std::string encode(const KernelKey& key, const KernelRecord& record) {
  const KernelInfo& info = record.info;
  const Fixed fixed{.static_shared = info.static_shared,
                    .declared_shared = info.declared_shared,
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
                    .threads_of_fiber = info.threads_of_fiber,
                    .unused = 0,
                    .refusal_bytes = record.refusal.size(),
                    .object_bytes = record.object.size()};
  std::string content(reinterpret_cast<const char*>(&fixed), sizeof fixed);
  content += record.refusal;
  content += record.object;
  return framed(mark, key, content);
}

std::optional<KernelRecord> decode(const KernelKey& key, std::string_view bytes) {
  const std::optional<std::string_view> content = content_of(mark, key, bytes);
  Fixed fixed;
  if (!content || content->size() < sizeof fixed) return std::nullopt;
  std::memcpy(&fixed, content->data(), sizeof fixed);
  const std::string_view text = content->substr(sizeof fixed);
  if (fixed.refusal_bytes > text.size() || fixed.object_bytes != text.size() - fixed.refusal_bytes) return std::nullopt;
  return KernelRecord{.info = {.static_shared = fixed.static_shared,
                               .declared_shared = fixed.declared_shared,
                               .shared_alignment = fixed.shared_alignment,
                               .local_bytes = fixed.local_bytes,
                               .param_bytes = fixed.param_bytes,
                               .registers = fixed.registers,
                               .needs_fibers = fixed.needs_fibers != 0,
                               .runs_rows = fixed.runs_rows != 0,
                               .counts_laps = fixed.counts_laps != 0,
                               .form = fixed.form == 0 ? FormOfCode::Scalar : FormOfCode::Vector,
                               .frame_bytes = fixed.frame_bytes,
                               .waiting_bytes = fixed.waiting_bytes,
                               .threads_of_fiber = fixed.threads_of_fiber},
                      .refusal = std::string(text.substr(0, fixed.refusal_bytes)),
                      .object = std::string(text.substr(fixed.refusal_bytes))};
}

}  // namespace cucore::cpu::loader
