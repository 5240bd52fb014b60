// The toolkit: NVRTC (C++ to PTX, cubin and LTO-IR), nvJitLink (PTX to cubin) and libNVVM (NVVM IR to PTX and LTO-IR),
// each opened when first needed.
//
// None needs a driver or a GPU. All are looked for in one place, so that they match each other, in this order; the
// first place with an NVRTC that loads wins, and the others, libdevice and the toolkit's headers are taken from the
// same place, or, if it has none, from the next that has:
//   1. the files named by CUCORE_NVRTC, CUCORE_NVJITLINK and CUCORE_NVVM, if set (each replaces its own library only;
//      one that is not there or cannot be loaded ends the search);
//   2. $CUDA_HOME/lib64, then $CUDA_HOME/lib;
//   3. the folders given to set_toolkit_search_paths() (the Python package names those of packages along sys.path);
//   4. $CUCORE_TOOLKIT_DIR (a toolkit root: itself, lib64 and lib are tried);
//   5. the toolkit root given when cucore was built (CMake variable CUCORE_TOOLKIT_DIR), if any;
//   6. NVIDIA's packages (nvidia-cuda-nvrtc and the like, of CUDA 13, then of 12) in the Python environment that this
//      library or program is installed in, then in $VIRTUAL_ENV: no Python is needed;
//   7. the dynamic loader's own search for libnvrtc.so.13, then .12.
//
// Nothing happens before first use. The choice is made once per process and kept; the libraries are never unloaded.
// Thread-safety: all functions may be called from any thread. fork() waits until the compiles and links under way have
// ended, so that the child has the toolkit whole and can compile, too.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cucore/export.hpp"

namespace cucore {

/// One library of the toolkit, as found.
struct ToolkitLibrary {
  bool available = false;
  std::filesystem::path path = {};  ///< the file it was loaded from; empty if not available
  int major = 0;                    ///< version as the library reports it, e.g. 13
  int minor = 0;                    ///< e.g. 0
  /// Tells builds of one version apart: the linker's build id if the file has one, else its size and time of change.
  std::string build = {};
  std::string found_by = {};  ///< which rule of the list above found it, e.g. "CUDA_HOME"
  std::string why_not = {};   ///< if not available: every place that was tried and what was wrong with it
  /// Not available, though there is a file, since it cannot be loaded (damaged, of another machine, lacking a library);
  /// or the file that its variable names is missing.
  bool is_broken = false;
};

/// What of the toolkit this process uses.
struct ToolkitInfo {
  ToolkitLibrary nvrtc = {};
  ToolkitLibrary nvjitlink = {};
  ToolkitLibrary nvvm = {};
  std::filesystem::path libdevice = {};  ///< the file of libdevice; empty if there is none
  /// Folders with the toolkit's headers (cuda_fp16.h, cooperative_groups.h, cuda/std/...): those beside NVRTC, else
  /// those of the next place that has headers of the same major version. They are searched after
  /// ProgramOptions::include_path unless ProgramOptions::toolkit_headers is false.
  std::vector<std::filesystem::path> include_paths = {};
};

/// Finds and opens all libraries if that has not happened yet, and says what was found. Throws nothing but
/// std::bad_alloc, and StateError if a library were to be opened while the process exits: one that is missing is
/// described by `why_not`.
CUCORE_API ToolkitInfo toolkit_info();

/// The same for NVRTC alone: opens no other library.
CUCORE_API ToolkitLibrary nvrtc_info();

/// Sets the folders of rule 3: toolkit roots, folders of libraries (/opt/cuda/lib64), and folders of Python packages
/// (.../site-packages) with NVIDIA's among them. Throws StateError if the toolkit has been opened already and the new
/// folders differ from those set before.
CUCORE_API void set_toolkit_search_paths(std::vector<std::filesystem::path> folders);

/// Waits until no other thread compiles, links or loads code, and makes every later attempt a StateError; the calling
/// thread may still load. Process exit does this by itself, so that the libraries of the toolkit and the driver's own
/// compiler are not torn down while they work; a host that ends before its process does, such as an interpreter, may
/// call this earlier, in the thread that will exit. Programs and linkers that are destroyed afterwards leave what NVRTC
/// and nvJitLink hold for them to the end of the process.
CUCORE_API void finish_compiling() noexcept;

}  // namespace cucore
