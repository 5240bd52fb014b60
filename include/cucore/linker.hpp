// Linker: several pieces of compiled code made one.
//
//   Linker linker({caller, callee}, {.name = "both", .arch = "sm_90"});
//   ObjectCode code = linker.link("cubin");
//   Kernel kernel = code.get_kernel("k");
//
// Inputs are ObjectCodes of any type: PTX, LTO-IR, cubins, fat binaries, host objects and static libraries, in memory
// or in files, also mixed. Code that refers to symbols of other inputs must be compiled with relocatable_device_code.
// Linking never loads an input. The work is done by nvJitLink, which needs neither a driver nor a GPU when options.arch
// is set; where it is missing or older than 12.3, by the driver's own linker (which knows no LTO-IR). On the CPU device
// the driver's linker links the PTX of the inputs.
//
// A linked cubin carries the PTX it was made from where all inputs have it (PTX, LTO-IR, cubins of cucore; fat
// binaries, host objects and libraries with PTX in them, compressed or not; of a library only the members that have
// kernels or are needed), so that it also runs on the CPU device and on newer GPUs; else Linker::info_log says why not.
//
// Host objects and libraries are those of nvcc -rdc=true. Linkers take every member of a library, needed or not.
//
// Errors: ValueError for options and inputs that cannot be linked, naming them (code for another architecture, a symbol
// that two inputs, or two members of a library, define and that is not weak); NvJitLinkError or DriverError with the
// linker's log otherwise; StateError after close(); UnavailableError.
//
// Thread-safety: any thread may call any member; links of one Linker run one after another.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cucore/code_type.hpp"
#include "cucore/export.hpp"
#include "cucore/kernel_statistics.hpp"
#include "cucore/object_code.hpp"
#include "cucore/program.hpp"

namespace cucore {

/// Who links (Python: CompilerBackendType).
enum class LinkerBackend { nvjitlink, driver };

/// How a Linker links. What is not set sends no flag. The flag of nvJitLink is in brackets; options marked (n) are only
/// nvJitLink's and refused by the driver's linker, those marked (i) are ignored by it (see ignored_options). The
/// members are made from detail/linker_options.def, by tools/make_options.py.
struct LinkerOptions {
  std::string name = "<default linker>";  ///< name of the result
  /// [-arch] "sm_90", "sm_90a"; "compute_90" for target ptx. Not set: the current device's, found when linking.
  std::optional<std::string> arch = {};
  std::optional<int> max_register_count = {};       ///< [-maxrregcount] registers of a thread, at most
  std::optional<bool> time = {};                    ///< (n) [-time] times into the info log
  std::optional<bool> verbose = {};                 ///< [-verbose] registers and sizes into the info log
  std::optional<bool> link_time_optimization = {};  ///< (i) [-lto] not set: on if an input is LTO-IR
  std::optional<bool> ptx = {};                     ///< (n) [-ptx] make PTX; link("ptx") needs no option
  std::optional<int> optimization_level = {};       ///< [-O] nvJitLink 0 or 3, the driver 0 to 4
  std::optional<bool> debug = {};                   ///< [-g] debug information
  std::optional<bool> lineinfo = {};                ///< [-lineinfo] line numbers
  std::optional<bool> ftz = {};                  ///< (i) [-ftz] flush denormals; LTO-IR inputs only, as the next three
  std::optional<bool> prec_div = {};             ///< (i) [-prec-div] IEEE division
  std::optional<bool> prec_sqrt = {};            ///< (i) [-prec-sqrt] IEEE square root
  std::optional<bool> fma = {};                  ///< (i) [-fma] contract a*b+c
  std::vector<std::string> kernels_used = {};    ///< (i) [-kernels-used] keep only these kernels, with LTO
  std::vector<std::string> variables_used = {};  ///< (i) [-variables-used] keep only these variables, with LTO
  /// (i) [-optimize-unused-variables] drop variables that nothing uses, with LTO
  std::optional<bool> optimize_unused_variables = {};
  std::vector<std::string> ptxas_options = {};     ///< (n) [-Xptxas] for ptxas, one each
  std::optional<int> split_compile = {};           ///< (n) [-split-compile] threads, 0 = one per CPU
  std::optional<int> split_compile_extended = {};  ///< (n) [-split-compile-extended] as above, with LTO
  std::optional<bool> no_cache = {};  ///< [-no-cache] nvJitLink's and the driver's own caches (nvJitLink 12.5 or newer)
  std::optional<bool> numba_debug = {};  ///< (i) no linker has it
  /// (n) [-r] Make a relocatable cubin, in which symbols may stay undefined, as an input for further links.
  std::optional<bool> incremental = {};
  std::optional<bool> embed_ptx = {};  ///< false: leave the PTX out of a cubin

  friend bool operator==(const LinkerOptions&, const LinkerOptions&) = default;
};

/// Throws ValueError naming option, value and what is allowed, for all faults in one error. Linker calls it.
CUCORE_API void validate(const LinkerOptions& options);
/// The flags nvJitLink gets, in the order above. A pure function; -lto and -ptx as the options say.
CUCORE_API std::vector<std::string> nvjitlink_flags(const LinkerOptions& options);
/// Names of options that are set and which this linker ignores.
CUCORE_API std::vector<std::string> ignored_options(const LinkerOptions& options, LinkerBackend backend);

class CUCORE_API Linker {
 public:
  /// Checks options and inputs, reading inputs that are in files; links nothing. Throws ValueError: no inputs; what
  /// validate() refuses; an option or a type of input that the back end does not have; two inputs that define one
  /// symbol; an input for another architecture, if options.arch is set (else link() finds that).
  explicit Linker(const std::vector<ObjectCode>& inputs, LinkerOptions options = {});
  ~Linker();
  Linker(Linker&&) noexcept;
  Linker& operator=(Linker&&) noexcept;

  /// Links and returns the code, named options.name; the inputs' mappings of names go with it. A second link to the
  /// same target gives the same object again.
  ///   cubin   from any inputs
  ///   ptx     from LTO-IR inputs (nvJitLink), or a single PTX input as it is
  ///   ltoir   from LTO-IR inputs, with nvJitLink 13.4 or newer; what they lack may come in a further link
  ObjectCode link(CodeType target, CompileSettings settings = {}) const;

  /// The logs of the last link, "" before.
  std::string info_log() const;
  std::string error_log() const;
  /// What info_log() says of each kernel's registers, spills and memory; empty without verbose or ptxas_options "-v".
  std::vector<KernelStatistics> kernel_statistics() const;
  /// Who links, for all Linkers of this process; opens nvJitLink. Throws UnavailableError if nvJitLink is there but
  /// cannot be loaded: the driver does not stand in for it then.
  static LinkerBackend which_backend();
  /// Why it is not nvJitLink; empty if it is.
  static std::string why_not_nvjitlink();
  const LinkerOptions& options() const noexcept;
  /// The backend's own object (nvJitLinkHandle or CUlinkState), made now if there is none, with the inputs added.
  /// Borrowed: valid until close(). A link makes another one.
  void* handle() const;

  /// Ends it: frees the inputs and the backend's object. Idempotent. Logs stay readable.
  void close() noexcept;
  explicit operator bool() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cucore
