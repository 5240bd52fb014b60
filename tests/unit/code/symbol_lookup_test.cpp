// Symbols by the names that C++ has for them.
#include "src/code/symbol_lookup.hpp"

#include <gmock/gmock.h>

namespace {

using cucore::detail::not_found_hint;
using cucore::detail::source_name;
using cucore::detail::symbol_of_variable;
using cucore::detail::symbols_spelled;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> known_symbols = {
    "_Z5saxpyIfEvT_PKS0_PS0_m", "_ZN2ns4fillIjLi3EEEvPT_", "plain", "_Z4overi", "_Z4overf", "_Z3useIPKfEvT_"};

TEST(symbol_lookup, a_source_name_has_no_result_and_no_parameters) {
  EXPECT_EQ(source_name("_Z5saxpyIfEvT_PKS0_PS0_m"), "saxpy<float>");
  EXPECT_EQ(source_name("_ZN2ns4fillIjLi3EEEvPT_"), "ns::fill<unsigned int, 3>");
  EXPECT_EQ(source_name("_ZN12_GLOBAL__N_11kEPi"), "(anonymous namespace)::k");
  EXPECT_EQ(source_name("_ZN2ns1vE"), "ns::v");
  EXPECT_EQ(source_name("plain"), "plain");
  EXPECT_EQ(source_name("_Znonsense"), "_Znonsense");
}

TEST(symbol_lookup, spellings_of_one_name_find_it) {
  for (const char* name : {"saxpy<float>", "saxpy < float >", "&saxpy<float>", "::saxpy<float>"}) {
    EXPECT_THAT(symbols_spelled(name, known_symbols), ElementsAre(known_symbols[0])) << name;
  }
  for (const char* name : {"ns::fill<unsigned, 3>", "ns :: fill<unsigned int,3>", "ns::fill<uint32_t, 3>"}) {
    EXPECT_THAT(symbols_spelled(name, known_symbols), ElementsAre(known_symbols[1])) << name;
  }
  for (const char* name : {"use<const float*>", "use<float const*>"}) {
    EXPECT_THAT(symbols_spelled(name, known_symbols), ElementsAre(known_symbols[5])) << name;
  }
  EXPECT_THAT(symbols_spelled("over", known_symbols), ElementsAre("_Z4overi", "_Z4overf"));
}

TEST(symbol_lookup, integer_types_have_one_spelling) {
  const std::vector<std::string> symbols = {"_Z1kIhEvT_", "_Z1kIaEvT_", "_Z1kItEvT_", "_Z1kIlEvT_", "_Z1kIyEvT_"};
  for (const auto& [name, index] :
       {std::pair("k<uint8_t>", 0), std::pair("k<signed char>", 1), std::pair("k<short unsigned int>", 2),
        std::pair("k<long int>", 3), std::pair("k<unsigned long long int>", 4)}) {
    EXPECT_THAT(symbols_spelled(name, symbols), ElementsAre(symbols[static_cast<std::size_t>(index)])) << name;
  }
}

TEST(symbol_lookup, const_may_stand_before_names_of_several_words) {
  const std::vector<std::string> symbols = {"_Z1kIPKN2ns1TEEvT_", "_Z1kIPKN2ns3vecIKiEEEvT_"};
  for (const char* name : {"k<const ns::T*>", "k<ns::T const*>", "k< const ns :: T * >"}) {
    EXPECT_THAT(symbols_spelled(name, symbols), ElementsAre(symbols[0])) << name;
  }
  for (const char* name : {"k<const ns::vec<const int>*>", "k<ns::vec<int const> const*>"}) {
    EXPECT_THAT(symbols_spelled(name, symbols), ElementsAre(symbols[1])) << name;
  }
}

TEST(symbol_lookup, what_is_no_name_is_read_to_its_end) {
  for (const char* name :
       {"const", "k<const", "k<const >", "k<const ns::", "k<const a<b", "<const<", "const::", "k<(const"}) {
    EXPECT_THAT(symbols_spelled(name, known_symbols), IsEmpty()) << name;
  }
}

TEST(symbol_lookup, other_names_find_nothing) {
  for (const char* name : {"saxpy", "saxpy<double>", "fill<unsigned, 3>", "", "&", "<", "saxpy<float", "use<float*>"}) {
    EXPECT_THAT(symbols_spelled(name, known_symbols), IsEmpty()) << name;
  }
}

TEST(symbol_lookup, variables_in_namespaces_have_a_symbol) {
  EXPECT_EQ(symbol_of_variable("&a::bc::d"), "_ZN1a2bc1dE");
  for (const char* name : {"plain", "", "a::", "::", "a::b<int>", "a b::c"}) EXPECT_EQ(symbol_of_variable(name), "");
}

TEST(symbol_lookup, a_hint_has_the_nearest_and_all) {
  EXPECT_THAT(not_found_hint("saxpy", known_symbols, "kernels"),
              AllOf(HasSubstr("did you mean 'saxpy<float>'? kernels in it: saxpy<float> (_Z5saxpy"),
                    HasSubstr(", plain, over (_Z4overi), ")));
  EXPECT_THAT(not_found_hint("somethingelse", {"k"}, "variables"), "variables in it: k");
  EXPECT_THAT(not_found_hint("k", {}, "kernels"), HasSubstr("check the spelling"));
}

}  // namespace
