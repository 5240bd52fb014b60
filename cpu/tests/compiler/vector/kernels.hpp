// Small kernels for tests of the vector form.
#pragma once

#include <string>
#include <vector>

#include "cpu/tests/compiler/stand_in.hpp"

namespace cucore::cpu {

using Words = std::vector<std::uint32_t>;

/// A kernel of one parameter, an array of words by thread.
inline std::string kernel(const std::string& body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
         ".reg .u32 %r<20>;\n.reg .u64 %a<20>;\n.reg .pred %p<8>;\n"
         "ld.param.u64 %a0, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %a1, %r0, 4;\nadd.u64 %a1, %a0, %a1;\n" +
         body + "st.global.u32 [%a1], %r1;\nret;\n}\n";
}

inline Words run_form(const std::string& text, FormOfCode form, unsigned threads, std::string* refusal = nullptr) {
  TestModule module(text, form);
  Words out(threads, 0);
  module.launch("k", {1, 1, 1}, {threads, 1, 1}, out.data());
  if (refusal != nullptr) *refusal = module.refusal;
  return out;
}

}  // namespace cucore::cpu
