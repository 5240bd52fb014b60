// ObjectCode: compiled code as a value - bytes, what kind they are, a name, and how C++ names map to symbols.
//
//   ObjectCode code = ObjectCode::from_file("cubin", "kernels.cubin");   // nothing is read, no driver is called
//   Kernel kernel = code.get_kernel("saxpy");                            // loads now, once
//
// Making one stores its arguments. The first use that needs the driver (get_kernel, handle, load, get_global) loads the
// code, exactly once however many threads race; a failure is thrown from there with the driver's message, the JIT log,
// the type and the name, and is not remembered, so that a later use tries again. Everything else needs no driver.
//
// Copies are cheap and share the loaded library; equality is identity. Kernels keep the library loaded; it is unloaded
// when the last copy and the last kernel are gone.
// Thread-safety: all members may be called from any thread. A load blocks only other loads of the same object.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cucore/code_type.hpp"
#include "cucore/driver_types.hpp"
#include "cucore/export.hpp"

namespace cucore {

class Kernel;

/// From a spelling in C++ ("ns::axpy<float>") to the symbol in the code ("_ZN2ns4axpyIfEEvT_PS0_").
using SymbolMapping = std::map<std::string, std::string, std::less<>>;

/// A __device__ or __constant__ variable of loaded code. Valid while a copy of its ObjectCode lives.
struct GlobalVariable {
  DevicePointer address = 0;
  std::size_t size = 0;  ///< bytes
};

/// One image in compiled code: what it is and for which architecture.
struct CodeImage {
  CodeType type = CodeType::cubin;  ///< cubin or ptx
  std::string arch = {};            ///< "sm_90a" for a cubin, "compute_90a" for PTX; empty if the code does not tell

  friend bool operator==(const CodeImage&, const CodeImage&) = default;
};

class ObjectCode;

namespace detail {
CUCORE_API Kernel known_kernel(const ObjectCode& code, std::string_view name);  // fast_path.hpp
}

/// Code for one architecture, as a part of code for several: see ObjectCode::from_images.
struct ArchitectureCode {
  std::string arch = {};  ///< "sm_90a", "compute_90"; empty: as the code itself tells
  const ObjectCode& code;
};

class CUCORE_API ObjectCode {
 public:
  /// From bytes in memory, which are copied. PTX with or without a terminating NUL is the same. The bytes are not
  /// looked at before they are used.
  static ObjectCode from_bytes(CodeType type, std::string_view bytes, std::string name = {},
                               SymbolMapping mapping = {});
  static ObjectCode from_bytes(CodeType type, std::span<const std::byte> bytes, std::string name = {},
                               SymbolMapping mapping = {});
  /// From a file that is read when its bytes are first needed, and need not be there before. If it is gone then, or is
  /// not the file it was when this object was made (another size, time or inode), the error says so.
  static ObjectCode from_file(CodeType type, std::filesystem::path path, std::string name = {},
                              SymbolMapping mapping = {});

  /// Code for several architectures in one object, a fat binary. `parts` are cubins and PTX; the PTX that a cubin
  /// carries becomes an image of its own, the fallback for devices that no cubin is for. Name and mapping are those of
  /// the first part unless given. Reads parts that are in files. Throws ValueError: no parts, a part that is neither
  /// cubin nor PTX, one whose architecture is neither given nor in the code, two of one kind for one architecture.
  static ObjectCode from_images(const std::vector<ArchitectureCode>& parts, std::string name = {},
                                SymbolMapping mapping = {});

  static ObjectCode from_ptx(std::string_view bytes, std::string name = {}, SymbolMapping mapping = {});
  static ObjectCode from_cubin(std::string_view bytes, std::string name = {}, SymbolMapping mapping = {});
  static ObjectCode from_ltoir(std::string_view bytes, std::string name = {}, SymbolMapping mapping = {});
  static ObjectCode from_fatbin(std::string_view bytes, std::string name = {}, SymbolMapping mapping = {});
  static ObjectCode from_object(std::string_view bytes, std::string name = {}, SymbolMapping mapping = {});
  static ObjectCode from_library(std::string_view bytes, std::string name = {}, SymbolMapping mapping = {});

  CodeType code_type() const noexcept;
  const std::string& name() const noexcept;
  const SymbolMapping& symbol_mapping() const noexcept;
  /// The bytes, without a terminating NUL; empty for code in a file. Valid while a copy of this object lives.
  std::string_view code() const noexcept;
  /// The file; empty for code in memory.
  const std::filesystem::path& path() const noexcept;
  /// The bytes wherever they are. Throws ValueError if the file cannot be read.
  std::string read() const;
  /// The PTX: the code itself if it is PTX, what a cubin carries (ProgramOptions::embed_ptx), the newest in a fat
  /// binary, else nothing. Of a cubin linked from several PTX modules: their texts, one after the other.
  std::optional<std::string> ptx() const;
  /// What is in it: the images of a fat binary; a cubin and the PTX it carries; PTX. Empty for other types.
  std::vector<CodeImage> images() const;
  /// The symbols of the kernels, in the order of the PTX or, without PTX, of the binary; empty for other types.
  std::vector<std::string> kernel_names() const;

  /// Whether the driver has loaded it. Never loads.
  bool is_loaded() const noexcept;
  /// The image that was loaded, for this device: not always the first choice, since a cubin that does not fit is
  /// replaced by PTX, and PTX newer than the driver can compile by a cubin that nvJitLink made of it. Nothing before
  /// loading, and for a compressed fat binary, from which the driver chooses.
  std::optional<CodeImage> loaded_image() const;
  /// Loads the code unless it is loaded already: a cubin for another architecture than the device's from the PTX it
  /// carries, a fat binary from its best image for the current device (device 0 if none is current). PTX of a version
  /// that the driver cannot compile is compiled by nvJitLink for that device; without it the error names the versions.
  /// Throws StateError if the type is not one the driver loads (ltoir, object, library: link them first), before any
  /// driver call; DriverError if the driver refuses (cuLibraryLoadData).
  void load() const;
  /// Loads; the driver's library. Borrowed: valid while a copy of this object or one of its kernels lives.
  LibraryHandle handle() const;
  /// Loads; the library as a module of the current context, for driver calls that take only modules
  /// (cuLibraryGetModule). Borrowed as handle() is; the context keeps it. @throws DriverError no context is current,
  /// ...
  ModuleHandle get_module() const;
  /// Loads; the kernel called `name`: a name expression given to compile(), a symbol, or the C++ name of one kernel
  /// (cuLibraryGetKernel). Throws as load() does, and DriverError (CUDA_ERROR_NOT_FOUND) with close names, if known.
  Kernel get_kernel(std::string_view name) const;
  /// Loads; a variable on the current device, by name expression, symbol or C++ name ("&ns::v" or "ns::v";
  /// cuLibraryGetGlobal).
  GlobalVariable get_global(std::string_view name) const;

  /// Type, name, mapping and bytes (a file's bytes are read now) in a framed format with version and checksum, the
  /// same on every machine and from both languages. Never loads. See docs of deserialize().
  std::string serialize() const;
  /// The object `bytes` was made from, not loaded. Bytes are not trusted: anything truncated, altered, or written by a
  /// newer version throws ValueError that says which.
  static ObjectCode deserialize(std::string_view bytes);
  /// serialize() into a file, which is replaced whole or not at all. Throws ValueError with the path if it cannot be
  /// written. Mode 0644 less the umask's bits.
  void save(const std::filesystem::path& path) const;
  /// deserialize() of a file's contents, which are read now. Throws ValueError if it cannot be read or is not usable.
  static ObjectCode from_saved(const std::filesystem::path& path);

  friend bool operator==(const ObjectCode& a, const ObjectCode& b) noexcept { return a.state_ == b.state_; }
  std::size_t identity_hash() const noexcept { return std::hash<const void*>()(state_.get()); }

 private:
  friend Kernel detail::known_kernel(const ObjectCode& code, std::string_view name);
  struct State;
  explicit ObjectCode(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

/// Explicit loading, for programs that want the cost and the errors at a place of their choice.
///   Module module;  module.load(code);  Kernel k = module.get_kernel("saxpy");
class CUCORE_API Module {
 public:
  /// Loads `code` now (ObjectCode::load) and keeps it. Replaces what was loaded before. Returns *this.
  Module& load(const ObjectCode& code);
  /// Throws StateError if nothing is loaded.
  Kernel get_kernel(std::string_view name) const;
  const ObjectCode& object_code() const;
  explicit operator bool() const noexcept { return code_.has_value(); }

 private:
  std::optional<ObjectCode> code_;
};

}  // namespace cucore

/// @cond
template <>
struct std::hash<cucore::ObjectCode> {
  std::size_t operator()(const cucore::ObjectCode& code) const noexcept { return code.identity_hash(); }
};
/// @endcond
