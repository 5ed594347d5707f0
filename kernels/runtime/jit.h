// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that are compiled at run time, when the numbers of the problem are known and can be
// constants of the code.
//
//   const jit::Source source{"scale.cuh", text, "scale", {{"KG_COUNT", "4096"}, {"KG_T",
//   "float"}}}; const auto scale = jit::compile<float, float*>(source, jit::toolchain());
//   launch(scale.kernel, {.grid = 32, .block = 128}, 2.f, data);
//
// cuda: NVRTC makes machine code for the current device. host: a C++ compiler makes a shared
// library, whose kernel runs on the executor; by default the one that Kernelgrade was built with.
// In a program that is linked with the checkers or the counters the library is instrumented, too.
// A program on the host must export its symbols (CMake: ENABLE_EXPORTS), which the library uses.
//
// What was compiled is kept on the disk for the next process (Toolchain::cache).
#pragma once

#include "runtime/error.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kg::jit {

// One text holds one or more kernels, declared extern "C". It may include headers of runtime/,
// primitives/ and ptx/; runtime/device_code.h is there already. Shared memory is taken from
// kg::dynamic_shared: __shared__ is an error, since the checkers could not watch it.
struct Source {
  std::string name; // what messages and debug information call the text: "conv2d/jit_kernel.cuh"
  std::string text;
  std::string kernel;
  // Macros, by name. Whatever the machine code depends on beside text and toolchain is here: the
  // extents, the element type, the layout.
  std::map<std::string, std::string> constants;
  bool bare = false; // the text names the headers that it needs itself
};

// By what, for what and with which headers sources are compiled, and where the results are kept.
struct Toolchain {
  std::string compiler;           // the path of the C++ compiler; of NVRTC's library
  std::string version;            // what the compiler says of itself
  std::string architecture;       // "sm_90"; of a CPU the model and a hash of its features
  std::vector<std::string> flags; // of the command, or options of NVRTC
  std::string headers;            // a hash of the headers that a text may include
  std::string cache;              // the folder of compiled kernels
};

// The toolchain of this process. Environment variables:
//   KERNELGRADE_JIT_CACHE    the cache; else $XDG_CACHE_HOME/kernelgrade, else ~/.cache/kernelgrade
//   KERNELGRADE_JIT_CXX      host: the C++ compiler
//   KERNELGRADE_JIT_INCLUDE  the folder that holds runtime/, where it is no longer where it was
//                            when Kernelgrade was built
// Throws Error where the compiler or the headers are not there. The second form needs no device.
Toolchain toolchain();
Toolchain toolchain(const std::string& architecture);

// What names machine code in the cache: a hash of all of `source` and `toolchain` but for the name
// of the kernel, of which a text may hold several, and the cache itself.
std::string key(const Source& source, const Toolchain& toolchain);

struct MachineCode {
  std::string bytes;       // a cubin; a shared library
  std::string file;        // where they lie in the cache, with a checksum behind them
  double compile_us = 0;   // what the compiler took, in this process or in the one before
  bool from_cache = false; // it was the one before
};

// Whether the cache has an entry, be it a damaged one.
bool is_kept(const Source& source, const Toolchain& toolchain);

// From the cache, else compiled: of several threads that want the same one compiles it, the others
// wait. An entry of the cache that is damaged is compiled again; processes may do so at once.
// Throws Error with the compiler's text where it refuses the source.
MachineCode machine_code(const Source& source, const Toolchain& toolchain,
                         Location where = Location::here());

// A kernel for kg::launch, which takes `Parameters`; nobody checks that the text says the same.
template <class... Parameters>
struct Compiled {
  void (*kernel)(Parameters...) = nullptr;
  double compile_us = 0; // as in MachineCode; loading it is not part of that
  bool from_cache = false;
  std::shared_ptr<void> library; // the kernel is there as long as a copy of this is
};

namespace detail {

// Of the backend. `build` runs the compiler on a text and throws Error with what it says.
std::string build(const Source& source, const std::string& text, const Toolchain& toolchain,
                  Location where);
std::shared_ptr<void> load(const MachineCode& code, Location where);
const void* find_kernel(void* library, const std::string& name, Location where);

// The folder that holds runtime/, by KERNELGRADE_JIT_INCLUDE or `built_with`; a hash of what is
// there for kernels; the cache's folder. They throw Error where there is none.
std::string include_folder(const std::string& built_with);
std::string hash_headers(const std::string& include);
std::string cache_folder();

// An environment variable; empty where it is not set.
std::string environment(const char* name);

} // namespace detail

// Compiles or takes from the cache, and loads for this process. Throws as machine_code, and where
// the code cannot be loaded or holds no such kernel.
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
