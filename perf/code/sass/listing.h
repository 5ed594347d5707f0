// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses the output of `nvdisasm -c -gi -hex` for a cubin into instructions with source lines.
#pragma once

#include "perf/code/sass/control.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kg::sass {

struct Instruction {
  unsigned address = 0;               // within the section
  std::string guard;                  // "P0", "!UP1"; empty: unconditional
  std::string opcode;                 // "LDG"
  std::vector<std::string> modifiers; // "E", "128"
  std::vector<std::string> operands;  // without `.reuse`
  // "row.h:26". `line`: the innermost line of the call stack outside the CUDA toolkit.
  // `kernel_line`: the outermost line, in the kernel. Empty if the cubin has no line information.
  std::string line, kernel_line;
  std::size_t called = 0;         // instructions of the subroutine that a CALL executes
  std::optional<Control> control; // if the text has the encoded words (-hex)

  bool has(std::string_view modifier) const;
};

// The symbol that a CALL names: "$__internal_0_$__cuda_sm20_div_s64". Empty for an indirect call.
std::string_view callee_of(const Instruction& call);

// A kernel, or a compiler-generated subroutine after it in the same section.
struct Function {
  std::string symbol; // mangled
  std::string kernel; // the section's kernel; for a kernel, its own symbol
  std::vector<Instruction> code;
  std::map<std::string, std::size_t> labels; // index of the instruction after each label
};

// Functions in the order of the text. Throws Error with `file` if a line cannot be parsed or a
// label occurs twice.
std::vector<Function> read_listing(std::string_view text, const std::string& file);

} // namespace kg::sass
