// What LLVM and the system know of this processor: see host_processor.hpp.
#include "cpu/compiler/host_processor.hpp"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#if defined(__x86_64__)
#include <llvm/TargetParser/X86TargetParser.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <llvm/TargetParser/AArch64TargetParser.h>
#include <sys/auxv.h>
#endif

#include <vector>

namespace cucore::cpu::compiler {
namespace {

/// Never destroyed: a thread may still compile when the process ends.
const std::string& host_name() {
  static const auto& name = *new std::string(llvm::sys::getHostCPUName());
  return name;
}

#if defined(__x86_64__)
const llvm::StringMap<bool>& host_features() {
  static const auto& features = *new llvm::StringMap<bool>(llvm::sys::getHostCPUFeatures());
  return features;
}

/// What every processor called `march` has; all that there is if the name is empty.
std::optional<llvm::StringMap<bool>> features_of(std::string_view march) {
  if (march.empty()) return host_features();
  if (llvm::X86::parseArchX86(march, /*Only64Bit=*/true) == llvm::X86::CK_None) return std::nullopt;
  llvm::SmallVector<llvm::StringRef> named{"64bit"};  // which LLVM does not list, since it is implied
  llvm::X86::getFeaturesForCPU(march, named);
  llvm::StringMap<bool> features;
  for (const llvm::StringRef name : named) {
    features[name] = true;
    llvm::X86::updateImpliedFeatures(name, true, features);
  }
  return features;
}

constexpr const char* which_is_none =
    "\", which names no 64-bit x86 processor; x86-64-v3, for one, stands for those with AVX2";
#elif defined(__aarch64__)
/// Asks the system rather than, as LLVM does, a file that it writes for people: emulators have that of their host.
const llvm::StringMap<bool>& host_features() {
  static const auto& features = *new llvm::StringMap<bool>([] {
    struct Known {
      const char* name;
      unsigned long kind, bit;
    };
    constexpr Known all[] = {
        {"fp-armv8", AT_HWCAP, HWCAP_FP},      {"neon", AT_HWCAP, HWCAP_ASIMD},   {"aes", AT_HWCAP, HWCAP_AES},
        {"sha2", AT_HWCAP, HWCAP_SHA2},        {"crc", AT_HWCAP, HWCAP_CRC32},    {"lse", AT_HWCAP, HWCAP_ATOMICS},
        {"fullfp16", AT_HWCAP, HWCAP_ASIMDHP}, {"rdm", AT_HWCAP, HWCAP_ASIMDRDM}, {"jsconv", AT_HWCAP, HWCAP_JSCVT},
        {"complxnum", AT_HWCAP, HWCAP_FCMA},   {"rcpc", AT_HWCAP, HWCAP_LRCPC},   {"dotprod", AT_HWCAP, HWCAP_ASIMDDP},
        {"sve", AT_HWCAP, HWCAP_SVE},          {"lse2", AT_HWCAP, HWCAP_USCAT},   {"sve2", AT_HWCAP2, HWCAP2_SVE2},
        {"i8mm", AT_HWCAP2, HWCAP2_I8MM},      {"bf16", AT_HWCAP2, HWCAP2_BF16},
    };
    llvm::StringMap<bool> found;
    for (const Known& each : all) found[each.name] = (getauxval(each.kind) & each.bit) != 0;
    return found;
  }());
  return features;
}

std::optional<llvm::StringMap<bool>> features_of(std::string_view march) {
  if (march.empty()) return host_features();
  llvm::AArch64::ExtensionBitset extensions;
  if (const llvm::AArch64::ArchInfo* const architecture = llvm::AArch64::parseArch(march)) {
    extensions = architecture->DefaultExts;
  } else if (const std::optional<llvm::AArch64::CpuInfo> processor = llvm::AArch64::parseCpu(march)) {
    extensions = processor->getImpliedExtensions();
  } else {
    return std::nullopt;
  }
  std::vector<llvm::StringRef> named;
  llvm::AArch64::getExtensionFeatures(extensions, named);
  llvm::StringMap<bool> features;
  for (const llvm::StringRef name : named) features[name.substr(1)] = true;
  // A part of the architecture's version, and no extension to LLVM.
  const auto* const version = llvm::AArch64::parseArch("armv8.4-a");
  const llvm::AArch64::ArchInfo* const architecture = llvm::AArch64::parseArch(march);
  features["lse2"] = architecture != nullptr && (*architecture == *version || architecture->implies(*version));
  return features;
}

constexpr const char* which_is_none = "\", which names no 64-bit Arm processor; armv8.2-a and neoverse-n1, for two, do";
#endif

}  // namespace

std::optional<HostProcessor> host_processor(std::string_view march) {
  const std::optional<llvm::StringMap<bool>> allowed = features_of(march);
  if (!allowed) return std::nullopt;
  llvm::SubtargetFeatures common;
  for (const auto& [name, present] : host_features()) common.AddFeature(name, present && allowed->lookup(name));
#if defined(__aarch64__)
  // A name stands for more features than those that are known here.
  if (!march.empty())
    return HostProcessor{.triple = llvm::sys::getProcessTriple(), .name = "generic", .features = common.getString()};
#endif
  return HostProcessor{.triple = llvm::sys::getProcessTriple(), .name = host_name(), .features = common.getString()};
}

std::string not_a_processor(std::string_view march) {
  return "CUCORE_CPU_MARCH is \"" + std::string(march) + which_is_none;
}

}  // namespace cucore::cpu::compiler
