// Finds and runs programs: see real_tool.hpp.
#include "cpu/toolkit_shims/real_tool.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "cpu/runtime/process/settings.hpp"

namespace fs = std::filesystem;
using cucore::cpu::runtime::Setting, cucore::cpu::runtime::setting;

namespace cucore::cpu::toolkit_shims {

namespace {

std::vector<fs::path> path_folders() {
  std::vector<fs::path> folders;
  const std::string listed = setting(Setting::path).value_or("");
  std::string_view rest = listed;
  while (!rest.empty()) {
    const std::size_t end = rest.find(':');
    if (end != 0) folders.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return folders;
}

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
}

/// This program, or one of another installation: they lie beside a driver.
bool is_stand_in(const fs::path& file) {
  std::error_code error;
  const fs::path folder = fs::canonical(file, error).parent_path();
  return error || fs::exists(folder.parent_path() / "libcucore-cpu-compiler.so", error);
}

/// Programs that stand-ins have called on the way here. One of them may be a script of the user's, of the same name in
/// PATH, that calls a stand-in again: without this the two would call each other for ever.
std::vector<std::string> programs_under_way() {
  std::vector<std::string> programs;
  std::istringstream listed(setting(Setting::programs_under_way).value_or(""));
  for (std::string program; std::getline(listed, program, ':');) programs.push_back(program);
  return programs;
}

}  // namespace

fs::path find_in_path(const std::string& name) {
  for (const fs::path& folder : path_folders())
    if (is_program(folder / name)) return folder / name;
  return {};
}

fs::path find_real_tool(const std::string& name) {
  const std::vector<std::string> under_way = programs_under_way();
  const auto is_under_way = [&](const fs::path& file) {
    return std::find(under_way.begin(), under_way.end(), file.string()) != under_way.end();
  };
  std::vector<fs::path> folders;
  // What `cucore run` shows programs as a toolkit has the stand-ins in its bin, and a link to the toolkit.
  const auto add = [&](const fs::path& root) {
    folders.push_back(root / "bin");
    folders.push_back(root / "toolkit" / "bin");
  };
  for (const Setting toolkit : {Setting::cuda_home, Setting::cuda_path})
    if (const auto home = setting(toolkit); home && !home->empty()) add(*home);
  for (fs::path& folder : path_folders()) folders.push_back(std::move(folder));
  std::error_code error;
  add(fs::read_symlink("/proc/self/exe", error).parent_path().parent_path());
  for (const fs::path& folder : folders)
    if (const fs::path file = folder / name; is_program(file) && !is_stand_in(file) && !is_under_way(file)) return file;
  return {};
}

Finished run_program(const fs::path& program, const std::vector<std::string>& arguments, bool keeps_errors) {
  std::string name = program.string();
  std::vector<std::string> words = arguments;
  std::vector<char*> argv{name.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const char* const variable = runtime::variable_of(Setting::programs_under_way);
  const std::string under_way = setting(Setting::programs_under_way).value_or("");
  const std::string with_this = under_way + (under_way.empty() ? "" : ":") + name;
  std::array<int, 2> pipe_ends{-1, -1};
  const bool has_pipe = keeps_errors && pipe2(pipe_ends.data(), O_CLOEXEC) == 0;
  const pid_t child = fork();
  if (child == 0) {
    if (has_pipe) dup2(pipe_ends[1], STDERR_FILENO);
    setenv(variable, with_this.c_str(), 1);
    execv(name.c_str(), argv.data());
    _exit(127);
  }
  if (pipe_ends[1] >= 0) close(pipe_ends[1]);
  Finished finished;
  std::array<char, 4096> part{};
  for (ssize_t count; pipe_ends[0] >= 0 && (count = ::read(pipe_ends[0], part.data(), part.size())) > 0;)
    finished.errors.append(part.data(), static_cast<std::size_t>(count));
  if (pipe_ends[0] >= 0) close(pipe_ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child)
    finished.status = 127;
  else
    finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "cucore-XXXXXX").string();
  if (mkdtemp(name.data())) path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;  // what cannot be removed stays among the temporary files
  if (!path_.empty()) fs::remove_all(path_, error);
}

bool read_file(const std::string& path, std::string* content) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  content->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return !file.bad();
}

bool write_file(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  return !file.fail();
}

}  // namespace cucore::cpu::toolkit_shims
