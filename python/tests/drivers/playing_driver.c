// A driver that passes everything on to the one named by REAL_DRIVER, but for checkpoints of processes and memory of
// OpenGL, which it plays itself: it says what it was called with, and answers what a test tells it to.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cucore_cpu_device_version = 1;  // says that this is the CPU device

static char calls[4096];
static struct {
  char name[64];
  int code;
} refused;
static int process_state;
static unsigned long long memory, array;  // what is mapped

static int called(const char* name, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const size_t used = strlen(calls);
  char text[512];
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  snprintf(calls + used, sizeof calls - used, "%s%s(%s)", used > 0 ? " " : "", name, text);
  return strcmp(refused.name, name) == 0 ? refused.code : 0;
}

// For the tests.
const char* take_calls(void) {
  static char taken[sizeof calls];
  strcpy(taken, calls);
  calls[0] = 0;
  return taken;
}
void refuse(const char* name, int code) {
  strncpy(refused.name, name, sizeof refused.name - 1);
  refused.code = code;
}
void set_state(int state) { process_state = state; }
void set_memory(unsigned long long address, unsigned long long array_handle) {
  memory = address;
  array = array_handle;
}

static int get_state(int pid, int* state) {
  *state = process_state;
  return called("state", "%d", pid);
}
static int get_thread(int pid, int* thread) {
  *thread = pid + 1;
  return called("thread", "%d", pid);
}
static int lock(int pid, const unsigned* arguments) {
  for (int i = 1; i < 16; ++i) {
    if (arguments[i] != 0) return 1;
  }
  return called("lock", "%d, %u ms", pid, arguments[0]);
}
static int checkpoint(int pid, const char* arguments) {
  for (int i = 0; i < 64; ++i) {
    if (arguments[i] != 0) return 1;
  }
  return called("checkpoint", "%d", pid);
}
static int restore(int pid, const char* arguments) {
  const unsigned char* pairs;
  unsigned count;
  memcpy(&pairs, arguments, sizeof pairs);
  memcpy(&count, arguments + sizeof pairs, sizeof count);
  for (int i = 12; i < 64; ++i) {
    if (arguments[i] != 0) return 1;
  }
  if ((pairs == NULL) != (count == 0)) return 1;
  char text[256] = "";
  for (unsigned i = 0; i < 2 * count && i < 6; ++i) {
    sprintf(text + strlen(text), " %02x..%02x", pairs[16 * i], pairs[16 * i + 15]);
  }
  return called("restore", "%d,%s", pid, text);
}
static int unlock(int pid, const char* arguments) {
  for (int i = 0; i < 64; ++i) {
    if (arguments[i] != 0) return 1;
  }
  return called("unlock", "%d", pid);
}

static int register_buffer(void** resource, unsigned name, unsigned flags) {
  *resource = (void*)0x1000;
  return called("register_buffer", "%u, %u", name, flags);
}
static int register_image(void** resource, unsigned name, unsigned target, unsigned flags) {
  *resource = (void*)0x2000;
  return called("register_image", "%u, %u, %u", name, target, flags);
}
static int unregister(void* resource) { return called("unregister", "%p", resource); }
static int map(unsigned count, void** resources, void* stream) {
  return called("map", "%u %p %p", count, resources[0], stream);
}
static int unmap(unsigned count, void** resources, void* stream) {
  return called("unmap", "%u %p %p", count, resources[0], stream);
}
static int get_pointer(unsigned long long* address, size_t* size, void* resource) {
  *address = memory;
  *size = 256;
  return called("pointer", "%p", resource);
}
static int get_array(void** mapped, void* resource, unsigned index, unsigned level) {
  *mapped = (void*)array;
  return called("array", "%p, %u, %u", resource, index, level);
}

static const struct {
  const char* name;
  void* function;
} played[] = {{"cuCheckpointProcessGetState", get_state},
              {"cuCheckpointProcessGetRestoreThreadId", get_thread},
              {"cuCheckpointProcessLock", lock},
              {"cuCheckpointProcessCheckpoint", checkpoint},
              {"cuCheckpointProcessRestore", restore},
              {"cuCheckpointProcessUnlock", unlock},
              {"cuGraphicsGLRegisterBuffer", register_buffer},
              {"cuGraphicsGLRegisterImage", register_image},
              {"cuGraphicsUnregisterResource", unregister},
              {"cuGraphicsMapResources", map},
              {"cuGraphicsUnmapResources", unmap},
              {"cuGraphicsResourceGetMappedPointer", get_pointer},
              {"cuGraphicsSubResourceGetMappedArray", get_array}};

int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags, int* status) {
  static int (*get)(const char*, void**, int, unsigned long long, int*);
  if (get == NULL) *(void**)&get = dlsym(dlopen(getenv("REAL_DRIVER"), RTLD_NOW), "cuGetProcAddress_v2");
  for (size_t i = 0; i < sizeof played / sizeof *played; ++i) {
    if (strcmp(name, played[i].name) != 0) continue;
    *function = played[i].function;
    if (status != NULL) *status = 0;
    return 0;
  }
  return get(name, function, version, flags, status);
}
