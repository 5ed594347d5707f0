// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "foreign/rewrite/architecture.h"

#include <algorithm>
#include <string>

namespace kg::rewrite {
namespace {

constexpr std::string_view kMacro = "__CUDA_ARCH__";
constexpr std::string_view kOurs = "KERNELGRADE_CUDA_ARCH";

constexpr const char* kPassesDiffer =
    "Kernelgrade: __CUDA_ARCH__ decides differently for the host and for the device here, and the "
    "host backend compiles both at once. Put the device's part into a function that is only "
    "__device__ (not by a macro), or write #ifdef KERNELGRADE_HOST with what suits both before it";
constexpr const char* kInMacro =
    "Kernelgrade: a macro that contains __CUDA_ARCH__ has another value in device code than "
    "elsewhere, and the host backend compiles both at once. Write __CUDA_ARCH__ where the macro is "
    "used";

bool mentions(const Tokens& tokens) {
  return std::any_of(tokens.begin(), tokens.end(),
                     [](const Token& token) { return token.is(kMacro); });
}

// A condition as #if takes it. Our macro is defined, as CUDA's is in the device's pass.
std::string condition(std::string_view file, const Conditional& conditional, bool device) {
  std::string text;
  std::size_t done = conditional.condition.front().begin;
  for (const Token& token : conditional.condition) {
    text += file.substr(done, token.begin - done);
    text += device && token.is(kMacro) ? kOurs : token.text;
    done = token.end();
  }
  const std::string_view keyword = conditional.keyword;
  if (keyword == "ifdef" || keyword == "elifdef") return "defined(" + text + ")";
  if (keyword == "ifndef" || keyword == "elifndef") return "!defined(" + text + ")";
  return text;
}

// An #if with its #elif, #else and #endif.
using Chain = std::vector<const Conditional*>;

std::vector<Chain> chains_of(const Source& source) {
  std::vector<Chain> done, open;
  for (const Conditional& conditional : source.conditionals) {
    if (conditional.opens()) open.emplace_back();
    if (open.empty()) continue; // an error of the preprocessor's
    open.back().push_back(&conditional);
    if (!conditional.closes()) continue;
    done.push_back(std::move(open.back()));
    open.pop_back();
  }
  return done;
}

// Whether the passes take different branches of the chain, from its `i`th on: an expression.
std::string passes_differ(std::string_view file, const Chain& chain, std::size_t i = 0) {
  if (i == chain.size() || chain[i]->condition.empty()) return "0"; // #else, #endif
  const std::string host = "!(" + condition(file, *chain[i], false) + ")";
  const std::string later = "(" + host + " && " + passes_differ(file, chain, i + 1) + ")";
  if (!mentions(chain[i]->condition)) return later;
  return "(" + host + " != !(" + condition(file, *chain[i], true) + ") || " + later + ")";
}

// Whether `[i, end)` are functions for the device alone: what the host's pass makes of them does
// not matter.
bool only_device_functions(const Tokens& tokens, std::size_t i, std::size_t end) {
  while (i < end) {
    bool device = false, host = false, function = false;
    for (bool ended = false; !ended; ++i) {
      if (i >= end) return false;
      const Token& token = tokens[i];
      device |= token.is("__device__") || token.is("__global__");
      host |= token.is("__host__") || (token.is("=") && !function);
      function |= token.is("(");
      ended = token.is(";") || token.is("{");
      if (token.is("(") || token.is("[") || token.is("{")) i = closing(tokens, i);
    }
    if (!device || host || !function) return false;
  }
  return true;
}

class Architecture {
 public:
  Architecture(std::string_view text, const Source& source, const Scopes& scopes, Edits& edits)
      : text_(text), source_(source), scopes_(scopes), edits_(edits) {}

  void run() {
    for (const Chain& chain : chains_of(source_)) {
      const bool asks = std::any_of(chain.begin(), chain.end(), [](const Conditional* branch) {
        return mentions(branch->condition);
      });
      if (!asks) continue;
      if (in_device_code(chain) || holds_device_functions(chain)) {
        for (const Conditional* branch : chain) replace(branch->condition);
      } else {
        insert_error(chain.front()->begin, "#if " + passes_differ(text_, chain) + "\n",
                     kPassesDiffer, "#endif\n");
      }
    }
    for (const Macro& macro : source_.macros) {
      if (mentions(macro.body)) insert_error(macro.begin, "", kInMacro, "");
    }
    for (std::size_t i = 0; i < source_.code.size(); ++i) {
      if (source_.code[i].is(kMacro) && scopes_.of[i] == Scope::device) replace(source_.code[i]);
    }
  }

 private:
  bool in_device_code(const Chain& chain) const {
    const std::size_t next = token_at(source_.code, chain.front()->begin);
    return scopes_.balanced && scopes_.before[next] == Scope::device;
  }
  bool holds_device_functions(const Chain& chain) const {
    const std::size_t begin = chain.front()->end, end = chain.back()->begin;
    const auto inside = [&](const auto& directive) {
      return directive.begin > begin && directive.begin < end;
    };
    return scopes_.balanced && std::none_of(source_.macros.begin(), source_.macros.end(), inside) &&
           std::none_of(source_.includes.begin(), source_.includes.end(), inside) &&
           only_device_functions(source_.code, token_at(source_.code, begin),
                                 token_at(source_.code, end));
  }

  void replace(const Token& token) {
    edits_.push_back({token.begin, token.end(), std::string(kOurs)});
  }
  void replace(const Tokens& tokens) {
    for (const Token& token : tokens) {
      if (token.is(kMacro)) replace(token);
    }
  }

  // Of the lines that are added each says which one it stands for.
  void insert_error(std::size_t offset, const std::string& before, const char* message,
                    const char* after) {
    const auto line = "#line " + std::to_string(line_of(text_, offset)) + "\n";
    edits_.push_back({offset, offset, before + line + "#error " + message + "\n" + after + line});
  }

  std::string_view text_;
  const Source& source_;
  const Scopes& scopes_;
  Edits& edits_;
};

} // namespace

void rewrite_architecture(std::string_view text, const Source& source, const Scopes& scopes,
                          Edits& edits) {
  Architecture(text, source, scopes, edits).run();
}

} // namespace kg::rewrite
