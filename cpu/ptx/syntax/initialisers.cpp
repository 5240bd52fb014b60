// Initial values of variables: constants, nested braces, and addresses of symbols.
#include <algorithm>
#include <bit>
#include <utility>

#include "cpu/ptx/syntax/module_parser.hpp"

namespace cucore::cpu::ptx {

namespace {

/// Initialisers may fill this much, plus `bytes_per_character` times the length of the text: compilers spell every
/// element, so only a hostile text is short and asks for more.
constexpr std::uint64_t free_initial_bytes = 16 << 20;
constexpr std::uint64_t bytes_per_character = 64;

}  // namespace

std::uint8_t* ModuleParser::reserve_initial(Variable& variable, std::uint64_t end) {
  if (variable.initial.empty()) {
    const std::uint64_t budget = free_initial_bytes + bytes_per_character * module_.text.size();
    if (variable.size > budget - initial_bytes_) {
      fail(variable.position, "initialised variable " + quote(variable.name) + " is too large");
    }
    initial_bytes_ += variable.size;
    variable.initial.resize(static_cast<std::size_t>(variable.size));
  }
  return end <= variable.initial.size() ? variable.initial.data() : nullptr;
}

void ModuleParser::parse_initialiser(Variable& variable) {
  if (is_opaque(variable.type)) {
    parse_sampler_attributes(variable);
    return;
  }
  if (variable.type == Type::F16 || variable.type == Type::F16x2) {
    report(token_.position, "a variable of type '." + std::string(spelling(variable.type)) + "' cannot be initialised");
  }
  std::uint64_t count = 1;
  const bool open = !variable.dimensions.empty() && variable.dimensions.front() == 0;
  if (open) {
    // The length follows from the initialiser, so count its outermost elements on a copy of the lexer first.
    const std::uint64_t element = size_in_bytes(variable.type) * variable.vector_width;
    Lexer ahead = lexer_;
    std::size_t depth = token_.is("{") ? 1 : 0;
    std::uint64_t length = 0;
    for (Token previous = token_; depth > 0;) {
      const Token next = ahead.next();
      if (next.kind == TokenKind::End) break;
      const bool closes = next.is("}") || next.is(")");
      if (depth == 1 && (next.is(",") || closes) && !previous.is("{") && !previous.is(",")) ++length;
      if (next.is("{") || next.is("(")) ++depth;
      if (closes) --depth;
      previous = next;
    }
    variable.dimensions.front() = length;
    finish_size(variable);
    if (element == 0 || length == 0) fail_at_token("the elements of an array");
  }
  for (const std::uint64_t dimension : variable.dimensions) count *= dimension;
  if (variable.size == 0) {
    // Its size was refused or is zero: there is nothing to fill, and a diagnostic says why.
    fail(variable.position, "variable " + quote(variable.name) + " has no room for an initial value");
  }
  parse_elements(variable, 0, 0, count * variable.vector_width);
}

void ModuleParser::parse_sampler_attributes(Variable& variable) {
  expect("{");
  while (!accept("}")) {
    SamplerAttribute attribute;
    attribute.name = expect_name("the name of a sampler attribute");
    expect("=");
    if (token_.kind != TokenKind::Identifier && token_.kind != TokenKind::Integer)
      fail_at_token("an attribute's value");
    attribute.value = token_.text;
    advance();
    variable.attributes.push_back(attribute);
    if (!token_.is("}")) expect(",");
  }
}

/// Fills elements [first, first + count), which is what one brace pair of nesting level `dimension` stands for.
void ModuleParser::parse_elements(Variable& variable, std::size_t dimension, std::uint64_t first, std::uint64_t count) {
  if (!accept("{")) {
    parse_element(variable, first);
    return;
  }
  const Nesting nesting(*this);
  const Position position = last_.position;
  const std::size_t levels = variable.dimensions.size();
  std::uint64_t stride = 1;
  if (dimension < levels) {
    stride = variable.dimensions[dimension] == 0 ? 1 : count / variable.dimensions[dimension];
  } else if (dimension > levels || variable.vector_width == 1) {
    if (dimension > 0) fail(position, "initialiser of " + quote(variable.name) + " is nested too deep");
  }
  std::uint64_t index = 0;
  while (!accept("}")) {
    if (index + stride > count) {
      fail(token_.position, "initialiser of " + quote(variable.name) + " has too many elements");
    }
    parse_elements(variable, dimension + 1, first + index, stride);
    index += stride;
    if (!token_.is("}")) expect(",");
  }
}

void ModuleParser::parse_element(Variable& variable, std::uint64_t index) {
  const std::uint64_t offset = index * size_in_bytes(variable.type);
  if (parse_address_element(variable, offset)) return;
  const Position position = token_.position;
  store_constant(variable, offset, parse_constant(), position);
}

void ModuleParser::store_constant(Variable& variable, std::uint64_t offset, const Constant& constant,
                                  Position position) {
  const std::size_t width = size_in_bytes(variable.type);
  std::uint8_t* bytes = reserve_initial(variable, offset + width);
  if (bytes == nullptr) return;
  std::uint64_t value = constant.bits;
  const bool takes_floats = is_float(variable.type);
  const bool fits = constant.is_integer() ? !takes_floats : takes_floats || is_bits(variable.type);
  if (!fits) {
    report(position, "initial value of " + quote(variable.name) + " does not match type '." +
                         std::string(spelling(variable.type)) + "'");
    return;
  }
  if (constant.kind == Constant::Kind::Double && width == 4) {
    value = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(value)));
  } else if (constant.kind == Constant::Kind::Single && width == 8) {
    const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(value));
    value = std::bit_cast<std::uint64_t>(static_cast<double>(single));
  }
  for (std::size_t i = 0; i < width && i < sizeof(value); ++i) {
    bytes[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

/// `symbol`, `symbol+4`, `generic(symbol)+4`, `0xFF00(symbol+4)`; false: the next token starts a plain constant.
bool ModuleParser::parse_address_element(Variable& variable, std::uint64_t offset) {
  const Position position = token_.position;
  Relocation relocation;
  relocation.offset = offset;
  relocation.width = static_cast<std::uint8_t>(std::min<std::size_t>(size_in_bytes(variable.type), 8));
  bool masked = false;
  if (token_.kind == TokenKind::Integer) {
    Lexer ahead = lexer_;
    if (!ahead.next().is("(")) return false;
    const std::uint64_t mask = token_.value;
    const auto shift = static_cast<unsigned>(std::countr_zero(mask)) & 63U;
    if (mask == 0 || shift % 8 != 0 || mask >> shift != 0xFF) {
      fail(position, "mask " + quote(token_.text) + " does not select one byte");
    }
    relocation.shift = static_cast<std::uint8_t>(shift);
    masked = true;
    advance();
    expect("(");
  } else if (token_.kind != TokenKind::Identifier || token_.text == "WARP_SZ") {
    return false;
  }
  relocation.generic = token_.is_word("generic");
  if (relocation.generic) {
    advance();
    expect("(");
  }
  const Token name = expect_kind(TokenKind::Identifier, "the name of a variable or function");
  if (relocation.generic) expect(")");
  if (token_.is("+") || token_.is("-")) {
    const bool subtract = token_.is("-");
    advance();
    const std::uint64_t addend = parse_integer_constant("an offset");
    relocation.addend = static_cast<std::int64_t>(subtract ? std::uint64_t{0} - addend : addend);
  }
  if (masked) expect(")");

  std::vector<Register> no_registers;
  const auto entity = scopes_.find(name.text, function_ == nullptr ? no_registers : function_->registers);
  if (!entity) {
    report(name.position, "undefined name " + quote(name.text) + " in an initialiser");
    return true;
  }
  if (entity->kind == Entity::Kind::Function) {
    relocation.is_function = true;
    relocation.function = entity->index;
  } else if (entity->kind == Entity::Kind::ModuleVariable && (module_.variables[entity->index].space == Space::Global ||
                                                              module_.variables[entity->index].space == Space::Const)) {
    relocation.variable = entity->index;
  } else {
    report(name.position,
           quote(name.text) + " in an initialiser is neither a function nor a '.global' or '.const' variable");
    return true;
  }
  if (is_float(variable.type) || (masked ? relocation.width != 1 : relocation.width < 4)) {
    report(position, "initial value of " + quote(variable.name) + " does not match type '." +
                         std::string(spelling(variable.type)) + "'");
    return true;
  }
  if (reserve_initial(variable, offset + relocation.width) != nullptr) variable.relocations.push_back(relocation);
  return true;
}

}  // namespace cucore::cpu::ptx
