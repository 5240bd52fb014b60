// Names as C++ sources spell them, for reports, debuggers and profilers.
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace cucore::cpu {

/// "scale(float*, int)" of "_Z5scalePfi"; the name itself if it is not mangled.
inline std::string demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> words(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return words != nullptr ? words.get() : symbol;
}

}  // namespace cucore::cpu
