// Program: source text and options, compiled to an ObjectCode as often as wanted.
//
//   Program program(R"(template <class T> __global__ void axpy(T a, T* x) { x[threadIdx.x] *= a; })",
//                   "c++", {.arch = "sm_90", .std = "c++17"});
//   ObjectCode code = program.compile("cubin", {"axpy<float>"});
//   Kernel kernel = code.get_kernel("axpy<float>");
//
// Needs neither a driver nor a GPU when options.arch is set. Back ends: NVRTC for "c++", libNVVM for "nvvm", nvJitLink
// for "ptx" or, where that is missing or older than 12.3, the driver's linker.
//
// Errors: NvrtcError / NvJitLinkError / NvvmError with the compiler's log; ValueError for arguments; UnavailableError
// when the library cannot be found (with the places that were tried); StateError after close().
// Reproducible: the same source, options, headers and toolkit give the same bytes in every process. LTO-IR and line
// information also name the current directory.
// Thread-safety: any thread may call any member; compiles of one Program run one after another, compiles of different
// Programs in parallel. cancel() ends those of one Program.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cucore/code_type.hpp"
#include "cucore/diagnostic.hpp"
#include "cucore/export.hpp"
#include "cucore/kernel_statistics.hpp"
#include "cucore/object_code.hpp"
#include "cucore/program_cache.hpp"
#include "cucore/program_options.hpp"

namespace cucore {

/// What became of a precompiled header (Python: PCHStatusType).
enum class PchStatus { created, not_attempted, failed };

/// What a compile reports besides its result.
struct CompileReport {
  std::string log = {};                       ///< compiler's log (warnings, infos); on a cache hit the stored one
  std::vector<Diagnostic> diagnostics = {};   ///< the messages in the log
  CacheResult cache = CacheResult::not_used;  ///< whether the cache was asked, and what it answered
  std::string cache_why = {};                 ///< in words, for a miss and for what cannot be cached
  std::string cache_key = {};                 ///< 64 hex digits; empty if not used or not cacheable
};

/// Things a single compile() may be given.
struct CompileSettings {
  ProgramCache* cache = nullptr;    ///< look here first, and store the result here
  CompileReport* report = nullptr;  ///< filled on success, and as far as known on failure
};

class CUCORE_API Program {
 public:
  /// Checks and copies everything; compiles nothing. Throws ValueError: an interior NUL in C++ or PTX source, options
  /// that validate(options, code_type) refuses. A single terminating NUL in C++ or PTX source is accepted and dropped;
  /// NVVM source may be text or bitcode. PTX that looks wrong is given to nvJitLink, where there is one, so that a
  /// syntax error is reported here: NvJitLinkError.
  Program(std::string_view code, SourceType code_type, ProgramOptions options = {});
  ~Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;

  /// Compiles to ptx, cubin or ltoir (PTX source: ptx or cubin; NVVM source: ptx or ltoir) and returns the code, named
  /// options.name.
  ///
  /// `name_expressions` (C++ source only) are spellings of kernels or variables, e.g. "ns::axpy<float>" or "&ns::v":
  /// each is instantiated, and get_kernel() takes it as it was spelled here. One that names nothing: NvrtcError.
  /// The result is never empty: a target that `arch` cannot give throws ValueError (cubin for "compute_90"; ptx or
  /// cubin with link_time_optimization). A cubin also carries its PTX unless options.embed_ptx is false.
  /// The call may take seconds; it holds no lock that another object needs.
  ObjectCode compile(CodeType target, const std::vector<std::string>& name_expressions = {},
                     CompileSettings settings = {}) const;

  /// The key under which a ProgramCache keeps compile(target, name_expressions). Reads the headers that the source can
  /// reach, and remembers the key until one of them changes. Throws as compile() does for what it is given.
  std::shared_ptr<const CompileKey> cache_key(CodeType target,
                                              const std::vector<std::string>& name_expressions = {}) const;

  /// "NVRTC", "NVVM", or for PTX source the linker in use, "nvJitLink" or "driver"; to know it, nvJitLink is opened.
  std::string_view backend() const;
  SourceType code_type() const noexcept;
  const std::string& code() const noexcept;
  /// As given, before arch is resolved.
  const ProgramOptions& options() const noexcept;
  /// Log of the last compile, also of one that failed; "" before.
  std::string log() const;
  /// The messages in log().
  std::vector<Diagnostic> diagnostics() const;
  /// What log() says of each kernel's registers, spills and memory; empty without ptxas_options "-v".
  std::vector<KernelStatistics> kernel_statistics() const;
  /// What became of the precompiled header in the last compile; nothing if none was asked for.
  std::optional<PchStatus> pch_status() const;

  /// The compiler's own object: an nvrtcProgram, nvvmProgram, nvJitLinkHandle or CUlinkState. It is that of the last
  /// compile that no cache answered; before the first, it is made now for the next compile (PTX source is compiled now,
  /// since a linker serves for one compile). Borrowed: valid until the next compile or close(). Throws as
  /// compile() does.
  void* handle() const;

  /// Ends the compiles of C++ source that other threads have asked this Program for and that have not returned: they
  /// throw NvrtcError with code_name "NVRTC_ERROR_CANCELLED". Later compiles are not affected. Does not wait: NVRTC
  /// (12.8 or newer) checks for it while it generates code, not while it parses the source. Work of a cache, nvJitLink
  /// or libNVVM is not ended.
  void cancel() noexcept;

  /// Closes the program; waits for a compile in another thread; a later one throws StateError. Closing twice is
  /// allowed.
  void close() noexcept;
  explicit operator bool() const noexcept;

 private:
  struct State;
  State& here(const char* call) const;
  std::unique_ptr<State> state_;
};

/// Short forms for C++ source, e.g. compile_ptx("extern \"C\" __global__ void k() {}").
CUCORE_API ObjectCode compile_ptx(std::string_view code, ProgramOptions options = {},
                                  const std::vector<std::string>& name_expressions = {});

CUCORE_API ObjectCode compile_cubin(std::string_view code, ProgramOptions options = {},
                                    const std::vector<std::string>& name_expressions = {});
CUCORE_API ObjectCode compile_ltoir(std::string_view code, ProgramOptions options = {},
                                    const std::vector<std::string>& name_expressions = {});

}  // namespace cucore
