// What commands that move compiled code between hosts are told of its signatures: "--keys" and "--unsigned".
#pragma once

#include <string>

#include "cli/commands.hpp"
#include "cucore/shared_store.hpp"

namespace cucore::cli {

/// `place` is where the code comes from or goes to.
inline void add_signing(CLI::App& command, const std::string& place) {
  add_value(command, "--keys", "file of the keys that sign; otherwise the one that CUCORE_CACHE_KEYS names")
      ->type_name("FILE");
  add_flag(command, "--unsigned", "do without: who can write " + place + " may run code where it is used");
}

/// The library's options, with what the command line says of signatures.
template <class Options>
Options signing_of(const CLI::App& command) {
  Options options{.allow_unsigned = command.count("--unsigned") > 0};
  if (command.count("--keys") > 0) options.keys = KeyRing::from_file(value_of<std::string>(command, "--keys"));
  return options;
}

}  // namespace cucore::cli
