// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The events that a program of `kernelgrade check` records: kernels it contains, kernels that
// start, and calls whose results a GPU rounds differently. kernelgrade-rewrite --record adds the
// recording code to the sources. Events go to the event file (runtime/event_file.h).
#pragma once

#include "runtime/host/fidelity.h"

#include <atomic>
#include <string>
#include <string_view>
#include <type_traits>

namespace kg::foreign {

// Placed after the body of a kernel, whether or not anything instantiates the kernel.
struct KernelDefinition {
  KernelDefinition(const char* name, const char* file, int line);
  const char *name, *file;
  int line;
  const KernelDefinition* next = nullptr;
};

// Placed in the body of a kernel; a template has one per instance.
struct KernelRun {
  const char* file;
  int line;
  std::atomic<bool> seen = false;
  KernelRun* next = nullptr;
};
void begins(KernelRun& kernel) noexcept; // called by a thread of the kernel

// Placed in an operand, before the call.
template <std::size_t kPlace>
constexpr void inexact_call() noexcept {
  if (!std::is_constant_evaluated()) host::note_inexact(kPlace);
}

// Writes the events recorded since the last call. Almost free if there are none.
void write_records();

// Records that the program contains a kernel; `key` is unique to the kernel.
void write_kernel(std::string_view key, std::string_view name, std::string_view file, int line);
// The first launch of the code at `run` counts as a launch of the kernel `key`.
void expect_launch(const void* run, std::string key);
void note_launch_of(const void* run);

} // namespace kg::foreign
