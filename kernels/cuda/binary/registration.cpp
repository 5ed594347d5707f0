// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions that nvcc's host code calls implicitly (crt/host_runtime.h of the CUDA toolkit
// 13.0): registration of fat binaries, and the two halves of <<<>>>.
#include "cuda/binary/launch.h"
#include "cuda/binary/modules.h"
#include "cuda/source/state.h"

#include <vector>

namespace {

using kg::emulate::Program;

struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};
// <<<>>> pushes, the kernel's stub pops. Arguments that launch kernels themselves run in between.
thread_local std::vector<Configuration> pushed;

} // namespace

extern "C" {

// The linker defines this symbol in executables only. Code locations are counted from it
// (check/source_line.h), and constants precede the library's code.
[[gnu::visibility("hidden")]] extern const char __executable_start = 0;

[[gnu::visibility("default")]] void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(kg::emulate::register_program(wrapper));
}
[[gnu::visibility("default")]] void __cudaRegisterFatBinaryEnd(void**) {}
[[gnu::visibility("default")]] void __cudaUnregisterFatBinary(void** program) {
  kg::emulate::unregister_program(reinterpret_cast<Program*>(program));
}
// Called before the host accesses a __managed__ variable.
[[gnu::visibility("default")]] char __cudaInitModule(void** program) {
  return static_cast<char>(kg::foreign::call("__cudaInitModule", [&] {
                             kg::emulate::place_managed(reinterpret_cast<Program*>(program));
                           }) == cudaSuccess);
}

[[gnu::visibility("default")]] void __cudaRegisterFunction(void** program, const char* address,
                                                           char*, const char* name, int, void*,
                                                           void*, void*, void*, int*) {
  kg::emulate::register_kernel(reinterpret_cast<Program*>(program), address, name);
}
[[gnu::visibility("default")]] void __cudaRegisterVar(void** program, char* address, char*,
                                                      const char* name, int, std::size_t bytes, int,
                                                      int) {
  kg::emulate::register_variable(reinterpret_cast<Program*>(program), address, name, bytes);
}

[[gnu::visibility("default")]] void __cudaRegisterManagedVar(void** program, void** pointer, char*,
                                                             const char* name, int, std::size_t,
                                                             int, int) {
  kg::emulate::register_managed(reinterpret_cast<Program*>(program), pointer, name);
}

[[gnu::visibility("default")]] unsigned
__cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream) {
  pushed.push_back({grid, block, shared_bytes, stream});
  return 0;
}
[[gnu::visibility("default")]] cudaError_t
__cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
  if (pushed.empty()) return cudaErrorInvalidConfiguration;
  const Configuration last = pushed.back();
  pushed.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}

// The handle is the address under which the kernel is registered.
[[gnu::visibility("default")]] cudaError_t __cudaGetKernel(const void** kernel,
                                                           const void* address) {
  *kernel = address;
  return cudaSuccess;
}
[[gnu::visibility("default")]] cudaError_t __cudaLaunchKernel(const void* kernel, dim3 grid,
                                                              dim3 block, void** arguments,
                                                              std::size_t shared_bytes,
                                                              cudaStream_t stream) {
  kg::LaunchConfig config{.grid = grid, .block = block, .shared_bytes = shared_bytes};
  config.where = {"the program", 0};
  const cudaError_t result = kg::emulate::launch(kernel, config, arguments, stream);
  kg::foreign::note_unseen(result); // the code that nvcc generates for <<<>>> drops it
  return result;
}
[[gnu::visibility("default")]] cudaError_t __cudaLaunchKernel_ptsz(const void* kernel, dim3 grid,
                                                                   dim3 block, void** arguments,
                                                                   std::size_t shared_bytes,
                                                                   cudaStream_t stream) {
  kg::foreign::use_per_thread_default_stream();
  return __cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}
}
