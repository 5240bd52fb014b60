// Reads a DWARF line table of object code: see line_table.hpp.
#include "cpu/loader/line_table.hpp"

#include <cstring>
#include <string_view>
#include <vector>

namespace cucore::cpu::loader {
namespace {

/// Takes numbers from the front of bytes; past their end all are zero.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }

  Bytes take(std::uint64_t count) {
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(taken.size());
    return Bytes(taken);
  }

  template <typename Number>
  Number number() {
    Number value{};
    const std::string_view taken = take(sizeof value).bytes_;
    if (taken.size() == sizeof value) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }

  /// LEB128: seven bits to a byte, the lowest first.
  std::uint64_t unsigned_number() { return variable_number().first; }
  std::int64_t signed_number() {
    const auto [value, bits] = variable_number();
    const bool is_negative = bits < 64 && bits != 0 && (value >> (bits - 1) & 1) != 0;
    return static_cast<std::int64_t>(is_negative ? value | ~std::uint64_t{0} << bits : value);
  }

 private:
  std::pair<std::uint64_t, unsigned> variable_number() {
    std::uint64_t value = 0;
    unsigned bits = 0;
    while (!at_end()) {
      const auto byte = number<std::uint8_t>();
      if (bits < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << bits;
      bits += 7;
      if ((byte & 0x80) == 0) break;
    }
    return {value, bits};
  }

  std::string_view bytes_;
};

/// The opcodes of line programs that move or end something.
enum Standard : std::uint8_t {
  Extended = 0,
  Copy,
  AdvancePc,
  AdvanceLine,
  ConstAddPc = 8,
  FixedAdvancePc = 9,
};
enum Extension : std::uint8_t { EndSequence = 1, SetAddress = 2 };

/// Runs the program of one unit up to the row that has an address, and to the next that has a line.
class Program {
 public:
  Program(Bytes unit, std::uint64_t address) : unit_(unit), wanted_(address) {}

  LineTable::Lines find() {
    if (unit_.number<std::uint16_t>() != 4) return {};
    Bytes header = unit_.take(unit_.number<std::uint32_t>());
    shortest_instruction_ = header.number<std::uint8_t>();
    header.take(2);  // one operation has each, all begin statements
    line_base_ = header.number<std::int8_t>();
    line_range_ = header.number<std::uint8_t>();
    const auto first_special = header.number<std::uint8_t>();
    if (line_range_ == 0 || first_special == 0) return {};
    std::vector<std::uint8_t> operands(first_special);
    for (std::size_t opcode = 1; opcode < operands.size(); ++opcode) operands[opcode] = header.number<std::uint8_t>();
    while (!unit_.at_end() && !is_done_) {
      const auto opcode = unit_.number<std::uint8_t>();
      if (opcode >= first_special) {
        advance(static_cast<std::uint8_t>(opcode - first_special));
        emit_row();
      } else {
        step(opcode, operands[opcode], static_cast<std::uint8_t>(255 - first_special));
      }
    }
    return found_;
  }

 private:
  void advance(std::uint8_t adjusted) {
    address_ += std::uint64_t{shortest_instruction_} * (adjusted / line_range_);
    line_ += line_base_ + adjusted % line_range_;
  }

  void step(std::uint8_t opcode, std::uint8_t operands, std::uint8_t last_adjusted) {
    switch (opcode) {
      case Extended: {
        Bytes rest = unit_.take(unit_.unsigned_number());
        const auto extension = rest.number<std::uint8_t>();
        if (extension == SetAddress) address_ = rest.number<std::uint64_t>();
        if (extension != EndSequence) return;
        emit_row();
        is_done_ = is_found_;
        has_row_ = false;
        address_ = 0;
        line_ = 1;
        return;
      }
      case Copy:
        return emit_row();
      case AdvancePc:
        address_ += shortest_instruction_ * unit_.unsigned_number();
        return;
      case AdvanceLine:
        line_ += unit_.signed_number();
        return;
      case ConstAddPc:
        address_ += std::uint64_t{shortest_instruction_} * (last_adjusted / line_range_);
        return;
      case FixedAdvancePc:
        address_ += unit_.number<std::uint16_t>();
        return;
      default:
        for (std::uint8_t n = 0; n < operands; ++n) unit_.unsigned_number();
    }
  }

  /// A row counts up to the next one's address.
  void emit_row() {
    if (has_row_ && row_address_ <= wanted_ && wanted_ < address_) {
      is_found_ = true;
      found_.here = row_line_;
    }
    has_row_ = true;
    row_address_ = address_;
    row_line_ = static_cast<std::uint32_t>(line_);
    if (!is_found_ || row_line_ == 0) return;
    found_.next = row_line_;
    is_done_ = true;
  }

  Bytes unit_;
  std::uint64_t wanted_;
  std::int8_t line_base_ = 0;
  std::uint8_t line_range_ = 0, shortest_instruction_ = 1;
  std::uint64_t address_ = 0, row_address_ = 0;
  std::int64_t line_ = 1;
  std::uint32_t row_line_ = 0;
  LineTable::Lines found_;
  bool has_row_ = false, is_found_ = false, is_done_ = false;
};

}  // namespace

LineTable::Lines LineTable::lines_at(std::uint64_t address) const {
  for (Bytes units(section_); !units.at_end();) {
    const auto length = units.number<std::uint32_t>();
    if (const Lines found = Program(units.take(length), address).find(); found.here != 0 || found.next != 0)
      return found;
  }
  return {};
}

}  // namespace cucore::cpu::loader
