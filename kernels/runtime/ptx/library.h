// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this program as nvcc compiled them, from the fat binaries (.fatbin) and PTX texts
// (.ptx) in a folder. At its first launch, a kernel is translated to C++, compiled, and kept in the
// cache of kernels compiled at run time (jit.h).
//
// KERNELGRADE_PTX=<folder>: launches on the emulator run these kernels instead of those that g++
// compiled.
#pragma once

#include "runtime/host/fidelity.h"
#include "runtime/launch.h"
#include "runtime/ptx/emit.h"
#include "runtime/ptx/module.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kg::ptx_run {

struct LoadedKernel {
  void (*run)(void** arguments) = nullptr;
  std::size_t static_shared_bytes = 0;              // before the dynamic ones
  std::span<const std::size_t> parameters{};        // bytes of each; lives as long as the process
  std::span<const std::size_t> offsets{};           // of each in a buffer of all; same lifetime
  host::InexactSet inexact{};                       // inexact operations of a launch
  std::optional<std::array<unsigned, 3>> cluster{}; // required for each launch
};

// The __shared__ variables of a kernel, which precede its dynamic shared memory.
struct StaticShared {
  std::size_t bytes = 0;
  std::vector<SharedVariable> variables;
};

// For the kernel of this LoadedKernel::run, valid until the process ends. Empty for any other.
const StaticShared& static_shared(const void* run);

// Compiles the kernel of this mangled name in a module's text, called `name` in messages. Throws
// Error if the kernel is missing or contains an unsupported instruction.
LoadedKernel compile(std::string_view ptx, const std::string& name, const std::string& entry);
LoadedKernel compile(const Program& program, const std::string& entry);

// Compiles several kernels of a text as one file. For small kernels, most of the compile time is
// startup and shared code.
std::vector<LoadedKernel> compile(std::string_view ptx, const std::string& name,
                                  const std::vector<std::string>& entries);

// Sets the kernel's own cluster size in the launch. Throws Error if the launch has another.
void take_cluster(const LoadedKernel& kernel, LaunchConfig& config);

// In the form that detail::launch_erased takes. The launch must add static_shared_bytes to its
// dynamic shared memory.
detail::ErasedKernel erased(const LoadedKernel& kernel);

// From now on, launches run the kernels of this folder; empty: those that g++ compiled. Before the
// first call, KERNELGRADE_PTX applies. No launch may be in flight.
void use(const std::string& folder);

// From now on, a kernel is compiled when it is launched, and no other kernel ahead of its launch.
void compile_only_launched();

// Whether such a folder is in use.
bool enabled();

// The architecture of the folder's kernels, if enabled: 80, 90. Throws Error if it has none.
int architecture();

// The kernel to launch instead of a kernel of this program, if enabled. Empty for a kernel compiled
// at run time, which is in no fat binary. Throws Error if the folder does not contain the kernel,
// or if the kernel contains an unsupported instruction.
std::optional<LoadedKernel> find(const void* kernel);

} // namespace kg::ptx_run
