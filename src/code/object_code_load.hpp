// Loads the bytes of an ObjectCode as a library of the driver.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cucore/code_type.hpp"
#include "src/code/library_state.hpp"

namespace cucore::detail {

/// Loads code: once, now. `description` is what errors call it. @throws as ObjectCode::load
std::shared_ptr<LibraryState> load_code(CodeType type, const std::string& description, std::string_view bytes);

}  // namespace cucore::detail
