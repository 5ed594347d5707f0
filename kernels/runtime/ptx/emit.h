// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel in PTX as C++ that includes prelude.h: registers are local variables, labels are labels,
// and each access to memory is one of the same width. `#line` names the lines of the `.cu` file, so
// that compiler, checkers and counters do.
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
  std::string text;     // which may stand in one file with the texts of other kernels
  std::string function; // that it defines: void (void** arguments), with a pointer to each argument
  std::size_t static_shared_bytes = 0; // which lie in front of the dynamic ones
  std::vector<SharedVariable> shared;  // in order of their offsets
  std::vector<std::string> variables;  // of the module, that it names
  host::InexactSet inexact{};          // what it holds of that
  std::vector<SourceLine> lines{};     // that it marks (lines.h)
};

// Throws Error where the kernel holds what is not executed, naming the instruction, its line in the
// PTX and in the source. `place`: among the kernels of one file.
Emitted emit(const Module& module, const Entry& entry, std::size_t place = 0);

} // namespace kg::ptx_run
