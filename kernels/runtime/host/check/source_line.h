// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Instructions and variables by the names that a programmer knows.
#pragma once

#include "runtime/error.h"
#include "runtime/host/check/access.h"

#include <cstdint>
#include <string>

namespace kg::check {

// An instruction address in 32 bits: its distance from this program's first instruction, or a
// number given on first sight where a shared library is further away.
extern "C" const char __executable_start; // the linker's
inline constexpr Site kInterned = 0x80000000;
Site intern(std::uintptr_t instruction);
inline std::uintptr_t distance_to(const void* instruction) {
  return reinterpret_cast<std::uintptr_t>(instruction) -
         reinterpret_cast<std::uintptr_t>(&__executable_start);
}
inline bool is_near(const void* instruction) { return distance_to(instruction) < kInterned; }
inline Site site_of(const void* instruction) {
  return is_near(instruction) ? static_cast<Site>(distance_to(instruction))
                              : intern(reinterpret_cast<std::uintptr_t>(instruction));
}
// For a call that knows its line: an address that source_line() knows, in place of an
// instruction's.
const Location& remembered(Location where);

// "softmax.cu:52": the innermost line that is not the runtime's own, from the debug information
// (libbacktrace); the address where there is none.
std::string source_line(Site site);

// The call by which the program's own code got here, into the runtime; 0 where no debug information
// tells.
Site calling_site();

// Whether an algorithm of Thrust's is what runs: here on the host, on a GPU in a stream.
bool runs_in_thrust();

// Whether an instruction is the runtime's or the standard library's own, not inlined into anything
// else: the linker merges instrumented copies of inline functions with those that the executor
// calls.
bool is_library_code(Site site);

// Whether it is of the headers, the standard library's and fmt's, that the executor and the
// checkers are made of themselves.
bool is_common_code(Site site);

// Whether it is of libcu++: what cuda::atomic_ref is made of.
bool is_cuda_library_code(Site site);

// Whether an instruction is of the executor's headers, inlined into a kernel or not.
bool is_executor_code(Site site);

// The C++ name of a symbol.
std::string demangled(const char* symbol);

// A kernel's name, also where it is visible in one file only.
std::string kernel_name(const void* kernel);

// The variable of a loaded module that an address lies in: "retirement_count"; "" where unknown.
std::string data_symbol(std::uintptr_t address);

} // namespace kg::check
