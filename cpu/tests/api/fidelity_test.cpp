// What the driver says of kernels without running them: how exact they are, in which form they run, and what became of
// them; and the mode that refuses all that is not exact.
#include <array>
#include <cstdio>
#include <fstream>

#include "cpu/api/cucore_cpu.h"
#include "cpu/tests/api/driver.hpp"
#include "cpu/tests/api/own_folder.hpp"

namespace {

constexpr const char* ptx_text = R"(.version 7.8
.target sm_80
.address_size 64
.func (.param .f32 r) root(.param .f32 x)
{
  .reg .f32 %f<3>;
  ld.param.f32 %f1, [x];
  sqrt.approx.f32 %f2, %f1;
  st.param.f32 [r], %f2;
  ret;
}
.visible .entry close(.param .u64 p)
{
  .reg .f32 %f<5>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.global.f32 %f1, [%rd1];
  ex2.approx.ftz.f32 %f2, %f1;
  ex2.approx.ftz.f32 %f3, %f2;
  div.full.f32 %f4, %f2, %f3;
  { .param .f32 a; .param .f32 b; st.param.f32 [a], %f4; call (b), root, (a); ld.param.f32 %f4, [b]; }
  st.global.f32 [%rd1], %f4;
  ret;
}
.visible .entry same(.param .u64 p)
{
  .reg .f32 %f<5>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.global.f32 %f1, [%rd1];
  sqrt.rn.f32 %f2, %f1;
  st.global.f32 [%rd1], %f2;
  ret;
}
)";

struct Dumped {
  int result = 0;
  std::string text;
};

void append(void* to, const char* text, size_t size) { static_cast<std::string*>(to)->append(text, size); }

Dumped dump(const std::string& image, const char* kernel, const char* what) {
  constexpr unsigned block[3] = {64, 1, 1};
  Dumped dumped;
  dumped.result = cucore_cpu_dump(image.c_str(), image.size(), kernel, what, block, append, &dumped.text);
  return dumped;
}

TEST(Fidelity, a_kernel_of_exact_instructions_is_said_to_be_exact) {
  const Dumped dumped = dump(ptx_text, "same", "fidelity");
  EXPECT_EQ(0, dumped.result) << dumped.text;
  EXPECT_TRUE(dumped.text.starts_with("same: 0 unsupported, 0 approximate, 5 exact\n")) << dumped.text;
  EXPECT_NE(std::string::npos, dumped.text.find("exact       1     sqrt.rn.f32\n")) << dumped.text;
}

TEST(Fidelity, approximate_instructions_are_named_with_their_lines_those_of_called_functions_too) {
  const Dumped dumped = dump(ptx_text, "close", "fidelity");
  EXPECT_EQ(0, dumped.result);
  EXPECT_TRUE(dumped.text.starts_with("close: 0 unsupported, 4 approximate, ")) << dumped.text;
  EXPECT_NE(std::string::npos, dumped.text.find("lines 17, 18: within the documented error")) << dumped.text;
  EXPECT_NE(std::string::npos, dumped.text.find("div.full.f32")) << dumped.text;
  EXPECT_NE(std::string::npos, dumped.text.find("(in root)")) << dumped.text;
}

TEST(Fidelity, unsupported_instructions_are_named_although_the_kernel_does_not_run) {
  std::string ptx = ptx_text;
  ptx.insert(ptx.find("sqrt.rn"), "tcgen05.wait::ld.sync.aligned; ");
  const Dumped dumped = dump(ptx, "same", "fidelity");
  EXPECT_EQ(0, dumped.result) << dumped.text;
  EXPECT_TRUE(dumped.text.starts_with("same: 1 unsupported, 0 approximate, 5 exact\n")) << dumped.text;
  EXPECT_NE(std::string::npos, dumped.text.find("tcgen05.wait::ld.sync.aligned")) << dumped.text;
  EXPECT_NE(std::string::npos, dumped.text.find("line 29: opcode")) << dumped.text;
}

TEST(Fidelity, without_a_name_all_kernels_are_told_of) {
  const Dumped dumped = dump(ptx_text, nullptr, "fidelity");
  EXPECT_NE(std::string::npos, dumped.text.find("close: ")) << dumped.text;
  EXPECT_NE(std::string::npos, dumped.text.find("same: ")) << dumped.text;
}

TEST(Dump, gives_ptx_ir_and_assembly) {
  const Dumped ptx = dump(ptx_text, "same", "ptx");
  EXPECT_NE(std::string::npos, ptx.text.find(".visible .entry same(")) << ptx.text;
  EXPECT_EQ(std::string::npos, ptx.text.find("ex2.approx")) << ptx.text;
  EXPECT_EQ(dump(ptx_text, nullptr, "ptx").text, ptx_text);
  EXPECT_NE(std::string::npos, dump(ptx_text, "same", "ir").text.find("define void @cucpu_run_block"));
  EXPECT_NE(std::string::npos, dump(ptx_text, "same", "assembly").text.find("vsqrtss"));
}

TEST(Dump, forms_say_which_one_each_kernel_gets_and_what_keeps_it_from_the_vector_form) {
  const std::string waits = std::string(ptx_text) + R"(.visible .entry _Z4waitPi(.param .u64 p)
{
  bar.arrive 1, 64;
  ret;
}
)";
  const Dumped dumped = dump(waits, nullptr, "forms");
  EXPECT_EQ(0, dumped.result);
  EXPECT_NE(std::string::npos, dumped.text.find("close\tclose\tvector\t\t0\t\n")) << dumped.text;
  EXPECT_NE(std::string::npos, dumped.text.find("same\tsame\tvector\t\t0\t\n")) << dumped.text;
  EXPECT_NE(
      std::string::npos,
      dumped.text.find("_Z4waitPi\twait(int*)\tscalar\ta barrier of part of a block\t35\tPTX line 35: bar.arrive\n"))
      << dumped.text;
}

TEST(Dump, a_kernel_that_cannot_be_compiled_has_no_form_and_the_others_have_theirs) {
  const std::string ptx = std::string(ptx_text) + ".visible .entry bad() { tcgen05.wait::ld.sync.aligned; ret; }\n";
  const Dumped dumped = dump(ptx, nullptr, "forms");
  EXPECT_NE(std::string::npos, dumped.text.find("bad\tbad\tnone\tbad needs tcgen05.wait::ld")) << dumped.text;
  EXPECT_NE(std::string::npos, dumped.text.find("same\tsame\tvector")) << dumped.text;
}

TEST(Dump, what_is_not_there_or_no_image_is_an_error_in_words) {
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, dump(ptx_text, "other", "ir").result);
  EXPECT_NE(std::string::npos, dump(ptx_text, "other", "ir").text.find("there is no kernel other"));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, dump(ptx_text, "same", "poem").result);
  const Dumped garbage = dump("\1\2\3 garbage", nullptr, "fidelity");
  EXPECT_NE(0, garbage.result);
  EXPECT_NE("", garbage.text);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cucore_cpu_dump(nullptr, 0, nullptr, "ptx", nullptr, append, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cucore_cpu_dump(ptx_text, 0, nullptr, nullptr, nullptr, append, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cucore_cpu_dump(ptx_text, 0, nullptr, "ptx", nullptr, nullptr, nullptr));
}

class StrictMode : public cucore::cpu::OwnFolder {
 protected:
  /// What the program prints that launches a kernel of ptx_text with CUCORE_CPU_STRICT set so.
  std::string launch(const std::string& kernel, const std::string& strict) const {
    std::ofstream(root / "kernels.ptx") << ptx_text;
    const std::string command = "env CUCORE_CPU_CACHE=0 CUCORE_CPU_STRICT=" + strict + " " CUCORE_TEST_PROGRAM " " +
                                (root / "kernels.ptx").string() + " " + kernel + " 2>&1";
    FILE* const pipe = popen(command.c_str(), "r");
    std::string printed;
    std::array<char, 256> buffer;
    while (std::fgets(buffer.data(), buffer.size(), pipe)) printed += buffer.data();
    pclose(pipe);
    return printed;
  }
};

TEST_F(StrictMode, refuses_a_kernel_that_reaches_what_is_not_exact_with_instruction_line_and_function) {
  const std::string printed = launch("close", "1");
  EXPECT_TRUE(printed.starts_with("cuModuleGetFunction: 801 kernel close:")) << printed;
  EXPECT_NE(std::string::npos, printed.find("ptx:17: error: ex2.approx.ftz.f32 is not exact")) << printed;
  EXPECT_NE(std::string::npos, printed.find("in close")) << printed;
  EXPECT_NE(std::string::npos, printed.find("ptx:8: error: sqrt.approx.f32")) << printed;
}

TEST_F(StrictMode, takes_an_exact_kernel_whatever_stands_beside_it_and_all_where_it_is_not_asked_for) {
  EXPECT_NE(std::string::npos, launch("same", "1").find("compiled 1")) << launch("same", "1");
  EXPECT_NE(std::string::npos, launch("close", "0").find("compiled 1")) << launch("close", "0");
}

}  // namespace
