// The index of a module and excerpts of it, against what parsing the whole module gives.
#include "cpu/ptx/module_index.hpp"

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include "cpu/tests/ptx/sources.hpp"

namespace cucore::cpu::ptx {
namespace {

std::vector<std::string_view> kernels_of(const Module& module) {
  std::vector<std::string_view> names;
  for (const Function& function : module.functions)
    if (function.is_entry && function.has_body) names.push_back(function.name);
  return names;
}

/// The names that operands lead to, in order.
void add_names(const Module& module, const Function& function, const std::vector<Operand>& operands,
               std::vector<std::string_view>& names) {
  for (const Operand& operand : operands) {
    if (operand.kind == Operand::Kind::Function) names.push_back(module.functions[operand.function].name);
    if (operand.kind == Operand::Kind::Register) names.push_back(function.registers[operand.reg].name);
    if (operand.kind == Operand::Kind::Label) names.push_back(function.labels[operand.label].name);
    if (operand.kind == Operand::Kind::Variable)
      names.push_back(
          (operand.scope == Operand::Scope::Module ? module.variables : function.variables)[operand.variable].name);
    add_names(module, function, operand.elements, names);
  }
}

void expect_same(const Module& a, const Function& f, const Module& b, const Function& g) {
  EXPECT_EQ(f.text, g.text);
  EXPECT_EQ(f.linkage, g.linkage);
  EXPECT_EQ(f.is_entry, g.is_entry);
  EXPECT_EQ(f.position.line, g.position.line);
  EXPECT_EQ(f.position.column, g.position.column);
  ASSERT_EQ(f.body.size(), g.body.size()) << f.name;
  for (std::size_t i = 0; i < f.body.size(); ++i) {
    EXPECT_EQ(f.body[i].spelt, g.body[i].spelt);
    EXPECT_EQ(f.body[i].position.line, g.body[i].position.line) << f.body[i].spelt;
    EXPECT_EQ(f.body[i].position.column, g.body[i].position.column) << f.body[i].spelt;
    std::vector<std::string_view> names, same;
    add_names(a, f, f.body[i].operands, names);
    add_names(b, g, g.body[i].operands, same);
    EXPECT_EQ(names, same);
  }
  ASSERT_EQ(f.alias_of.has_value(), g.alias_of.has_value());
  if (f.alias_of) {
    EXPECT_EQ(a.functions[*f.alias_of].name, b.functions[*g.alias_of].name);
  }
}

void expect_same(const Module& a, const Variable& v, const Module& b, const Variable& w) {
  EXPECT_EQ(v.name, w.name);
  EXPECT_EQ(v.space, w.space);
  EXPECT_EQ(v.linkage, w.linkage);
  EXPECT_EQ(v.size, w.size);
  EXPECT_EQ(v.alignment, w.alignment);
  EXPECT_EQ(v.managed, w.managed);
  EXPECT_EQ(v.initial, w.initial);
  EXPECT_EQ(v.position.line, w.position.line);
  EXPECT_EQ(v.position.column, w.position.column);
  ASSERT_EQ(v.relocations.size(), w.relocations.size());
  for (std::size_t i = 0; i < v.relocations.size(); ++i) {
    const Relocation &x = v.relocations[i], &y = w.relocations[i];
    EXPECT_EQ(x.offset, y.offset);
    ASSERT_EQ(x.is_function, y.is_function);
    if (x.is_function) {
      EXPECT_EQ(a.functions[x.function].name, b.functions[y.function].name);
      EXPECT_EQ(a.functions[x.function].has_body, b.functions[y.function].has_body);
    } else {
      EXPECT_EQ(a.variables[x.variable].name, b.variables[y.variable].name);
    }
  }
}

/// Functions that a kernel's body leads to, through what it names.
std::set<std::string_view> reached_from(const Module& module, const Function& kernel) {
  std::set<std::string_view> reached;
  std::vector<const Function*> left = {&kernel};
  const auto reach = [&](FunctionId id) { left.push_back(&module.functions[id]); };
  while (!left.empty()) {
    const Function& function = *left.back();
    left.pop_back();
    if (!reached.insert(function.name).second) continue;
    if (function.alias_of) reach(*function.alias_of);
    std::vector<std::string_view> names;
    for (const Instruction& instruction : function.body) add_names(module, function, instruction.operands, names);
    for (const TargetList& list : function.target_lists)
      for (const FunctionId id : list.functions) reach(id);
    for (const std::string_view name : names)
      if (const Function* const named = module.find_function(name)) left.push_back(named);
  }
  return reached;
}

/// Of text that parses; true if there is an index of it.
bool expect_excerpts_of(const std::string& text) {
  const ParseResult whole = accept(text);
  const std::optional<ModuleIndex> index = ModuleIndex::of(text);
  if (!index || !whole.module) return false;
  const Module& module = *whole.module;
  EXPECT_EQ(kernels_of(module), index->kernels());

  const ParseResult variables = parse(index->variables());
  EXPECT_NE(variables.module, nullptr) << format(variables.diagnostics);
  if (!variables.module) return true;
  EXPECT_EQ(variables.module->target, module.target);
  EXPECT_EQ(variables.module->target_options, module.target_options);
  EXPECT_EQ(variables.module->version.minor, module.version.minor);
  EXPECT_EQ(variables.module->address_size, module.address_size);
  EXPECT_EQ(variables.module->variables.size(), module.variables.size());
  for (std::size_t i = 0; i < std::min(module.variables.size(), variables.module->variables.size()); ++i)
    expect_same(module, module.variables[i], *variables.module, variables.module->variables[i]);

  for (const std::string_view name : index->kernels()) {
    const ParseResult excerpt = parse(index->kernel(name));
    EXPECT_NE(excerpt.module, nullptr) << format(excerpt.diagnostics);
    if (!excerpt.module) continue;
    EXPECT_EQ(excerpt.module->files, module.files);
    for (const std::string_view reached : reached_from(module, *module.find_function(name))) {
      const Function* const there = excerpt.module->find_function(reached);
      EXPECT_NE(there, nullptr) << reached;
      if (there) expect_same(module, *module.find_function(reached), *excerpt.module, *there);
    }
    for (const Variable& variable : excerpt.module->variables) {
      const Variable* const original = module.find_variable(variable.name);
      EXPECT_NE(original, nullptr) << variable.name;
      if (original) expect_same(module, *original, *excerpt.module, variable);
    }
  }
  return true;
}

TEST(PtxModuleIndex, excerpts_of_compilers_modules_are_what_the_modules_say) {
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CUCORE_TEST_DATA "/corpus")) {
    if (entry.path().extension() != ".ptx") continue;
    EXPECT_TRUE(expect_excerpts_of(read_file(entry.path().string()))) << entry.path();
    ++seen;
  }
  EXPECT_GT(seen, 10U);
}

constexpr const char* everything = R"(
.file 1 "a } file.cu", 17, 4
.file	2 "b.cu"
.section .debug_info { .b8 1, 2 .b8 3 { .b32 } }
/* a comment with a { brace */ .extern .shared .align 16 .b8 memory[];
.pragma "nounroll", "a ; in it";
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.func (.param .b32 r) later (.param .b32 x);
.visible .entry forward(.param .u64 p);
.global .attribute(.managed) .align 4 .u32 m = 1;
.const .align 8 .u64 table[2] = { generic(m)+4, first };
.visible .global .u64 second_table[] = { second, forward }, one = third;
.weak .global .align 4 .b8 text[16] = {123, 125, 34, 0};
.global .texref image;
.alias third, second;)";

constexpr const char* its_functions = R"(
.func (.param .b32 r) first (.param .b32 x) .noreturn
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [x]; // } is no end
  { .reg .b32 %t; mov.b32 %t, %r1; }
  /* nor } is
     that */
  .pragma "nounroll";
  st.param.b32 [r], %r1;
  ret;
}
.func (.param .b32 r) second (.param .b32 x) { st.param.b32 [r], 2; ret; }
.func (.param .b32 r) later (.param .b32 x) { st.param.b32 [r], 3; ret; }
.visible .entry forward(.param .u64 p) .maxntid 32, 1, 1 .pragma "x"; .minnctapersm 2 { .loc 1 3 4
  ret; }
	.visible .entry uses(
    .param .u64 p)
.reqntid 64 {
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .v4 .f32 %v;
  .param .b32 x; .param .b32 r;
  mov.u64 %rd1, table; mov.u64 %rd2, memory;
  st.param.b32 [x], 1;
  call.uni (r), third, (x);
  { // callseq
  call.uni (r), later, (x);
  } // callseq
  mov.b64 {%r1, %r2}, %rd1; ret;
}
)";

/// An alias needs the function that it stands for before it.
std::string everything_text() {
  const std::string functions = its_functions;
  return module_of(
      ".func (.param .b32 r) first (.param .b32 x);\n.func (.param .b32 r) second (.param .b32 x);\n"
      ".func (.param .b32 r) third (.param .b32 x);\n" +
      std::string(everything) + functions);
}

TEST(PtxModuleIndex, takes_everything_that_stands_at_module_scope) {
  EXPECT_TRUE(expect_excerpts_of(everything_text()));
  const std::string text = everything_text();
  const ModuleIndex index = *ModuleIndex::of(text);
  EXPECT_EQ(index.kernels(), (std::vector<std::string_view>{"forward", "uses"}));
  const std::string excerpt = index.kernel("forward").text;
  EXPECT_EQ(excerpt.find("uses"), std::string::npos);
  EXPECT_EQ(excerpt.find("table"), std::string::npos);
  EXPECT_EQ(excerpt.find("debug_info"), std::string::npos);
}

TEST(PtxModuleIndex, an_excerpt_of_an_unknown_kernel_has_no_kernel) {
  const std::string text = everything_text();
  EXPECT_TRUE(accept(ModuleIndex::of(text)->kernel("unknown").text).module->functions.empty());
}

std::string numbers(std::size_t count) {
  std::string list = "0x7f";
  for (std::size_t i = 1; i < count; ++i) list += ", " + std::to_string(i % 256);
  return list;
}

TEST(PtxModuleIndex, long_values_are_left_out_of_kernels_unless_they_name_something) {
  const std::string kernel =
      ".visible .entry k() { .reg .b64 %rd; mov.u64 %rd, table; mov.u64 %rd, other; mov.u64 %rd, first; mov.u64 %rd, "
      "one; }\n";
  const std::string text =
      module_of(".global .align 4 .b8 table[5000] = {" + numbers(5000) + "};\n.global .u32 one = 1;\n" +
                ".global .u64 other[2000] = {one, " + numbers(1900) + "};\n" + ".const .b8 first[2000] = {" +
                numbers(2000) + "}, second = 1;\n.global .u32 open[ ] = {" + numbers(2000) + "};\n" + kernel);
  const ParseResult whole = accept(text);
  const ModuleIndex index = *ModuleIndex::of(text);
  const ParseResult excerpt = parse(index.kernel("k")), variables = parse(index.variables());
  ASSERT_NE(excerpt.module, nullptr) << format(excerpt.diagnostics);
  ASSERT_NE(variables.module, nullptr);
  for (const Variable& variable : excerpt.module->variables) {
    const Variable& original = *whole.module->find_variable(variable.name);
    EXPECT_EQ(variable.size, original.size);
    EXPECT_EQ(variable.relocations.size(), original.relocations.size());
    EXPECT_EQ(variable.initial.empty(), variable.name == "table") << variable.name;
    EXPECT_EQ(variables.module->find_variable(variable.name)->initial, original.initial);
  }
  EXPECT_EQ(excerpt.module->functions[0].body[0].position.line, whole.module->functions[0].body[0].position.line);
}

TEST(PtxModuleIndex, diagnostics_of_an_excerpt_have_the_positions_of_the_module) {
  const std::string before = module_of("\n\n.func good() { ret; }\n\n");
  const std::string text = before + "  .entry bad() { \n  good.u32 x;\n }\n .entry other() { ret; }\n";
  const std::optional<ModuleIndex> index = ModuleIndex::of(text);
  ASSERT_TRUE(index);
  EXPECT_NE(parse(index->kernel("other")).module, nullptr);
  const ParseResult bad = parse(index->kernel("bad"));
  EXPECT_EQ(bad.module, nullptr);
  EXPECT_EQ(format(bad.diagnostics), refuse(text));
}

TEST(PtxModuleIndex, there_is_none_of_what_excerpts_could_not_show) {
  for (const char* const text : {
           ".func f() { .global .u32 x; ret; }",                            // a variable of the module
           ".func f() {\n{.const .u32 x = 1; } ret; }",                     //
           ".func f() { l:.global .u32 x; ret; }",                          //
           ".func f() { /**/.global .u32 x; ret; }",                        //
           ".entry k() { ret; } .entry k() { ret; }",                       // not valid
           ".global .u32 k; .entry k() { ret; }",                           //
           ".func k(); .entry k() { ret; }",                                //
           ".entry k() { ret;",                                             //
           ".entry k() { ret; /* }",                                        //
           ".entry k() { .pragma \"x; ret; }\n",                            //
           ".entry k( { ret; }",                                            //
           ".entry k() ret",                                                //
           ".global .u32 x = { 1",                                          //
           ".unknown k;",                                                   //
           "k",                                                             //
           ".global .u32 %x; .entry k() { .reg .b64 %r; mov.u64 %r, %x; }"  // as registers are named
       })
    EXPECT_FALSE(ModuleIndex::of(module_of(text))) << text;
}

TEST(PtxModuleIndex, accesses_declare_nothing) {
  EXPECT_TRUE(
      ModuleIndex::of(kernel_of("ld.global.u32 %r1, [%rd1];st.global.u32 [%rd1], %r1;\n"
                                "@%p1 ld.const.u32 %r1,[%rd1]; cvta.to.global.u64 %rd1, %rd1;")));
}

/// Modules of functions that call and name each other and variables, written in many ways.
class RandomModule {
 public:
  explicit RandomModule(unsigned seed) : random_(seed) {}

  std::string text() {
    std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n";
    const unsigned functions = 1 + pick(6), variables = pick(5), kernels = 1 + pick(5);
    for (unsigned i = 0; i < functions; ++i)
      if (pick(2) == 0) text += gap() + head(i) + ";" + gap();
    text += ".global .u32 anchor;" + gap();
    for (unsigned i = 0; i < functions; ++i) text += head(i) + ";\n";  // so that all may name all
    for (unsigned i = 0; i < variables; ++i) text += variable(i, functions) + gap();
    for (unsigned i = 0; i < functions; ++i) text += head(i) + body(functions, variables) + gap();
    for (unsigned i = 0; i < kernels; ++i)
      text +=
          ".visible .entry kernel" + std::to_string(i) + "(.param .u64 p)" + gap() + body(functions, variables) + gap();
    return text;
  }

 private:
  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }

  std::string gap() {
    static const char* const gaps[] = {"\n", " ", "\n\n\t", "// { \" \n", "/* } */", "\n/*\n\"{*/ ", "\r\n"};
    return gaps[pick(std::size(gaps))];
  }

  static std::string name(unsigned function) { return "function" + std::to_string(function); }
  static std::string head(unsigned function) { return ".func (.param .b32 r) " + name(function) + "(.param .b32 x)"; }

  std::string variable(unsigned number, unsigned functions) {
    const std::string name = "variable" + std::to_string(number);
    switch (pick(5)) {
      case 0:
        return ".global .align 8 .u64 " + name + "[2] = {" + RandomModule::name(pick(functions)) + ", 0};";
      case 1:
        return ".const .u32 " + name + "[3] = {1," + gap() + "2};";
      case 2:
        return ".shared .align 4 .b8 " + name + "[64];";
      case 3:
        return ".visible .global .u64 " + name + " = generic(anchor);";
      default:
        return ".extern .global .u32 " + name + ";" + gap() + ".global .u32 " + name + ";";
    }
  }

  std::string body(unsigned functions, unsigned variables) {
    std::string text = "{" + gap() + ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<2>;" + gap();
    const unsigned statements = pick(8);
    for (unsigned i = 0; i < statements; ++i) {
      switch (pick(7)) {
        case 0:
          text += "{" + gap() + ".param .b32 a; .param .b32 b;\nst.param.b32 [a], %r1; call.uni (b), " +
                  name(pick(functions)) + ", (a); }";
          break;
        case 1:
          text += "mov.u64 %rd" + std::to_string(pick(9)) + ", " + name(pick(functions)) + ";";
          break;
        case 2:
          if (variables > 0) text += "mov.u64 %rd1," + gap() + "variable" + std::to_string(pick(variables)) + ";";
          break;
        case 3:
          text += "label" + std::to_string(i) + ":";
          break;
        case 4:
          text += ".pragma \"no{unroll\";";
          break;
        case 5:
          text += "mov.b64 {%r1, %r2}, %rd1;";
          break;
        default:
          text += "@!%p1 add.u32 %r1," + gap() + "%r2, 0x7d;";
      }
      text += gap();
    }
    return text + "ret;" + gap() + "}";
  }

  std::mt19937 random_;
};

TEST(PtxModuleIndex, excerpts_of_random_modules_are_what_the_modules_say) {
  std::size_t indexed = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const std::string text = RandomModule(seed).text();
    if (!parse(text).module) continue;
    indexed += expect_excerpts_of(text) ? 1U : 0U;
    if (HasFailure()) FAIL() << text;
  }
  EXPECT_GT(indexed, 200U);
}

TEST(PtxModuleIndex, damaged_text_has_a_verdict) {
  std::mt19937 random(5);
  const std::string text = everything_text();
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = text.substr(0, random() % 8 == 0 ? random() % text.size() : text.size());
    for (int i = 0; i < 3 && !damaged.empty(); ++i)
      damaged[random() % damaged.size()] = "{}\"/*;.@%\n\0x"[random() % 12];
    const std::optional<ModuleIndex> index = ModuleIndex::of(damaged);
    if (!index) continue;
    const bool is_valid = parse(damaged).module != nullptr;
    if (is_valid) expect_excerpts_of(damaged);
    for (const std::string_view name : index->kernels()) (void)parse(index->kernel(name));
    (void)parse(index->variables());
  }
}

}  // namespace
}  // namespace cucore::cpu::ptx
