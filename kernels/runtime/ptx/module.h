// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX as nvcc writes it (NVIDIA, "Parallel Thread Execution ISA", version 9.0), parsed into
// instructions and operands. emit.h interprets them.
#pragma once

#include "runtime/ptx/lexer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kg::ptx_run {

// A location in a source file, as `.loc` gives it.
struct Place {
  int file = 0; // of Module::files; 0: the module was compiled without -lineinfo
  int line = 0;
  int caller = 0; // inlined at Module::callers[caller - 1]; 0: not inlined
};

struct Operand {
  enum class Kind {
    name,      // a register, a special register, a variable, a label
    immediate, // literal text: 42, 0x2a, 0f3F800000
    memory,    // [text + offset]; empty text: absolute address; [text, parts[0]]
    vector,    // {parts}
    pair       // parts[0] | parts[1]
  };
  Kind kind = Kind::name;
  std::string text;
  std::int64_t offset = 0;
  bool negated = false; // !%p1
  std::vector<Operand> parts;
};

struct Instruction {
  std::string opcode;             // complete: "ld.global.v4.f32"
  std::vector<std::string> parts; // "ld", "global", "v4", "f32"
  std::vector<Operand> operands;
  std::string guard; // the predicate of @%p1; empty if none
  bool guard_negated = false;
  Place place;
  int ptx_line = 0;
};

// .reg .f32 %f<5>: count 5. Without <>, the count is 0 and the name is complete.
struct Registers {
  std::string type; // "f32", "pred"
  std::string name;
  int count = 0;
};

struct Parameter {
  std::string name;
  std::size_t alignment = 1;
  std::size_t bytes = 0;
};

struct Statement {
  enum class Kind { instruction, label, open_scope, close_scope, registers, parameter };
  Kind kind = Kind::instruction;
  Instruction instruction;
  std::string label;
  Registers registers;
  Parameter parameter; // of a call
};

// .shared, .local, .global or .const.
struct Variable {
  std::string space;
  std::string type; // of an element: "b8", "u32"
  std::string name;
  std::size_t alignment = 1;
  std::size_t bytes = 0; // 0: an .extern array without bound
  bool external = false;
  std::vector<std::string> values; // of the initializer, verbatim
};

// A kernel, or a function that kernels call.
struct Entry {
  std::string name;               // mangled
  std::vector<Parameter> results; // of a function: at most one
  std::vector<Parameter> parameters;
  std::vector<Variable> variables; // of its body
  std::vector<Statement> statements;
  std::optional<std::array<unsigned, 3>> cluster; // .reqnctapercluster, of a kernel
  // Of a kernel: whether ptxas knows its register count at entry. Otherwise it ignores setmaxnreg
  // (remark C7508 of ptxas 13.0).
  bool has_register_count = true;
};

struct Module {
  std::string name; // for messages: "softmax.ptx"
  std::string id;   // hash of its text (runtime/murmur_hash.h)
  std::string target;
  std::map<int, std::string> files; // by `.loc` number
  std::vector<Place> callers;
  std::vector<Variable> variables;
  std::vector<Entry> entries;
  std::vector<Entry> functions; // those with a body

  // The location for messages. For a header of the CUDA toolkit or of kernels/instructions, this is
  // the nearest caller outside them, which the kernel's author knows. The file is 0 if the module
  // gives no line.
  Place named(const Place& place) const;
};

// Size in bytes of an element of type "u32", "b8", "pred" (1). 0 if `type` is not a type.
std::size_t size_of(std::string_view type);

// Parses a module. Throws Error with `name`, the PTX line and the construct not understood.
Module parse(std::string_view text, const std::string& name);

// A module whose kernels are parsed one by one, without scanning the whole text again.
class Program {
 public:
  // Throws as parse(). The text must outlive the program.
  Program(std::string_view text, const std::string& name);

  // The module with this kernel only, or with none if it does not exist. Throws as parse().
  Module with(std::string_view entry) const;

 private:
  std::string_view text_;
  std::map<std::string, Lexer::Mark, std::less<>> entries_; // positions of their names
  Module rest_;                                             // without entries
};

// The names of all entries in order, found without parsing their bodies.
std::vector<std::string> entry_names(std::string_view text);

} // namespace kg::ptx_run
