// The processor that code is made for, in LLVM's words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cucore::cpu::compiler {

struct HostProcessor {
  std::string triple, name;
  std::string features;  ///< each with a sign
};

/// The one this runs on, with no more than what one called `march` has too, if the name is not empty. Nothing if there
/// is no such processor.
std::optional<HostProcessor> host_processor(std::string_view march);

/// What is wrong with a name for which there is none.
std::string not_a_processor(std::string_view march);

}  // namespace cucore::cpu::compiler
