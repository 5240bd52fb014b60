// The program that a stand-in (ptxas, nvcc) stands in front of, and running it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cucore::cpu::toolkit_shims {

/// A program of this name in CUDA_HOME, CUDA_PATH or PATH that is neither one of these shims nor one that called them,
/// as a script does that goes on to the next of its name in PATH. Empty if there is none.
std::filesystem::path find_real_tool(const std::string& name);

/// The program of this name in PATH; empty if there is none.
std::filesystem::path find_in_path(const std::string& name);

struct Finished {
  int status = 0;      ///< 128 and the signal if it was killed; 127 if it could not be started
  std::string errors;  ///< what it wrote to standard error, if that was asked for
};

/// Runs a program to its end, on this process' streams. Shims that it calls know that it is under way.
Finished run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                     bool keeps_errors = false);

/// A new folder for temporary files, removed with all in it at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// False if it cannot be read (written).
bool read_file(const std::string& path, std::string* content);
bool write_file(const std::string& path, const std::string& content);

}  // namespace cucore::cpu::toolkit_shims
