// Constant expressions, as the ISA has them: C's operators and precedence on 64-bit integers and doubles.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "cpu/ptx/syntax/module_parser.hpp"

namespace cucore::cpu::ptx {

namespace {

constexpr std::uint64_t warp_size = 32;
constexpr std::uint64_t single_sign = std::uint64_t{1} << 31;
constexpr std::uint64_t double_sign = std::uint64_t{1} << 63;

/// Binding strength of a binary operator; 0: not one.
int precedence(const Token& token) {
  if (token.kind != TokenKind::Punctuation) return 0;
  struct Row {
    std::string_view operation;
    int strength;
  };
  static constexpr Row rows[] = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
                                 {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
                                 {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};
  const auto* found =
      std::find_if(std::begin(rows), std::end(rows), [&](const Row& row) { return row.operation == token.text; });
  return found == std::end(rows) ? 0 : found->strength;
}

double as_double(const Constant& constant) {
  switch (constant.kind) {
    case Constant::Kind::Signed:
      return static_cast<double>(static_cast<std::int64_t>(constant.bits));
    case Constant::Kind::Unsigned:
      return static_cast<double>(constant.bits);
    case Constant::Kind::Single:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(constant.bits)));
    case Constant::Kind::Double:
      return std::bit_cast<double>(constant.bits);
  }
  return 0;
}

bool is_true(const Constant& constant) { return constant.is_integer() ? constant.bits != 0 : as_double(constant) != 0; }

Constant truth(bool value) { return {Constant::Kind::Signed, value ? std::uint64_t{1} : 0}; }

Constant from_double(double value) { return {Constant::Kind::Double, std::bit_cast<std::uint64_t>(value)}; }

template <typename Number>
std::optional<Constant> compare(std::string_view operation, Number a, Number b) {
  if (operation == "==") return truth(a == b);
  if (operation == "!=") return truth(a != b);
  if (operation == "<") return truth(a < b);
  if (operation == ">") return truth(a > b);
  if (operation == "<=") return truth(a <= b);
  if (operation == ">=") return truth(a >= b);
  return std::nullopt;
}

std::uint64_t shift(std::string_view operation, const Constant& a, std::uint64_t amount) {
  const bool left = operation == "<<";
  const bool negative = !left && a.kind == Constant::Kind::Signed && static_cast<std::int64_t>(a.bits) < 0;
  if (amount > 63) return negative ? std::numeric_limits<std::uint64_t>::max() : 0;
  if (left) return a.bits << amount;
  return negative ? ~(~a.bits >> amount) : a.bits >> amount;
}

/// Quotient or remainder; the divisor is not zero.
std::uint64_t divide(bool remainder, bool is_unsigned, std::uint64_t a, std::uint64_t b) {
  if (is_unsigned) return remainder ? a % b : a / b;
  const auto dividend = static_cast<std::int64_t>(a);
  const auto divisor = static_cast<std::int64_t>(b);
  if (divisor == -1) return remainder ? 0 : std::uint64_t{0} - a;  // also when the dividend is the least integer
  return static_cast<std::uint64_t>(remainder ? dividend % divisor : dividend / divisor);
}

}  // namespace

Constant ModuleParser::parse_constant() {
  const Constant condition = parse_binary(1);
  if (!accept("?")) return condition;
  const Nesting nesting(*this);
  const Constant if_true = parse_constant();
  expect(":");
  const Constant if_false = parse_constant();
  return is_true(condition) ? if_true : if_false;
}

std::uint64_t ModuleParser::parse_integer_constant(std::string_view what) {
  const Position position = token_.position;
  const Constant constant = parse_constant();
  if (!constant.is_integer()) {
    report(position, std::string(what) + " must be an integer");
    return 0;
  }
  return constant.bits;
}

Constant ModuleParser::parse_binary(int minimum_precedence) {
  Constant left = parse_unary();
  for (int strength = precedence(token_); strength >= minimum_precedence && strength > 0;
       strength = precedence(token_)) {
    advance();
    const Token operation = last_;
    const Nesting nesting(*this);
    const Constant right = parse_binary(strength + 1);
    left = combine(operation.text, left, right, operation.position);
  }
  return left;
}

Constant ModuleParser::combine(std::string_view operation, const Constant& a, const Constant& b, Position position) {
  if (a.kind == Constant::Kind::Single || b.kind == Constant::Kind::Single) {
    fail(position, "a 0f constant cannot be part of an expression");
  }
  if (operation == "&&") return truth(is_true(a) && is_true(b));
  if (operation == "||") return truth(is_true(a) || is_true(b));
  if (!a.is_integer() || !b.is_integer()) {
    const double x = as_double(a);
    const double y = as_double(b);
    if (operation == "+") return from_double(x + y);
    if (operation == "-") return from_double(x - y);
    if (operation == "*") return from_double(x * y);
    if (operation == "/") {
      if (y == 0) fail(position, "division by zero in a constant expression");
      return from_double(x / y);
    }
    if (const auto result = compare(operation, x, y)) return *result;
    fail(position, "operator " + quote(operation) + " needs integers");
  }
  if (operation == "<<" || operation == ">>") return {a.kind, shift(operation, a, b.bits)};
  const bool is_unsigned = a.kind == Constant::Kind::Unsigned || b.kind == Constant::Kind::Unsigned;
  if (const auto result =
          is_unsigned ? compare(operation, a.bits, b.bits)
                      : compare(operation, static_cast<std::int64_t>(a.bits), static_cast<std::int64_t>(b.bits))) {
    return *result;
  }
  Constant result{is_unsigned ? Constant::Kind::Unsigned : Constant::Kind::Signed, 0};
  switch (operation.front()) {
    case '+':
      result.bits = a.bits + b.bits;
      break;
    case '-':
      result.bits = a.bits - b.bits;
      break;
    case '*':
      result.bits = a.bits * b.bits;
      break;
    case '&':
      result.bits = a.bits & b.bits;
      break;
    case '|':
      result.bits = a.bits | b.bits;
      break;
    case '^':
      result.bits = a.bits ^ b.bits;
      break;
    default:
      if (b.bits == 0) fail(position, "division by zero in a constant expression");
      result.bits = divide(operation == "%", is_unsigned, a.bits, b.bits);
      break;
  }
  return result;
}

Constant ModuleParser::parse_unary() {
  const Position position = token_.position;
  for (std::string_view operation : {"-", "+", "!", "~"}) {
    if (!accept(operation)) continue;
    const Nesting nesting(*this);
    Constant value = parse_unary();
    if (operation == "!") return truth(!is_true(value));
    if (value.kind == Constant::Kind::Single || value.kind == Constant::Kind::Double) {
      if (operation == "~") fail(position, "operator '~' needs an integer");
      if (operation == "-") value.bits ^= value.kind == Constant::Kind::Single ? single_sign : double_sign;
    } else if (operation == "-") {
      value.bits = std::uint64_t{0} - value.bits;
    } else if (operation == "~") {
      value.bits = ~value.bits;
    }
    return value;
  }
  return parse_constant_primary();
}

Constant ModuleParser::parse_constant_primary() {
  switch (token_.kind) {
    case TokenKind::Integer:
      advance();
      return {last_.is_unsigned ? Constant::Kind::Unsigned : Constant::Kind::Signed, last_.value};
    case TokenKind::Single:
      advance();
      return {Constant::Kind::Single, last_.value};
    case TokenKind::Double:
      advance();
      return {Constant::Kind::Double, last_.value};
    default:
      break;
  }
  if (token_.is_word("WARP_SZ")) {
    advance();
    return {Constant::Kind::Signed, warp_size};
  }
  if (!accept("(")) fail_at_token("a constant");
  const Nesting nesting(*this);
  const bool to_signed = token_.is_dot("s64");
  if (to_signed || token_.is_dot("u64")) {
    const Position position = token_.position;
    advance();
    expect(")");
    const Constant value = parse_unary();
    if (!value.is_integer()) fail(position, "a cast needs an integer");
    return {to_signed ? Constant::Kind::Signed : Constant::Kind::Unsigned, value.bits};
  }
  const Constant value = parse_constant();
  expect(")");
  return value;
}

}  // namespace cucore::cpu::ptx
