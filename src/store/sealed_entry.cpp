// Seals entries and takes apart what others have sealed, as python/cucore/stores/_seal.py does with Python's own
// libraries: each language has its SharedStore, and reads what the other stores.
#include "src/store/sealed_entry.hpp"

#include <algorithm>
#include <cstdint>

#include "cucore/error.hpp"
#include "cucore/toolkit.hpp"
#include "src/formats/sha256.hpp"
#include "src/settings/settings.hpp"
#include "src/store/json_header.hpp"

namespace cucore::detail {
namespace {

constexpr std::string_view magic = "cucore sealed entry\n";
constexpr std::uint64_t version = 1;
constexpr std::size_t digest_bytes = std::tuple_size_v<Sha256Digest>, size_bytes = 4, most_header = 4096;

std::string digest(std::string_view body, const std::string* secret) {
  const Sha256Digest made = secret != nullptr ? hmac_sha256(*secret, body) : sha256(body);
  return {reinterpret_cast<const char*>(made.data()), made.size()};
}

/// In a time that does not tell where they differ.
bool are_equal(std::string_view a, std::string_view b) {
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (std::size_t at = 0; at < std::min(a.size(), b.size()); ++at) {
    different |= static_cast<unsigned char>(a[at]) ^ static_cast<unsigned char>(b[at]);
  }
  return different == 0;
}

template <class T>
const T& member(const JsonHeader& header, std::string_view name) {
  const auto found = header.find(name);
  const T* value = found != header.end() ? std::get_if<T>(&found->second) : nullptr;
  if (value == nullptr) throw RejectedEntry("its header cannot be read");
  return *value;
}

/// The secret that the entry says it is signed with; null: it is not signed, which is allowed.
const std::string* secret_of(const JsonHeader& header, const Trust& trust) {
  const auto signer = header.find("signed_by");
  if (signer == header.end()) throw RejectedEntry("its header cannot be read");
  if (std::holds_alternative<std::nullptr_t>(signer->second)) {
    if (!trust.allow_unsigned) throw RejectedEntry("it is not signed");
    return nullptr;
  }
  const auto* id = std::get_if<std::string>(&signer->second);
  const std::string* secret = id != nullptr && trust.keys ? trust.keys->find(*id) : nullptr;
  if (secret == nullptr) throw RejectedEntry("it is signed with a key that is not known here");
  return secret;
}

}  // namespace

Trust resolve_trust(const std::string& call, const std::optional<KeyRing>& keys, bool allow_unsigned) {
  Trust trust{.keys = keys, .allow_unsigned = allow_unsigned};
  const std::string named = setting(Setting::cache_keys);
  if (!trust.keys && !trust.allow_unsigned && named == "unsigned") {
    trust.allow_unsigned = true;
  } else if (!trust.keys && !trust.allow_unsigned && !named.empty()) {
    trust.keys = KeyRing::from_file(named);
  }
  if (!trust.keys && !trust.allow_unsigned) {
    throw ValueError({.call = call,
                      .message = "no keys sign the entries, and whoever writes them could run code here",
                      .hint = "set CUCORE_CACHE_KEYS to a file of keys, give keys, or allow unsigned entries"});
  }
  return trust;
}

std::string toolkit_of_entries() {
  const ToolkitLibrary nvrtc = nvrtc_info();
  if (!nvrtc.available) return "none";
  return "nvrtc (" + std::to_string(nvrtc.major) + ", " + std::to_string(nvrtc.minor) + ") " + nvrtc.build;
}

std::string seal(std::string_view key, std::string_view payload, std::string_view toolkit, const Trust& trust) {
  JsonHeader said;
  said["version"] = version;
  said["key"] = std::string(key);
  said["toolkit"] = std::string(toolkit);
  said["size"] = std::uint64_t{payload.size()};
  said["signed_by"] = trust.keys ? JsonScalar(trust.keys->signer()) : JsonScalar(nullptr);
  const std::string header = write_json_header(said);
  std::string sealed(magic);
  for (unsigned shift = 0; shift < 32; shift += 8) sealed += static_cast<char>(header.size() >> shift & 0xff);
  sealed += header;
  sealed += payload;
  return sealed + digest(sealed, trust.keys ? trust.keys->find(trust.keys->signer()) : nullptr);
}

std::string_view unseal(std::string_view key, std::string_view sealed, std::optional<std::string_view> toolkit,
                        const Trust& trust) {
  const std::size_t start = magic.size() + size_bytes;
  if (sealed.size() < start + digest_bytes || !sealed.starts_with(magic)) throw RejectedEntry("no sealed entry");
  std::size_t size = 0;
  for (std::size_t at = size_bytes; at-- > 0;) size = size << 8 | static_cast<unsigned char>(sealed[magic.size() + at]);
  if (size > std::min(most_header, sealed.size() - start - digest_bytes)) throw RejectedEntry("it is cut");
  const std::optional<JsonHeader> header = read_json_header(sealed.substr(start, size));
  if (!header) throw RejectedEntry("its header cannot be read");
  if (const auto found = member<std::uint64_t>(*header, "version"); found != version) {
    throw RejectedEntry("it is of format version " + std::to_string(found));
  }
  const std::string* secret = secret_of(*header, trust);
  const std::string_view body = sealed.substr(0, sealed.size() - digest_bytes);
  if (!are_equal(digest(body, secret), sealed.substr(body.size()))) throw RejectedEntry("its digest does not match");
  const std::string_view payload = body.substr(start + size);
  if (member<std::string>(*header, "key") != key || member<std::uint64_t>(*header, "size") != payload.size()) {
    throw RejectedEntry("it is of another key or size");
  }
  if (const auto& made_by = member<std::string>(*header, "toolkit"); toolkit && made_by != *toolkit) {
    throw RejectedEntry("it is of another compiler (" + made_by + ")");
  }
  return payload;
}

}  // namespace cucore::detail
