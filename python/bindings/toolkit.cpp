// What this process uses: the driver, and the toolkit's libraries.
#include "cucore/toolkit.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/vector.h>

#include "cucore/driver.hpp"
#include "cucore/process.hpp"
#include "python/bindings/python.hpp"

namespace cucore::python {
namespace {

nb::object library(const ToolkitLibrary& found) {
  return from_package(Package::ToolkitLibrary)(found.available, found.path.string(),
                                               nb::make_tuple(found.major, found.minor), found.build, found.found_by,
                                               text_object(found.why_not));
}

}  // namespace

void bind_toolkit(nb::module_& module) {
  // Runs last in the interpreter, before exit's functions: daemon threads may still be opening or using the compiler.
  Py_AtExit([] { finish_compiling(); });
  module.def(
      "driver_info",
      [] {
        const DriverInfo info = without_gil([] { return cucore::driver_info(); });
        return from_package(Package::DriverInfo)(info.kind == DriverKind::cpu ? "cpu" : "gpu", info.path, info.version,
                                                 text_object(info.chosen_by));
      },
      "Opens the driver if that has not happened yet, and says which it is: kind (\"gpu\" or \"cpu\"), path, version, "
      "chosen_by.");
  module.def(
      "driver_available", [] { return without_gil([] { return cucore::driver_available(); }); },
      "Whether a driver can be used. Opens it; never raises.");
  module.def("_driver_opened", [] { return driver_opened(); });
  module.def("_management_library_places", [] { return management_library_places(); });
  module.def("_live_handles", [] {
    const LiveHandles live = live_handles();
    nb::dict counts;
    counts["Stream"] = live.streams;
    counts["Event"] = live.events;
    counts["Buffer"] = live.buffers;
    counts["MemoryPool"] = live.memory_pools;
    counts["Library"] = live.libraries;
    counts["GreenContext"] = live.green_contexts;
    counts["Array"] = live.arrays;
    counts["TextureObject"] = live.textures;
    counts["SurfaceObject"] = live.surfaces;
    return counts;
  });
  module.def(
      "toolkit_info",
      [] {
        const ToolkitInfo info = without_gil([] { return cucore::toolkit_info(); });
        nb::list folders;
        for (const auto& folder : info.include_paths) folders.append(folder.string());
        return from_package(Package::ToolkitInfo)(library(info.nvrtc), library(info.nvjitlink), folders,
                                                  library(info.nvvm), info.libdevice.string());
      },
      "Finds and opens NVRTC, nvJitLink and libNVVM if that has not happened yet, and says what was found where.");
  module.def("_nvrtc_version", [] {
    const ToolkitLibrary found = without_gil([] { return nvrtc_info(); });
    return nb::make_tuple(found.major, found.minor);
  });
  module.def("_set_toolkit_search_paths",
             [](const std::vector<std::filesystem::path>& folders) { set_toolkit_search_paths(folders); });
}

}  // namespace cucore::python
