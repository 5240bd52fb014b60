// What a kernel's place in the cache depends on: its own text and that of what it reaches, not the rest of its module.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "cpu/loader/cache/digest.hpp"
#include "cpu/loader/cache/host_identity.hpp"
#include "cpu/loader/cache/kernel_cache.hpp"
#include "cpu/loader/kernel_key.hpp"
#include "cpu/ptx/parser.hpp"
#include "cpu/tests/api/own_folder.hpp"
#include "cpu/tests/compiler/stand_in.hpp"

namespace cucore::cpu {
namespace {

constexpr std::string_view module_ptx = R"(.version 7.8
.target sm_80
.address_size 64

.global .align 4 .u32 limit = 7;
.global .align 4 .u32 unused = 1;

.func (.param .b32 result) callee(.param .b32 x)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [x];
  add.u32 %r2, %r1, 1;
  st.param.u32 [result], %r2;
  ret;
}
.func (.param .b32 result) other_name(.param .b32 x);
.alias other_name, callee;
.global .align 8 .u64 table[1] = {callee};

.visible .entry before(.param .u64 p) { ret; }

.visible .entry kernel(.param .u64 kernel_param_0)
.maxntid 128, 1, 1
{
  .local .align 4 .b8 __local_depot1[8];
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  .loc 1 10 3
  ld.param.u64 %rd1, [kernel_param_0];  // where to
  mov.u32 %r1, %tid.x;
  ld.global.u32 %r2, [limit];
  setp.ge.u32 %p1, %r1, %r2;
  @%p1 bra $L__BB1_2;
  {
    .param .b32 param0;
    st.param.b32 [param0], %r1;
    .param .b32 retval0;
    call.uni (retval0), callee, (param0);
    ld.param.b32 %r3, [retval0];
  }
  st.global.u32 [%rd1], %r3;
$L__BB1_2:
  ret;
}
)";

std::string text_of_kernel(const std::string& source) {
  const ptx::ParseResult parsed = ptx::parse(source);
  if (parsed.module == nullptr) {
    ADD_FAILURE() << ptx::format(parsed.diagnostics);
    return "not parsed";
  }
  const ptx::Function* const kernel = parsed.module->find_function("kernel");
  const auto id = static_cast<ptx::FunctionId>(kernel - parsed.module->functions.data());
  return loader::kernel_text(*parsed.module, analysis::find_reach(*parsed.module, id));
}

std::string with(std::string_view from, std::string_view to, std::string source = std::string(module_ptx)) {
  std::size_t replaced = 0;
  for (std::size_t at = 0; (at = source.find(from, at)) != std::string::npos; at += to.size(), ++replaced)
    source.replace(at, from.size(), to);
  EXPECT_NE(replaced, 0U) << from;
  return source;
}

TEST(CodegenKey, what_a_kernel_does_not_reach_changes_nothing) {
  const std::string text = text_of_kernel(std::string(module_ptx));
  EXPECT_EQ(text_of_kernel(with("unused = 1", "unused = 2")), text);
  EXPECT_EQ(text_of_kernel(with("before(.param .u64 p) { ret; }", "before(.param .u32 q) { bar.sync 0; ret; }")), text);
  EXPECT_EQ(text_of_kernel(with(".visible .entry before(.param .u64 p) { ret; }", "")), text);
  EXPECT_EQ(text_of_kernel(with(".global .align 4 .u32 limit", ".const .u64 more[3];\n.global .align 4 .u32 limit")),
            text);
  EXPECT_EQ(text_of_kernel(std::string(module_ptx) + ".visible .entry after() { trap; }\n"), text);
}

TEST(CodegenKey, blanks_comments_lines_and_names_that_the_compiler_counts_change_nothing) {
  const std::string text = text_of_kernel(std::string(module_ptx));
  EXPECT_EQ(text_of_kernel(with("\n", "\n\n")), text);
  EXPECT_EQ(text_of_kernel(with("// where to", "/* another\n comment */")), text);
  EXPECT_EQ(text_of_kernel(with(".loc 1 10 3", ".loc 1 200 1, function_name callee, inlined_at 1 3 4")), text);
  EXPECT_EQ(text_of_kernel(with("$L__BB1_2", "$L__BB7_2")), text);
  EXPECT_EQ(text_of_kernel(with("__local_depot1", "__local_depot5")), text);
}

TEST(CodegenKey, what_a_kernel_does_or_reaches_changes_it) {
  const std::string text = text_of_kernel(std::string(module_ptx));
  const std::pair<std::string_view, std::string_view> changes[] = {
      {"setp.ge.u32", "setp.gt.u32"},
      {"add.u32 %r2, %r1, 1", "add.u32 %r2, %r1, 2"},
      {"limit = 7", "limit = 8"},
      {"limit", "bound"},
      {".maxntid 128", ".maxntid 64"},
      {"sm_80", "sm_75"},
      {".version 7.8", ".version 7.7"},
      {".align 4 .b8 __local", ".align 8 .b8 __local"},
      {"%tid.x", "%tid.y"},
      {".entry kernel(.param .u64 kernel_param_0", ".entry kernel(.param .u32 more, .param .u64 kernel_param_0"},
      {"  st.global.u32 [%rd1], %r3;\n$L__BB1_2:", "$L__BB1_2:\n  st.global.u32 [%rd1], %r3;"},
  };
  for (const auto& [from, to] : changes) {
    const std::string changed = text_of_kernel(with(from, to));
    EXPECT_NE(changed, text) << to;
  }
}

TEST(CodegenKey, what_another_name_leads_to_changes_it) {
  const std::string second = with(R"(.func (.param .b32 result) other_name(.param .b32 x);
.alias other_name, callee;)",
                                  R"(
.func (.param .b32 result) second(.param .b32 x) { st.param.u32 [result], 0; ret; }
.func (.param .b32 result) other_name(.param .b32 x);
.alias other_name, callee;)");
  const std::string through = with("call.uni (retval0), callee", "call.uni (retval0), other_name", second);
  const std::string elsewhere = with(".alias other_name, callee", ".alias other_name, second", through);
  EXPECT_NE(text_of_kernel(through), text_of_kernel(elsewhere));
}

class CodegenKeyFolder : public OwnFolder {};

TEST_F(CodegenKeyFolder, a_kernel_is_found_after_a_change_elsewhere_in_its_module) {
  loader::KernelCache cache(folder.string());
  const auto compile = [&](const std::string& source) {
    TestModule module(source, FormOfCode::Scalar);
    module.cache = &cache;
    unsigned result = 0;
    unsigned* to = &result;
    module.launch("kernel", {1}, {1}, to);
    EXPECT_EQ(result, 1U);
    return module.was_cached;
  };
  EXPECT_FALSE(compile(std::string(module_ptx)));
  EXPECT_TRUE(compile(with("unused = 1", "unused = 5")));
  EXPECT_TRUE(compile(with("$L__BB1_2", "$L__BB0_2", with(".visible .entry before(.param .u64 p) { ret; }", ""))));
  EXPECT_FALSE(compile(with("limit = 7", "limit = 9")));
}

TEST(CodegenKey, code_for_a_level_of_processors_has_one_key_on_all_of_that_level) {
  using loader::host_identity;
  EXPECT_EQ(host_identity("x86-64-v2"), "any of the level") << "of 2009";
  EXPECT_NE(host_identity(""), host_identity("x86-64-v2"));
  // One processor is no level, and neither is the first, of which LLVM leaves out what all have.
  for (const char* const march : {"znver1", "haswell", "x86-64", "x86-64-v5", "x86-64-v"})
    EXPECT_EQ(host_identity(march), host_identity("")) << march;
}

TEST(CodegenDigest, is_that_of_the_standard) {
  const auto digits = [](std::string_view bytes) {
    loader::Digest digest;
    for (const char byte : bytes) digest.add({&byte, 1});
    loader::Digest at_once;
    at_once.add(bytes);
    const loader::Digest::Bytes result = digest.finish();
    EXPECT_EQ(result, at_once.finish());
    std::string text;
    for (const std::uint8_t byte : result) {
      text += "0123456789abcdef"[byte / 16];
      text += "0123456789abcdef"[byte % 16];
    }
    return text;
  };
  std::string long_text;
  for (int i = 0; i < 1000; ++i) long_text += static_cast<char>(i % 251);
  EXPECT_EQ(digits(""), "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  EXPECT_EQ(digits("abc"), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  EXPECT_EQ(digits(std::string(128, '\0')), "378d0caaaa3855f1b38693c1d6ef004fd118691c95c959d4efa950d6d6fcf7c1");
  EXPECT_EQ(digits(long_text), "b372d0608f720c8c3dd41e9c8eecb10143b41abe520b616607e754bf79c08331");
}

}  // namespace
}  // namespace cucore::cpu
