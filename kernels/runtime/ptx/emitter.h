// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The translator (emit.h). Each family of instructions has a file: emit_<family>.cpp.
#pragma once

#include "runtime/host/fidelity.h"
#include "runtime/ptx/emit.h"
#include "runtime/ptx/module.h"

#include <cstddef>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace kg::ptx_run {

class Emitter {
 public:
  Emitter(const Module& module, const Entry& entry) : module_(module), entry_(entry) {}
  Emitted run(const std::string& function); // that the text defines

 private:
  // --- emit.cpp: the frame
  void lay_out_shared();
  void find_labels();
  std::string label(const std::string& name) const;
  std::string parameters(const std::string& function) const;
  std::string statements(); // of the body
  // The functions that the kernel calls, directly or not: declarations, then definitions.
  std::string functions();
  std::string declaration() const; // of one function
  void declare(const Parameter& parameter);
  void statement(const Statement& statement);
  void declare(const Registers& registers);
  void place(const Instruction& instruction);
  void dispatch(const Instruction& instruction);

  // --- emit_operands.cpp
  struct Register {
    std::string type; // as declared
    std::string variable;
  };
  const Register* find(const std::string& name) const;
  // The value of an operand, as a C++ expression of the type that `type` ("s32", "b64"; "f16": its
  // bits) denotes.
  std::string read(const Operand& operand, std::string_view type);
  std::string read_name(const Operand& operand, std::string_view type);
  // The address of a variable outside shared memory, as C++; empty if there is none.
  std::string variable(const std::string& name);
  std::string special(const std::string& name);
  // A statement that assigns a value of `type` to a register, zero- or sign-extended if the
  // register is wider.
  std::string write(const Operand& operand, std::string_view type, const std::string& value);
  // The address of [name + offset] in a state space. An empty `space` is the generic one.
  std::string address(const Operand& operand, std::string_view space);
  std::string place_of(const Operand& operand, std::string_view space);
  std::string predicate(const Operand& operand);
  std::string where() const; // Where{file, line} of the current instruction
  [[noreturn]] void refuse(const std::string& why) const;

  // Operand i of the current instruction, as read() returns it.
  std::string in(std::size_t i, std::string_view type) { return read(operand(i), type); }
  const Operand& operand(std::size_t i) const;
  // Assigns the value to the first operand.
  void result(std::string_view type, const std::string& value);
  void line(const std::string& text);    // adds a statement
  bool has(std::string_view part) const; // whether the opcode has this part
  std::string type() const;              // the opcode's last part
  // Refuses an opcode with a part, besides the first and the last, that is not in `known`.
  void only(std::initializer_list<std::string_view> known) const;
  // The same for an opcode without a type: the last part is checked as well.
  void only_parts(std::initializer_list<std::string_view> known) const;
  std::string round() const; // "nearest", "zero", "down", "up" from rn, rz, rm, rp (and rni, ...)

  // --- The families; each returns whether the instruction belongs to it.
  bool carrying();
  bool integer();
  bool bits();
  bool floating();
  bool half();
  bool approximate();
  std::string approximated(const std::string& value, const std::string& of) const;
  void note_inexact(const std::string& name); // records that the kernel contains it
  std::string fused(const std::string& value, bool subtract);
  bool comparing();
  bool converting();
  bool moving();
  bool memory();
  bool asynchronous();
  bool atomic();
  bool control();
  bool warp();
  bool matrices();
  bool call();        // emit_call.cpp
  void follow_nans(); // emit_nan.cpp
  bool sees_nan(const std::string& name) const;
  std::string with_one_nan(const std::string& value) const;
  void follow_undefined();                              // emit_undefined.cpp
  bool is_argument(const Operand& operand) const;       // of the kernel
  std::string origin_of(const std::string& name) const; // as C++; empty: it is always defined
  void use_undefined(const std::string& name, const std::string& how);
  std::string joined_origin(const std::vector<std::string>& origins);
  void hand_on_undefined(std::size_t begin);
  void loaded_undefined(std::size_t begin);
  void store_undefined();
  void mark_line(); // lines.cpp
  bool mbarrier();
  bool cluster(); // emit_cluster.cpp
  bool uses_clusters() const;
  void store_async();
  void proxy_fence(); // emit_bulk.cpp
  bool bulk();
  void bulk_reduction();
  void tensor();
  std::pair<Operand, Operand> box_of(Operand box);
  std::string coordinates_of(const Operand& coordinates);
  bool wgmma(); // emit_wgmma.cpp
  void follow_sums();
  bool copies_sum() const;
  std::string settled(const std::string& name, const std::string& value) const;

  struct Arguments {                              // of a call: memory of its results and parameters
    std::vector<std::string> places;              // results first
    std::string list;                             // ", P0, P1"
    std::vector<std::size_t> results, parameters; // sizes in bytes
  };
  Arguments arguments();
  void call_by_pointer(const Operand& pointer, const Arguments& arguments);

  void load();
  void fetch_texture();
  void store();
  std::string shared_space() const; // "shared", "shared::cluster"; empty: generic
  std::string stored(const std::string& to, const Operand& source);
  bool is_strong() const; // other threads may access this memory
  std::string looked(const std::string& type, const std::string& loaded, const std::string& from);
  bool is_polled() const; // threads may spin on such loads
  void order_before();
  std::string strong_load(const std::string& type, const std::string& from);
  std::string strong_store(const std::string& type, const std::string& to,
                           const std::string& value);
  static std::string widened(const std::string& bits, const std::string& type);
  bool compare_halves(const std::string& to, const std::string& type);
  void convert_value(const std::string& to, const std::string& from);
  std::string comparison(const std::string& how, const std::string& type, const std::string& a,
                         const std::string& b) const;

  const Module& module_;
  const Entry& entry_;
  const Instruction* now_ = nullptr;
  std::string text_;
  std::vector<std::unordered_map<std::string, Register>> scopes_;
  std::unordered_map<std::string, std::size_t> shared_; // offsets of variables in shared memory
  std::unordered_map<std::string, std::string> names_;  // addresses of other variables, as C++
  std::size_t shared_bytes_ = 0;
  std::vector<SharedVariable> shared_variables_; // those with a size
  // Registers that hold results of f32 arithmetic, and registers with other bits; some hold both.
  std::unordered_set<std::string> computed_, raw_;
  bool carries_ = false;                      // whether the function has a condition code
  std::unordered_set<std::string> sums_;      // registers that may hold wgmma sums
  std::unordered_set<std::string> undefined_; // registers that may hold undefined values
  std::vector<std::string> read_, written_;   // registers accessed by the current instruction
  std::string last_address_;
  std::vector<SourceLine> lines_;   // marked lines, including those of called functions
  SourceLine marked_;               // the last one, in straight-line code
  std::set<std::string> variables_; // used variables of the module: V_name
  std::set<std::string> called_;    // functions
  std::set<std::string> pointed_;   // functions that a call through a pointer may reach
  std::map<std::string, std::size_t> argument_bytes_; // of call parameters, by name
  // Products without a rounding modifier in straight-line code, by the register that holds them. No
  // later statement has written a or b (isa_latitude.h).
  struct Product {
    std::string a, b, sources;
  };
  std::unordered_map<std::string, Product> products_;
  host::InexactSet inexact_;
  bool clusters_ = false; // a shared-memory address may belong to another block
  int scopes_opened_ = 0;
  std::vector<std::set<std::string>> labels_; // of each scope, in opening order
  std::vector<int> label_scopes_;             // open scopes, except the whole body
  int temporaries_ = 0;
  std::string place_; // the current #line directive
};

// A PTX name as a C++ name.
std::string identifier(const std::string& prefix, const std::string& name);
// The C++ type of a PTX type's values: "s32" for s32, "u32" for u32 and b32, "u16" for f16.
std::string cpp_type(std::string_view type);
bool is_float(std::string_view type); // f32, f64
bool is_one_of(const std::string& family, std::initializer_list<const char*> families);
// Calls f(name) for each name in an operand.
template <class Function>
void for_names(const Operand& operand, const Function& f) {
  f(operand.text);
  for (const Operand& part : operand.parts) for_names(part, f);
}

} // namespace kg::ptx_run
