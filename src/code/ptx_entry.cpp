// Reads .entry lines of PTX, word by word: a parser of parameter lists.
#include "src/code/ptx_entry.hpp"

#include <charconv>

#include "src/formats/ptx_words.hpp"

namespace cucore::detail {
namespace {

struct PtxType {
  std::string_view name;
  std::size_t size;
  ParameterKind kind;
};

// PTX does not keep signedness: compilers write .u32 for int and unsigned alike. Only .s types are certain.
constexpr PtxType ptx_types[] = {
    {".u8", 1, ParameterKind::integer},         {".s8", 1, ParameterKind::signed_integer},
    {".b8", 1, ParameterKind::unknown},         {".u16", 2, ParameterKind::integer},
    {".s16", 2, ParameterKind::signed_integer}, {".b16", 2, ParameterKind::unknown},
    {".f16", 2, ParameterKind::floating},       {".bf16", 2, ParameterKind::bfloat16},
    {".f16x2", 4, ParameterKind::aggregate},    {".bf16x2", 4, ParameterKind::aggregate},
    {".u32", 4, ParameterKind::integer},        {".s32", 4, ParameterKind::signed_integer},
    {".b32", 4, ParameterKind::unknown},        {".f32", 4, ParameterKind::floating},
    {".u64", 8, ParameterKind::integer},        {".s64", 8, ParameterKind::signed_integer},
    {".b64", 8, ParameterKind::unknown},        {".f64", 8, ParameterKind::floating},
    {".b128", 16, ParameterKind::aggregate},
};

const PtxType* find_type(std::string_view word) {
  for (const PtxType& type : ptx_types) {
    if (type.name == word) return &type;
  }
  return nullptr;
}

std::size_t number(std::string_view word) {
  std::size_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

// One parameter, up to and with the ',' or ')' after it; that character is returned through `end`.
std::optional<Parameter> read_parameter(PtxWords& scan, std::string_view word, char& end) {
  Parameter parameter;
  bool typed = false;
  bool pointer = false;
  bool array = false;
  std::size_t elements = 1;
  for (; !word.empty(); word = scan.next()) {
    if (word == "," || word == ")") {
      end = word[0];
      if (!typed) return std::nullopt;
      parameter.size *= elements;
      if (array) parameter.kind = ParameterKind::aggregate;
      if (pointer) parameter.kind = ParameterKind::pointer;
      return parameter;
    }
    if (word == ".align") {
      // After .ptr it is the alignment of what is pointed to.
      const std::size_t alignment = number(scan.next());
      if (!pointer) parameter.alignment = alignment;
    } else if (word == ".ptr") {
      pointer = true;
    } else if (word == "[") {
      array = true;
      elements = number(scan.next());
    } else if (const PtxType* type = find_type(word)) {
      typed = true;
      parameter.size = type->size;
      parameter.kind = type->kind;
      parameter.type_name = type->name;
      if (parameter.alignment < type->size) parameter.alignment = type->size;
    } else if (typed && !array) {
      parameter.name = word;
    }
  }
  return std::nullopt;
}

// Compilers number parameters after the kernel: k_param_0. Such a number is not a name.
void drop_made_up_names(PtxEntry& entry) {
  for (Parameter& parameter : entry.parameters) {
    if (parameter.name.starts_with(entry.name + "_param_")) parameter.name.clear();
  }
}

// "64, 1, 1" after .reqntid; what is left out is 1. Reads one word too many and returns it.
std::string_view read_extents(PtxWords& scan, Dim3& extents) {
  extents = {1, 1, 1};
  std::string_view word;
  for (unsigned* extent : {&extents.x, &extents.y, &extents.z}) {
    *extent = static_cast<unsigned>(number(scan.next()));
    word = scan.next();
    if (word != ",") break;
  }
  return word;
}

std::optional<PtxEntry> read_entry(PtxWords& scan) {
  PtxEntry entry;
  entry.name = scan.next();
  if (entry.name.empty()) return std::nullopt;
  std::string_view word = scan.next();
  if (word == "(") {
    word = scan.next();
    char end = ',';
    if (word == ")") end = ')';
    while (end == ',') {
      const auto parameter = read_parameter(scan, word, end);
      if (!parameter) return std::nullopt;
      entry.parameters.push_back(*parameter);
      if (end == ',') word = scan.next();
    }
    word = scan.next();
  }
  // Directives, up to the body. A declaration ends with ';'.
  while (!word.empty() && word != "{" && word != ";") {
    word = word == ".reqntid" ? read_extents(scan, entry.required_block) : scan.next();
  }
  lay_out(entry.parameters);
  drop_made_up_names(entry);
  return entry;
}

}  // namespace

std::size_t lay_out(std::vector<Parameter>& parameters) {
  std::size_t offset = 0;
  for (Parameter& parameter : parameters) {
    const std::size_t alignment = parameter.alignment == 0 ? 1 : parameter.alignment;
    offset = (offset + alignment - 1) / alignment * alignment;
    parameter.offset = offset;
    offset += parameter.size;
  }
  return offset;
}

std::vector<PtxEntry> ptx_entries(std::string_view ptx) {
  std::vector<PtxEntry> entries;
  PtxWords scan(ptx);
  for (std::string_view word = scan.next(); !word.empty(); word = scan.next()) {
    if (word != ".entry") continue;
    if (auto entry = read_entry(scan)) entries.push_back(std::move(*entry));
  }
  return entries;
}

std::optional<PtxEntry> ptx_entry(std::string_view ptx, std::string_view name) {
  PtxWords scan(ptx);
  for (std::string_view word = scan.next(); !word.empty(); word = scan.next()) {
    if (word != ".entry") continue;
    auto entry = read_entry(scan);
    if (entry && entry->name == name) return entry;
  }
  return std::nullopt;
}

}  // namespace cucore::detail
