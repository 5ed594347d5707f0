// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls of functions that nvcc did not inline (PTX ISA, "Control Flow Instructions: call"), and of
// functions in CUDA's device runtime.
#include "runtime/ptx/emitter.h"

#include <algorithm>
#include <fmt/format.h>

namespace kg::ptx_run {

Emitter::Arguments Emitter::arguments() {
  Arguments all;
  bool results = true; // they come before the function
  for (const Operand& operand : now_->operands) {
    if (operand.kind != Operand::Kind::vector) results = false;
    for (const Operand& part : operand.parts) {
      const std::string place = variable(part.text);
      const auto bytes = argument_bytes_.find(part.text);
      if (place.empty() || bytes == argument_bytes_.end())
        refuse("its argument " + part.text + " is not known");
      all.places.push_back(place);
      all.list += ", " + place;
      (results ? all.results : all.parameters).push_back(bytes->second);
    }
  }
  return all;
}

// The function is one of the module's with results and parameters of the same sizes; its address is
// known (variables.h). The prototype, which follows the parameters, says no more than these sizes.
void Emitter::call_by_pointer(const Operand& pointer, const Arguments& arguments) {
  const auto as_wide = [](const std::vector<Parameter>& list, const std::vector<std::size_t>& as) {
    return std::equal(list.begin(), list.end(), as.begin(), as.end(),
                      [](const Parameter& one, std::size_t bytes) { return one.bytes == bytes; });
  };
  const std::string to = fmt::format("to{}", temporaries_++);
  use_undefined(pointer.text, "calls a function by");
  std::string text = fmt::format("{{ const u64 {} = {}; ", to, read(pointer, "u64"));
  for (const Entry& each : module_.functions) {
    if (!as_wide(each.results, arguments.results) ||
        !as_wide(each.parameters, arguments.parameters))
      continue;
    pointed_.insert(each.name);
    text += fmt::format("if ({} == reinterpret_cast<u64>({})) {}(shared{}); else ", to,
                        variable(each.name), identifier("F_", each.name), arguments.list);
  }
  line(text + fmt::format("lost_call(\"the pointer names no function of the module with such "
                          "parameters\", {}); }}",
                          where()));
}

bool Emitter::call() {
  if (now_->parts[0] != "call") return false;
  const auto is_list = [](const Operand& one) { return one.kind == Operand::Kind::vector; };
  const auto function = std::find_if_not(now_->operands.begin(), now_->operands.end(), is_list);
  if (function == now_->operands.end()) refuse("it names no function");
  const std::string& name = function->text;
  const Arguments given = arguments();
  const std::vector<std::size_t>& parameters = given.parameters;
  if (find(name) != nullptr) {
    call_by_pointer(*function, given);
  } else if (name == "vprintf" && parameters.size() == 2) {
    line(fmt::format("memory<u32>({}) = print(memory<const char*>({}), memory<const u8*>({}));",
                     given.places[0], given.places[1], given.places[2]));
  } else if (name == "malloc" && parameters.size() == 1) {
    line(fmt::format("memory<u64>({}) = heap_malloc(memory<u64>({}));", given.places[0],
                     given.places[1]));
  } else if (name == "free" && parameters.size() == 1) {
    line(fmt::format("heap_free(memory<u64>({}));", given.places[0]));
  } else if (name == "__assertfail" && parameters.size() == 5) {
    line(fmt::format("assertion_failed(memory<const char*>({}), memory<const char*>({}), "
                     "memory<u32>({}), {});",
                     given.places[0], given.places[1], given.places[2], where()));
  } else {
    const auto named = [&](const Entry& one) { return one.name == name; };
    if (std::none_of(module_.functions.begin(), module_.functions.end(), named))
      refuse("the module has no function " + name);
    called_.insert(name);
    line(fmt::format("{}(shared{});", identifier("F_", name), given.list));
  }
  return true;
}

} // namespace kg::ptx_run
