// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// By default, nvcc links the CUDA runtime into a program, so no other libcudart can take its place.
// `kernelgrade emulate` preloads this library into such programs. It finds the runtime's functions
// in the symbol tables of the program and its libraries. At the beginning of each, it writes a jump
// to the function of the same name in libcudart.so.13. NVIDIA's runtime code never runs. A function
// that libcudart.so.13 lacks ends the process, as the loader does with -cudart shared.
//
// Constructors of the program call the runtime, so the jumps are written before the first one runs
// (-z initfirst). At that time, not even the C library is ready to load another library. The first
// jumps lead to kernelgrade_bind(), which loads libcudart.so.13 at the first call and writes the
// final jumps.
//
// Libraries that the process opens later (dlopen), such as CuPy's, have constructors, too. Between
// mapping a library and running its constructors, the loader calls an empty function for debuggers,
// r_brk of <link.h>. This library writes a jump to loaded() into it.
//
// NVRTC, wherever a program finds it, gets two jumps as well, so that it returns PTX to a program
// that asks for machine code.
#include "cuda/binary/symbol_table.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using kg::emulate::SymbolTable;

[[noreturn]] void end(int code, const char* subject, const char* what) {
  std::fprintf(stderr, "kernelgrade: %s: %s\n", subject, what);
  _exit(code);
}

[[noreturn]] void end_missing(const char* function) {
  end(127, function, "this function of the CUDA runtime is not emulated");
}

// x86-64 instructions, written one after the other.
class Code {
 public:
  explicit Code(void* at) : next_(static_cast<unsigned char*>(at)) {}

  // movabs $value, %register
  Code& rax(const void* value) { return put<2>({0x48, 0xb8}).word(value); }
  Code& rdi(const void* value) { return put<2>({0x48, 0xbf}).word(value); }
  Code& r11(const void* value) { return put<2>({0x49, 0xbb}).word(value); }
  // jmp *%register
  void jump_rax() { put<2>({0xff, 0xe0}); }
  void jump_r11() { put<3>({0x41, 0xff, 0xe3}); }

 private:
  template <std::size_t kSize>
  Code& put(const unsigned char (&bytes)[kSize]) {
    std::memcpy(next_, bytes, kSize);
    next_ += kSize;
    return *this;
  }
  Code& word(const void* value) {
    std::memcpy(next_, &value, sizeof value);
    next_ += sizeof value;
    return *this;
  }

  unsigned char* next_;
};
constexpr std::size_t kFinalBytes = 12;
constexpr std::size_t kMissingBytes = 22;
constexpr std::size_t kFirstBytes = 23;

// The program or a library that contains a CUDA runtime.
struct Object {
  dl_phdr_info info;
  const char* name;

  bool is_program() const { return !info.dlpi_name || !*info.dlpi_name; }
  SymbolTable symbols() const {
    return SymbolTable(is_program() ? "/proc/self/exe" : info.dlpi_name);
  }
  void* at(const Elf64_Sym& symbol) const {
    return reinterpret_cast<void*>(info.dlpi_addr + symbol.st_value);
  }

  // Makes the code writable (PROT_WRITE), or read-only again (0).
  void protect(int added) const {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info.dlpi_phdr[i];
      if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
      const std::uintptr_t first = (info.dlpi_addr + part.p_vaddr) & ~(page - 1);
      const std::uintptr_t last = info.dlpi_addr + part.p_vaddr + part.p_memsz;
      if (mprotect(reinterpret_cast<void*>(first), last - first, PROT_READ | PROT_EXEC | added))
        end(1, name, "its code cannot be changed; link it with nvcc -cudart shared");
    }
  }
};

// Objects whose functions lead to kernelgrade_bind(). No thread may call dlopen() or dlsym() while
// it holds `lock`: the loader calls loaded(), which takes `lock`, while it holds its own lock.
constexpr int kMostObjects = 64;
Object objects[kMostObjects];
int object_count = 0;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

class Locked {
 public:
  Locked() { pthread_mutex_lock(&lock); }
  ~Locked() { pthread_mutex_unlock(&lock); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

bool is_hidden(const Elf64_Sym& symbol) {
  return ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ||
         ELF64_ST_VISIBILITY(symbol.st_other) == STV_HIDDEN;
}

bool has_prefix(const char* name, const char* prefix) {
  return std::strncmp(name, prefix, std::strlen(prefix)) == 0;
}
// A name such as cudaMalloc. C++ names are mangled.
bool is_api(const char* name) {
  return has_prefix(name, "cuda") && name[4] >= 'A' && name[4] <= 'Z';
}

// Writes the final jump of one function.
void bind_function(const Object& object, const SymbolTable& symbols, const Elf64_Sym& symbol,
                   void* cudart) {
  const char* const name = symbols.name(symbol);
  if (!is_hidden(symbol) || !(is_api(name) || has_prefix(name, "__cuda"))) return;
  const void* const target = dlsym(cudart, name);
  if (!target && !is_api(name)) return;
  if (symbols.room(symbol) < (target ? kFinalBytes : kMissingBytes))
    end(1, name, "its code is too short to be replaced; link with nvcc -cudart shared");
  Code code(object.at(symbol));
  if (!target) code.rdi(name);
  code.rax(target ? target : reinterpret_cast<void*>(&end_missing)).jump_rax();
}

bool take(Object& object) {
  const Locked locked;
  if (object_count == 0) return false;
  object = objects[--object_count];
  return true;
}

// Writes the final jumps. A thread that calls a function meanwhile comes here again until the
// function's final jump is written.
extern "C" [[gnu::used]] void kernelgrade_bind() {
  void* const cudart = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
  if (!cudart) end(1, program_invocation_name, dlerror());
  for (Object object; take(object);) {
    const SymbolTable symbols = object.symbols();
    object.protect(PROT_WRITE);
    for (const Elf64_Sym& symbol : symbols)
      if (SymbolTable::is_function(symbol)) bind_function(object, symbols, symbol, cudart);
    object.protect(0);
  }
}

// The first call of a function: binds all functions, and continues with this one, whose address is
// in %rax. No function of the runtime takes floating-point numbers by value, so only the other
// argument registers are saved.
asm(R"(
  .text
  .local kernelgrade_bind_first
  .type kernelgrade_bind_first, @function
kernelgrade_bind_first:
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  push %rax
  call kernelgrade_bind
  pop %rax
  pop %r9
  pop %r8
  pop %rcx
  pop %rdx
  pop %rsi
  pop %rdi
  jmp *%rax
  .size kernelgrade_bind_first, . - kernelgrade_bind_first
)");
extern "C" void kernelgrade_bind_first();

// Writes the first jumps, for functions that a program may call before any other.
void add(const Object& object, const SymbolTable& symbols) {
  // Runtimes before CUDA 13 use the same names with different signatures.
  if (!symbols.find("cudaMemPrefetchBatchAsync"))
    end(1, object.name, "its CUDA runtime is not that of CUDA 13; compile it with CUDA 13's nvcc");
  if (object_count == kMostObjects)
    end(1, object.name, "over 64 libraries hold a CUDA runtime; link them with -cudart shared");
  objects[object_count++] = object;
  object.protect(PROT_WRITE);
  for (const Elf64_Sym& symbol : symbols) {
    const char* const name = symbols.name(symbol);
    if (!SymbolTable::is_function(symbol) || !is_hidden(symbol) ||
        !(is_api(name) || std::strcmp(name, "__cudaRegisterFatBinary") == 0))
      continue;
    if (symbols.room(symbol) < kFirstBytes)
      end(1, name, "its code is too short to be replaced; link with nvcc -cudart shared");
    Code(object.at(symbol))
        .rax(object.at(symbol))
        .r11(reinterpret_cast<void*>(&kernelgrade_bind_first))
        .jump_r11();
  }
  object.protect(0);
}

// Base addresses of the process's objects.
struct Addresses {
  static constexpr int kMost = 8192;
  ElfW(Addr) at[kMost];
  int count = 0;

  bool hold(ElfW(Addr) address) const {
    for (int i = 0; i < count; ++i)
      if (at[i] == address) return true;
    return false;
  }
};
Addresses known, present; // at the previous visit, and now

// The driver loads PTX where it loads machine code. NVRTC makes both from one source, and the
// functions that return them have the same parameters.
void return_ptx(const Object& nvrtc) {
  constexpr const char* kJumps[][2] = {{"nvrtcGetCUBIN", "nvrtcGetPTX"},
                                       {"nvrtcGetCUBINSize", "nvrtcGetPTXSize"}};
  SymbolTable symbols(nvrtc.info.dlpi_name, SHT_DYNSYM);
  nvrtc.protect(PROT_WRITE);
  for (const auto& [from, to] : kJumps) {
    const Elf64_Sym* const machine_code = symbols.find(from);
    const Elf64_Sym* const ptx = symbols.find(to);
    if (machine_code && ptx && symbols.room(*machine_code) >= kFinalBytes)
      Code(nvrtc.at(*machine_code)).rax(nvrtc.at(*ptx)).jump_rax();
  }
  nvrtc.protect(0);
  symbols.release();
}

bool is_nvrtc(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return has_prefix(slash ? slash + 1 : path, "libnvrtc.so");
}

// The emulated libcudart exports its cudaMalloc; a linked-in runtime hides it.
int visit(dl_phdr_info* info, std::size_t, void*) {
  Object object{*info, info->dlpi_name};
  if (object.is_program()) object.name = program_invocation_name;
  if (present.count == Addresses::kMost)
    end(1, object.name, "the process has opened over 8,192 libraries");
  present.at[present.count++] = info->dlpi_addr;
  if (known.hold(info->dlpi_addr)) return 0;
  if (!object.is_program() && is_nvrtc(info->dlpi_name)) {
    return_ptx(object);
    return 0;
  }
  SymbolTable symbols = object.symbols();
  const Elf64_Sym* const malloc = symbols.find("cudaMalloc");
  if (malloc && is_hidden(*malloc))
    add(object, symbols);
  else
    symbols.release();
  return 0;
}

void write_first_jumps() {
  const Locked locked;
  present.count = 0;
  dl_iterate_phdr(visit, nullptr);
  known = present;
  // Libraries closed before their first call must not be bound.
  int kept = 0;
  for (int i = 0; i < object_count; ++i)
    if (present.hold(objects[i].info.dlpi_addr)) objects[kept++] = objects[i];
  object_count = kept;
}

// The loader calls this after each change of the loaded libraries.
void loaded() {
  if (_r_debug.r_state == r_debug::RT_CONSISTENT) write_first_jumps();
}

// Leaves r_brk unchanged unless it is a single `ret` with room for the jump. Libraries opened later
// then keep their runtime, which libcuda.so.1 refuses (cuGetExportTable).
void watch_the_loader() {
  auto* const function = reinterpret_cast<unsigned char*>(_r_debug.r_brk);
  if (!function || _r_debug.r_brk % 16 != 0) return; // functions are aligned to 16 bytes
  static constexpr unsigned char kMarked[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xc3}; // endbr64; ret
  if (function[0] != 0xc3 && std::memcmp(function, kMarked, sizeof kMarked) != 0) return;
  const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  void* const page = reinterpret_cast<void*>(_r_debug.r_brk & ~(size - 1));
  if (mprotect(page, size, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
  Code(function).rax(reinterpret_cast<void*>(&loaded)).jump_rax();
  mprotect(page, size, PROT_READ | PROT_EXEC);
}

[[gnu::constructor]] void begin() {
  write_first_jumps();
  watch_the_loader();
}

} // namespace
