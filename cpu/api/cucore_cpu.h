/* What the CPU device's libcuda.so.1 exports beyond the driver API. Plain C; every function may be called at any time,
   before cuInit too, from any thread. A driver that lacks these symbols is not a CPU device. */
#ifndef CUCORE_CPU_H
#define CUCORE_CPU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The marker: version of this header's interface, 1000 * major + minor. */
#define CUCORE_CPU_INTERFACE 1004
int cucore_cpu_device_version(void);

/* 1 from the first cuInit that succeeded until exit begins, else 0. While it is 1, cuInit of another copy of this
   library in the process answers CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: neither would know the other's objects. */
int cucore_cpu_is_initialized(void);

/* How much of the driver API and of PTX this library implements. The name lists are arrays of `..._count` strings,
   sorted, owned by the library, valid for ever. Of an entry point `cuX` all exported spellings are listed. */
typedef struct cucore_cpu_status {
  size_t size;       /* in: sizeof(cucore_cpu_status) */
  size_t real_count; /* entry points that do their job */
  const char* const* real_names;
  size_t stub_count; /* entry points that only answer CUDA_ERROR_NOT_SUPPORTED */
  const char* const* stub_names;
  size_t covered_opcode_count; /* PTX opcodes with a code generator */
  const char* const* covered_opcodes;
  size_t known_opcode_count; /* all PTX opcodes the parser knows */
  const char* const* known_opcodes;
} cucore_cpu_status;

/* Fills *status. 0 on success, 1 for a null or too small struct. */
int cucore_cpu_driver_status(cucore_cpu_status* status);

/* Kernels that this process has compiled, and kernels whose code it found in the cache (CUCORE_CPU_CACHE) instead; a
   kernel counts once for each form and shape of block. Either pointer may be null. */
void cucore_cpu_kernel_counts(size_t* compiled, size_t* loaded);

/* What the CPU device makes of the kernels in an image (PTX, a cubin or a fat binary with PTX; `size` 0 if it says
   itself where it ends), without loading it. `what`: "fidelity", how many instructions of each kernel are exact (the
   bits that a GPU gives, NaN payloads aside), approximate (within NVIDIA's documented error) and unsupported, and
   which; "ptx"; "ir", LLVM's; "assembly"; "forms" (since interface 1004), a line for each kernel with six fields and
   tabs between them: its symbol; its name in the source; the form of code that it gets when it has run many threads,
   "vector", "masked", "scalar" or "none" (it cannot be compiled); why it is not the one asked for, or empty; the PTX
   line that is the reason, or 0; the same with the source's line, or empty. `kernel`: null or empty for all. `block`:
   the shape of block of the vector form, null for 256 threads. The text goes to `write`, in words if the result, a
   CUresult, is not 0: CUDA_ERROR_NOT_FOUND for a kernel that is not there, CUDA_ERROR_INVALID_VALUE for null or another
   `what`, and the errors of cuModuleLoadData. */
int cucore_cpu_dump(const void* image, size_t size, const char* kernel, const char* what, const unsigned int* block,
                    void (*write)(void* context, const char* text, size_t size), void* context);

/* The last fault, deadlock or load failure of this process, in words: which kernel, block and thread, and where. Writes
   at most `size` bytes with a closing zero; returns the length of the whole text (0: nothing to report). */
size_t cucore_cpu_last_report(char* text, size_t size);

/* The same of the last one that became a context's error (what a kernel did wrong, or a launch that ran too long),
   which reports of other things do not replace. Since interface 1003. */
size_t cucore_cpu_last_fault(char* text, size_t size);

/* What the checker (CUCORE_CPU_CHECK) has found in launches that have ended, as it writes it to standard error, without
   the first `from` bytes: who remembers how long the text was learns what came since. Writes and returns as
   cucore_cpu_last_report. Since interface 1003. */
size_t cucore_cpu_findings(size_t from, char* text, size_t size);

/* The objects that this process made through the driver API and has not given back, in words ("2 Stream, 1 device
   memory"; empty if there are none). Writes and returns as cucore_cpu_last_report. */
size_t cucore_cpu_live_objects(char* text, size_t size);

/* For CUCORE_CPU_REPORT_LEAKS=1, which writes the objects that are alive at exit and where they were made: `origin`
   says where the calling thread is in the program's own language. It writes at most `size` bytes and returns how many;
   it may not call the driver. Null takes it back. */
void cucore_cpu_set_origin(size_t (*origin)(char* text, size_t size));

/* The trace of the process (CUCORE_TRACE), for a library that writes its own calls of this driver there. All since
   interface 1004. cucore_cpu_trace_join opens the file if that has not been done; 1: there is one, and who called this
   also calls cucore_cpu_trace_end, once. An event is a JSON object without what separates it from the next. The last
   one that ends gives the file its end; what comes later is dropped. */
int cucore_cpu_trace_join(void);
void cucore_cpu_trace_write(const char* event, size_t size);
void cucore_cpu_trace_end(const char* last_event, size_t size);

/* Until it is called with 0: calls of this thread, and the work that they queue, are written by the caller, not here.
 */
void cucore_cpu_trace_caller_writes(int writes);

/* For NVTX: this library may be what NVTX_INJECTION64_PATH names, and then writes ranges and marks into the trace.
   0 if there is none. */
int InitializeInjectionNvtx2(const void* (*export_table)(uint32_t id));

#ifdef __cplusplus
}
#endif

#endif
