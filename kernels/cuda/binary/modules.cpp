// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/binary/modules.h"

#include "cuda/binary/decompress.h"
#include "cuda/binary/readable.h"
#include "cuda/source/record.h"
#include "runtime/atomic_file.h"
#include "runtime/bytes.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/event_file.h"
#include "runtime/launch.h"
#include "runtime/ptx/entry_places.h"
#include "runtime/ptx/fatbin.h"
#include "runtime/ptx/prelude.h"
#include "runtime/ptx/variables.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

namespace kg::emulate {

struct Program {
  std::string ptx;
  int arch = 0;        // that the PTX was compiled for: 80 for compute_80
  std::string missing; // why there is no PTX
};

namespace {

struct Kernel {
  Program* program = nullptr;
  std::string mangled;
  std::optional<ptx_run::LoadedKernel> loaded;
};

struct Symbol {
  Program* program = nullptr;
  std::string name;
  std::size_t bytes = 0;
};

struct Managed {
  Program* program = nullptr;
  void** pointer = nullptr;
  std::string name;
};

struct Registered {
  std::mutex mutex;
  std::vector<std::unique_ptr<Program>> programs;
  std::map<const void*, Kernel> kernels;
  std::map<const void*, Symbol> symbols;
  std::vector<Managed> managed;
  std::set<std::string> unloaded; // PTX of unloaded programs: their variables hold old values
};
// Never destroyed: programs use it before and after main().
Registered& registered() {
  static Registered* const only = new Registered;
  return *only;
}

struct Ptx {
  std::string text;
  int arch = 0; // the required architecture
};

// The PTX of the newest architecture that the device supports; otherwise the newest of all.
Ptx ptx_of(std::string_view section) {
  Ptx best;
  for (const FatbinEntry& entry : read_fatbin(section, "the program's fat binary")) {
    const auto rank = [](int arch) { return std::pair(arch <= compute_capability(), arch); };
    if (entry.kind != FatbinEntry::Kind::ptx) continue;
    if (best.arch != 0 && rank(entry.arch) < rank(best.arch)) continue;
    best = {text_of(entry), entry.arch};
  }
  return best;
}

constexpr const char* kNoPtx = "the program holds no PTX; compile it with nvcc -arch=compute_80 or "
                               "-gencode arch=compute_80,code=compute_80 as well";
constexpr const char* kLinkedSeparately =
    "the program was compiled with -rdc=true, which leaves no PTX of the linked device code; "
    "separate compilation is not emulated: compile it with -rdc=false";

// Whether nvcc -rdc=true linked the program. The linked code is in a section of its own.
bool is_linked_separately() {
  return read_file("/proc/self/exe").value_or("").find("__nv_relfatbin") != std::string::npos;
}

// The container's bytes, up to the size in its header.
std::string_view container_at(std::string_view readable) {
  const Bytes bytes(readable, "the program's fat binary");
  return bytes.range(0,
                     bytes.number<std::uint16_t>(6, "a container") +
                         bytes.number<std::uint64_t>(8, "a container"),
                     "a container");
}

// As in fatbinary_section.h of the CUDA toolkit.
struct Wrapper {
  std::int32_t magic, version;
  const char* data;
};
constexpr std::int32_t kWrapper = 0x466243b1;

std::int32_t magic_of(std::string_view image) {
  std::int32_t magic = 0;
  std::memcpy(&magic, image.data(), std::min(image.size(), sizeof magic));
  return magic;
}

Ptx ptx_in_container(std::string_view image) {
  try {
    Ptx ptx = ptx_of(container_at(image));
    if (ptx.text.empty()) throw BadImage(209, kNoPtx);
    return ptx;
  } catch (const BadImage&) {
    throw;
  } catch (const std::exception& error) {
    throw BadImage(200, error.what());
  }
}

// The PTX of any image. The image's size is unknown.
Ptx ptx_at(const void* image) {
  constexpr std::int32_t kContainer = static_cast<std::int32_t>(0xba55ed50);
  std::string_view bytes = readable_from(image);
  if (magic_of(bytes) == kWrapper && bytes.size() >= sizeof(Wrapper)) {
    Wrapper wrapper;
    std::memcpy(&wrapper, bytes.data(), sizeof wrapper);
    bytes = readable_from(wrapper.data);
  }
  if (magic_of(bytes) == kContainer) return ptx_in_container(bytes);
  if (bytes.starts_with("\177ELF")) throw BadImage(209, kNoPtx);
  bytes = bytes.substr(0, bytes.find('\0'));
  if (bytes.find(".version") == bytes.npos)
    throw BadImage(200, "the image is neither PTX nor a fat binary");
  return {std::string(bytes), 0};
}

Kernel& find(Registered& all, const void* address) {
  const auto found = all.kernels.find(address);
  require(
      found != all.kernels.end(),
      fmt::format("no kernel is registered at {}; link the program with -cudart shared", address));
  return found->second;
}

// The address of a program's variable, which is created on first use.
void* place_of(const Program& program, const std::string& name) {
  require(program.missing.empty(), program.missing);
  const ptx_run::Module module = ptx_run::Program(program.ptx, "program.ptx").with("");
  ptx_run::make_variable(module, name);
  return ptx_run::variable(module.id.c_str(), name.c_str());
}

// Whether `address` lies in an installed Python package. Its kernels do not belong to the program,
// so the summary does not list those that never ran.
bool is_of_package(const void* address) {
  Dl_info library;
  if (!dladdr(address, &library) || !library.dli_fname) return false;
  const std::string_view path = library.dli_fname;
  return path.find("/site-packages/") != path.npos || path.find("/dist-packages/") != path.npos;
}

Program* keep(std::unique_ptr<Program> program, bool is_own = true) {
  std::vector<std::string> own;
  if (wants_notes() && is_own)
    for (const ptx_run::EntryPlace& kernel : ptx_run::entry_places(program->ptx))
      if (!kernel.of_toolkit) {
        foreign::write_kernel(kernel.name, detail::readable_kernel_name(kernel.name.c_str()),
                              kernel.file, kernel.line);
        own.push_back(kernel.name);
      }
  if (ptx_run::records_lines()) ptx_run::record_lines(program->ptx, own);
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  if (all.unloaded.erase(program->ptx) != 0)
    ptx_run::reset_variables(ptx_run::Program(program->ptx, "program.ptx").with(""));
  return all.programs.emplace_back(std::move(program)).get();
}

} // namespace

Program* register_program(const void* wrapper) {
  auto program = std::make_unique<Program>();
  try {
    const auto& given = *static_cast<const Wrapper*>(wrapper);
    Ptx ptx = ptx_in_container(readable_from(given.data));
    program->ptx = std::move(ptx.text);
    program->arch = ptx.arch;
  } catch (const std::exception& error) { // reported at the first launch: there may be none
    program->missing = is_linked_separately() ? kLinkedSeparately : error.what();
  }
  return keep(std::move(program), !is_of_package(wrapper));
}

Program* register_image(const void* image) {
  Ptx ptx = ptx_at(image);
  try {
    const std::string target = ptx_run::Program(ptx.text, "program.ptx").with("").target;
    const std::size_t digits = target.find_first_of("0123456789");
    if (!target.starts_with("sm_") || digits != 3)
      throw Error("its PTX names no target (.target sm_80)");
    ptx.arch = std::stoi(target.substr(digits));
    if (ptx.arch > compute_capability())
      throw Error(fmt::format("its PTX is for {}, the device has {}; compile it for compute_{} as "
                              "well",
                              target, compute_capability(), compute_capability()));
  } catch (const std::exception& error) {
    throw BadImage(218, error.what());
  }
  auto program = std::make_unique<Program>();
  program->ptx = std::move(ptx.text);
  program->arch = ptx.arch;
  return keep(std::move(program));
}

std::vector<std::string> kernel_names(const Program* program) {
  return ptx_run::entry_names(program->ptx);
}

bool register_kernel_if_there(Program* program, const void* address, const char* mangled) {
  const std::vector<std::string> names = kernel_names(program);
  if (std::find(names.begin(), names.end(), mangled) == names.end()) return false;
  register_kernel(program, address, mangled);
  return true;
}

// Compiled code stays, because a launch may still be running.
void unregister_program(Program* program) {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.kernels, [&](const auto& kernel) { return kernel.second.program == program; });
  std::erase_if(all.symbols, [&](const auto& symbol) { return symbol.second.program == program; });
  std::erase_if(all.managed, [&](const Managed& variable) { return variable.program == program; });
  const auto has_its_ptx = [&](const auto& each) { return each->ptx == program->ptx; };
  if (std::count_if(all.programs.begin(), all.programs.end(), has_its_ptx) == 1)
    all.unloaded.insert(program->ptx);
  std::erase_if(all.programs, [&](const auto& each) { return each.get() == program; });
}

void register_kernel(Program* program, const void* address, const char* mangled) {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  all.kernels[address] = {program, mangled, {}};
}

void register_variable(Program* program, const void* address, const char* name, std::size_t bytes) {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  all.symbols[address] = {program, name, bytes};
}

const ptx_run::LoadedKernel& kernel_at(const void* address) {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  Kernel& kernel = find(all, address);
  if (!kernel.loaded) {
    require(kernel.program->missing.empty(), kernel.program->missing);
    kernel.loaded = ptx_run::compile(kernel.program->ptx, "program.ptx", kernel.mangled);
    foreign::expect_launch(reinterpret_cast<const void*>(kernel.loaded->run), kernel.mangled);
  }
  return *kernel.loaded;
}

int ptx_version_at(const void* address) {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  return find(all, address).program->arch;
}

const char* mangled_name_at(const void* address) {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  return find(all, address).mangled.c_str();
}

std::string kernel_name_at(const void* address) {
  return detail::readable_kernel_name(mangled_name_at(address));
}

void register_managed(Program* program, void** pointer, const char* name) {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  all.managed.push_back({program, pointer, name});
}

void place_managed(const Program* program) {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  for (const Managed& each : all.managed)
    if (each.program == program) *each.pointer = place_of(*program, each.name);
}

Variable variable_at(const void* address) {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  const auto found = all.symbols.find(address);
  require(found != all.symbols.end(),
          fmt::format("no __device__ or __constant__ variable is registered at {}", address));
  const Symbol& symbol = found->second;
  return {place_of(*symbol.program, symbol.name), symbol.bytes};
}

Variable variable_in(const Program* program, const std::string& name) {
  const ptx_run::Module module = ptx_run::Program(program->ptx, "program.ptx").with("");
  for (const ptx_run::Variable& variable : module.variables)
    if (variable.name == name) return {place_of(*program, name), variable.bytes};
  fail("the module has no variable " + name);
}

} // namespace kg::emulate
