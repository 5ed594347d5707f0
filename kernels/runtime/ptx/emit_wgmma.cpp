// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// wgmma (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"; runtime/host/warpgroup.h). Up
// to the wait, the emulator writes sums to, and reads A from, the variables that stand for their
// registers. A `mov` of a pending sum copies the future value. Any other read of a pending sum is
// an error of the program.
#include "runtime/host/warpgroup_product.h"
#include "runtime/ptx/emitter.h"

#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace kg::ptx_run {
namespace {

using host::ElementType;
using host::SumType;

std::optional<ElementType> element_type(const std::string& name) {
  if (name == "f16") return ElementType::f16;
  if (name == "bf16") return ElementType::bf16;
  if (name == "tf32") return ElementType::tf32;
  if (name == "e4m3") return ElementType::e4m3;
  if (name == "e5m2") return ElementType::e5m2;
  if (name == "s8") return ElementType::s8;
  if (name == "u8") return ElementType::u8;
  return std::nullopt;
}

std::optional<SumType> sum_type(const std::string& name) {
  if (name == "f32") return SumType::f32;
  if (name == "f16") return SumType::f16;
  if (name == "s32") return SumType::s32;
  return std::nullopt;
}

bool is_integer(ElementType type) { return type == ElementType::s8 || type == ElementType::u8; }
bool is_fp8(ElementType type) { return type == ElementType::e4m3 || type == ElementType::e5m2; }

// N of m64n<N>k<K>; 0 for another shape.
unsigned columns_of(const std::string& shape, unsigned depth) {
  unsigned columns = 0;
  const char* const end = shape.data() + shape.size();
  if (!shape.starts_with("m64n")) return 0;
  const auto [rest, error] = std::from_chars(shape.data() + 4, end, columns);
  if (error != std::errc() || std::string(rest, end) != fmt::format("k{}", depth)) return 0;
  return columns % 8 == 0 && columns <= 256 ? columns : 0;
}

bool is_product(const Statement& statement) {
  const auto& parts = statement.instruction.parts;
  return statement.kind == Statement::Kind::instruction && parts.size() > 1 &&
         parts[0] == "wgmma" && parts[1] == "mma_async";
}

} // namespace

// A register may hold a sum if a wgmma writes it, or if it is a copy of such a register.
void Emitter::follow_sums() {
  for (const Statement& each : entry_.statements)
    if (is_product(each) && !each.instruction.operands.empty())
      for (const Operand& sum : each.instruction.operands[0].parts) sums_.insert(sum.text);
  for (bool more = !sums_.empty(); more;) {
    more = false;
    for (const Statement& each : entry_.statements) {
      const Instruction& instruction = each.instruction;
      if (each.kind != Statement::Kind::instruction || instruction.parts[0] != "mov" ||
          instruction.operands.size() != 2 || instruction.operands[0].kind != Operand::Kind::name)
        continue;
      if (sums_.contains(instruction.operands[1].text))
        more |= sums_.insert(instruction.operands[0].text).second;
    }
  }
}

// Whether the current instruction copies one register that may hold a sum.
bool Emitter::copies_sum() const {
  return now_->parts[0] == "mov" && now_->operands.size() == 2 &&
         operand(0).kind == Operand::Kind::name && operand(1).kind == Operand::Kind::name &&
         sums_.contains(operand(0).text) && find(operand(0).text) && find(operand(1).text);
}

std::string Emitter::settled(const std::string& name, const std::string& value) const {
  if (!sums_.contains(name) || copies_sum()) return value;
  return fmt::format("settled({}, {})", value, where());
}

bool Emitter::wgmma() {
  if (now_->parts[0] != "wgmma" || now_->parts.size() < 2) return false;
  const std::string& what = now_->parts[1];
  if (what != "mma_async") {
    only_parts({"wgmma", "fence", "commit_group", "wait_group", "sync", "aligned"});
    if (what == "wait_group")
      line(fmt::format("wgmma_wait({}, {});", in(0, "u32"), where()));
    else
      line(fmt::format("wgmma_{}({});", what == "fence" ? "fence" : "commit", where()));
    return true;
  }
  if (now_->parts.size() != 8) refuse("this form is not executed");
  const std::string& shape = now_->parts[4];
  only_parts({"wgmma", "mma_async", "sync", "aligned", shape, "f32", "f16", "s32", "bf16", "tf32",
              "e4m3", "e5m2", "s8", "u8"});
  const auto sum = sum_type(now_->parts[5]);
  const auto a = element_type(now_->parts[6]), b = element_type(now_->parts[7]);
  if (!sum || !a || !b ||
      (is_integer(*a) ? !is_integer(*b)
       : is_fp8(*a)   ? !is_fp8(*b)
                      : a != b) ||
      is_integer(*b) != (sum == SumType::s32) ||
      (sum == SumType::f16 && !is_fp8(*a) && a != ElementType::f16))
    refuse("these types are not multiplied");
  const unsigned columns = columns_of(shape, 32 / host::bytes_of(*b));
  if (columns == 0) refuse("of these types the shape " + shape + " is not executed");

  std::string sums, a_registers;
  const std::size_t words = columns / (sum == SumType::f16 ? 4 : 2);
  if (operand(0).parts.size() != words) refuse("it has another number of sums");
  const auto registers = [&](const Operand& list, const char* as) {
    std::string text;
    for (const Operand& each : list.parts) {
      const Register* const found = find(each.text);
      if (!found || size_of(found->type) != 4) refuse("registers of 32 bits are expected");
      text += fmt::format("{}&{}, ", as, found->variable);
    }
    return text;
  };
  sums = registers(operand(0), "");
  const bool in_registers = operand(1).kind == Operand::Kind::vector;
  if (in_registers && operand(1).parts.size() != host::kRegistersOfA)
    refuse("A is in four registers");
  if (in_registers) a_registers = registers(operand(1), "");
  // After the descriptors: scale-d; the signs; for 16-bit types, which are not K-major.
  const auto number = [&](std::size_t i, const char* otherwise) {
    return i < now_->operands.size() ? operand(i).text : otherwise;
  };
  const auto sign = [&](std::size_t i) {
    const std::string text = number(i, "1");
    if (text != "1" && text != "-1") refuse("a scale is 1 or -1");
    return text == "-1";
  };
  const auto is_turned = [&](std::size_t i) { return number(i, "0") != "0"; };
  const bool turned_a = !in_registers && is_turned(6);
  const bool turned_b = is_turned(in_registers ? 6 : 7);
  if ((turned_a || turned_b) && host::bytes_of(*b) != 2)
    refuse("of these types only K-major matrices are multiplied");
  if (sum != SumType::s32) note_inexact("mma");
  line(fmt::format("{{ void* const d[] = {{{}}}; const void* const a[] = {{{}nullptr}}; "
                   "wgmma(Wgmma{{{}, {}, {}, {}, {}, {}, {}, {}}}, d, {}, {}, {}, {}, {}); }}",
                   sums, a_registers, columns, static_cast<int>(*a), static_cast<int>(*b),
                   static_cast<int>(*sum), !turned_a, !turned_b, sign(4), sign(5),
                   in_registers ? "0" : in(1, "u64"), in_registers ? "a" : "nullptr", in(2, "u64"),
                   predicate(operand(3)), where()));
  return true;
}

} // namespace kg::ptx_run
