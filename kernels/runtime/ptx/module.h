// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX as nvcc writes it (NVIDIA, "Parallel Thread Execution ISA", version 9.0), read into
// instructions and operands. What they mean is for emit.h.
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

// A place in a source file, as `.loc` gives it.
struct Place {
  int file = 0; // of Module::files; 0: the module was compiled without -lineinfo
  int line = 0;
  int caller = 0; // where that was inlined, in Module::callers from 1 on; 0: it was not
};

struct Operand {
  enum class Kind {
    name,      // a register, a special register, a variable, a label
    immediate, // text as it stands: 42, 0x2a, 0f3F800000
    memory,    // [text + offset]; an empty text is an absolute address; [text, parts[0]]
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
  std::string opcode;             // whole: "ld.global.v4.f32"
  std::vector<std::string> parts; // "ld", "global", "v4", "f32"
  std::vector<Operand> operands;
  std::string guard; // the predicate of @%p1; empty where there is none
  bool guard_negated = false;
  Place place;
  int ptx_line = 0;
};

// .reg .f32 %f<5>: count 5; without <>, count 0 and the name as it stands.
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
  std::size_t bytes = 0; // 0: an array without bound, .extern
  bool external = false;
  std::vector<std::string> values; // of the initialiser, as they stand
};

// A kernel, or a function that kernels call.
struct Entry {
  std::string name;               // mangled
  std::vector<Parameter> results; // of a function: at most one
  std::vector<Parameter> parameters;
  std::vector<Variable> variables; // of its body
  std::vector<Statement> statements;
  std::optional<std::array<unsigned, 3>> cluster; // .reqnctapercluster, of a kernel
};

struct Module {
  std::string name; // for messages: "softmax.ptx"
  std::string id;   // of its text (runtime/murmur_hash.h)
  std::string target;
  std::map<int, std::string> files; // by the number that `.loc` names
  std::vector<Place> callers;
  std::vector<Variable> variables;
  std::vector<Entry> entries;
  std::vector<Entry> functions; // that have a body

  // The place that messages name: of a header of the CUDA toolkit or of kernels/instructions the
  // nearest caller's that is none, which is what the author of a kernel knows. The file is 0 where
  // the module says no line.
  Place named(const Place& place) const;
};

// Size in bytes of an element of type "u32", "b8", "pred" (1). 0 for what is no type.
std::size_t size_of(std::string_view type);

// The text of a module. Throws Error with `name`, the line of the PTX and what is not understood.
Module parse(std::string_view text, const std::string& name);

// A module of which kernels are read one by one, without another look at the whole text.
class Program {
 public:
  // Throws as parse(). The text must outlive the program.
  Program(std::string_view text, const std::string& name);

  // With this kernel alone, or with none where there is no such. Throws as parse().
  Module with(std::string_view entry) const;

 private:
  std::string_view text_;
  std::map<std::string, Lexer::Mark, std::less<>> entries_; // where their names stand
  Module rest_;                                             // without entries
};

// The names of all entries, in their order, without reading their bodies.
std::vector<std::string> entry_names(std::string_view text);

} // namespace kg::ptx_run
