// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/rereads.h"

#include "perf/code/sass/pipes.h"
#include "perf/code/sass/registers.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

namespace kg::sass {
namespace {

// General registers by number, uniform ones by name: "R4", "UR8".
struct Names {
  std::set<std::string> read, written;
};

// "desc[UR8][R4.64]", "UR6": uniform registers, which registers_of ignores.
std::vector<std::string> uniform_in(const std::string& operand) {
  std::vector<std::string> found;
  for (std::size_t at = operand.find("UR"); at != operand.npos; at = operand.find("UR", at + 2)) {
    std::size_t end = at + 2;
    while (end < operand.size() && std::isdigit(static_cast<unsigned char>(operand[end])) != 0)
      ++end;
    if (end == at + 2) continue; // URZ
    const int number = std::stoi(operand.substr(at + 2, end - at - 2));
    found.push_back("UR" + std::to_string(number));
    if (operand.compare(end, 3, ".64") == 0) found.push_back("UR" + std::to_string(number + 1));
  }
  return found;
}

Names names_of(const Instruction& one) {
  Names names;
  const Registers registers = registers_of(one);
  for (const int number : registers.read) names.read.insert("R" + std::to_string(number));
  for (const int number : registers.written) names.written.insert("R" + std::to_string(number));
  names.written.insert(registers.predicates.begin(), registers.predicates.end());
  for (std::size_t i = 0; i < one.operands.size(); ++i) {
    const bool result = i == 0 && one.operands[0].starts_with("UR");
    for (const std::string& uniform : uniform_in(one.operands[i])) {
      (result ? names.written : names.read).insert(uniform);
      // Wide ones are pairs, which the modifiers do not show for every opcode.
      if (result && (one.has("64") || one.has("WIDE")))
        names.written.insert("UR" + std::to_string(std::stoi(uniform.substr(2)) + 1));
    }
  }
  return names;
}

bool share(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& one) { return b.count(one) != 0; });
}

bool is_global_load(const Instruction& one) {
  return space_of(one) == Space::global && is_load(one) && !one.opcode.starts_with("ATOM");
}

} // namespace

std::vector<bool> rereads_of(const std::vector<Instruction>& path) {
  std::vector<Names> all;
  for (const Instruction& one : path) all.push_back(names_of(one));
  std::vector<bool> found(path.size());
  // Finds loop-carried registers and everything computed from them, up to a fixed point.
  std::set<std::string> varies, written;
  for (const Names& names : all) written.insert(names.written.begin(), names.written.end());
  std::set<std::string> before;
  for (const Names& names : all) {
    for (const std::string& one : names.read)
      if (before.count(one) == 0 && written.count(one) != 0) varies.insert(one);
    before.insert(names.written.begin(), names.written.end());
  }
  // Registers are reused for other values, so those varying at the end of an iteration are carried.
  std::set<std::string> carried = varies, last;
  do {
    last = carried;
    varies = carried;
    for (std::size_t i = 0; i < path.size(); ++i) {
      const bool differs = share(all[i].read, varies) || space_of(path[i]) != Space::none;
      found[i] = is_global_load(path[i]) && !share(all[i].read, varies);
      for (const std::string& one : all[i].written) {
        if (differs)
          varies.insert(one);
        else if (path[i].guard.empty())
          varies.erase(one);
      }
    }
    carried.insert(varies.begin(), varies.end());
  } while (carried != last);
  return found;
}

} // namespace kg::sass
