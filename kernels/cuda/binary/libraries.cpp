// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Images loaded at run time (CUDA Runtime API 13.0, "Library Management"), such as NVRTC's.
#include "cuda/binary/modules.h"
#include "cuda/source/state.h"

#include <deque>
#include <mutex>
#include <utility>

namespace {

using kg::emulate::Program;

// The handle of a kernel is the address of its entry in `kernels`, which also launches the kernel.
struct Handles {
  std::mutex mutex;
  std::deque<std::pair<Program*, std::string>> kernels;
};
Handles& handles() {
  static Handles* const only = new Handles;
  return *only;
}

cudaError_t load(Program** library, const void* code) {
  return kg::foreign::call("cudaLibraryLoadData", [&] {
    try {
      *library = kg::emulate::register_image(code);
    } catch (const kg::emulate::BadImage& bad) {
      throw kg::foreign::Refusal(static_cast<cudaError_t>(bad.code), bad.what());
    }
  });
}

cudaError_t find(const void** kernel, Program* library, const char* name) {
  return kg::foreign::call("cudaLibraryGetKernel", [&] {
    Handles& all = handles();
    const std::lock_guard lock(all.mutex);
    for (const auto& known : all.kernels)
      if (known.first == library && known.second == name) {
        *kernel = &known;
        return;
      }
    auto& place = all.kernels.emplace_back(library, name);
    if (!kg::emulate::register_kernel_if_there(library, &place, name)) {
      all.kernels.pop_back();
      throw kg::foreign::Refusal(cudaErrorSymbolNotFound,
                                 std::string("the library has no kernel ") + name);
    }
    *kernel = &place;
  });
}

cudaError_t unload(Program* library) {
  return kg::foreign::call("cudaLibraryUnload", [&] {
    Handles& all = handles();
    const std::lock_guard lock(all.mutex);
    // The entries stay, because a handle must never refer to another kernel.
    for (auto& known : all.kernels)
      if (known.first == library) known.first = nullptr;
    kg::emulate::unregister_program(library);
  });
}

} // namespace

extern "C" {

[[gnu::visibility("default")]] cudaError_t cudaLibraryLoadData(Program** library, const void* code,
                                                               void*, void**, unsigned, void*,
                                                               void**, unsigned) {
  return load(library, code);
}
[[gnu::visibility("default")]] cudaError_t
cudaLibraryGetKernel(const void** kernel, Program* library, const char* name) {
  return find(kernel, library, name);
}
[[gnu::visibility("default")]] cudaError_t cudaLibraryUnload(Program* library) {
  return unload(library);
}
}
