// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Translates a PTX kernel to C++ that includes prelude.h. Registers become local variables, labels
// stay labels, and each memory access keeps its width. `#line` refers to the lines of the `.cu`
// file, for compiler, checkers and counters.
#pragma once

#include "runtime/host/fidelity.h"
#include "runtime/ptx/lines.h"
#include "runtime/ptx/module.h"

#include <cstddef>
#include <string>
#include <vector>

namespace kg::ptx_run {

struct SharedVariable {
  std::string name; // mangled
  std::size_t offset = 0, bytes = 0;
};

struct Emitted {
  std::string text;     // can share a file with the texts of other kernels
  std::string function; // that `text` defines: void (void** arguments), a pointer per argument
  std::size_t static_shared_bytes = 0; // come before the dynamic ones
  std::vector<SharedVariable> shared;  // ordered by offset
  std::vector<std::string> variables;  // of the module, that the text names
  host::InexactSet inexact{};          // inexact operations in the kernel
  std::vector<SourceLine> lines{};     // that the kernel marks as reached (lines.h)
};

// Throws Error if the kernel contains something unsupported, with the instruction and its lines in
// the PTX and in the source. `place`: index among the kernels of one file.
Emitted emit(const Module& module, const Entry& entry, std::size_t place = 0);

} // namespace kg::ptx_run
