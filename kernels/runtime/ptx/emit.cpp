// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx/emit.h"

#include "runtime/error.h"
#include "runtime/ptx/emitter.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>

namespace kg::ptx_run {
namespace {

std::size_t rounded_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// A file of this project as "kernels/ops/gemm/gemm.cu", the same on every machine; any other file
// as the path that nvcc gives.
std::string short_name(const std::string& path) {
  const std::size_t at = path.rfind("/kernels/");
  const bool own = at != std::string::npos &&
                   std::filesystem::exists(path.substr(0, at) + "/kernels/runtime/device_code.h");
  return own ? path.substr(at + 1) : path;
}

} // namespace

Emitted emit(const Module& module, const Entry& entry, std::size_t place) {
  return Emitter(module, entry).run(fmt::format("kg_ptx_entry{}", place));
}

std::string identifier(const std::string& prefix, const std::string& name) {
  std::string result = prefix;
  for (const char c : name) result += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return result;
}

Emitted Emitter::run(const std::string& function) {
  lay_out_shared();
  clusters_ = uses_clusters();
  std::size_t at = 0;
  for (const Parameter& parameter : entry_.parameters) {
    at = rounded_up(at, std::max<std::size_t>(parameter.alignment, 1));
    names_[parameter.name] = fmt::format("(parameters + {})", at);
    at += parameter.bytes;
  }
  const std::string body = statements();
  const std::string called = functions();

  std::string text =
      "#include \"runtime/ptx/prelude.h\"\nusing namespace kg::ptx_run;\nnamespace in_" + function +
      " {\n";
  for (const auto& [index, path] : module_.files)
    text += fmt::format("static const char kFile{}[] = \"{}\";\n", index, short_name(path));
  for (const std::string& name : variables_)
    text += fmt::format("static u8* const {} = variable(\"{}\", \"{}\");\n", identifier("V_", name),
                        module_.id, name);
  if (!lines_.empty())
    text += fmt::format("static u8* const kLines = reached_lines(\"{} {}\");\n", module_.id,
                        entry_.name);
  text += called;
  text += "[[gnu::noinline]] static void body(const u8* parameters) {\n  u8* const shared = "
          "shared_base();\n" +
          body + "}\n";
  text += "\n#line 1 \"" + module_.name + "\"\n" + parameters(function) + "}\n";
  return {
      text,     function, shared_bytes_, shared_variables_, {variables_.begin(), variables_.end()},
      inexact_, lines_};
}

std::string Emitter::statements() {
  scopes_.emplace_back();
  std::string local;
  for (const Variable& variable : entry_.variables) {
    if (variable.space != "local") continue;
    const std::string name = identifier("R_", variable.name);
    local += fmt::format("  alignas({}) u8 {}[{}];\n", variable.alignment, name, variable.bytes);
    names_[variable.name] = name;
  }
  find_labels();
  follow_nans();
  follow_sums();
  follow_undefined();
  for (const Statement& each : entry_.statements) statement(each);
  return local + (carries_ ? "  [[maybe_unused]] bool carry = false;\n" : "") + text_;
}

std::string Emitter::functions() {
  std::string declarations, definitions;
  std::set<std::string> written;
  for (std::size_t before = ~std::size_t{0}; before != written.size();) {
    before = written.size();
    std::set<std::string> wanted = called_;
    wanted.insert(pointed_.begin(), pointed_.end());
    for (const std::string& name : wanted) {
      if (!written.insert(name).second) continue;
      const auto named = [&](const Entry& one) { return one.name == name; };
      Emitter callee(module_,
                     *std::find_if(module_.functions.begin(), module_.functions.end(), named));
      callee.shared_ = shared_;
      callee.clusters_ = clusters_;
      callee.lines_ = lines_;
      std::size_t place = 0;
      for (const auto* list : {&callee.entry_.results, &callee.entry_.parameters})
        for (const Parameter& parameter : *list)
          callee.names_[parameter.name] = "p" + std::to_string(place++);
      std::string body;
      try {
        body = callee.statements();
      } catch (const Error& error) { // perhaps no pointer refers to it
        if (called_.contains(name)) throw;
        body = fmt::format("  lost_call(R\"({})\", Where{{\"{}\", 0}});\n", error.what(),
                           module_.name);
      }
      declarations += callee.declaration() + ";\n";
      definitions += callee.declaration() + " {\n  static_cast<void>(shared);\n" + body + "}\n";
      variables_.insert(callee.variables_.begin(), callee.variables_.end());
      inexact_ |= callee.inexact_;
      lines_ = callee.lines_;
      auto& by_name = called_.contains(name) ? called_ : pointed_;
      by_name.insert(callee.called_.begin(), callee.called_.end());
      pointed_.insert(callee.pointed_.begin(), callee.pointed_.end());
    }
  }
  return declarations + definitions;
}

// A function takes pointers to its results and its parameters, in that order.
std::string Emitter::declaration() const {
  std::string text = "static void " + identifier("F_", entry_.name) + "(u8* shared";
  const std::size_t count = entry_.results.size() + entry_.parameters.size();
  for (std::size_t i = 0; i < count; ++i) text += ", [[maybe_unused]] u8* p" + std::to_string(i);
  return text + ")";
}

// Arguments are not device memory: uninstrumented code copies them.
std::string Emitter::parameters(const std::string& function) const {
  std::string copies;
  std::size_t at = 0, alignment = 16;
  for (std::size_t i = 0; i < entry_.parameters.size(); ++i) {
    const Parameter& parameter = entry_.parameters[i];
    at = rounded_up(at, std::max<std::size_t>(parameter.alignment, 1));
    alignment = std::max(alignment, parameter.alignment);
    copies += fmt::format("  __builtin_memcpy(parameters + {}, arguments[{}], {});\n", at, i,
                          parameter.bytes);
    at += parameter.bytes;
  }
  return fmt::format(
      "extern \"C\" __attribute__((no_sanitize(\"thread\"))) void {}(void** arguments) {{\n"
      "  alignas({}) u8 parameters[{}];\n{}  body(parameters);\n}}\n",
      function, alignment, std::max<std::size_t>(at, 1), copies);
}

// The variables of the module that this kernel or any function names, and those of the body; then
// the dynamic ones. The other variables belong to other kernels.
void Emitter::lay_out_shared() {
  std::set<std::string> named;
  const auto look_through = [&](const Entry& entry) {
    for (const Statement& each : entry.statements)
      for (const Operand& operand : each.instruction.operands)
        for_names(operand, [&](const std::string& name) { named.insert(name); });
  };
  look_through(entry_);
  for (const Entry& function : module_.functions) look_through(function);
  const auto add = [&](const Variable& variable) {
    if (variable.space != "shared" || variable.external || !named.contains(variable.name)) return;
    shared_bytes_ = rounded_up(shared_bytes_, variable.alignment);
    shared_[variable.name] = shared_bytes_;
    shared_variables_.push_back({variable.name, shared_bytes_, variable.bytes});
    shared_bytes_ += variable.bytes;
  };
  for (const Variable& variable : module_.variables) add(variable);
  for (const Variable& variable : entry_.variables) add(variable);
  const auto is_dynamic = [&](const Variable& variable) {
    return variable.space == "shared" && variable.external && named.contains(variable.name);
  };
  for (const Variable& variable : module_.variables)
    if (is_dynamic(variable) && shared_bytes_ > 0)
      shared_bytes_ = rounded_up(shared_bytes_, variable.alignment);
  for (const Variable& variable : module_.variables)
    if (is_dynamic(variable)) shared_[variable.name] = shared_bytes_;
}

// A label belongs to a scope in PTX, but to a function in C++.
void Emitter::find_labels() {
  labels_.assign(1, {});
  std::vector<std::size_t> open = {0};
  for (const Statement& each : entry_.statements) {
    if (each.kind == Statement::Kind::open_scope) {
      open.push_back(labels_.size());
      labels_.emplace_back();
    } else if (each.kind == Statement::Kind::close_scope) {
      open.pop_back();
    } else if (each.kind == Statement::Kind::label) {
      labels_[open.back()].insert(each.label);
    }
  }
}

// The visible label of this name, in the innermost scope that has one.
std::string Emitter::label(const std::string& name) const {
  for (auto scope = label_scopes_.rbegin(); scope != label_scopes_.rend(); ++scope)
    if (*scope != 0 && labels_[static_cast<std::size_t>(*scope)].contains(name))
      return identifier("R_", name) + fmt::format("_in{}", *scope);
  return identifier("R_", name);
}

void Emitter::declare(const Registers& registers) {
  const std::string suffix = scopes_.size() > 1 ? fmt::format("_{}", scopes_opened_) : "";
  std::string list, origins, cleared;
  const auto add = [&](const std::string& name) {
    const std::string variable = identifier("R_", name) + suffix;
    if (undefined_.contains(name)) { // assigned, because a label may be in between
      origins += (origins.empty() ? "U" : ", U") + variable;
      cleared += fmt::format(" U{} = 0;", variable);
    }
    scopes_.back()[name] = {registers.type, variable};
    list += (list.empty() ? "" : ", ") + variable;
  };
  if (registers.count == 0) {
    add(registers.name);
  } else {
    for (int i = 0; i < registers.count; ++i) add(registers.name + std::to_string(i));
  }
  line(cpp_type(registers.type) + " " + list + ";");
  if (!origins.empty()) line("u32 " + origins + ";" + cleared);
}

void Emitter::declare(const Parameter& parameter) {
  const std::string name = fmt::format("P{}", temporaries_++);
  line(fmt::format("alignas(16) u8 {}[{}];", name, std::max<std::size_t>(parameter.bytes, 1)));
  names_[parameter.name] = name;
  argument_bytes_[parameter.name] = parameter.bytes;
}

void Emitter::statement(const Statement& statement) {
  if (statement.kind != Statement::Kind::instruction) products_.clear();
  switch (statement.kind) {
  case Statement::Kind::open_scope:
    scopes_.emplace_back();
    label_scopes_.push_back(++scopes_opened_);
    line("{");
    return;
  case Statement::Kind::close_scope:
    scopes_.pop_back();
    label_scopes_.pop_back();
    line("}");
    return;
  case Statement::Kind::registers: declare(statement.registers); return;
  case Statement::Kind::parameter: declare(statement.parameter); return;
  case Statement::Kind::label:
    marked_ = {};
    line(label(statement.label) + ":;");
    return;
  case Statement::Kind::instruction: dispatch(statement.instruction); return;
  }
}

void Emitter::place(const Instruction& instruction) {
  const Place place = module_.named(instruction.place);
  const auto file = module_.files.find(place.file);
  const std::string directive =
      file == module_.files.end()
          ? fmt::format("\n#line {} \"{}\"\n", instruction.ptx_line, module_.name)
          : fmt::format("\n#line {} \"{}\"\n", place.line, short_name(file->second));
  if (directive != place_) text_ += directive;
  place_ = directive;
}

void Emitter::dispatch(const Instruction& instruction) {
  now_ = &instruction;
  place(instruction);
  const std::string& family = instruction.parts[0];
  std::string guard;
  if (!instruction.guard.empty()) {
    const Register* const found = find(instruction.guard);
    if (!found) refuse("its predicate is not known");
    use_undefined(instruction.guard, "branches on");
    guard = fmt::format("if ({}{}) ", instruction.guard_negated ? "!" : "", found->variable);
  }
  if (family == "bra" || guard.empty()) mark_line();
  if (family == "bra") {
    marked_ = {};
    line(fmt::format("{}goto {};", guard, label(operand(0).text)));
    return;
  }
  if (!guard.empty()) {
    line(guard + "{");
    mark_line();
    marked_ = {};
  }
  read_.clear();
  written_.clear();
  const std::size_t begin = text_.size();
  const bool known = carrying() || integer() || bits() || floating() || half() || approximate() ||
                     comparing() || converting() || moving() || cluster() || memory() || bulk() ||
                     asynchronous() || atomic() || control() || mbarrier() || call() || warp() ||
                     matrices() || wgmma();
  if (!known)
    refuse(family == "tcgen05" ? "compile the kernel for sm_80 or sm_90a as well"
                               : "the PTX emulator does not support it");
  hand_on_undefined(begin);
  if (!guard.empty()) line("}");
}

} // namespace kg::ptx_run
