// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx/emitter.h"

#include "runtime/error.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fmt/format.h>

namespace kg::ptx_run {
namespace {

// Special registers of one word (PTX ISA, "Special Registers").
const std::unordered_map<std::string, std::string>& special_registers() {
  // Never destroyed: threads may still translate when the process ends (ahead.h).
  static const auto& known = *new std::unordered_map<std::string, std::string>{
      {"%tid.x", "::threadIdx.x"},
      {"%tid.y", "::threadIdx.y"},
      {"%tid.z", "::threadIdx.z"},
      {"%ntid.x", "::blockDim.x"},
      {"%ntid.y", "::blockDim.y"},
      {"%ntid.z", "::blockDim.z"},
      {"%ctaid.x", "::blockIdx.x"},
      {"%ctaid.y", "::blockIdx.y"},
      {"%ctaid.z", "::blockIdx.z"},
      {"%nctaid.x", "::gridDim.x"},
      {"%nctaid.y", "::gridDim.y"},
      {"%nctaid.z", "::gridDim.z"},
      {"%laneid", "lane()"},
      {"%warpid", "warp()"},
      {"%smid", "multiprocessor()"},
      {"%nsmid", "multiprocessors()"},
      {"WARP_SZ", "32u"},
      {"%lanemask_eq", "(1u << lane())"},
      {"%lanemask_lt", "((1u << lane()) - 1)"},
      {"%lanemask_le", "((2u << lane()) - 1)"},
      {"%lanemask_ge", "~((1u << lane()) - 1)"},
      {"%lanemask_gt", "~((2u << lane()) - 1)"},
      {"%cluster_ctaid.x", "in_cluster().index[0]"},
      {"%cluster_ctaid.y", "in_cluster().index[1]"},
      {"%cluster_ctaid.z", "in_cluster().index[2]"},
      {"%cluster_nctaid.x", "in_cluster().extent[0]"},
      {"%cluster_nctaid.y", "in_cluster().extent[1]"},
      {"%cluster_nctaid.z", "in_cluster().extent[2]"},
      {"%cluster_ctarank", "in_cluster().rank"},
      {"%cluster_nctarank", "in_cluster().size"},
      {"%clusterid.x", "::blockIdx.x / in_cluster().extent[0]"},
      {"%clusterid.y", "::blockIdx.y / in_cluster().extent[1]"},
      {"%clusterid.z", "::blockIdx.z / in_cluster().extent[2]"},
      {"%nclusterid.x", "::gridDim.x / in_cluster().extent[0]"},
      {"%nclusterid.y", "::gridDim.y / in_cluster().extent[1]"},
      {"%nclusterid.z", "::gridDim.z / in_cluster().extent[2]"},
      {"%envreg1", "static_cast<u32>(grid_workspace() >> 32)"},
      {"%envreg2", "static_cast<u32>(grid_workspace())"},
      {"%clock", "static_cast<u32>(clock_ns())"},
      {"%clock64", "clock_ns()"},
      {"%globaltimer", "clock_ns()"}};
  return known;
}

std::string bit_cast(std::string_view to, const std::string& value) {
  return fmt::format("__builtin_bit_cast({}, {})", to, value);
}

// The bits of a float as an integer, possibly of another size.
std::string bits_as(const std::string& to, const std::string& value, std::string_view type) {
  const std::string word = type == "f32" ? "u32" : "u64";
  const std::string bits = bit_cast(word, value);
  return to == word ? bits : fmt::format("static_cast<{}>({})", to, bits);
}

} // namespace

bool is_one_of(const std::string& family, std::initializer_list<const char*> families) {
  return std::find(families.begin(), families.end(), family) != families.end();
}

bool is_float(std::string_view type) { return type == "f32" || type == "f64"; }

std::string cpp_type(std::string_view type) {
  if (type == "pred") return "bool";
  if (is_float(type)) return std::string(type);
  return (type.starts_with("s") ? "s" : "u") + std::to_string(8 * size_of(type));
}

const Emitter::Register* Emitter::find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->find(name); found != scope->end()) return &found->second;
  return nullptr;
}

const Operand& Emitter::operand(std::size_t i) const {
  if (i >= now_->operands.size()) refuse("it has fewer operands than are known");
  return now_->operands[i];
}

std::string Emitter::read(const Operand& operand, std::string_view type) {
  const std::string to = cpp_type(type);
  if (operand.kind == Operand::Kind::name) return read_name(operand, type);
  if (operand.kind != Operand::Kind::immediate)
    refuse("an operand of this kind is not executed here");
  const std::string& text = operand.text;
  if (text.starts_with("0f") || text.starts_with("0F"))
    return is_float(type) ? bit_cast(type, fmt::format("0x{}u", text.substr(2)))
                          : fmt::format("static_cast<{}>(0x{}u)", to, text.substr(2));
  if (text.starts_with("0d") || text.starts_with("0D"))
    return is_float(type) ? bit_cast(type, fmt::format("0x{}ul", text.substr(2)))
                          : fmt::format("static_cast<{}>(0x{}ul)", to, text.substr(2));
  if (type == "pred") return text == "0" ? "false" : "true";
  const std::string digits = text.ends_with('U') ? text.substr(0, text.size() - 1) : text;
  // Most literals have this type already.
  if (!is_float(type) && size_of(type) >= 4 &&
      std::isdigit(static_cast<unsigned char>(digits[0])) != 0 &&
      std::strtoull(digits.c_str(), nullptr, 0) <= 0x7fffffff)
    return digits + (to[0] == 'u' ? "u" : "") + (size_of(type) == 8 ? "l" : "");
  // The minimum has no positive counterpart.
  if (digits == "-9223372036854775808") return fmt::format("static_cast<{}>(1ul << 63)", to);
  return fmt::format("static_cast<{}>({}l)", to, digits);
}

std::string Emitter::read_name(const Operand& operand, std::string_view type) {
  const std::string to = cpp_type(type);
  const std::string& name = operand.text;
  if (const Register* const found = find(name)) {
    read_.push_back(name);
    const std::string variable = settled(name, found->variable);
    if (type == "pred") return operand.negated ? "!" + variable : variable;
    if (sees_nan(name)) {
      const std::string one = fmt::format(
          "canonical({})", is_float(found->type) ? variable : bit_cast("f32", variable));
      return is_float(type) ? one : bits_as(to, one, "f32");
    }
    if (found->type == type || cpp_type(found->type) == to) return variable;
    if (is_float(type) && is_float(found->type)) refuse("a register of another type stands here");
    if (is_float(type)) return bit_cast(to, variable);
    if (is_float(found->type)) return bits_as(to, variable, found->type);
    return fmt::format("static_cast<{}>({})", to, variable);
  }
  if (const auto known = special_registers().find(name); known != special_registers().end()) {
    note_inexact(name.substr(1)); // for a clock
    return fmt::format("static_cast<{}>({})", to, known->second);
  }
  if (const auto shared = shared_.find(name); shared != shared_.end())
    return fmt::format("static_cast<{}>({}u)", to,
                       shared->second + static_cast<std::size_t>(operand.offset));
  if (const std::string place = variable(name); !place.empty())
    return fmt::format("static_cast<{}>(reinterpret_cast<u64>({}) + {}l)", to, place,
                       operand.offset);
  if (name.starts_with("%")) refuse("the register " + name + " is not known");
  refuse("the module has no variable " + name);
}

std::string Emitter::variable(const std::string& name) {
  if (const auto known = names_.find(name); known != names_.end()) return known->second;
  for (const Variable& one : module_.variables) {
    if (one.name != name || one.space == "shared") continue;
    variables_.insert(name);
    return names_[name] = identifier("V_", name);
  }
  for (const Entry& one : module_.functions) { // the address of a function
    if (one.name != name) continue;
    variables_.insert(name);
    return names_[name] = identifier("V_", name);
  }
  return "";
}

std::string Emitter::write(const Operand& operand, std::string_view type,
                           const std::string& value) {
  if (operand.text == "_") return fmt::format("static_cast<void>({});", value);
  const Register* const found = find(operand.text);
  if (!found) refuse("the result goes to " + operand.text + ", which is not a register");
  written_.push_back(operand.text);
  std::erase_if(products_, [&](const auto& known) {
    return known.first == operand.text ||
           known.second.sources.find(operand.text + " ") != std::string::npos;
  });
  const std::string to = cpp_type(found->type);
  if (to == cpp_type(type)) return fmt::format("{} = {};", found->variable, value);
  if (is_float(found->type)) return fmt::format("{} = {};", found->variable, bit_cast(to, value));
  if (is_float(type)) return fmt::format("{} = {};", found->variable, bits_as(to, value, type));
  // Its own type first, so that a signed value is sign-extended.
  return fmt::format("{} = static_cast<{}>(static_cast<{}>({}));", found->variable, to,
                     cpp_type(type), value);
}

std::string Emitter::address(const Operand& operand, std::string_view space) {
  if (operand.kind != Operand::Kind::memory) refuse("an address is expected");
  if (!operand.parts.empty()) refuse("coordinates are not known here");
  use_undefined(operand.text, "accesses memory at an address from");
  return last_address_ = place_of(operand, space);
}

std::string Emitter::place_of(const Operand& operand, std::string_view space) {
  if (const std::string place = variable(operand.text); !place.empty())
    return fmt::format("({} + {}l)", place, operand.offset);
  if (const auto shared = shared_.find(operand.text); shared != shared_.end())
    return fmt::format("(shared + {}l)",
                       static_cast<std::int64_t>(shared->second) + operand.offset);
  const Register* const found = find(operand.text);
  if (!found) refuse("the address " + operand.text + " is not known");
  if (space == "shared::cluster")
    return fmt::format("cluster_memory((u64)({}) + {}l, {})", found->variable, operand.offset,
                       where());
  // A 32-bit address wraps around: nvcc moves part of it to the offset, and the rest may be
  // negative.
  if (space == "shared" && size_of(found->type) == 4 && operand.offset != 0)
    return fmt::format("(shared + (u64)(u32)({} + (u32)({})))", found->variable, operand.offset);
  if (space == "shared")
    return fmt::format("(shared + (u64)({}) + {}l)", found->variable, operand.offset);
  return fmt::format("(reinterpret_cast<u8*>((u64)({})) + {}l)", found->variable, operand.offset);
}

std::string Emitter::predicate(const Operand& operand) { return read(operand, "pred"); }

std::string Emitter::where() const {
  const Place place = module_.named(now_->place);
  if (place.file == 0) return fmt::format("Where{{\"{}\", {}}}", module_.name, now_->ptx_line);
  return fmt::format("Where{{kFile{}, {}}}", place.file, place.line);
}

void Emitter::refuse(const std::string& why) const {
  std::string source;
  const Place place = module_.named(now_->place);
  if (const auto file = module_.files.find(place.file); file != module_.files.end())
    source = fmt::format(", {}:{}", file->second.substr(file->second.rfind('/') + 1), place.line);
  throw Error(fmt::format("instruction `{}` ({}:{}{}) is not executed: {}", now_->opcode,
                          module_.name, now_->ptx_line, source, why));
}

void Emitter::result(std::string_view type, const std::string& value) {
  line(write(operand(0), type, value));
}

// The code for a source line stays on one line: the compiler counts lines from the last #line.
void Emitter::line(const std::string& text) { text_ += " " + text; }

bool Emitter::has(std::string_view part) const {
  return std::find(now_->parts.begin(), now_->parts.end(), part) != now_->parts.end();
}

std::string Emitter::type() const { return now_->parts.back(); }

void Emitter::only(std::initializer_list<std::string_view> known) const {
  for (std::size_t i = 1; i + 1 < now_->parts.size(); ++i)
    if (std::find(known.begin(), known.end(), now_->parts[i]) == known.end())
      refuse("." + now_->parts[i] + " is not known here");
}

void Emitter::only_parts(std::initializer_list<std::string_view> known) const {
  for (const std::string& part : now_->parts)
    if (std::find(known.begin(), known.end(), part) == known.end())
      refuse("." + part + " is not known here");
}

std::string Emitter::round() const {
  if (has("rz") || has("rzi")) return "zero";
  if (has("rm") || has("rmi")) return "down";
  if (has("rp") || has("rpi")) return "up";
  return "nearest";
}

} // namespace kg::ptx_run
