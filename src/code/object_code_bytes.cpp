// ObjectCode to bytes and back. Payload of the frame (src/formats/frame.hpp):
//   text: code type, e.g. "cubin"
//   text: name
//   number: how many names are mapped; for each, in ascending order: text: spelling, text: symbol
//   text: the code

#include "cucore/error.hpp"
#include "cucore/object_code.hpp"
#include "src/code/object_code_payload.hpp"
#include "src/code/object_code_state.hpp"
#include "src/formats/frame.hpp"

namespace cucore {
namespace detail {

void write_object_code(FrameWriter& writer, const ObjectCode& code) {
  writer.text(code.code_type().name());
  writer.text(code.name());
  writer.number(code.symbol_mapping().size());
  for (const auto& [spelling, symbol] : code.symbol_mapping()) {
    writer.text(spelling);
    writer.text(symbol);
  }
  if (code.path().empty()) {
    writer.text(code.code());
  } else {
    writer.text(code.read());
  }
}

ObjectCode read_object_code(FrameReader& reader) {
  CodeType type = CodeType::ptx;
  const std::string word(reader.text());
  try {
    type = CodeType(word);
  } catch (const ValueError&) {
    throw_bad_frame("malformed: '" + word + "' is not a code type");
  }
  std::string name(reader.text());
  SymbolMapping mapping;
  for (std::uint64_t left = reader.number(); left != 0; --left) {
    std::string spelling(reader.text());
    std::string symbol(reader.text());
    if (!mapping.empty() && spelling <= mapping.rbegin()->first) throw_bad_frame("malformed: names are out of order");
    mapping.emplace_hint(mapping.end(), std::move(spelling), std::move(symbol));
  }
  return ObjectCode::from_bytes(type, reader.text(), std::move(name), std::move(mapping));
}

}  // namespace detail

std::string ObjectCode::serialize() const {
  constexpr std::size_t around = 256;  // sizes, type and usual names
  detail::FrameWriter writer(detail::FrameKind::object_code, code().size() + around);
  detail::write_object_code(writer, *this);
  if (!path().empty()) return writer.finish();
  // Code in memory never changes, so its checksum is computed once, however often it is serialised.
  if (state_->is_summed.load(std::memory_order_acquire)) return writer.finish(state_->frame_checksum);
  std::string bytes = writer.finish();
  state_->frame_checksum.store(detail::checksum_of_frame(bytes), std::memory_order_relaxed);
  state_->is_summed.store(true, std::memory_order_release);
  return bytes;
}

ObjectCode ObjectCode::deserialize(std::string_view bytes) {
  detail::FrameReader reader(bytes, detail::FrameKind::object_code);
  ObjectCode code = detail::read_object_code(reader);
  reader.finish();
  return code;
}

}  // namespace cucore
