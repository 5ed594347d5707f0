// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/rewrite/architecture.h"

#include <algorithm>
#include <string>

namespace kg::rewrite {
namespace {

constexpr std::string_view kMacro = "__CUDA_ARCH__";
constexpr std::string_view kOurs = "KERNELGRADE_CUDA_ARCH";

constexpr const char* kPassesDiffer =
    "Kernelgrade: __CUDA_ARCH__ decides differently for the host and for the device here, and the "
    "CPU emulator compiles both at once. Put the device's part into a function that is only "
    "__device__ (not by a macro), or write #ifdef KERNELGRADE_HOST with what suits both before it";
constexpr const char* kMacroDiffers =
    "Kernelgrade: this macro depends on __CUDA_ARCH__, and is another one for the host than for "
    "the "
    "device; the CPU emulator compiles both at once. Use it in __global__ and __device__ functions "
    "only";
constexpr const char* kDiffers = "KG_PASSES_DIFFER_ON_"; // followed by the macro's name

bool mentions(const Tokens& tokens) {
  return std::any_of(tokens.begin(), tokens.end(),
                     [](const Token& token) { return token.is(kMacro); });
}

// A condition in the form for #if. kOurs is defined, like CUDA's macro in the device pass.
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
    if (open.empty()) continue; // an error that the preprocessor reports
    open.back().push_back(&conditional);
    if (!conditional.closes()) continue;
    done.push_back(std::move(open.back()));
    open.pop_back();
  }
  return done;
}

// An expression: whether the passes take different branches of the chain, from branch `i` on.
std::string passes_differ(std::string_view file, const Chain& chain, std::size_t i = 0) {
  if (i == chain.size() || chain[i]->condition.empty()) return "0"; // #else, #endif
  const std::string host = "!(" + condition(file, *chain[i], false) + ")";
  const std::string later = "(" + host + " && " + passes_differ(file, chain, i + 1) + ")";
  if (!mentions(chain[i]->condition)) return later;
  return "(" + host + " != !(" + condition(file, *chain[i], true) + ") || " + later + ")";
}

// Whether `[i, end)` contains only device functions. The host pass's version of them does not
// matter.
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

// Whether a header has the same declarations in both passes.
bool of_cuda(std::string_view name) {
  for (const std::string_view header : {"<cuda/", "<cuda_", "<cooperative_groups", "<mma.h>"}) {
    if (name.substr(0, header.size()) == header) return true;
  }
  return false;
}

class Architecture {
 public:
  Architecture(std::string_view text, const Source& source, const Scopes& scopes,
               PassMacros& macros, Edits& edits)
      : text_(text), source_(source), scopes_(scopes), macros_(macros), edits_(edits),
        chains_(chains_of(source)) {}

  void run() {
    collect();
    for (const Chain& chain : chains_) {
      if (in_device_code(chain)) {
        for (const Conditional* branch : chain) replace(branch->condition);
        continue;
      }
      if (asks(chain) && for_device_alone(chain)) {
        for (const Conditional* branch : chain) replace(branch->condition);
        note_difference(chain);
      } else if (asks(chain)) {
        insert(chain.front()->begin, "#if " + passes_differ(text_, chain), kPassesDiffer);
      }
      std::set<std::string> used;
      for (const Conditional* branch : chain) add_bases(branch->condition, used);
      if (!used.empty()) insert(chain.front()->begin, "#if " + any_differs(used), kMacroDiffers);
    }
    for (const Macro& macro : source_.macros) {
      if (!mentions(macro.body)) continue;
      replace(macro.body);
      insert(macro.begin, "#define " + (kDiffers + std::string(macro.name)));
    }
    code();
  }

 private:
  // --- Macros that may differ

  void collect() {
    for (const Chain& chain : chains_) {
      if (in_device_code(chain) || !asks(chain) || !for_device_alone(chain)) continue;
      for (const Macro* macro : macros_in(chain)) add(*macro, {std::string(macro->name)});
    }
    for (const Macro& macro : source_.macros) {
      if (mentions(macro.body)) add(macro, {std::string(macro.name)});
    }
    for (bool grown = true; grown;) {
      grown = false;
      for (const Macro& macro : source_.macros) {
        std::set<std::string> used;
        add_bases(macro.body, used);
        grown |= add(macro, used);
      }
    }
  }
  bool add(const Macro& macro, const std::set<std::string>& bases) {
    if (bases.empty()) return false;
    std::set<std::string>& known = macros_[std::string(macro.name)];
    const std::size_t before = known.size();
    known.insert(bases.begin(), bases.end());
    return known.size() > before;
  }
  void add_bases(const Token& token, std::set<std::string>& bases) const {
    if (token.kind != Kind::identifier) return;
    if (const auto found = macros_.find(token.text); found != macros_.end())
      bases.insert(found->second.begin(), found->second.end());
  }
  void add_bases(const Tokens& tokens, std::set<std::string>& bases) const {
    for (const Token& token : tokens) add_bases(token, bases);
  }
  static std::string any_differs(const std::set<std::string>& bases) {
    std::string condition;
    for (const std::string& base : bases)
      condition += (condition.empty() ? "defined(" : " || defined(") + (kDiffers + base) + ")";
    return condition;
  }

  // --- Conditionals

  static bool asks(const Chain& chain) {
    return std::any_of(chain.begin(), chain.end(),
                       [](const Conditional* branch) { return mentions(branch->condition); });
  }
  bool in_device_code(const Chain& chain) const {
    const std::size_t next = token_at(source_.code, chain.front()->begin);
    return scopes_.balanced && scopes_.before[next] == Scope::device;
  }
  std::vector<const Macro*> macros_in(const Chain& chain) const {
    std::vector<const Macro*> inside;
    for (const Macro& macro : source_.macros) {
      if (macro.begin > chain.front()->end && macro.begin < chain.back()->begin)
        inside.push_back(&macro);
    }
    return inside;
  }
  // Whether the chain contains only device functions, macros, and CUDA's headers.
  bool for_device_alone(const Chain& chain) const {
    const std::size_t begin = chain.front()->end, end = chain.back()->begin;
    return scopes_.balanced &&
           std::none_of(source_.includes.begin(), source_.includes.end(),
                        [&](const Include& include) {
                          return include.begin > begin && include.begin < end &&
                                 !of_cuda(include.name);
                        }) &&
           only_device_functions(source_.code, token_at(source_.code, begin),
                                 token_at(source_.code, end));
  }
  void note_difference(const Chain& chain) {
    std::string notes;
    for (const Macro* macro : macros_in(chain))
      notes += "\n#define " + (kDiffers + std::string(macro->name));
    if (!notes.empty())
      insert(chain.front()->begin, "#if " + passes_differ(text_, chain) + notes + "\n#endif");
  }

  // --- Code

  void code() {
    const Tokens& tokens = source_.code;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].is("__launch_bounds__")) i = closing(tokens, i + 1); // no effect on a CPU
      if (i >= tokens.size()) return;
      if (scopes_.balanced && scopes_.of[i] == Scope::device) {
        if (tokens[i].is(kMacro)) replace(tokens[i]);
        continue;
      }
      std::set<std::string> used;
      add_bases(tokens[i], used);
      if (!used.empty()) insert(tokens[i].begin, "\n#if " + any_differs(used), kMacroDiffers);
    }
  }

  // --- Edits

  void replace(const Token& token) {
    edits_.push_back({token.begin, token.end(), std::string(kOurs)});
  }
  void replace(const Tokens& tokens) {
    for (const Token& token : tokens) {
      if (token.is(kMacro)) replace(token);
    }
  }
  // Each inserted line says which source line it stands for.
  void insert(std::size_t offset, const std::string& lines) {
    edits_.push_back({offset, offset, lines + "\n" + line(offset)});
  }
  void insert(std::size_t offset, const std::string& condition, const char* error) {
    insert(offset, condition + "\n" + line(offset) + "#error " + error + "\n#endif");
  }
  std::string line(std::size_t offset) const {
    return "#line " + std::to_string(line_of(text_, offset)) + "\n";
  }

  std::string_view text_;
  const Source& source_;
  const Scopes& scopes_;
  PassMacros& macros_;
  Edits& edits_;
  const std::vector<Chain> chains_;
};

} // namespace

void rewrite_architecture(std::string_view text, const Source& source, const Scopes& scopes,
                          PassMacros& macros, Edits& edits) {
  Architecture(text, source, scopes, macros, edits).run();
}

} // namespace kg::rewrite
