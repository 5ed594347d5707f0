// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/rewrite/record.h"

#include "runtime/host/fidelity.h"

#include <algorithm>
#include <functional>

namespace kg::rewrite {
namespace {

std::string as_literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

class Recorder {
 public:
  Recorder(const Tokens& tokens, Edits& edits) : tokens_(tokens), edits_(edits) {}

  // The definition of a kernel, starting at its __global__.
  void kernel(std::size_t global, const std::string& file, std::string_view text) {
    std::size_t i = global + 1, name = tokens_.size();
    for (; i < tokens_.size() && !at(i, "{") && !at(i, ";") && !at(i, "}"); ++i) {
      if (!at(i, "(")) continue;
      if (name == tokens_.size() && !attribute(i - 1)) name = name_before(i);
      i = closing(tokens_, i);
    }
    if (!at(i, "{") || name >= tokens_.size()) return; // a declaration, or not understood
    const std::size_t end = closing(tokens_, i);
    if (end == tokens_.size()) return;
    const std::string line = std::to_string(line_of(text, tokens_[name].begin));
    const std::string place = as_literal(file) + ", " + line;
    insert_behind(i, " static ::kg::foreign::KernelRun kg_run{" + place +
                         "}; ::kg::foreign::begins(kg_run);");
    const std::string word =
        "kg_kernel_" + std::to_string(std::hash<std::string>{}(file)) + "_" + std::to_string(name);
    insert_behind(end, " [[maybe_unused]] static const ::kg::foreign::KernelDefinition " + word +
                           "{" + as_literal(tokens_[name].text) + ", " + place + "};");
  }

  void call(std::size_t i, bool device_code) {
    if (!at(i + 1, "(")) return;
    const std::string_view name = tokens_[i].text;
    const std::size_t place = host::inexact(name);
    // A macro may be used in any code. Only names with this prefix are certain to be CUDA's.
    if (place == host::kInexact.size() || (!device_code && !name.starts_with("__"))) return;
    std::size_t first = i;
    if (first > 0 && at(first - 1, "::")) {
      --first;
      if (first > 0 && at(first - 1, "std")) --first;
    }
    if (first > 0 && (at(first - 1, ".") || at(first - 1, "->") || at(first - 1, "::") ||
                      (tokens_[first - 1].kind == Kind::identifier && !keyword(first - 1))))
      return; // a member, a function of the same name, or a declaration
    const std::size_t close = closing(tokens_, i + 1);
    if (close == tokens_.size()) return;
    edits_.push_back({tokens_[first].begin, tokens_[first].begin,
                      "(::kg::foreign::inexact_call<" + std::to_string(place) + ">(), "});
    insert_behind(close, ")");
  }

 private:
  bool at(std::size_t i, std::string_view what) const {
    return i < tokens_.size() && tokens_[i].is(what);
  }
  bool keyword(std::size_t i) const {
    for (const char* word : {"return", "else", "do", "case", "co_return"})
      if (at(i, word)) return true;
    return false;
  }
  bool attribute(std::size_t i) const {
    for (const char* word : {"__launch_bounds__", "__cluster_dims__", "__block_size__",
                             "__maxnreg__", "__attribute__", "alignas", "noexcept"})
      if (at(i, word)) return true;
    return false;
  }
  // The name before the parameters that begin at `open`. Template arguments may be in between.
  std::size_t name_before(std::size_t open) const {
    std::size_t i = open - 1;
    int depth = 0;
    for (; i > 0; --i) {
      if (at(i, ">")) ++depth;
      if (at(i, "<")) --depth;
      if (depth == 0 && !at(i, "<")) break;
    }
    return tokens_[i].kind == Kind::identifier ? i : tokens_.size();
  }
  void insert_behind(std::size_t i, std::string what) {
    edits_.push_back({tokens_[i].end(), tokens_[i].end(), std::move(what)});
  }

  const Tokens& tokens_;
  Edits& edits_;
};

} // namespace

void record_run(const std::string& file, std::string_view text, const Source& source,
                const Scopes& scopes, Edits& edits) {
  Recorder code(source.code, edits);
  for (std::size_t i = 0; i < source.code.size(); ++i) {
    if (scopes.balanced && scopes.of[i] == Scope::outside && source.code[i].is("__global__"))
      code.kernel(i, file, text);
    const Scope scope = scopes.of[i];
    if (scope == Scope::device || scope == Scope::host_device) code.call(i, true);
  }
  for (const Macro& macro : source.macros) {
    Recorder body(macro.body, edits);
    for (std::size_t i = 0; i < macro.body.size(); ++i) body.call(i, false);
  }
}

} // namespace kg::rewrite
