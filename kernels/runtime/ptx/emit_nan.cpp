// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// On a GPU, f32 arithmetic returns one NaN (prelude.h: canonical); on a CPU, any NaN. The code
// converts a NaN only where an instruction sees its bits: stores, moves or compares them as words.
// A NaN passed from sum to sum stays as it is, so that loops cost nothing.
#include "runtime/ptx/emitter.h"

#include <algorithm>
#include <cstdlib>

namespace kg::ptx_run {
namespace {

bool converts_to(const Instruction& instruction, const char* type) {
  return instruction.parts[0] == "cvt" && instruction.parts[instruction.parts.size() - 2] == type;
}

// Whether the result is a computed f32, with the one NaN. A bfloat16 converts by a shift, and an
// f64 NaN keeps its sign.
bool computes(const Instruction& instruction) {
  const std::string& family = instruction.parts[0];
  const std::string& from = instruction.parts.back();
  if (family == "cvt") return converts_to(instruction, "f32") && from != "bf16" && from != "f64";
  return from == "f32" &&
         is_one_of(family, {"add", "sub", "mul", "fma", "mad", "neg", "abs", "min", "max", "div",
                            "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh", "mma"});
}

// Whether the result is the same for every NaN operand. TF32 keeps some of a NaN's bits.
bool takes_any_nan(const Instruction& instruction) {
  return instruction.parts.back() == "f32" && !converts_to(instruction, "tf32") &&
         (computes(instruction) || is_one_of(instruction.parts[0], {"cvt", "setp", "set"}));
}

// mov.b32 %r1, %f1 and selp.f32 %f1, %f2, %f3, %p1: the result is one of the sources. Returns their
// number; they begin with the second operand.
std::size_t sources_of_copy(const Instruction& instruction) {
  const std::string& family = instruction.parts[0];
  if (size_of(instruction.parts.back()) != 4) return 0;
  const std::size_t count = family == "mov" ? 1 : family == "selp" ? 2 : 0;
  for (std::size_t i = 0; i <= count && count != 0; ++i) {
    const Operand::Kind kind = instruction.operands.at(i).kind;
    if (kind != Operand::Kind::name && kind != Operand::Kind::immediate) return 0;
  }
  return count;
}

bool is_nan(const std::string& immediate) {
  const bool hex = immediate.starts_with("0f") || immediate.starts_with("0F");
  const auto bits =
      hex ? std::strtoull(immediate.c_str() + 2, nullptr, 16)
          : static_cast<unsigned long long>(std::strtoll(immediate.c_str(), nullptr, 0));
  return (bits & 0x7fffffffu) > 0x7f800000u;
}

} // namespace

void Emitter::follow_nans() {
  struct Copy {
    std::string to, from;
  };
  std::vector<Copy> copies;
  for (const Statement& each : entry_.statements) {
    const Instruction& instruction = each.instruction;
    if (each.kind != Statement::Kind::instruction || instruction.operands.empty()) continue;
    const Operand& to = instruction.operands[0];
    if (computes(instruction)) {
      for_names(to, [&](const std::string& name) { computed_.insert(name); });
    } else if (const std::size_t count = sources_of_copy(instruction); count != 0) {
      for (std::size_t i = 1; i <= count; ++i) {
        const Operand& from = instruction.operands[i];
        if (from.kind == Operand::Kind::name)
          copies.push_back({to.text, from.text});
        else if (is_nan(from.text))
          raw_.insert(to.text);
      }
    } else {
      for_names(to, [&](const std::string& name) { raw_.insert(name); });
    }
  }
  // A register that is never written, such as a special register, holds raw bits.
  std::unordered_set<std::string> written = computed_;
  written.insert(raw_.begin(), raw_.end());
  for (const Copy& copy : copies) written.insert(copy.to);
  for (const Copy& copy : copies)
    if (!written.contains(copy.from)) raw_.insert(copy.from);
  for (bool more = true; more;) {
    more = false;
    for (const Copy& copy : copies)
      for (std::unordered_set<std::string>* const held : {&computed_, &raw_})
        if (held->contains(copy.from)) more |= held->insert(copy.to).second;
  }
}

// Whether the current instruction must see the one NaN in this register.
bool Emitter::sees_nan(const std::string& name) const {
  if (!computed_.contains(name) || raw_.contains(name) || takes_any_nan(*now_)) return false;
  return sources_of_copy(*now_) == 0 || raw_.contains(operand(0).text);
}

// A computed f32. If the register may also hold raw bits, the NaN is converted at once.
std::string Emitter::with_one_nan(const std::string& value) const {
  return raw_.contains(operand(0).text) ? "canonical(" + value + ")" : value;
}

} // namespace kg::ptx_run
