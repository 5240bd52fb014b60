// nvcc, and the programs that it made: see programs.hpp.
//
// A program is named by a digest of where its source is, of the options and of the compiler's file. Beside it lies a
// list of all files that went into it with a digest of each: it is used again while they all are as they were.
#include "cli/programs.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "cli/environment.hpp"

namespace cucore::cli {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0;
}

/// The stand-in lies in the folder `bin` beside the CPU device.
bool is_stand_in(const fs::path& program) {
  std::error_code ignored;
  const fs::path beside = fs::canonical(program, ignored).parent_path().parent_path() / "libcuda.so.1";
  return fs::exists(beside, ignored);
}

std::optional<fs::path> from_environment(const char* variable) {
  std::string value = environment_value(variable);
  if (value.empty()) return std::nullopt;
  return value;
}

/// Folders with the bin and lib of a Python environment.
std::vector<fs::path> python_prefixes() {
  std::vector<fs::path> prefixes;
  std::error_code ignored;
  if (const fs::path self = fs::read_symlink("/proc/self/exe", ignored); !self.empty()) {
    prefixes.push_back(self.parent_path().parent_path());
  }
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const auto prefix = from_environment(variable)) prefixes.push_back(*prefix);
  }
  if (const auto python = find_program("python3")) prefixes.push_back(python->parent_path().parent_path());
  if (const auto home = from_environment("HOME")) prefixes.push_back(*home / ".local");
  return prefixes;
}

std::vector<fs::path> subfolders(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator each(folder, ignored), end; each != end; each.increment(ignored)) {
    found.push_back(each->path());
  }
  std::sort(found.rbegin(), found.rend());  // the newest first
  return found;
}

std::vector<fs::path> pip_roots(const fs::path& prefix) {
  std::vector<fs::path> roots;
  for (const fs::path& python : subfolders(prefix / "lib")) {
    if (!python.filename().string().starts_with("python3")) continue;
    for (const char* packages : {"site-packages", "dist-packages"}) {
      for (const fs::path& root : subfolders(python / packages / "nvidia")) roots.push_back(root);
    }
  }
  return roots;
}

using Digest = unsigned __int128;

/// FNV-1a of 128 bits.
class Hash {
 public:
  void add(std::string_view bytes) {
    constexpr Digest prime = (Digest{1} << 88) + 0x13b;
    for (const char byte : bytes) state_ = (state_ ^ static_cast<unsigned char>(byte)) * prime;
    state_ = (state_ ^ 0x100u) * prime;  // a terminator, so that "ab", "c" and "a", "bc" differ
  }
  std::string str() const {
    std::ostringstream text;
    text << std::hex;
    for (int shift = 124; shift >= 0; shift -= 4) text << static_cast<unsigned>((state_ >> shift) & 15);
    return text.str();
  }

 private:
  Digest state_ = (Digest{0x6c62272e07bb0142} << 64) + 0x62b821756295c58d;
};

std::optional<std::string> contents_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string digest_of(std::string_view bytes) {
  Hash hash;
  hash.add(bytes);
  return hash.str();
}

std::string key_of(const fs::path& nvcc, const fs::path& source, const std::vector<std::string>& options) {
  Hash hash;
  hash.add(fs::absolute(source).string());
  hash.add(fs::canonical(nvcc).string());
  hash.add(std::to_string(fs::file_size(nvcc)) + " " +
           std::to_string(fs::last_write_time(nvcc).time_since_epoch().count()));
  for (const std::string& option : options) hash.add(option);
  return hash.str();
}

/// The files that a rule of make, as nvcc -MD writes it, names after the colon.
std::vector<std::string> dependencies(const std::string& rule) {
  std::vector<std::string> files;
  std::size_t at = rule.find(": ");
  if (at == std::string::npos) return files;
  std::string word;
  for (at += 2; at <= rule.size(); ++at) {
    const char c = at < rule.size() ? rule[at] : '\n';
    const char next = at + 1 < rule.size() ? rule[at + 1] : '\n';
    if (c == '\\' && (next == ' ' || next == '#' || next == '\\')) {
      word += rule[++at];
    } else if (c == '\\' && next == '\n') {
      ++at;
    } else if (c == ' ' || c == '\n') {
      if (!word.empty()) files.push_back(std::exchange(word, {}));
    } else {
      word += c;
    }
  }
  return files;
}

/// Whether every file of the list is as it was. A line: digest, blank, path.
bool is_as_it_was(const fs::path& list) {
  std::ifstream stream(list);
  std::string line;
  std::size_t lines = 0;
  while (std::getline(stream, line)) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos) return false;
    const auto contents = contents_of(line.substr(blank + 1));
    if (!contents || digest_of(*contents) != line.substr(0, blank)) return false;
    ++lines;
  }
  return lines > 0;
}

/// Programs are run from it, so nobody else may write there.
void make_own_folder(const fs::path& folder) {
  fs::create_directories(folder.parent_path());
  mkdir(folder.c_str(), 0700);
  struct stat status{};
  if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    throw std::runtime_error(folder.string() + " cannot be made");
  }
  if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw std::runtime_error(folder.string() +
                             " can be written by others, so no program is run from it; "
                             "set CUCORE_CACHE_DIR to a folder of your own");
  }
}

int run_and_wait(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::vector<fs::path> program_folders() {
  std::vector<fs::path> folders;
  std::istringstream stream(environment_value("PATH"));
  for (std::string folder; std::getline(stream, folder, ':');) folders.push_back(folder.empty() ? "." : folder);
  return folders;
}

std::optional<fs::path> find_program(const std::string& name) {
  for (const fs::path& folder : program_folders()) {
    if (is_program(folder / name)) return folder / name;
  }
  return std::nullopt;
}

std::optional<fs::path> find_nvcc() {
  std::vector<fs::path> places;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto toolkit = from_environment(variable)) places.push_back(*toolkit / "bin");
  }
  const std::vector<fs::path> in_path = program_folders();
  places.insert(places.end(), in_path.begin(), in_path.end());
  for (const fs::path& prefix : python_prefixes()) {
    for (const fs::path& root : pip_roots(prefix)) places.push_back(root / "bin");
  }
  places.emplace_back("/usr/local/cuda/bin");
  for (const fs::path& place : places) {
    fs::path nvcc = place / "nvcc";
    if (is_program(nvcc) && !is_stand_in(nvcc)) return nvcc;
  }
  return std::nullopt;
}

std::optional<fs::path> compiled_program(const fs::path& nvcc, const fs::path& source,
                                         const std::vector<std::string>& options, const fs::path& folder) {
  if (!contents_of(source)) throw std::runtime_error(source.string() + " cannot be read");
  // The source's name first: it is what reports, debuggers and lists of processes show of the program.
  fs::path program = folder / (source.stem().string() + "-" + key_of(nvcc, source, options));
  const fs::path list = program.string() + ".files";
  make_own_folder(folder);
  if (is_program(program) && is_as_it_was(list)) return program;

  const std::string made = program.string() + "." + std::to_string(getpid());  // renamed when whole
  // Packages of pip have their libraries in lib, where their nvcc does not look.
  const fs::path libraries = fs::canonical(nvcc).parent_path().parent_path() / "lib";
  std::vector<std::string> words{nvcc.string(), "-L" + libraries.string(), "-MD", "-MF", made + ".rule", "-o", made};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(source.string());
  const int status = run_and_wait(words);
  const std::string rule = contents_of(made + ".rule").value_or("");
  std::error_code ignored;
  fs::remove(made + ".rule", ignored);
  if (status != 0) {
    fs::remove(made, ignored);
    if (status == 127) throw std::runtime_error(nvcc.string() + " cannot be started");
    return std::nullopt;
  }
  {
    std::ofstream stream(made + ".files");
    for (const std::string& file : dependencies(rule)) {
      stream << digest_of(contents_of(file).value_or("")) << ' ' << fs::absolute(file).string() << '\n';
    }
  }
  fs::remove(list, ignored);  // no old list beside the new program
  fs::rename(made, program);
  fs::rename(made + ".files", list);
  return program;
}

}  // namespace cucore::cli
