// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The text that `nvdisasm -c -gi -hex` writes of a cubin, as instructions with their lines.
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
  std::string guard;                  // "P0", "!UP1"; empty: always executed
  std::string opcode;                 // "LDG"
  std::vector<std::string> modifiers; // "E", "128"
  std::vector<std::string> operands;  // without `.reuse`
  // "row.h:26": the innermost line of a call stack that is not the CUDA toolkit's own, and the
  // outermost one, the kernel's. Empty where the cubin has no lines.
  std::string line, kernel_line;
  std::size_t called = 0;         // instructions of the subroutine that a CALL goes to
  std::optional<Control> control; // where the text has the words (-hex)

  bool has(std::string_view modifier) const;
};

// The symbol that a CALL names: "$__internal_0_$__cuda_sm20_div_s64". Empty where a register does.
std::string_view callee_of(const Instruction& call);

// A kernel, or a subroutine of the compiler's that stands behind it in the section.
struct Function {
  std::string symbol; // mangled
  std::string kernel; // of the section; that of the function itself, where it is the kernel
  std::vector<Instruction> code;
  std::map<std::string, std::size_t> labels; // the instruction behind each
};

// In the order of the text. Throws Error naming `file` where a line cannot be read or a label
// occurs twice.
std::vector<Function> read_listing(std::string_view text, const std::string& file);

} // namespace kg::sass
