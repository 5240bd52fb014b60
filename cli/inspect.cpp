// `cucore inspect FILE`: what the CPU device makes of the kernels in a file of PTX, a cubin, a fat binary, or a program
// or library that nvcc made. `cucore dump` is its older name.
#include <elf.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/cpu_device.hpp"
#include "cli/output.hpp"

namespace cucore::cli {
namespace {

template <class T>
bool read_at(const std::string& file, std::size_t offset, T& value) {
  if (offset > file.size() || file.size() - offset < sizeof value) return false;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return true;
}

/// The fat binaries that follow each other in `section`. src/formats and cpu/image read them, too, each for itself.
void add_fat_binaries(const std::string& section, std::vector<std::string>& images) {
  struct Header {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t header_bytes;
    std::uint64_t body_bytes;
  } header;
  constexpr std::uint32_t fat_binary_magic = 0xBA55ED50;
  for (std::size_t at = 0; read_at(section, at, header);) {
    if (header.magic != fat_binary_magic) {  // the linker's padding
      at += 8;
      continue;
    }
    const std::size_t left = section.size() - at;
    if (header.header_bytes > left || header.body_bytes > left - header.header_bytes) return;
    const std::size_t bytes = header.header_bytes + static_cast<std::size_t>(header.body_bytes);
    if (header.body_bytes > 0) images.push_back(section.substr(at, bytes));  // the runtime library's has none
    at += bytes;
  }
}

/// The device code in a host object, program or library; empty if it is none of these.
std::vector<std::string> device_code_of(const std::string& file) {
  std::vector<std::string> images;
  Elf64_Ehdr header;
  constexpr unsigned char elf_of_64_bits[] = {0x7f, 'E', 'L', 'F', ELFCLASS64};
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, elf_of_64_bits, sizeof elf_of_64_bits) != 0 ||
      header.e_machine == EM_CUDA) {
    return images;
  }
  const auto section = [&](std::size_t index, Elf64_Shdr& found) {
    return header.e_shentsize >= sizeof found && read_at(file, header.e_shoff + index * header.e_shentsize, found);
  };
  Elf64_Shdr names;
  if (!section(header.e_shstrndx, names)) return images;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr each;
    if (!section(i, each)) return images;
    constexpr const char* wanted[] = {".nv_fatbin", "__nv_relfatbin"};
    for (const char* name : wanted) {
      const std::size_t at = names.sh_offset + each.sh_name;
      const std::size_t length = std::strlen(name) + 1;
      if (at > file.size() || file.size() - at < length || std::memcmp(file.data() + at, name, length) != 0) continue;
      if (each.sh_offset > file.size() || each.sh_size > file.size() - each.sh_offset) continue;
      add_fat_binaries(file.substr(each.sh_offset, each.sh_size), images);
    }
  }
  return images;
}

void append(void* to, const char* text, size_t size) { static_cast<std::string*>(to)->append(text, size); }

struct Request {
  std::string what = "fidelity";
  std::string kernel;
  unsigned block[3] = {256, 1, 1};
};

/// "16x16x1".
std::string shape(const unsigned (&block)[3]) {
  return std::to_string(block[0]) + "x" + std::to_string(block[1]) + "x" + std::to_string(block[2]);
}

/// A line of the dump "forms" (cpu/api/cucore_cpu.h).
struct Form {
  std::string symbol, kernel, form, reason, line, place;
};

std::vector<Form> forms_in(const std::string& records) {
  std::vector<Form> forms;
  std::istringstream lines(records);
  for (std::string line; std::getline(lines, line);) {
    Form& form = forms.emplace_back();
    std::istringstream fields(line);
    for (std::string* field : {&form.symbol, &form.kernel, &form.form, &form.reason, &form.line, &form.place})
      std::getline(fields, *field, '\t');
  }
  return forms;
}

std::string in_words(const Form& form, const unsigned (&block)[3]) {
  if (form.form == "none") return form.kernel + ": cannot be compiled: " + form.reason + "\n";
  if (form.form != "scalar")
    return form.kernel + ": " + form.form + " form, for blocks of " + shape(block) + " threads\n";
  return form.kernel + ": scalar form, because of " + form.reason + (form.place.empty() ? "" : " at " + form.place) +
         "\n";
}

std::string as_json(const Form& form, const unsigned (&block)[3]) {
  JsonObject json;
  json.text("kernel", form.kernel).text("symbol", form.symbol).text("form", form.form).text("block", shape(block));
  if (!form.reason.empty()) json.text("reason", form.reason);
  if (!form.place.empty()) json.raw("ptx_line", form.line).text("place", form.place);
  return json.str();
}

bool read_block(const std::string& text, unsigned (&block)[3]) {
  block[1] = block[2] = 1;
  return std::sscanf(text.c_str(), "%u,%u,%u", &block[0], &block[1], &block[2]) >= 1 && block[0] != 0 &&
         block[1] != 0 && block[2] != 0;
}

/// The text for one image; `failed` says whether it is an error message.
std::string text_for(const std::string& image, const Request& request, bool& failed) {
  const auto dump_image = cpu_device_function<decltype(cucore_cpu_dump)>("cucore_cpu_dump");
  std::string text;
  failed = dump_image(image.c_str(), image.size(), request.kernel.c_str(), request.what.c_str(), request.block, append,
                      &text) != 0;
  return text;
}

int run_inspect(const CLI::App& command) {
  Request request;
  for (const char* what : {"fidelity", "forms", "ptx", "ir", "assembly"}) {
    if (command.count("--" + std::string(what)) > 0) request.what = what;
  }
  request.kernel = value_of<std::string>(command, "--kernel");
  const auto block = value_of<std::string>(command, "--block", "256");
  if (!read_block(block, request.block)) {
    std::fprintf(stderr, "cucore inspect: --block wants X, X,Y or X,Y,Z, each at least 1, not '%s'\n", block.c_str());
    return 2;
  }
  const auto name = value_of<std::string>(command, "FILE");
  std::ifstream file(name, std::ios::binary);
  const std::string contents{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || contents.empty()) {
    std::fprintf(stderr, "cucore inspect: %s cannot be read, or is empty\n", name.c_str());
    return 1;
  }
  if (std::filesystem::path(name).extension() == ".cu") {
    std::fprintf(stderr, "cucore inspect: %s is a source; 'cucore compile %s' makes an image of it\n", name.c_str(),
                 name.c_str());
    return 1;
  }
  std::vector<std::string> images = device_code_of(contents);
  if (images.empty()) images.push_back(contents);
  int status = images.size() > 1 && !request.kernel.empty() ? 1 : 0;  // one of several has the kernel
  std::vector<std::string> json;
  std::string wrong;
  for (const std::string& image : images) {
    bool failed = false;
    const std::string text = text_for(image, request, failed);
    if (failed) {
      wrong = text;
      if (images.size() == 1 || request.kernel.empty()) status = 1;
      continue;
    }
    if (!request.kernel.empty()) status = 0;
    if (request.what == "forms") {
      for (const Form& form : forms_in(text)) {
        if (wants_json(command)) {
          json.push_back(as_json(form, request.block));
        } else {
          std::fputs(in_words(form, request.block).c_str(), stdout);
        }
      }
    } else if (wants_json(command)) {
      json.push_back(JsonObject().text("what", request.what).text("text", text).str());
    } else {
      std::fwrite(text.data(), 1, text.size(), stdout);
    }
  }
  if (wants_json(command))
    std::printf("%s\n",
                JsonObject().raw(request.what == "forms" ? "kernels" : "images", json_array(json)).str().c_str());
  if (status != 0) std::fprintf(stderr, "cucore inspect: %s: %s\n", name.c_str(), wrong.c_str());
  return status;
}

}  // namespace

void add_inspect(CLI::App& tool, int& status) {
  for (const char* name : {"inspect", "dump"}) {
    CLI::App& command = add_command(
        tool, status, name,
        std::strcmp(name, "dump") == 0
            ? "Another name of inspect"
            : "Say how exactly and in which form the CPU device runs kernels, or print their PTX, LLVM IR or assembly",
        run_inspect);
    add_value(command, "FILE", "PTX, a cubin, a fat binary, or what nvcc made: object, program, library")
        ->required()
        ->type_name("");
    add_flag(command, "--fidelity", "how many instructions are exact, approximate, unsupported (this is usual)");
    add_flag(command, "--forms", "which form of code each kernel gets, and what keeps it from the vector form");
    add_flag(command, "--ptx", "print PTX");
    add_flag(command, "--ir", "print LLVM IR");
    add_flag(command, "--assembly", "print the host's instructions");
    add_value(command, "--kernel", "this one only")->type_name("NAME");
    add_value(command, "--block", "the shape of block that code is made for: X, X,Y or X,Y,Z")
        ->type_name("X,Y,Z")
        ->delimiter('\0');
    add_json(command);
  }
}

}  // namespace cucore::cli
