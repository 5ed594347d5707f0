// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls of functions that nvcc did not inline (PTX ISA, "Control Flow Instructions: call"), and of
// those that CUDA's device runtime has.
#include "runtime/ptx/emitter.h"

#include <algorithm>
#include <fmt/format.h>

namespace kg::ptx_run {

bool Emitter::call() {
  if (now_->parts[0] != "call") return false;
  std::vector<std::string> places; // of results, then of parameters
  std::string name;
  for (const Operand& operand : now_->operands) {
    if (operand.kind != Operand::Kind::vector) {
      if (!name.empty() || operand.text.starts_with("%"))
        refuse("a call through a pointer is not executed");
      name = operand.text;
      continue;
    }
    for (const Operand& part : operand.parts) {
      const std::string place = variable(part.text);
      if (place.empty()) refuse("its argument " + part.text + " is not known");
      places.push_back(place);
    }
  }
  const auto pointer = [&](std::size_t i) {
    return fmt::format("memory<const char*>({})", places.at(i));
  };
  if (name == "vprintf" && places.size() == 3) {
    line(fmt::format("memory<u32>({}) = print({}, memory<const u8*>({}));", places[0], pointer(1),
                     places[2]));
  } else if (name == "__assertfail" && places.size() == 5) {
    line(fmt::format("assertion_failed({}, {}, memory<u32>({}), {});", pointer(0), pointer(1),
                     places[2], where()));
  } else {
    const auto named = [&](const Entry& one) { return one.name == name; };
    if (std::none_of(module_.functions.begin(), module_.functions.end(), named))
      refuse("the module has no function " + name);
    called_.insert(name);
    std::string arguments = "shared";
    for (const std::string& place : places) arguments += ", " + place;
    line(fmt::format("{}({});", identifier("F_", name), arguments));
  }
  return true;
}

} // namespace kg::ptx_run
