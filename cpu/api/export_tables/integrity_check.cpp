// The integrity check: see integrity_check.hpp.
#include "cpu/api/export_tables/integrity_check.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstring>

#include "cpu/api/export_tables/md2.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/process/process.hpp"

namespace cucore::cpu::api {

namespace {

constexpr Md2::Digest key = {0x14, 0x6a, 0xdd, 0xae, 0x53, 0xa9, 0xa7, 0x52,
                             0xaa, 0x08, 0x41, 0x36, 0x0b, 0xf5, 0x5a, 0x9f};

/// As the digest takes it.
struct Asked {
  std::uint32_t driver_version, runtime_version, process, thread;
  HandedOut tables;
  std::uint64_t seconds;
};
static_assert(sizeof(Asked) == 48);

struct AskedDevice {
  CUuuid uuid;
  std::int32_t pci_domain, pci_bus, pci_device;
};
static_assert(sizeof(AskedDevice) == 28);

}  // namespace

std::array<std::uint64_t, 2> integrity_answer(std::uint32_t version, std::uint64_t seconds, const HandedOut& tables) {
  if (version % 10 == 0) return {0x3341181c03cb675c, 0x8ed383aa1f4cd1e8};
  if (version % 10 == 1) return {0x1841181c03cb675c, 0x8ed383aa1f4cd1e8};
  HmacMd2 digest(key);
  const Asked asked{runtime::cuda_version,
                    version,
                    static_cast<std::uint32_t>(getpid()),
                    static_cast<std::uint32_t>(pthread_self()),
                    tables,
                    seconds};
  digest.add(&asked, sizeof asked);
  for (const auto& device : runtime::devices()) {
    const AskedDevice one{device->uuid(), *device->attribute(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                          *device->attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
                          *device->attribute(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)};
    digest.add(&one, sizeof one);
  }
  const Md2::Digest bytes = digest.digest();
  std::array<std::uint64_t, 2> answer{};
  std::memcpy(answer.data(), bytes.data(), bytes.size());
  return answer;
}

}  // namespace cucore::cpu::api
