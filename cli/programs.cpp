// The programs that nvcc made: see programs.hpp.
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

namespace cucore::cli {
namespace {

namespace fs = std::filesystem;

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

std::string digest_of(std::string_view bytes) {
  Hash hash;
  hash.add(bytes);
  return hash.str();
}

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
