// The recursive-descent parser, one instance for one text. Split over several files by what is parsed:
// module_parser.cpp (directives of module scope), declarations.cpp, initialisers.cpp, functions.cpp, statements.cpp,
// operands.cpp and constant_expressions.cpp.
//
// A syntax error ends the parse (by the exception Abandon, which never leaves parse()); a semantic error is recorded
// and the parse goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/ptx/syntax/lexer.hpp"
#include "cpu/ptx/syntax/name_scopes.hpp"
#include "cpu/ptx/tree/ast.hpp"
#include "cpu/ptx/tree/diagnostic.hpp"

namespace cucore::cpu::ptx {

/// Thrown by ModuleParser::fail and when there are too many diagnostics; caught in parse().
struct Abandon {};

/// The value of a constant expression. Arithmetic follows the ISA: 64 bits, unsigned if an operand is.
struct Constant {
  enum class Kind : std::uint8_t { Signed, Unsigned, Single, Double };
  Kind kind = Kind::Signed;
  std::uint64_t bits = 0;  ///< integer, or the pattern of the floating-point number

  bool is_integer() const { return kind == Kind::Signed || kind == Kind::Unsigned; }
};

class ModuleParser {
 public:
  /// `module.text` must be set; fills the rest of `module`. `pieces`: of an excerpt.
  ModuleParser(Module& module, std::vector<Diagnostic>& diagnostics, std::span<const TextPiece> pieces);

  void parse_module();

 private:
  /// Braces and parentheses may nest this deep.
  static constexpr unsigned max_nesting = 200;
  static constexpr std::size_t max_diagnostics = 50;

  class Nesting {
   public:
    explicit Nesting(ModuleParser& parser);
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    ModuleParser& parser_;
  };

  // Tokens.
  void advance();
  bool accept(std::string_view punctuation);
  bool accept_dot(std::string_view word);
  void expect(std::string_view punctuation);
  Token expect_kind(TokenKind kind, std::string_view what);
  std::string_view expect_name(std::string_view what);
  std::uint32_t expect_number(std::string_view what);
  [[noreturn]] void fail(Position position, std::string message);
  [[noreturn]] void fail_at_token(std::string_view expected);
  void report(Position position, std::string message);

  // Module scope.
  void parse_version();
  void parse_target();
  void parse_address_size();
  void parse_file();
  void parse_section();
  void parse_alias();
  void parse_pragma();
  void parse_attributes(Variable* variable);
  void parse_module_declaration();
  Linkage parse_linkage();

  // Declarations.
  struct DeclarationHead {
    Variable variable;  ///< all but the name and the dimensions
    Position position;
  };
  DeclarationHead parse_declaration_head(Space space, bool is_parameter);
  bool parse_declaration_word(DeclarationHead& head, bool is_parameter, bool& has_alignment);
  void parse_pointer_words(Variable& variable);
  void parse_variables(Linkage linkage, const Variable& attributes);
  void parse_registers();
  void parse_dimensions(Variable& variable);
  void finish_size(Variable& variable);
  void check_variable(const Variable& variable, bool in_function);
  void declare_variable(Variable variable, bool in_function);
  /// `a<2>`: a0 and a1. `variable` has the name `a`; `<` was taken.
  void declare_numbered_variables(Variable variable, bool in_function);
  std::vector<Variable> parse_parameters(bool is_prototype);

  // Initialisers.
  void parse_initialiser(Variable& variable);
  void parse_sampler_attributes(Variable& variable);
  void parse_elements(Variable& variable, std::size_t dimension, std::uint64_t first, std::uint64_t count);
  void parse_element(Variable& variable, std::uint64_t index);
  bool parse_address_element(Variable& variable, std::uint64_t offset);
  void store_constant(Variable& variable, std::uint64_t offset, const Constant& constant, Position position);
  std::uint8_t* reserve_initial(Variable& variable, std::uint64_t end);

  // Functions.
  void parse_function(bool is_entry, Linkage linkage, Position position);
  bool parse_function_directive(PerformanceDirectives& directives);
  void parse_shape(std::optional<std::uint32_t> (&shape)[3]);
  FunctionId declare_function(Function declared);
  bool same_signature(const Function& a, const Function& b) const;
  void declare_parameters(Function& function);
  void parse_body(Function& function);

  // Statements.
  void parse_block();
  void parse_statement();
  void parse_directive_statement();
  void parse_loc();
  void parse_labelled(const Token& name);
  void parse_prototype(const Token& name);
  void parse_target_list(const Token& name, bool of_labels);
  void declare_label(const Token& name);
  void parse_instruction(std::optional<Guard> guard, const Token& mnemonic);
  void parse_dot_words(Instruction& instruction);
  void parse_call(Instruction& instruction);
  Guard parse_guard();
  void resolve_labels();

  // Operands.
  Operand parse_operand(Opcode opcode);
  Operand parse_primary_operand(Opcode opcode);
  Operand parse_address();
  Operand parse_named_operand();
  Operand parse_name_as_operand(const Token& name);
  void parse_component(Operand& operand, const Token& name);
  void parse_offset(Operand& operand);
  Operand parse_list(std::string_view close, Operand::Kind kind);
  Operand parse_constant_operand();
  Operand parse_element(Operand array, const Token& name);

  // Constant expressions.
  Constant parse_constant();
  std::uint64_t parse_integer_constant(std::string_view what);
  Constant parse_binary(int minimum_precedence);
  Constant parse_unary();
  Constant parse_constant_primary();
  Constant combine(std::string_view operation, const Constant& a, const Constant& b, Position position);

  Module& module_;
  std::vector<Diagnostic>& diagnostics_;
  Lexer lexer_;
  Token token_;  ///< the next token not yet consumed
  Token last_;   ///< the last one consumed
  unsigned nesting_ = 0;
  NameScopes scopes_;
  Function* function_ = nullptr;  ///< whose body is being parsed
  SourceLine source_;
  std::uint64_t initial_bytes_ = 0;  ///< of all initialisers so far
};

/// `'word'`, cut if it is long: for messages.
std::string quote(std::string_view word);

}  // namespace cucore::cpu::ptx
