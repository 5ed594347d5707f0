// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps instructions and addresses to source lines and names.
#pragma once

#include "runtime/error.h"
#include "runtime/host/check/access.h"

#include <cstdint>
#include <string>

namespace kg::check {

// An instruction address in 32 bits: the offset from the program's first instruction, or an
// assigned number for shared libraries that are further away.
extern "C" const char __executable_start; // defined by the linker
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
// For calls with a known line: returns an address that source_line() recognizes, to use instead of
// an instruction address.
const Location& remembered(Location where);

// "softmax.cu:52": the innermost line outside the runtime, from the debug information
// (libbacktrace); the address if there is no debug information.
std::string source_line(Site site);

// The call from the program's own code into the runtime; 0 if the debug information does not show
// it.
Site calling_site();

// Whether a Thrust algorithm is running: here on the host, on a GPU in a stream.
bool runs_in_thrust();

// Whether an instruction belongs to the runtime or the standard library and is not inlined into
// other code: the linker merges instrumented copies of inline functions with the executor's copies.
bool is_library_code(Site site);

// Whether it belongs to headers (of the standard library and fmt) that the executor and the
// checkers also use.
bool is_common_code(Site site);

// Whether it belongs to libcu++, which implements cuda::atomic_ref.
bool is_cuda_library_code(Site site);

// Whether it belongs to the executor's headers, inlined into a kernel or not.
bool is_executor_code(Site site);

// The demangled name of a symbol.
std::string demangled(const char* symbol);

// A kernel's name, even if the kernel has internal linkage.
std::string kernel_name(const void* kernel);

// The variable of a loaded module at an address: "retirement_count"; "" if unknown.
std::string data_symbol(std::uintptr_t address);

} // namespace kg::check
