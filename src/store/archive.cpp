// Archives of a cache: tar files of sealed entries.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <system_error>

#include "cucore/cache_archive.hpp"
#include "cucore/error.hpp"
#include "src/formats/sha256.hpp"
#include "src/store/sealed_entry.hpp"

namespace cucore {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t block_bytes = 512, key_digits = 2 * sizeof(detail::Sha256Digest);
constexpr std::string_view shelf = "entries/";
using Block = std::array<char, block_bytes>;

// Where the fields of a header begin, and how long they are (POSIX.1-2017, pax, "ustar Interchange Format").
struct Field {
  std::size_t at, size;
};
constexpr Field name_field{0, 100}, mode_field{100, 8}, owner_field{108, 8}, group_field{116, 8}, size_field{124, 12},
    time_field{136, 12}, sum_field{148, 8}, type_field{156, 1}, magic_field{257, 8};

[[noreturn]] void refuse(const char* call, const fs::path& archive, const std::string& why, const std::string& hint) {
  throw ValueError({.call = call, .message = archive.string() + ": " + why, .hint = hint});
}

void put(Block& header, Field field, std::string_view text) {
  std::memcpy(header.data() + field.at, text.data(), std::min(text.size(), field.size));
}

void put_octal(Block& header, Field field, std::uint64_t value) {
  std::string digits(field.size - 1, '0');
  for (std::size_t at = digits.size(); at-- > 0 && value != 0; value >>= 3)
    digits[at] = static_cast<char>('0' + (value & 7));
  put(header, field, digits);
}

std::uint64_t sum_of(Block header) {
  std::memset(header.data() + sum_field.at, ' ', sum_field.size);
  std::uint64_t sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  return sum;
}

std::optional<std::uint64_t> octal(const Block& header, Field field) {
  std::string_view text(header.data() + field.at, field.size);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (error != std::errc()) return std::nullopt;
  const bool is_ended = end == text.data() + text.size() || *end == ' ' || *end == '\0';
  return is_ended ? std::optional(value) : std::nullopt;
}

std::uint64_t padding(std::uint64_t size) { return (block_bytes - size % block_bytes) % block_bytes; }

Block header_of(const std::string& key, std::uint64_t size) {
  Block header = {};
  put(header, name_field, std::string(shelf) + key.substr(0, 2) + "/" + key);
  put_octal(header, mode_field, 0600);
  put_octal(header, owner_field, 0);
  put_octal(header, group_field, 0);
  put_octal(header, size_field, size);
  put_octal(header, time_field, 0);
  put(header, type_field, "0");
  put(header, magic_field, std::string_view("ustar\00000", 8));
  put_octal(header, {sum_field.at, sum_field.size - 1}, sum_of(header));
  return header;
}

/// A file that appears under its name only when it is whole.
class NewFile {
 public:
  explicit NewFile(const fs::path& path)
      : path_(path), temporary_(path.string() + ".part" + std::to_string(::getpid())) {
    file_.open(temporary_, std::ios::binary | std::ios::trunc);
  }
  ~NewFile() {
    std::error_code ignored;
    if (!is_kept_) fs::remove(temporary_, ignored);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes) { file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size())); }
  void finish() {
    file_.close();
    if (!file_.fail() && ::rename(temporary_.c_str(), path_.c_str()) == 0) {
      is_kept_ = true;
      return;
    }
    refuse("export_cache", path_, std::string("cannot be written: ") + std::generic_category().message(errno),
           "look at the folder's permissions and at the space that is left");
  }

 private:
  fs::path path_, temporary_;
  std::ofstream file_;
  bool is_kept_ = false;
};

/// An entry's place in an archive.
struct Member {
  std::string key;
  std::uint64_t at = 0, size = 0;
};

/// The key that a member's name says; nothing for folders and strangers' files.
std::optional<std::string> key_of(const Block& header) {
  const char* const start = header.data() + name_field.at;
  std::string_view name(start, ::strnlen(start, name_field.size));
  if (name.starts_with("./")) name.remove_prefix(2);
  const char type = header[type_field.at];
  if ((type != '0' && type != '\0') || !name.starts_with(shelf) || name.size() < key_digits) return std::nullopt;
  name.remove_prefix(name.size() - key_digits);
  return detail::is_hex_of_digest(name) ? std::optional(std::string(name)) : std::nullopt;
}

/// All entries of an archive that is whole.
std::vector<Member> members(const fs::path& archive, std::istream& file) {
  const auto damaged = [&](const std::string& why) {
    refuse("import_cache", archive, why, "make it again, or copy it again: nothing was taken from it");
  };
  file.seekg(0, std::ios::end);
  const auto end = static_cast<std::uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  std::vector<Member> found;
  for (std::uint64_t at = 0;;) {
    Block header = {};
    if (at + block_bytes > end) damaged("it is cut, or no archive");
    file.seekg(static_cast<std::streamoff>(at));
    file.read(header.data(), block_bytes);
    if (std::all_of(header.begin(), header.end(), [](char byte) { return byte == 0; })) return found;
    const std::optional<std::uint64_t> size = octal(header, size_field), sum = octal(header, sum_field);
    if (!file || !size || sum != sum_of(header)) damaged("it is damaged, or no archive");
    at += block_bytes;
    if (*size > end - at) damaged("it is cut");
    if (const std::optional<std::string> key = key_of(header)) found.push_back({*key, at, *size});
    at += *size + padding(*size);
  }
}

}  // namespace

std::size_t export_cache(ProgramCache& cache, const fs::path& archive, const ArchiveOptions& options) {
  const detail::Trust trust = detail::resolve_trust("export_cache", options.keys, options.allow_unsigned);
  const std::string toolkit = detail::toolkit_of_entries();
  std::vector<std::string> keys = options.only;
  if (keys.empty()) {
    for (const ProgramCacheEntry& entry : cache.entries()) keys.push_back(entry.key);
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  NewFile file(archive);
  std::size_t count = 0;
  for (const std::string& key : keys) {
    const std::optional<std::string> entry = cache.read_entry(key);
    if (!entry && options.only.empty()) continue;  // damaged, or gone since it was listed
    if (!entry) refuse("export_cache", archive, "the cache has no entry " + key, "`cucore cache ls` lists the keys");
    const std::string sealed = detail::seal(key, *entry, toolkit, trust);
    const Block header = header_of(key, sealed.size());
    file.write({header.data(), header.size()});
    file.write(sealed);
    file.write(std::string(padding(sealed.size()), '\0'));
    ++count;
  }
  file.write(std::string(2 * block_bytes, '\0'));
  file.finish();
  return count;
}

ArchiveImport import_cache(ProgramCache& cache, const fs::path& archive, const ArchiveOptions& options) {
  const detail::Trust trust = detail::resolve_trust("import_cache", options.keys, options.allow_unsigned);
  std::ifstream file(archive, std::ios::binary);
  if (!file) {
    refuse("import_cache", archive, std::string("cannot be read: ") + std::generic_category().message(errno),
           "give the file that `cucore cache export` wrote");
  }
  ArchiveImport report;
  for (const Member& member : members(archive, file)) {
    const bool is_wanted =
        options.only.empty() || std::find(options.only.begin(), options.only.end(), member.key) != options.only.end();
    if (!is_wanted) continue;
    std::string sealed(member.size, '\0');
    file.seekg(static_cast<std::streamoff>(member.at));
    file.read(sealed.data(), static_cast<std::streamsize>(sealed.size()));
    try {
      const std::string entry(detail::unseal(member.key, sealed, std::nullopt, trust));
      if (cache.read_entry(member.key) == entry) {
        ++report.already_there;
      } else if (cache.write_entry(member.key, entry)) {
        ++report.imported;
      } else {
        report.rejected.emplace_back(member.key, "it is no entry of this version, or the folder cannot be written");
      }
    } catch (const detail::RejectedEntry& why) {
      report.rejected.emplace_back(member.key, why.what());
    }
  }
  return report;
}

}  // namespace cucore
