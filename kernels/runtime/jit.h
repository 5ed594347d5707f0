// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles kernels at run time, when the problem's sizes can be compile-time constants.
//
//   const jit::Source source{"scale.cuh", text, "scale",
//                            {{"KG_COUNT", "4096"}, {"KG_T", "float"}}};
//   const auto scale = jit::compile<float, float*>(source, jit::toolchain());
//
// cuda: NVRTC compiles machine code for the current device. host: a C++ compiler (by default the
// one that built Kernelgrade) builds a shared library, and the executor runs its kernel. In a
// program linked with the checkers or the counters, the library is instrumented too. A program on
// the host must export its symbols (CMake: ENABLE_EXPORTS) for the library.
//
// Compiled kernels are cached on disk for later processes (Toolchain::cache).
#pragma once

#include "runtime/error.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kg::jit {

// A text holds one or more kernels, declared extern "C". It may include headers of runtime/,
// primitives/ and instructions/; runtime/device_code.h is included already. Shared memory comes
// from kg::dynamic_shared; __shared__ is an error, because the checkers cannot watch it.
struct Source {
  std::string name; // name of the text in messages and debug information: "conv2d/jit_kernel.cuh"
  std::string text;
  std::string kernel;
  // Macros by name. They hold everything beside text and toolchain that the machine code depends
  // on: extents, element type, layout.
  std::map<std::string, std::string> constants;
  bool bare = false; // the text includes all the headers that it needs
};

// The compiler, target and headers for sources, and the cache folder for results.
struct Toolchain {
  std::string compiler;           // path of the C++ compiler or of NVRTC's library
  std::string version;            // as the compiler reports it
  std::string architecture;       // "sm_90"; for a CPU its model and a hash of its features
  std::vector<std::string> flags; // of the compiler command, or NVRTC options
  std::string headers;            // a hash of the headers that a text may include
  std::string cache;              // the folder of compiled kernels
};

// The toolchain of this process. Environment variables:
//   KERNELGRADE_JIT_CACHE    the cache; else $XDG_CACHE_HOME/kernelgrade, else ~/.cache/kernelgrade
//   KERNELGRADE_JIT_CXX      host: the C++ compiler
//   KERNELGRADE_JIT_INCLUDE  the folder that holds runtime/, if it has moved since Kernelgrade was
//                            built
// Throws Error if the compiler or the headers are missing. The second form needs no device.
Toolchain toolchain();
Toolchain toolchain(const std::string& architecture);

// Cache key of the machine code: a hash of `source` and `toolchain` without the kernel's name (a
// text may hold several kernels) and without the cache folder.
std::string key(const Source& source, const Toolchain& toolchain);

struct MachineCode {
  std::string bytes;       // a cubin or PTX; a shared library
  std::string file;        // path in the cache; the file ends with a checksum
  double compile_us = 0;   // compile time, possibly of the process that filled the cache
  bool from_cache = false; // compiled earlier and kept in the cache
};

// Whether the cache has an entry, even a damaged one.
bool is_kept(const Source& source, const Toolchain& toolchain);

// Taken from the cache, or compiled: if several threads want the same code, one compiles and the
// others wait. Damaged cache entries are recompiled; concurrent processes are safe. Throws Error
// with the compiler's text if it rejects the source.
MachineCode machine_code(const Source& source, const Toolchain& toolchain,
                         Location where = Location::here());

// A kernel for kg::launch with `Parameters`, which nothing checks against the text.
template <class... Parameters>
struct Compiled {
  void (*kernel)(Parameters...) = nullptr;
  double compile_us = 0; // as in MachineCode, without the time to load
  bool from_cache = false;
  std::shared_ptr<void> library; // keeps the kernel loaded; shared by all copies
};

namespace detail {

// Backend functions. `build` compiles a text and throws Error with the compiler's messages.
std::string build(const Source& source, const std::string& text, const Toolchain& toolchain,
                  Location where);
std::shared_ptr<void> load(const MachineCode& code, Location where);
const void* find_kernel(void* library, const std::string& name, Location where);

// The folder that holds runtime/ (KERNELGRADE_JIT_INCLUDE or `built_with`), a hash of its headers
// for kernels, and the cache's folder. All throw Error if there is none.
std::string include_folder(const std::string& built_with);
std::string hash_headers(const std::string& include);
std::string cache_folder();

// An environment variable; empty if not set.
std::string environment(const char* name);

} // namespace detail

// Compiles or takes from the cache, and loads for this process. Throws like machine_code, and if
// the code cannot be loaded or does not contain the kernel.
template <class... Parameters>
Compiled<Parameters...> compile(const Source& source, const Toolchain& toolchain,
                                Location where = Location::here()) {
  const MachineCode code = machine_code(source, toolchain, where);
  std::shared_ptr<void> library = detail::load(code, where);
  const void* kernel = detail::find_kernel(library.get(), source.kernel, where);
  return {reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(kernel)), code.compile_us,
          code.from_cache, std::move(library)};
}

} // namespace kg::jit
