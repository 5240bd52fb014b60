// A Python callable as the core calls it, on a thread of the driver's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "python/bindings/python.hpp"

namespace cucore::python {

/// Keeps the callable; the reference goes with the last copy, also if it was never called.
class PythonCallback {
 public:
  /// Throws TypeError unless `function` can be called.
  explicit PythonCallback(nb::handle function);

  /// Calls it with the GIL. What it raises goes to sys.unraisablehook and is returned as one line. Does nothing once
  /// the interpreter finalizes.
  std::optional<std::string> call() const;
  PyObject* function() const noexcept { return function_.get(); }

 private:
  std::shared_ptr<PyObject> function_;
};

}  // namespace cucore::python
