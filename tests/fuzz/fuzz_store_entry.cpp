// Bytes from anywhere given to what reads shared stores: sealed entries as they are, the same behind a correct digest
// so that mutations reach the header, and archives of them.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "cucore/cache_archive.hpp"
#include "cucore/error.hpp"
#include "src/formats/sha256.hpp"
#include "src/store/sealed_entry.hpp"

namespace {

constexpr std::string_view key = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
constexpr std::string_view secret = "ssssssssssssssssssssssssssssssss";
constexpr std::size_t digest_bytes = std::tuple_size_v<cucore::detail::Sha256Digest>;

void require(bool condition) {
  if (!condition) std::abort();
}

const cucore::detail::Trust& signed_only() {
  static const cucore::detail::Trust trust{.keys = cucore::KeyRing({{"team", std::string(secret)}}),
                                           .allow_unsigned = false};
  return trust;
}

/// What is taken is a part of what was given, and sealing it again makes an entry with the same payload.
bool is_taken(std::string_view sealed) {
  try {
    const std::string_view payload = cucore::detail::unseal(key, sealed, std::nullopt, signed_only());
    require(payload.data() >= sealed.data() && payload.data() + payload.size() + digest_bytes == sealed.end());
    const std::string again = cucore::detail::seal(key, payload, "none", signed_only());
    require(cucore::detail::unseal(key, again, "none", signed_only()) == payload);
    return true;
  } catch (const cucore::detail::RejectedEntry&) {
    return false;
  }
}

// Of an entry that is taken no byte may be another one.
void read_entry(std::string_view bytes) {
  if (!is_taken(bytes)) return;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string changed(bytes);
    changed[at] = static_cast<char>(changed[at] ^ 1);
    require(!is_taken(changed));
  }
}

void read_signed(std::string_view body) {
  const cucore::detail::Sha256Digest digest = cucore::detail::hmac_sha256(secret, body);
  (void)is_taken(std::string(body) + std::string(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

void read_archive(std::string_view bytes) {
  const std::string folder = (std::filesystem::temp_directory_path() / "cucore-store-fuzzer").string();
  static cucore::ProgramCache cache({.path = folder + std::to_string(::getpid())});
  const int file = ::memfd_create("archive", 0);
  require(file >= 0 && ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  try {
    const cucore::ArchiveImport report = cucore::import_cache(
        cache, "/proc/self/fd/" + std::to_string(file), {.keys = cucore::KeyRing({{"team", std::string(secret)}})});
    require(report.imported == 0);  // a payload of the fuzzer's is no entry of a cache
  } catch (const cucore::ValueError&) {
  }
  ::close(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_entry(bytes);
  read_signed(bytes);
  read_archive(bytes);
  return 0;
}
