// ObjectCode with several images: making one, and listing what is in one.
#include <algorithm>
#include <memory>
#include <utility>

#include "cucore/error.hpp"
#include "src/code/object_code_state.hpp"
#include "src/files/files.hpp"
#include "src/formats/architecture.hpp"
#include "src/formats/cubin.hpp"
#include "src/formats/elf.hpp"
#include "src/formats/loadable_code.hpp"

namespace cucore {
namespace {

[[noreturn]] void refuse_part(const std::string& what, const std::string& hint) {
  throw ValueError({.call = "ObjectCode::from_images", .message = what, .hint = hint});
}

// The images with the bytes they are views of.
class Images {
 public:
  void add(CodeType type, std::string arch, std::string bytes) {
    for (const detail::FatbinImage& image : images_) {
      if (image.type == type && image.arch == arch) {
        refuse_part("there are two images of type " + std::string(type.name()) + " for " + arch,
                    "give one part for each architecture");
      }
    }
    bytes_.push_back(std::make_unique<std::string>(std::move(bytes)));
    images_.push_back({.type = type, .arch = std::move(arch), .bytes = *bytes_.back()});
  }
  std::string written() const { return detail::write_fatbin(images_); }

 private:
  std::vector<std::unique_ptr<std::string>> bytes_;
  std::vector<detail::FatbinImage> images_;
};

void add_part(Images& images, const ArchitectureCode& part) {
  const ObjectCode& code = part.code;
  const std::string what = "part '" + code.name() + "' (" + std::string(code.code_type().name()) +
                           (part.arch.empty() ? "" : ", ") + part.arch + ")";
  const detail::Architecture given = detail::parse_architecture(part.arch);
  if (!part.arch.empty() && given.number == 0) {
    refuse_part("the architecture of " + what + " has no number", "use one like sm_90 or compute_90");
  }
  const std::string number =
      given.number == 0 ? ""
                        : std::to_string(given.number) + (given.suffix != '\0' ? std::string(1, given.suffix) : "");
  if (code.code_type() == CodeType(CodeType::ptx)) {
    std::string text = code.read();
    std::string arch = number.empty() ? detail::architecture_of_ptx(text) : "compute_" + number;
    if (arch.empty()) refuse_part(what + " has no .target line", "give its architecture");
    images.add(CodeType::ptx, std::move(arch), std::move(text));
    return;
  }
  if (code.code_type() != CodeType(CodeType::cubin)) {
    refuse_part(what + " is neither a cubin nor PTX", "link it to a cubin first");
  }
  const std::string cubin = code.read();
  const auto& [told, modules] = detail::read_cubin(cubin);
  if (told.empty() || detail::elf_fault(cubin) != nullptr) refuse_part(what + " is not a cubin", "compile it again");
  if (given.number != 0 && detail::parse_architecture(told).number != given.number) {
    refuse_part(what + " was compiled for " + told, "give the architecture it was compiled for, or none");
  }
  std::string arch = number.empty() ? told : "sm_" + number;
  images.add(CodeType::cubin, arch, detail::elf_strip_section(cubin, detail::ptx_section));
  // Modules that would have to be linked again cannot be an image.
  if (modules.size() == 1) images.add(CodeType::ptx, "compute_" + arch.substr(3), std::string(modules.front()));
}

}  // namespace

ObjectCode ObjectCode::from_images(const std::vector<ArchitectureCode>& parts, std::string name,
                                   SymbolMapping mapping) {
  if (parts.empty()) refuse_part("there are no parts", "give at least one ObjectCode");
  Images images;
  for (const ArchitectureCode& part : parts) add_part(images, part);
  if (name.empty()) name = parts.front().code.name();
  if (mapping.empty()) {
    for (const ArchitectureCode& part : parts) {
      for (const auto& [spelling, symbol] : part.code.symbol_mapping()) {
        const auto [known, fresh] = mapping.emplace(spelling, symbol);
        if (!fresh && known->second != symbol) {
          refuse_part("'" + spelling + "' is " + known->second + " in one part and " + symbol + " in another",
                      "compile the parts from the same source");
        }
      }
    }
  }
  return from_bytes(CodeType::fatbin, images.written(), std::move(name), std::move(mapping));
}

std::vector<CodeImage> ObjectCode::images() const {
  if (!code_type().is_loadable()) return {};
  const std::string from_file = path().empty() ? std::string() : read();
  const std::string_view bytes = path().empty() ? code() : from_file;
  std::vector<CodeImage> result;
  for (const detail::FatbinImage& image : detail::read_loadable_code(code_type(), bytes).images)
    result.push_back({.type = image.type, .arch = image.arch});
  return result;
}

std::optional<std::string> ObjectCode::ptx() const {
  const std::string from_file = path().empty() ? std::string() : read();
  const std::string_view bytes = path().empty() ? code() : from_file;
  const detail::LoadableCode code = detail::read_loadable_code(code_type(), bytes);
  std::vector<const detail::FatbinImage*> ptx;
  for (const detail::FatbinImage& image : code.images)
    if (image.type == CodeType(CodeType::ptx) && !image.is_compressed) ptx.push_back(&image);
  if (ptx.empty()) return std::nullopt;
  if (code.type == CodeType(CodeType::fatbin)) {
    const auto newest = std::max_element(ptx.begin(), ptx.end(), [](const auto* a, const auto* b) {
      return detail::parse_architecture(a->arch).number < detail::parse_architecture(b->arch).number;
    });
    return std::string((*newest)->bytes);
  }
  std::vector<std::string_view> modules;
  for (const detail::FatbinImage* image : ptx) modules.push_back(image->bytes);
  return detail::joined_ptx(modules);
}

std::optional<CodeImage> ObjectCode::loaded_image() const {
  return is_loaded() ? state_->library->used() : std::nullopt;
}

void ObjectCode::save(const std::filesystem::path& path) const {
  if (!detail::replace_file(path, serialize(), detail::default_file_mode())) {
    throw ValueError({.call = "ObjectCode::save",
                      .message = "cannot write " + path.string(),
                      .hint = "its folder must exist and be writable"});
  }
}

ObjectCode ObjectCode::from_saved(const std::filesystem::path& path) {
  return deserialize(detail::read_file_or_throw(path, "ObjectCode::from_saved"));
}

}  // namespace cucore
