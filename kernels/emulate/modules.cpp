// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "emulate/modules.h"

#include "emulate/decompress.h"
#include "runtime/atomic_file.h"
#include "runtime/bytes.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/ptx/fatbin.h"
#include "runtime/ptx/prelude.h"
#include "runtime/ptx/variables.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace kg::emulate {

struct Program {
  std::string ptx;
  std::string missing; // why there is none
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
};
// Programs register before main() and ask after it.
Registered& registered() {
  static Registered* const only = new Registered;
  return *only;
}

// By nvcc -rdc=true, which keeps what it linked in a section of its own.
bool is_linked_separately() {
  return read_file("/proc/self/exe").value_or("").find("__nv_relfatbin") != std::string::npos;
}

// The newest architecture's.
std::string ptx_of(std::string_view section) {
  std::string text;
  int newest = 0;
  for (const FatbinEntry& entry : read_fatbin(section, "the program's fat binary")) {
    if (entry.kind != FatbinEntry::Kind::ptx || entry.arch < newest) continue;
    newest = entry.arch;
    text = text_of(entry);
  }
  require(!text.empty() || !is_linked_separately(),
          "the program was compiled with -rdc=true, which leaves no PTX of the linked device code; "
          "separate compilation is not emulated: compile it with -rdc=false");
  require(!text.empty(), "the program holds no PTX; compile it with nvcc -arch=compute_80 or "
                         "-gencode arch=compute_80,code=compute_80 as well");
  return text;
}

Kernel& find(Registered& all, const void* address) {
  const auto found = all.kernels.find(address);
  require(
      found != all.kernels.end(),
      fmt::format("no kernel is registered at {}; link the program with -cudart shared", address));
  return found->second;
}

// Where a program's variable lies, made when it is first asked for.
void* place_of(const Program& program, const std::string& name) {
  require(program.missing.empty(), program.missing);
  const ptx_run::Module module = ptx_run::Program(program.ptx, "program.ptx").with("");
  ptx_run::make_variable(module, name);
  return ptx_run::variable(module.id.c_str(), name.c_str());
}

} // namespace

Program* register_program(const void* wrapper) {
  struct Wrapper { // fatbinary_section.h of the CUDA toolkit
    std::int32_t magic, version;
    const char* data;
  };
  auto program = std::make_unique<Program>();
  try {
    const auto& given = *static_cast<const Wrapper*>(wrapper);
    const Bytes head(std::string_view(given.data, 16), "the program's fat binary");
    const auto bytes =
        head.number<std::uint16_t>(6, "a container") + head.number<std::uint64_t>(8, "a container");
    program->ptx = ptx_of({given.data, bytes});
  } catch (const std::exception& error) {
    program->missing = error.what(); // said by the first launch: there may be none
  }
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  all.programs.push_back(std::move(program));
  return all.programs.back().get();
}

Program* register_image(const void* image) {
  const char* const text = static_cast<const char*>(image);
  // PTX begins with comments and directives; machine code and fat binaries by their numbers.
  require(*text == '/' || *text == '.' || *text == '\n' || *text == ' ',
          "the image is no PTX; compile it for a virtual architecture (compute_80)");
  auto program = std::make_unique<Program>();
  program->ptx = text;
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  all.programs.push_back(std::move(program));
  return all.programs.back().get();
}

bool register_kernel_if_there(Program* program, const void* address, const char* mangled) {
  const std::vector<std::string> names = ptx_run::entry_names(program->ptx);
  if (std::find(names.begin(), names.end(), mangled) == names.end()) return false;
  register_kernel(program, address, mangled);
  return true;
}

// What was compiled of it stays: a launch may still be running.
void unregister_program(Program* program) {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.kernels, [&](const auto& kernel) { return kernel.second.program == program; });
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
  }
  return *kernel.loaded;
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

} // namespace kg::emulate
