// The PTX module tree: what the parser produces, the verifier checks and code generation reads.
//
// Names resolve during parsing: an operand holds the index of its register, variable, label or function, never a
// spelling to look up again. Scopes (`{ }`) are flattened; every declaration in an inner scope gets its own index.
// All std::string_view members point into Module::text, so a tree lives exactly as long as its Module.
//
// No LLVM here, and nothing of the driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/ptx/tree/types.hpp"

namespace cucore::cpu::ptx {

/// Instruction mnemonics of the PTX ISA (the part before the first dot), one enumerator each: opcodes.def.
enum class Opcode : std::uint16_t {
#define PTX_OPCODE(enumerator, spelling) enumerator,
#include "cpu/ptx/tree/opcodes.def"
#undef PTX_OPCODE
};

/// Everything that may follow a mnemonic after a dot and is neither a type, a state space nor a vector width:
/// rounding, comparison, cache operators, scopes, semantics ... : modifiers.def.
enum class Modifier : std::uint16_t {
#define PTX_MODIFIER(enumerator, spelling) enumerator,
#include "cpu/ptx/tree/modifiers.def"
#undef PTX_MODIFIER
};

enum class Space : std::uint8_t { Generic, Reg, Sreg, Const, Global, Local, Param, Shared, Tex };

/// Where a shared or param address lives, as spelt: `.shared::cta`, `.shared::cluster`, `.param::entry`,
/// `.param::func`.
enum class SubSpace : std::uint8_t { None, Cta, Cluster, Entry, Func };

std::string_view spelling(Opcode opcode);
std::string_view spelling(Modifier modifier);
std::string_view spelling(Space space);

/// Whether it is arithmetic whose f32 result `.ftz` flushes: no comparison, selection or conversion.
bool has_flushable_result(Opcode opcode);

using RegisterId = std::uint32_t;  ///< index into Function::registers
using VariableId = std::uint32_t;  ///< index into Module::variables or Function::variables (Operand says which)
using LabelId = std::uint32_t;     ///< index into Function::labels
using FunctionId = std::uint32_t;  ///< index into Module::functions

/// A position in the PTX text, 1-based.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// A part of a larger text: from `offset` on, until the next piece, it stands at `position` there and further.
struct TextPiece {
  std::size_t offset = 0;
  Position position;
};

/// Some items of a module as a text of their own, in which tokens keep the positions that they have in the module.
struct Excerpt {
  std::string text;
  std::vector<TextPiece> pieces;  ///< each begins at a token; ascending
};

/// A position in the CUDA source, from the `.loc` in force. file 0: none.
struct SourceLine {
  std::uint32_t file = 0;  ///< index of a `.file` directive
  std::uint32_t line = 0;
  std::uint32_t column = 0;  ///< 0: none
};

struct Register {
  std::string_view name;  ///< as spelt where it was declared or, for one of `%r<8>`, first used: `%r7`
  Type type{};
  std::uint8_t vector_width = 1;  ///< `.v2 .f32 %v` declares a vector register
};

/// One of PTX's special registers; `axis` is 0..3 for x y z w where the register is a vector, else 0.
struct SpecialRegister {
  std::string_view name;  ///< without the component, e.g. `%tid`, `%laneid`, `%clock64`, `%envreg`
  std::uint8_t axis = 0;
  std::uint16_t index = 0;  ///< N of `%envregN`, `%pmN`
};

Type type_of(const SpecialRegister& special);    ///< of one component
bool is_vector(const SpecialRegister& special);  ///< true of %tid and the like

struct Operand {
  enum class Kind : std::uint8_t {
    Register,      ///< `reg`, optionally `.component` of a vector register, optionally `negated` (`!%p`)
    RegisterPair,  ///< `%d|%p`: elements[0] and elements[1], each a Register, Vector or Sink
    Integer,       ///< `integer`
    Float,         ///< `float_bits` holds the binary64 (0d, decimal) or, if `is_single`, the binary32 pattern (0f)
    Special,       ///< `special`
    Variable,      ///< address of a variable, plus `offset`; `scope` says whose table
    Function,      ///< `function`
    Label,         ///< `label`
    Address,       ///< `[base + offset]`: base in elements[0] (Register, Variable, Integer), `offset` added;
                   ///< further elements are texture coordinates and the like
    Vector,        ///< `{a, b, ...}`
    List,          ///< `(a, b, ...)` of a call
    Sink,          ///< `_`
    Prototype,     ///< a `.callprototype`, index in `integer`
    TargetList,    ///< a `.branchtargets` or `.calltargets` list, index in `integer`
  };
  enum class Scope : std::uint8_t { Module, Function };

  Kind kind = Kind::Sink;
  Scope scope = Scope::Module;
  bool negated = false;  ///< `!%p`; for vmad `-%r`
  bool is_single = false;
  std::int8_t component = -1;  ///< 0..3 for `.x .y .z .w` or `.r .g .b .a` of a vector register; -1: whole
  RegisterId reg = 0;
  VariableId variable = 0;
  LabelId label = 0;
  FunctionId function = 0;
  std::uint64_t integer = 0;  ///< two's complement of the literal, evaluated in 64 bits
  std::uint64_t float_bits = 0;
  std::int64_t offset = 0;
  SpecialRegister special;
  std::string_view selector;  ///< of a register of a video instruction: `b0`, `h1`, `b7531`; else empty
  std::vector<Operand> elements;
};

/// Calls `visit` with each register that an operand names, whatever it stands in.
template <typename Visit>
void for_each_register(const Operand& operand, const Visit& visit) {
  if (operand.kind == Operand::Kind::Register) visit(operand.reg);
  for (const Operand& element : operand.elements) for_each_register(element, visit);
}

struct Guard {
  RegisterId reg = 0;
  bool negated = false;
};

struct Instruction {
  Opcode opcode{};
  std::string_view spelt;           ///< mnemonic with everything that follows it, as spelt: `ld.global.nc.f32`
  std::vector<Modifier> modifiers;  ///< in spelt order
  std::vector<Type> types;          ///< in spelt order: `cvt.rn.f32.s32` has {F32, S32}
  std::vector<Space> spaces;        ///< in spelt order: `cp.async.ca.shared.global` has {Shared, Global}
  std::vector<SubSpace> subspaces;  ///< parallel to `spaces`
  std::uint8_t vector_width = 1;    ///< `.v2 .v4 .v8`
  std::optional<Guard> guard;       ///< `@%p` / `@!%p`
  std::vector<Operand> operands;    ///< in spelt order; those of `call` always are: returns (a List), callee (Function
                                    ///< or Register), arguments (a List), and a Prototype or TargetList if there is one
  Position position;
  SourceLine source;

  bool has(Modifier modifier) const;
  Space space() const;  ///< the first space, or Generic
  Type type() const;    ///< the last type (the operand type of most instructions), or Type::None
};

/// The first operand holds what an instruction writes, if it is not an address.
inline bool writes_first_operand(const Instruction& instruction) {
  return !instruction.operands.empty() && instruction.operands[0].kind != Operand::Kind::Address;
}

/// `opcode.mod.mod...` as a user would write it: for messages.
std::string spelling(const Instruction& instruction);

struct Label {
  std::string_view name;
  std::uint32_t instruction = 0;  ///< index of the instruction it precedes; body.size() if it ends the body
};

/// A use of an address inside an initialiser.
struct Relocation {
  std::uint64_t offset = 0;  ///< where in the variable
  std::uint8_t width = 8;    ///< bytes stored (a mask such as `0xFF(symbol)` stores `width` bytes of the address ...
  std::uint8_t shift = 0;    ///< ... after shifting it right by `shift` bits)
  bool is_function = false;
  bool generic = false;  ///< `generic(symbol)`: the generic address, not the address in the symbol's space
  VariableId variable = 0;
  FunctionId function = 0;
  std::int64_t addend = 0;
};

/// `addr_mode_0 = wrap` in the initialiser of an opaque variable.
struct SamplerAttribute {
  std::string_view name;
  std::string_view value;
};

enum class Linkage : std::uint8_t { Internal, Visible, Extern, Weak, Common };

struct Variable {
  std::string_view name;
  Space space{};
  Type type{};
  Linkage linkage = Linkage::Internal;
  std::uint8_t vector_width = 1;
  std::uint32_t alignment = 1;            ///< bytes; the type's natural alignment if not given
  std::vector<std::uint64_t> dimensions;  ///< empty: scalar; 0: `[]` of unknown length
  std::uint64_t size = 0;                 ///< bytes; 0 for `[]`
  bool is_array = false;
  bool managed = false;                  ///< `.attribute(.managed)`
  bool is_pointer = false;               ///< `.param ... .ptr`
  Space pointer_space = Space::Generic;  ///< of a `.ptr`
  std::uint32_t pointer_alignment = 0;
  std::vector<std::uint8_t> initial;  ///< empty: zero; else `size` bytes
  std::vector<Relocation> relocations;
  std::vector<SamplerAttribute> attributes;  ///< of an initialised .texref, .samplerref or .surfref
  RegisterId reg = 0;                        ///< of a register parameter (space Reg): the register it is
  Position position;
};

/// `.callprototype`: the signature of an indirect call.
struct Prototype {
  std::string_view name;
  std::vector<Variable> returns;
  std::vector<Variable> parameters;
  bool noreturn = false;
};

/// `.branchtargets` (labels) or `.calltargets` (functions).
struct TargetList {
  std::string_view name;
  std::vector<LabelId> labels;
  std::vector<FunctionId> functions;
};

/// `.maxntid`, `.reqntid`, `.minnctapersm`, `.maxnreg`, `.reqnctapercluster`, `.maxclusterrank`, `.explicitcluster` ...
/// A shape given with fewer than three numbers is 1 in the others.
struct PerformanceDirectives {
  std::optional<std::uint32_t> maxntid[3];
  std::optional<std::uint32_t> reqntid[3];
  std::optional<std::uint32_t> minnctapersm;
  std::optional<std::uint32_t> maxnreg;
  std::optional<std::uint32_t> reqnctapercluster[3];
  std::optional<std::uint32_t> maxclusterrank;
  bool explicitcluster = false;
  bool blocksareclusters = false;
  bool noreturn = false;
};

struct Function {
  std::string_view name;
  std::string_view text;  ///< as spelt, from its results or name to the end of its body or declaration
  bool is_entry = false;
  bool has_body = false;  ///< false: a declaration (extern, or forward)
  Linkage linkage = Linkage::Internal;
  std::vector<VariableId> returns;     ///< indices into `variables`
  std::vector<VariableId> parameters;  ///< indices into `variables`; register parameters (`.reg`) too: space Reg
  std::vector<Variable> variables;     ///< every .param, .local and .shared variable of the function, inner scopes too
  std::vector<Register> registers;     ///< declared by name, or used from a range such as `%r<8>`
  std::vector<Label> labels;
  std::vector<Instruction> body;
  std::vector<Prototype> prototypes;
  std::vector<TargetList> target_lists;
  PerformanceDirectives directives;
  std::optional<FunctionId> alias_of;  ///< `.alias name, aliasee`
  Position position;
};

struct Version {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
};

struct Module {
  std::string text;                              ///< the PTX, owned
  std::deque<std::string> made_names;            ///< of variables declared by `a<2>`, which the text does not spell
  Version version;                               ///< `.version`
  std::string_view target;                       ///< `sm_80`, first word of `.target`
  std::vector<std::string_view> target_options;  ///< `debug`, `texmode_independent` ...
  std::uint32_t address_size = 64;
  std::vector<std::string> files;   ///< `.file` paths, index as spelt; 0 unused
  std::vector<Variable> variables;  ///< of module scope, and the .global and .const variables declared in functions
  std::vector<Function> functions;

  const Function* find_function(std::string_view name) const;  ///< nullptr if there is none
  const Variable* find_variable(std::string_view name) const;  ///< nullptr if there is none
};

}  // namespace cucore::cpu::ptx
