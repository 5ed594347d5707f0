// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this program as nvcc compiled them, in the fat binaries (.fatbin) and texts (.ptx)
// of a folder: each is made
// into C++, compiled and kept in the cache of kernels compiled at run time (jit.h) when it is first
// launched.
//
// KERNELGRADE_PTX=<folder>: the launches of the host backend run these kernels instead of those
// that g++ compiled.
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
  std::size_t static_shared_bytes = 0;              // in front of the dynamic ones
  std::span<const std::size_t> parameters{};        // bytes of each; lives as long as the process
  std::span<const std::size_t> offsets{};           // of each in a buffer of all; likewise
  host::InexactSet inexact{};                       // what a launch of it may compute so
  std::optional<std::array<unsigned, 3>> cluster{}; // that each launch of it has
};

// The __shared__ variables of a kernel, in front of its dynamic shared memory.
struct StaticShared {
  std::size_t bytes = 0;
  std::vector<SharedVariable> variables;
};

// Of a kernel that is LoadedKernel::run, for as long as the process lives; nothing of any other.
const StaticShared& static_shared(const void* run);

// The kernel of this mangled name in the text of a module, which messages call `name`. Throws Error
// where it is not there or holds an instruction that is not executed.
LoadedKernel compile(std::string_view ptx, const std::string& name, const std::string& entry);
LoadedKernel compile(const Program& program, const std::string& entry);

// Several kernels of a text as one file: for small ones, most of the compiler's time goes into its
// start and into what they share.
std::vector<LoadedKernel> compile(std::string_view ptx, const std::string& name,
                                  const std::vector<std::string>& entries);

// Gives the launch the kernel's own cluster. Throws Error where it has another.
void take_cluster(const LoadedKernel& kernel, LaunchConfig& config);

// As detail::launch_erased takes it. The launch must add static_shared_bytes to its dynamic shared
// memory.
detail::ErasedKernel erased(const LoadedKernel& kernel);

// Launches from here on run the kernels of this folder; empty: those that g++ compiled. Before the
// first call it is KERNELGRADE_PTX. No launch may be under way.
void use(const std::string& folder);

// Whether there is such a folder.
bool enabled();

// What its kernels are compiled for, where enabled: 80, 90. Throws Error where the folder has none.
int architecture();

// What to launch in the place of a kernel of this program, where enabled. Nothing where the kernel
// was compiled at run time, which is no fat binary's. Throws Error where the folder holds no such
// kernel, or where it holds an instruction that is not executed.
std::optional<LoadedKernel> find(const void* kernel);

} // namespace kg::ptx_run
