// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a program of `kernelgrade check` notes as it runs, by what kernelgrade-rewrite --record puts
// into its sources: the kernels that it holds and those that begin, and calls whose results a GPU
// rounds otherwise. It goes to the file of events (runtime/event_file.h).
#pragma once

#include "runtime/host/fidelity.h"

#include <atomic>
#include <string>
#include <string_view>
#include <type_traits>

namespace kg::foreign {

// Behind the body of a kernel, whether anything instantiates it or not.
struct KernelDefinition {
  KernelDefinition(const char* name, const char* file, int line);
  const char *name, *file;
  int line;
  const KernelDefinition* next = nullptr;
};

// In its body; of a template, one for each instance.
struct KernelRun {
  const char* file;
  int line;
  std::atomic<bool> seen = false;
  KernelRun* next = nullptr;
};
void begins(KernelRun& kernel) noexcept; // a thread of it

// In an operand, in front of the call.
template <std::size_t kPlace>
constexpr void inexact_call() noexcept {
  if (!std::is_constant_evaluated()) host::note_inexact(kPlace);
}

// Writes what was noted since the last call. Costs next to nothing where that is nothing.
void write_records();

// Of a kernel that no other has `key`.
void write_kernel(std::string_view key, std::string_view name, std::string_view file, int line);
// The first launch of what lies at `run` is one of the kernel `key`.
void expect_launch(const void* run, std::string key);
void note_launch_of(const void* run);

} // namespace kg::foreign
