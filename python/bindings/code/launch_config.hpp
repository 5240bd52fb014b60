// LaunchConfig as a Python object: the core's, behind checked properties, and as the driver takes it.
#pragma once

#include <optional>
#include <utility>

#include "cucore/bindings/fast_path.hpp"
#include "cucore/launch.hpp"
#include "python/bindings/python.hpp"

namespace cucore::python {

struct PyLaunchConfig {
  /// Fields as they were given, where that is known; null: what the config says.
  struct Given {
    nb::object grid, block, cluster, shmem_size;
  };

  /// Throws what is wrong with it on every device.
  explicit PyLaunchConfig(const LaunchConfig& checked)
      : PyLaunchConfig(checked, detail::plain_config(ResolvedConfig(checked))) {}
  /// One that no launch can have: extents may be set to anything, as with cuda.core, whose launch() says what is wrong.
  PyLaunchConfig(const LaunchConfig& rest, Given impossible)
      : native(), is_plain(false), fits(false), config(rest), given(std::move(impossible)) {}

  /// The config for a launch, a node or a question. Throws where what is given fits into none.
  const LaunchConfig& of_launch() const;

  detail::NativeConfig native;  ///< all of `config` if it is plain, less the stream
  bool is_plain;                ///< it has nothing but grid and block
  bool fits = true;             ///< `config` has all that is given
  LaunchConfig config;
  Given given;

 private:
  PyLaunchConfig(const LaunchConfig& checked, const std::optional<detail::NativeConfig>& plain)
      : native(plain.value_or(detail::NativeConfig())), is_plain(plain.has_value()), config(checked) {}
};

}  // namespace cucore::python
