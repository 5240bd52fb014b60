// What the parser's tests share: a module around a few lines, and files of the corpus.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "cpu/ptx/parser.hpp"

namespace cucore::cpu::ptx {

inline std::string module_of(const std::string& text) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" + text + "\n";
}

/// A kernel with registers of every common kind and one parameter, `p`.
inline std::string kernel_of(const std::string& statements) {
  return module_of(
      ".visible .entry k(.param .u64 p) {\n"
      ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>;"
      ".reg .u32 %u<9>; .reg .v4 .f32 %v;\n" +
      statements + "\n}");
}

/// Parses text that must be accepted.
inline ParseResult accept(const std::string& text) {
  ParseResult result = parse(text);
  EXPECT_NE(result.module, nullptr) << format(result.diagnostics) << text;
  return result;
}

/// The messages of text that must be refused, one a line.
inline std::string refuse(const std::string& text) {
  const ParseResult result = parse(text);
  EXPECT_EQ(result.module, nullptr) << text;
  return format(result.diagnostics);
}

inline const Function& function(const ParseResult& result, std::string_view name) {
  static const Function none;
  const Function* found = result.module == nullptr ? nullptr : result.module->find_function(name);
  EXPECT_NE(found, nullptr) << name;
  return found == nullptr ? none : *found;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace cucore::cpu::ptx
