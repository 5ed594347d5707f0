// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Under the checkers, a register that may hold an undefined value has a second variable: the origin
// of its value (runtime/host/undefined_values.h), 0 if the value is defined. Arithmetic passes the
// origin on, for any operands. `and` and `or` drop it if the other operand alone decides, and
// `selp` takes that of the chosen operand. Branches, addresses, stores to global memory, and
// anything that other threads see are uses. Registers that depend on no load and no shuffle
// cost nothing.
#include "runtime/host/undefined_values.h"
#include "runtime/ptx/emitter.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kg::ptx_run {
namespace {

// Whether the result is defined for all operands, because undefined operands are reported here.
bool ends_here(const Instruction& instruction) {
  return is_one_of(instruction.parts[0],
                   {"st",    "bra",      "atom",      "red",      "cp",           "vote",
                    "match", "redux",    "elect",     "bar",      "barrier",      "mbarrier",
                    "mma",   "wgmma",    "ldmatrix",  "stmatrix", "call",         "activemask",
                    "tex",   "prefetch", "prefetchu", "discard",  "applypriority"});
}

} // namespace

bool Emitter::is_argument(const Operand& operand) const {
  const auto named = [&](const auto& one) { return one.name == operand.text; };
  const bool kernel = std::none_of(module_.functions.begin(), module_.functions.end(),
                                   [&](const Entry& one) { return one.name == entry_.name; });
  return kernel && std::any_of(entry_.parameters.begin(), entry_.parameters.end(), named);
}

void Emitter::follow_undefined() {
  if (!host::undefined_values) return;
  for (bool more = true; more;) {
    more = false;
    for (const Statement& each : entry_.statements) {
      const Instruction& instruction = each.instruction;
      if (each.kind != Statement::Kind::instruction || instruction.operands.size() < 2 ||
          ends_here(instruction))
        continue;
      const auto has_part = [&](const char* part) {
        return std::find(instruction.parts.begin(), instruction.parts.end(), part) !=
               instruction.parts.end();
      };
      bool from = instruction.parts[0] == "ld" && !has_part("const") &&
                  !is_argument(instruction.operands[1]);
      from |= instruction.parts[0] == "shfl"; // the source lane may take no part
      for (std::size_t i = 1; i < instruction.operands.size() && instruction.parts[0] != "ld"; ++i)
        for_names(instruction.operands[i],
                  [&](const std::string& name) { from |= undefined_.contains(name); });
      if (!from) continue;
      for_names(instruction.operands[0], [&](const std::string& name) {
        if (!name.empty() && name != "_") more |= undefined_.insert(name).second;
      });
    }
  }
}

std::string Emitter::origin_of(const std::string& name) const {
  const Register* const found = undefined_.contains(name) ? find(name) : nullptr;
  return found ? "U" + found->variable : "";
}

void Emitter::use_undefined(const std::string& name, const std::string& how) {
  if (const std::string origin = origin_of(name); !origin.empty())
    line(fmt::format("if ({0}) undefined_used({0}, \"{1}\");", origin, how));
}

// The origin of the current instruction's result, from the origins of its operands, as C++.
std::string Emitter::joined_origin(const std::vector<std::string>& origins) {
  const std::string& family = now_->parts[0];
  const auto of = [&](std::size_t i) {
    const std::string origin = origin_of(operand(i).text);
    return origin.empty() ? "0u" : origin;
  };
  const std::string type = this->type();
  if (family == "selp") {
    const std::string chosen = fmt::format("({} ? {} : {})", predicate(operand(3)), of(1), of(2));
    return of(3) == "0u" ? chosen : fmt::format("({} ?: {})", of(3), chosen);
  }
  if (family == "and" || family == "or") {
    // A zero alone decides `and`, and all ones decide `or`.
    const auto decides = [&](std::size_t i) {
      const std::string value = read(operand(i), type);
      if (family == "and") return fmt::format("{} == 0", value);
      return type == "pred" ? value
                            : fmt::format("static_cast<{}>(~{}) == 0", cpp_type(type), value);
    };
    return fmt::format("decided({}, {}, {}, {})", of(1), decides(1), of(2), decides(2));
  }
  return fmt::format("{}", fmt::join(origins, " ?: "));
}

// For the instruction whose text begins at `begin`.
void Emitter::hand_on_undefined(std::size_t begin) {
  if (undefined_.empty()) return;
  const std::string& family = now_->parts[0];
  const auto insert = [&](const std::string& text) { text_.insert(begin, " " + text); };
  const std::vector<std::string> read = std::move(read_), written = std::move(written_);
  std::vector<std::string> from, to;
  const auto add = [&](std::vector<std::string>& list, const std::string& name) {
    const std::string origin = origin_of(name);
    if (!origin.empty() && std::find(list.begin(), list.end(), origin) == list.end())
      list.push_back(origin);
  };
  for (const std::string& name : read) add(from, name);
  for (const std::string& name : written) add(to, name);
  if (family == "ld") return loaded_undefined(begin);
  if (family == "st") return store_undefined();
  if (family == "ldmatrix") line("loaded_origin(nullptr, 0);"); // reports undefined values itself
  if (family == "shfl") return;                                 // emit_control.cpp does it
  if (ends_here(*now_) || to.empty()) {
    for (const std::string& origin : from)
      insert(fmt::format("if ({0}) undefined_used({0}, \"passes to {1}\");", origin, family));
    from.clear();
  }
  if (to.empty()) return;
  const std::string origin = from.empty() ? "0" : joined_origin(from);
  insert(to.size() == 1
             ? fmt::format("{} = {};", to[0], origin)
             : fmt::format("{{ const u32 o = {}; {} = o; }}", origin, fmt::join(to, " = ")));
}

void Emitter::loaded_undefined(std::size_t begin) {
  const Operand& target = operand(0);
  std::vector<std::string> parts{target.text};
  if (target.kind == Operand::Kind::vector) {
    parts.clear();
    for (const Operand& part : target.parts) parts.push_back(part.text);
  }
  const std::size_t bytes = size_of(type());
  const bool defined = is_argument(operand(1)) || has("const");
  const std::string at = fmt::format("at{}", temporaries_++);
  std::string origins;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string origin = origin_of(parts[i]);
    if (origin.empty()) continue;
    origins += defined
                   ? fmt::format(" {} = 0;", origin)
                   : fmt::format(" {} = loaded_origin({} + {}, {});", origin, at, i * bytes, bytes);
  }
  if (origins.empty()) return;
  // The load may overwrite the register that holds the address.
  text_.insert(begin, fmt::format(" {{ const u8* const {} = {};", at, last_address_));
  line(origins + " }");
}

void Emitter::store_undefined() {
  const Operand& source = operand(1);
  std::vector<std::string> parts{source.text};
  if (source.kind == Operand::Kind::vector) {
    parts.clear();
    for (const Operand& part : source.parts) parts.push_back(part.text);
  }
  const std::size_t bytes = size_of(type());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string origin = origin_of(parts[i]);
    // The checkers do not see a write to a variable whose address is not passed on.
    if (!origin.empty() || has("param") || has("local"))
      line(fmt::format("{}origin_stored({} + {}, {}, {});",
                       has("param") || has("local") ? "" : fmt::format("if ({}) ", origin),
                       last_address_, i * bytes, bytes, origin.empty() ? "0" : origin));
  }
}

} // namespace kg::ptx_run
