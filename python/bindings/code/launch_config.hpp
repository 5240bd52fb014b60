// LaunchConfig as a Python object: the core's, behind checked properties, and as the driver takes it.
#pragma once

#include "cucore/bindings/fast_path.hpp"
#include "cucore/launch.hpp"
#include "python/bindings/python.hpp"

namespace cucore::python {

struct PyLaunchConfig {
  /// Throws what is wrong with it on every device.
  explicit PyLaunchConfig(const LaunchConfig& checked)
      : PyLaunchConfig(checked, detail::plain_config(ResolvedConfig(checked))) {}

  detail::NativeConfig native;  ///< all of `config` if it is plain, less the stream
  bool is_plain;                ///< it has nothing but grid and block
  LaunchConfig config;
  nb::object grid, block;  ///< what the properties of these names give, once they were asked for

 private:
  PyLaunchConfig(const LaunchConfig& checked, const std::optional<detail::NativeConfig>& plain)
      : native(plain.value_or(detail::NativeConfig())), is_plain(plain.has_value()), config(checked) {}
};

}  // namespace cucore::python
