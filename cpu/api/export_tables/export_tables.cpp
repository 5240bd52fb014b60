// cuGetExportTable: tables of functions, found by UUID, that NVIDIA's run-time library (libcudart) needs of a driver.
// The interface is undocumented. Its facts are known from projects that describe it and from what the run-time library
// asks for (11.7 to 13.5 were tried); only what that library calls while no tool is attached does its job here:
//
// | table                     | what the run-time library needs it for                                              |
// |---------------------------|-------------------------------------------------------------------------------------|
// | run-time interface        | the handle of a device's primary context, before it retains it; the compilers;      |
// |                           | before 11.8 also a program's modules                                                |
// | newer run-time interface  | must be there from 13.4 on; no call was seen                                        |
// | integrity check           | an answer that only a driver it accepts can give (integrity_check.hpp)              |
// | context-local storage     | its state of a context, looked up in every call and ended with the context          |
// | context checks            | whether a context is of a kind that it must treat apart: never here                 |
// | tool callbacks            | flags that say which of its calls a tool wants to hear of: none                     |
// | tool thread-local storage | must be there; only called for tools                                                |
//
// Every other slot of a table answers CUDA_ERROR_NOT_SUPPORTED and reports itself by name (CUCORE_CPU_REPORT).
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>

#include "cpu/api/entry.hpp"
#include "cpu/api/export_tables/integrity_check.hpp"
#include "cpu/api/nvidia_library.hpp"
#include "cpu/runtime/objects/device.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;

namespace {

/// What traces call the functions of all tables.
constexpr EntryName by_table("cuGetExportTable");

using Slot = const void*;
template <std::size_t size_bytes>
using Table = std::array<Slot, size_bytes>;

template <class F>
Slot slot(F* function) {
  return reinterpret_cast<Slot>(function);
}

template <const char* table_name, std::size_t index>
CUresult refuse() {
  runtime::report(std::string("cuGetExportTable: slot ") + std::to_string(index) + " of the " + table_name +
                  " table is not implemented");
  return CUDA_ERROR_NOT_SUPPORTED;
}

template <const char* table_name, std::size_t... indices>
Table<sizeof...(indices)> refuse_all(std::index_sequence<indices...>) {
  return {slot(&refuse<table_name, indices>)...};
}

/// A table whose other slots refuse. Most tables begin with their size in bytes.
template <const char* table_name, std::size_t size_bytes>
Table<size_bytes> make_table(std::initializer_list<std::pair<std::size_t, Slot>> slots, bool with_size = true) {
  Table<size_bytes> table = refuse_all<table_name>(std::make_index_sequence<size_bytes>());
  if (with_size) table[0] = reinterpret_cast<Slot>(sizeof table);
  for (const auto& [index, function] : slots) table[index] = function;
  return table;
}

// --- run-time interface

constexpr char runtime_interface_name[] = "run-time interface";

CUresult primary_context(CUcontext* context, CUdevice device) {
  return initialized(by_table, [&] {
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    const runtime::Device* const found = runtime::find_device(device);
    if (!found) return CUDA_ERROR_INVALID_DEVICE;
    *context = found->primary_context().handle();
    return CUDA_SUCCESS;
  });
}

/// The compiler is opened when a kernel must be compiled.
CUresult load_compilers() { return CUDA_SUCCESS; }

/// What run-time libraries linked into programs of their time load device code with. Nothing is known of what the other
/// arguments point to: more that is given to them at the program's end, when modules end with their contexts.
CUresult load_module(CUmodule* module, const void* wrapper, void*, void*, std::size_t) {
  return cuModuleLoadFatBinary(module, wrapper);
}
CUresult forget_module(const void*) { return CUDA_SUCCESS; }

const Table<13>& runtime_interface() {
  static const auto table = make_table<runtime_interface_name, 13>(
      {{2, slot(&primary_context)}, {6, slot(&load_module)}, {7, slot(&forget_module)}, {12, slot(&load_compilers)}});
  return table;
}

// --- integrity check

constexpr char integrity_check_name[] = "integrity check";

CUresult integrity_check(std::uint32_t version, std::uint64_t seconds, std::uint64_t result[2]);

const Table<3>& integrity_check_table() {
  static const auto table = make_table<integrity_check_name, 3>({{1, slot(&integrity_check)}});
  return table;
}

/// The run-time library calls it three times, as integrity_check.hpp says.
CUresult integrity_check(std::uint32_t version, std::uint64_t seconds, std::uint64_t result[2]) {
  return initialized(by_table, [&] {
    if (!result) return CUDA_ERROR_INVALID_VALUE;
    const Table<3>& table = integrity_check_table();
    const auto answer = integrity_answer(version, seconds, {runtime_interface().data(), table.data(), table[1]});
    std::copy(answer.begin(), answer.end(), result);
    return CUDA_SUCCESS;
  });
}

// --- context-local storage

constexpr char storage_name[] = "context-local storage";

/// `context` null: the current one. A context that has ended keeps nothing.
template <class F>
CUresult of_storage(CUcontext context, F&& call) {
  return initialized(by_table, [&] {
    Context* const found = context ? runtime::find_context(context) : runtime::current_context();
    if (!found || !found->is_active()) return CUDA_ERROR_INVALID_CONTEXT;
    return call(found->storage);
  });
}

CUresult put_in_storage(CUcontext context, void* key, void* value, runtime::ContextStorage::End end) {
  return of_storage(context, [&](runtime::ContextStorage& storage) {
    storage.put(key, value, end);
    return CUDA_SUCCESS;
  });
}

CUresult remove_from_storage(CUcontext context, void* key) {
  return of_storage(context, [&](runtime::ContextStorage& storage) {
    return storage.remove(key) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult find_in_storage(void** value, CUcontext context, void* key) {
  return of_storage(context, [&](const runtime::ContextStorage& storage) {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    return storage.find(key, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

const Table<4>& context_storage() {
  static const auto table = make_table<storage_name, 4>(
      {{0, slot(&put_in_storage)}, {1, slot(&remove_from_storage)}, {2, slot(&find_in_storage)}}, false);
  return table;
}

// --- context checks

constexpr char context_checks_name[] = "context checks";

CUresult check_context(CUcontext, std::uint32_t* kind, const void**) {
  if (!kind) return CUDA_ERROR_INVALID_VALUE;
  *kind = 0;
  return CUDA_SUCCESS;
}

std::uint32_t context_mode() { return 0; }

const Table<4>& context_checks() {
  static const auto table = make_table<context_checks_name, 4>({{2, slot(&check_context)}, {3, slot(&context_mode)}});
  return table;
}

// --- newer run-time interface

constexpr char newer_runtime_interface_name[] = "newer run-time interface";

const Table<95>& newer_runtime_interface() {
  static const auto table = make_table<newer_runtime_interface_name, 95>({});
  return table;
}

// --- tools

constexpr char tool_callbacks_name[] = "tool callbacks";
constexpr char tool_thread_storage_name[] = "tool thread-local storage";

/// A flag for each call, and one for each domain of calls, more than any run-time library knows: none is set.
std::uint32_t call_flags[4096];
std::uint32_t domain_flags[64];

void find_call_flags(std::uint32_t** flags, std::size_t* count) {
  *flags = call_flags;
  *count = std::size(call_flags);
}

void find_domain_flags(std::uint32_t** flags, std::size_t* count) {
  *flags = domain_flags;
  *count = std::size(domain_flags);
}

const Table<7>& tool_callbacks() {
  static const auto table =
      make_table<tool_callbacks_name, 7>({{2, slot(&find_call_flags)}, {6, slot(&find_domain_flags)}});
  return table;
}

const Table<4>& tool_thread_storage() {
  static const auto table = make_table<tool_thread_storage_name, 4>({});
  return table;
}

// --- look-up

struct Export {
  std::uint8_t uuid[16];
  Slot (*table)();
};

constexpr Export exports[] = {
    {{0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9},
     []() -> Slot { return runtime_interface().data(); }},
    {{0x21, 0x31, 0x8c, 0x60, 0x97, 0x14, 0x32, 0x48, 0x8c, 0xa6, 0x41, 0xff, 0x73, 0x24, 0xc8, 0xf2},
     []() -> Slot { return newer_runtime_interface().data(); }},
    {{0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2},
     []() -> Slot { return integrity_check_table().data(); }},
    {{0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93},
     []() -> Slot { return context_storage().data(); }},
    {{0x26, 0x3e, 0x88, 0x60, 0x7c, 0xd2, 0x61, 0x43, 0x92, 0xf6, 0xbb, 0xd5, 0x00, 0x6d, 0xfa, 0x7e},
     []() -> Slot { return context_checks().data(); }},
    {{0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a, 0x66},
     []() -> Slot { return tool_callbacks().data(); }},
    {{0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdc},
     []() -> Slot { return tool_thread_storage().data(); }},
};

}  // namespace

/// Answers before cuInit too.
/// Takes the runtime library's own messages: absent, as that library allows.
constexpr std::uint8_t messages_table[16] = {0xf8, 0xcf, 0xf9, 0x51, 0x21, 0x46, 0x8b, 0x4e,
                                             0xb9, 0xe2, 0xfb, 0x46, 0x9e, 0x7c, 0x0d, 0xd9};

CUresult cuGetExportTable(const void** ppExportTable, const CUuuid* pExportTableId) {
  if (!ppExportTable || !pExportTableId) return CUDA_ERROR_INVALID_VALUE;
  *ppExportTable = nullptr;
  for (const Export& each : exports) {
    if (std::memcmp(each.uuid, pExportTableId->bytes, sizeof each.uuid) != 0) continue;
    *ppExportTable = each.table();
    return CUDA_SUCCESS;
  }
  if (std::memcmp(messages_table, pExportTableId->bytes, sizeof messages_table) != 0)
    report_nvidia_library(__builtin_return_address(0));
  return CUDA_ERROR_INVALID_VALUE;
}
