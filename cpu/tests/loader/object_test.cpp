// Object code in memory: what the compiler made runs, and nothing else that might lie in a file does harm.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <string>

#include "cpu/loader/cache/kernel_record.hpp"
#include "cpu/loader/compiler_library.hpp"
#include "cpu/loader/loaded_object.hpp"
#include "cpu/tests/compiler/stand_in.hpp"

namespace cucore::cpu {
namespace {

using loader::LoadedObject;

/// Of a kernel with a loop, constants, variables and calls.
std::string compiled_object(std::string_view kernel) {
  const TestModule module(read_test_file("compiler/kernels.ptx"));
  const ptx::Function* const function = module.module().find_function(kernel);
  const auto id = static_cast<ptx::FunctionId>(function - module.module().functions.data());
  return value_of(value_of(loader::open_compiler_library())->compile(module.module(), id, {})).object;
}

/// Looks up every place of the code; whatever the table says, it says something.
void look_up_lines(const LoadedObject& object) {
  const auto begin = reinterpret_cast<std::uint64_t>(object.code().data());
  for (std::uint64_t offset = 0; offset < object.code().size(); offset += 64) object.lines().lines_at(begin + offset);
}

char anything[64];

void* resolve_all(std::string_view) { return anything; }

TEST(CodegenObject, what_the_compiler_makes_is_loaded_with_its_entry_point) {
  for (const char* const kernel : {"module_variables", "function_table", "block_sum", "matmul", "lock"}) {
    const auto loaded = value_of(LoadedObject::load(compiled_object(kernel), resolve_all));
    EXPECT_TRUE(loaded->find("cucpu_run_thread") != nullptr || loaded->find("cucpu_run_block") != nullptr) << kernel;
    EXPECT_EQ(loaded->find("no_such"), nullptr);
  }
}

TEST(CodegenObject, code_knows_which_instructions_it_was_made_for) {
  const auto loaded = value_of(LoadedObject::load(compiled_object("block_sum"), resolve_all));
  const auto begin = reinterpret_cast<std::uint64_t>(loaded->code().data());
  std::set<std::uint32_t> numbers;
  for (std::uint64_t offset = 0; offset < loaded->code().size(); ++offset)
    numbers.insert(loaded->lines().lines_at(begin + offset).here);
  numbers.erase(0);
  const TestModule module(read_test_file("compiler/kernels.ptx"));
  const ptx::Function* const function = module.module().find_function("block_sum");
  EXPECT_GT(numbers.size(), function->body.size() / 4);
  EXPECT_LE(*numbers.rbegin(), function->body.size());
  EXPECT_EQ(loaded->lines().lines_at(begin - 1).here, 0U);
}

TEST(CodegenObject, a_symbol_that_nobody_has_is_named) {
  const auto loaded = LoadedObject::load(compiled_object("module_variables"), [](auto) { return nullptr; });
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.failure().code(), ErrorCode::InvalidImage);
  const std::string error = loaded.failure().sentence();
  EXPECT_NE(error.find("there is no symbol ptx."), std::string::npos) << error;
}

TEST(CodegenObject, an_object_cut_off_anywhere_is_an_error_or_loads) {
  const std::string object = compiled_object("function_table");
  for (std::size_t size = 0; size < object.size(); ++size) {
    const std::string part = object.substr(0, size);  // of its own size: a sanitizer sees a read beyond it
    const auto loaded = LoadedObject::load(part, resolve_all);
    EXPECT_EQ(!loaded, !loaded.failure().sentence().empty()) << size;
    if (loaded) look_up_lines(**loaded);
  }
}

TEST(CodegenObject, damaged_objects_are_errors_or_load) {
  const std::string object = compiled_object("function_table");
  std::mt19937 random(20261122);
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = object;
    const int changes = 1 + round % 4;
    for (int i = 0; i < changes; ++i) {
      const std::size_t at = random() % damaged.size();
      damaged[at] = static_cast<char>(round % 3 == 0 ? 0xff : random());
    }
    const auto loaded = LoadedObject::load(damaged, resolve_all);
    if (!loaded)
      ++refused;
    else
      look_up_lines(**loaded);
  }
  EXPECT_GT(refused, 0);
}

TEST(CodegenObject, sections_that_claim_too_much_are_refused) {
  const std::string object = compiled_object("function_table");
  const auto section_headers = [&] {
    std::uint64_t at = 0;
    std::memcpy(&at, object.data() + 0x28, sizeof at);
    return at;
  }();
  std::uint16_t count = 0;
  std::memcpy(&count, object.data() + 0x3c, sizeof count);
  for (std::uint16_t i = 1; i < count; ++i) {
    for (const std::uint64_t size : {std::uint64_t{1} << 31, std::uint64_t{1} << 40, ~std::uint64_t{0} - 7}) {
      std::string damaged = object;
      std::memcpy(damaged.data() + section_headers + i * 64U + 0x20, &size, sizeof size);
      const auto loaded = LoadedObject::load(damaged, resolve_all);
      EXPECT_EQ(!loaded, !loaded.failure().sentence().empty()) << i;
    }
  }
}

}  // namespace
}  // namespace cucore::cpu
