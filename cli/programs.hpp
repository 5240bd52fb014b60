// Programs made of CUDA sources: finding NVIDIA's toolkit, and compiling with its nvcc into files that are kept.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cucore::cli {

/// NVIDIA's nvcc: of $CUDA_HOME, $CUDA_PATH, PATH, /usr/local/cuda, or of the pip packages of the Python environment
/// that this tool, $VIRTUAL_ENV, $CONDA_PREFIX or the python3 in PATH belongs to. Never the stand-in beside the CPU
/// device, which compiles no programs.
std::optional<std::filesystem::path> find_nvcc();

/// NVIDIA's toolkit, with headers and libraries: $CUDA_HOME, $CUDA_PATH, that of find_nvcc(), or the packages of pip
/// that there are without an nvcc.
std::optional<std::filesystem::path> find_toolkit();

/// A folder that has what `toolkit` has, by links, but the stand-ins of the CPU device at `driver` as nvcc and ptxas.
/// Made in `folder` at need; wheels, which hold the stand-ins, cannot hold links.
/// @throws std::runtime_error, std::filesystem::filesystem_error it cannot be made
std::filesystem::path toolkit_view(const std::filesystem::path& toolkit, const std::filesystem::path& driver,
                                   const std::filesystem::path& folder);

/// What to type where there is none. All of one version: parts of different ones do not understand each other.
inline constexpr const char* nvcc_remedy =
    "pip install 'nvidia-cuda-nvcc==13.0.*' 'nvidia-nvvm==13.0.*' 'nvidia-cuda-crt==13.0.*' "
    "'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-cccl==13.0.*'";

/// The folders of PATH.
std::vector<std::filesystem::path> program_folders();

/// The file of `name` in PATH.
std::optional<std::filesystem::path> find_program(const std::string& name);

bool is_program(const std::filesystem::path& file);

/// A digest that names files.
std::string digest_of(std::string_view bytes);

/// Programs are run from `folder`, so nobody else may write there. @throws std::runtime_error somebody may
void make_own_folder(const std::filesystem::path& folder);

/// A program compiled from the .cu file `source` by `nvcc` with `options`; the one kept from last time, if source, all
/// that it includes, options and compiler are the same. Kept in `folder`. Nothing if nvcc refuses, which has then said
/// why. @throws std::runtime_error a file cannot be read or written, or nvcc not be started
std::optional<std::filesystem::path> compiled_program(const std::filesystem::path& nvcc,
                                                      const std::filesystem::path& source,
                                                      const std::vector<std::string>& options,
                                                      const std::filesystem::path& folder);

}  // namespace cucore::cli
