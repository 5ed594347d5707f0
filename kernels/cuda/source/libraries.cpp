// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels in PTX text (CUDA Runtime API 13.0, "Library Management"), which the emulator runs
// (runtime/ptx).
#include "cuda/source/handles.h"
#include "cuda/source/ptx_kernel.h"
#include "cuda/source/state.h"
#include "runtime/atomic_file.h"

#include <algorithm>
#include <filesystem>
#include <string>

struct CUlib_st {
  std::string name; // in messages: "softmax.ptx"
  std::string ptx;
};
struct CUkern_st {
  kg::ptx_run::LoadedKernel loaded;
};

namespace kg::foreign {
namespace {

Handles<CUlib_st>& libraries() {
  static Handles<CUlib_st> all;
  return all;
}
Handles<CUkern_st>& kernels() {
  static Handles<CUkern_st> all;
  return all;
}

cudaLibrary_t load(std::string name, std::string text) {
  // PTX begins with a comment or a directive; machine code and fat binaries, with magic numbers.
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  demand(first != std::string::npos && (text[first] == '/' || text[first] == '.'),
         cudaErrorNoKernelImageForDevice,
         name + " is not PTX; compile it for a virtual architecture (nvcc -ptx -arch=compute_80)");
  return libraries().add(std::make_unique<CUlib_st>(CUlib_st{std::move(name), std::move(text)}));
}

} // namespace
} // namespace kg::foreign

using namespace kg::foreign;

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  return call("cudaLibraryLoadData",
              [&] { *library = load("library.ptx", static_cast<const char*>(code)); });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file, cudaJitOption*,
                                    void**, unsigned, cudaLibraryOption*, void**, unsigned) {
  return call("cudaLibraryLoadFromFile", [&] {
    const std::filesystem::path path = file;
    const std::optional<std::string> text = kg::read_file(path);
    demand(text.has_value(), cudaErrorInvalidValue, path.string() + ": no such file");
    *library = load(path.filename().string(), *text);
  });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return call("cudaLibraryGetKernel", [&] {
    const CUlib_st& from = libraries().get(library, "library");
    const std::vector<std::string> names = kg::ptx_run::entry_names(from.ptx);
    demand(std::find(names.begin(), names.end(), name) != names.end(), cudaErrorSymbolNotFound,
           from.name + " has no kernel " + name);
    try {
      *kernel = kernels().add(
          std::make_unique<CUkern_st>(CUkern_st{kg::ptx_run::compile(from.ptx, from.name, name)}));
    } catch (const kg::Error& error) {
      throw Refusal(cudaErrorNoKernelImageForDevice, error.what());
    }
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return call("cudaLibraryUnload", [&] { libraries().remove(library, "library"); });
}

cudaError_t cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream, kg::Location where) {
  const CUkern_st* known = nullptr;
  const cudaError_t found =
      call("cudaLaunchKernel", [&] { known = &kernels().get(kernel, "kernel"); });
  if (found != cudaSuccess) return found;
  kg::LaunchConfig config{.grid = grid, .block = block, .shared_bytes = shared_bytes};
  config.where = where;
  return launch_loaded(known->loaded, config, arguments, stream);
}
