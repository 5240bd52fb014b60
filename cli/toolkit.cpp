// NVIDIA's toolkit: where it is, and a folder that shows it to programs with the stand-ins in the place of its nvcc and
// ptxas. Programs take the folder above the nvcc that PATH finds for the toolkit, or take $CUDA_HOME and call the nvcc
// in it: with that folder as both they find headers and libraries, and what they compile carries its PTX.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <system_error>

#include "cli/environment.hpp"
#include "cli/programs.hpp"

namespace cucore::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* shown_toolkit = "toolkit";  // in a view, a link to the toolkit; the stand-ins know it

/// The stand-in lies in the folder `bin` beside the CPU device, or of a view, which has a link to it.
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

/// The toolkit itself where `root` is a view, as it is for what `cucore run` started.
fs::path behind_view(const fs::path& root) {
  std::error_code ignored;
  const fs::path shown = fs::read_symlink(root / shown_toolkit, ignored);
  return shown.empty() ? root : shown;
}

/// "cu13", whose packages share one folder; those of CUDA 12 have folders of their own, none a toolkit.
bool is_toolkit_of_packages(const fs::path& root) {
  const std::string name = root.filename();
  return name.size() > 2 && name.starts_with("cu") && std::isdigit(static_cast<unsigned char>(name[2])) != 0;
}

/// A link at `link` to `target`, in one step also where another one is: several programs may start at once.
void place_link(const fs::path& target, const fs::path& link) {
  std::error_code ignored;
  if (fs::read_symlink(link, ignored) == target) return;
  const fs::path made = link.string() + "." + std::to_string(getpid());
  fs::remove(made, ignored);
  fs::create_symlink(target, made);
  fs::rename(made, link);
}

/// The same file as `program`, by a hard link or as a copy: programs that resolve links are to end in the view.
void place_program(const fs::path& program, const fs::path& place) {
  std::error_code ignored;
  const auto changed = fs::last_write_time(program);
  if (fs::is_regular_file(fs::symlink_status(place, ignored)) && fs::file_size(place) == fs::file_size(program) &&
      fs::last_write_time(place) == changed)
    return;
  const fs::path made = place.string() + "." + std::to_string(getpid());
  fs::remove(made, ignored);
  std::error_code other_disk_or_owner;
  fs::create_hard_link(program, made, other_disk_or_owner);
  if (other_disk_or_owner) {
    fs::copy_file(program, made);
    fs::last_write_time(made, changed);
  }
  fs::rename(made, place);
}

void place_links_to_all(const fs::path& folder, const fs::path& into) {
  for (const fs::directory_entry& each : fs::directory_iterator(folder))
    place_link(each.path(), into / each.path().filename());
}

/// libcudart.so for libcudart.so.13, which packages of pip have alone: linkers look for the short name.
void place_short_names(const fs::path& libraries, const fs::path& into) {
  for (const fs::path& library : subfolders(libraries)) {
    const std::string name = library.filename();
    const std::size_t end = name.find(".so.");
    if (end == std::string::npos) continue;
    const std::string short_name = name.substr(0, end + 3);
    if (!fs::exists(libraries / short_name)) place_link(library, into / short_name);
  }
}

}  // namespace

bool is_program(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0;
}

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
    if (const auto toolkit = from_environment(variable)) places.push_back(behind_view(*toolkit) / "bin");
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

std::optional<fs::path> find_toolkit() {
  std::vector<fs::path> places;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto named = from_environment(variable)) places.push_back(behind_view(*named));
  }
  std::error_code ignored;
  if (const auto nvcc = find_nvcc()) places.push_back(fs::canonical(*nvcc, ignored).parent_path().parent_path());
  for (const fs::path& prefix : python_prefixes()) {
    for (const fs::path& root : pip_roots(prefix))
      if (is_toolkit_of_packages(root)) places.push_back(root);
  }
  places.emplace_back("/usr/local/cuda");
  for (const fs::path& place : places) {
    if (fs::exists(place / "include" / "cuda_runtime.h", ignored)) return fs::canonical(place);
  }
  return std::nullopt;
}

fs::path toolkit_view(const fs::path& toolkit, const fs::path& driver, const fs::path& folder) {
  make_own_folder(folder);
  fs::path view = folder / digest_of(toolkit.string() + "\n" + driver.string());
  const bool is_spread = toolkit == "/usr";  // by a distribution, among programs of all kinds
  fs::create_directories(view / "bin");
  for (const fs::directory_entry& each : fs::directory_iterator(toolkit)) {
    if (each.path().filename() != "bin") place_link(each.path(), view / each.path().filename());
  }
  if (fs::exists(toolkit / "bin") && !is_spread) {
    for (const fs::directory_entry& each : fs::directory_iterator(toolkit / "bin")) {
      const fs::path name = each.path().filename();
      if (!fs::exists(driver / "bin" / name)) place_link(each.path(), view / "bin" / name);
    }
  }
  if (!fs::exists(toolkit / "lib64") && fs::exists(toolkit / "lib")) {  // the packages of pip
    fs::create_directories(view / "lib64");
    place_links_to_all(toolkit / "lib", view / "lib64");
    place_short_names(toolkit / "lib", view / "lib64");
  }
#if defined(__aarch64__)
  constexpr const char* target = "sbsa-linux";
#else
  constexpr const char* target = "x86_64-linux";
#endif
  if (!fs::exists(toolkit / "targets")) {
    fs::create_directories(view / "targets" / target);
    place_link(view / "include", view / "targets" / target / "include");
    place_link(view / "lib64", view / "targets" / target / "lib");
  }
  for (const char* library : {"libcuda.so.1", "libcucore-cpu-compiler.so"}) {  // by which a stand-in is known
    if (fs::exists(driver / library)) place_link(driver / library, view / library);
  }
  place_link(toolkit, view / shown_toolkit);
  for (const fs::directory_entry& each : fs::directory_iterator(driver / "bin"))
    place_program(each.path(), view / "bin" / each.path().filename());
  return view;
}

}  // namespace cucore::cli
