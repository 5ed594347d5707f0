// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/rewrite/rewrite.h"
#include "cuda/source/rewrite/record.h"

#include "cuda/source/rewrite/edits.h"
#include "cuda/source/rewrite/scopes.h"

#include <algorithm>
#include <utility>

namespace kg::rewrite {
namespace {

bool opens_bracket(const Token& token) { return token.is("(") || token.is("[") || token.is("{"); }

// Rewrites one sequence of tokens: the code of a file, or the body of a macro.
class Rewriter {
 public:
  Rewriter(const std::string& file, std::string_view text, const Tokens& tokens,
           std::vector<Scope> scopes, bool macro, Edits& edits)
      : file_(file), text_(text), tokens_(tokens), scopes_(std::move(scopes)), macro_(macro),
        edits_(edits) {}

  void run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind == Kind::literal) continue;
      if (at(i, "<<<") && !at(i - 1, "operator")) launch(i, i);
      if (at(i, "<<") && at(i + 1, "<")) launch(i, i + 1); // nvcc accepts the space
      if (at(i, "__shared__")) shared(i);
      if (at(i, "asm") || at(i, "__asm") || at(i, "__asm__")) assembly(i);
      if (at(i, "new") || at(i, "malloc") || at(i, "free") || at(i, "delete")) heap(i);
      if (at(i, "__noinline__") && !at(i - 1, "(") && !at(i - 1, ","))
        replace(i, i, "__attribute__((noinline))");
      if (at(i, "cudaLaunchKernel") || at(i, "cudaLaunchCooperativeKernel")) untyped_kernel(i + 1);
      if (at(i, "func") && (at(i - 1, ".") || at(i - 1, "->")) && at(i + 1, "="))
        untyped_kernel(i + 1);
    }
  }

 private:
  bool at(std::size_t i, std::string_view what) const {
    return i < tokens_.size() && tokens_[i].is(what);
  }
  bool identifier(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == Kind::identifier;
  }
  [[noreturn]] void fail(std::size_t i, const std::string& message) const {
    fail_at(file_, text_, tokens_[std::min(i, tokens_.size() - 1)].begin, message);
  }

  // Replaces tokens `first` to `last`, and keeps their line breaks.
  void replace(std::size_t first, std::size_t last, std::string replacement) {
    const std::size_t begin = tokens_[first].begin;
    const std::size_t end = tokens_[last].end();
    for (std::size_t i = begin; i < end; ++i) {
      if (text_[i] == '\n') replacement += macro_ ? "\\\n" : "\n";
    }
    edits_.push_back({begin, end, std::move(replacement)});
  }
  void insert_before(std::size_t i, const char* what) {
    edits_.push_back({tokens_[i].begin, tokens_[i].begin, what});
  }
  std::string text_of(std::size_t first, std::size_t end) const {
    std::string text;
    for (std::size_t i = first; i < end; ++i) {
      if (!text.empty()) text += ' ';
      text += tokens_[i].text;
    }
    return text;
  }

  // --- Launches

  // <<< is the tokens `open` to `last`.
  void launch(std::size_t open, std::size_t last) {
    const std::size_t callee = callee_before(open);
    const std::size_t close = end_of_configuration(last);
    const std::size_t arguments = close + 3;
    if (!at(arguments, "("))
      fail(close, "a launch goes on with its arguments in parentheses after >>>");
    insert_before(callee, "KG_KERNEL(");
    replace(open, last, ").at(");
    replace(close, close + 2, ")");
    untyped_arguments(arguments);
  }

  // The first token of the launched expression: a kernel's name, which may be qualified or have
  // template arguments, an array element, a call, or an expression in parentheses.
  std::size_t callee_before(std::size_t open) const {
    std::size_t i = open;
    for (;;) {
      if (i == 0) fail(open, "no kernel before <<<");
      --i;
      if (at(i, ">")) {
        i = before_bracket(i, "<", ">", open);
        if (i == 0 || !identifier(i - 1))
          fail(open, "template arguments without a name before <<<");
        --i;
      } else if (at(i, "]")) {
        i = before_bracket(i, "[", "]", open);
        continue; // the array precedes it
      } else if (at(i, ")")) {
        i = before_bracket(i, "(", ")", open);
        if (i > 0 && (at(i - 1, ">") || (identifier(i - 1) && !keyword(i - 1)))) continue;
        return i; // an expression in parentheses
      } else if (!identifier(i) || keyword(i)) {
        fail(open, "no kernel's name before <<<, but \"" + std::string(tokens_[i].text) + "\"");
      }
      // At the first token of a name: include the name's qualifiers.
      if (i > 0 && at(i - 1, "template")) --i;
      if (i > 0 && at(i - 1, "::")) {
        --i;
        if (i == 0 || !(at(i - 1, ">") || (identifier(i - 1) && !keyword(i - 1)))) return i;
      } else if (i > 1 && (at(i - 1, ".") || at(i - 1, "->") || at(i - 1, "##"))) {
        --i;
      } else {
        return i;
      }
    }
  }

  bool keyword(std::size_t i) const {
    for (const char* word : {"return", "else", "do", "if", "while", "for", "switch", "case"}) {
      if (at(i, word)) return true;
    }
    return false;
  }

  // Index of the bracket that the one at `i` closes. Other brackets in between are balanced.
  std::size_t before_bracket(std::size_t i, const char* open, const char* close,
                             std::size_t launch_at) const {
    int depth = 0;
    for (;; --i) {
      if (at(i, close)) ++depth;
      if (at(i, open) && --depth == 0) return i;
      if (*close == '>' && at(i, ")")) i = before_bracket(i, "(", ")", launch_at);
      if (i == 0 || at(i, ";"))
        fail(launch_at, std::string("the ") + close + " before <<< closes nothing");
    }
  }

  // Index of the first > of the launch's >>>. In the expressions before it, < may open template
  // arguments. A run of > closes the open template arguments first, and only then the launch.
  std::size_t end_of_configuration(std::size_t open) const {
    std::size_t templates = 0;
    for (std::size_t i = open + 1; i < tokens_.size(); ++i) {
      if (opens_bracket(tokens_[i])) {
        i = closing(tokens_, i);
      } else if (at(i, "<") && identifier(i - 1)) {
        ++templates;
      } else if (templates == 0 && at(i, ">") && at(i + 1, ">") && at(i + 2, ">")) {
        return i; // also with spaces, which nvcc accepts
      } else if (at(i, ">")) {
        std::size_t run = 1;
        while (at(i + run, ">") && tokens_[i + run].begin == tokens_[i + run - 1].end()) ++run;
        if (run >= 3 && run > templates) return i + run - 3;
        templates -= std::min(templates, run);
        i += run - 1;
      } else if (at(i, ";") || at(i, "}")) {
        break;
      }
    }
    fail(open, "<<< without >>>: a launch's configuration ends in >>>");
  }

  // NULL is an integer to a template, and does not convert to a pointer. A braced argument has no
  // type. Its values are captured now, because a graph may run the kernel later.
  void untyped_arguments(std::size_t open) {
    const std::size_t end = closing(tokens_, open);
    for (std::size_t i = open + 1; i < end; ++i) {
      const std::size_t last = opens_bracket(tokens_[i]) ? closing(tokens_, i) : i;
      if ((at(i - 1, "(") || at(i - 1, ",")) && (at(last + 1, ",") || last + 1 == end)) {
        if (at(i, "NULL")) replace(i, i, "nullptr");
        if (at(i, "{")) {
          insert_before(i, "::kg::foreign::braced([=]<class KgType>() -> KgType { return ");
          edits_.push_back({tokens_[last].end(), tokens_[last].end(), "; })"});
        }
      }
      i = last;
    }
  }

  // cudaLaunchKernel((void*)kernel, ...) and a graph's node.func = (void*)kernel: the cast would
  // hide the kernel's parameters. `before`: the token before the cast.
  void untyped_kernel(std::size_t before) {
    const std::size_t first = before + 1;
    const bool named = at(first, "reinterpret_cast");
    std::size_t word = first + (named ? 2 : 1);
    if ((!at(before, "(") && !at(before, "=")) || !(named ? at(first + 1, "<") : at(first, "(")))
      return;
    bool is_void = false;
    while (at(word, "const") || at(word, "void")) is_void |= at(word++, "void");
    if (is_void && at(word, "*") && at(word + 1, named ? ">" : ")")) replace(first, word + 1, "");
  }

  // --- Shared memory

  bool alignment(std::size_t i) const {
    return (at(i, "__align__") || at(i, "alignas") || at(i, "__attribute__")) && at(i + 1, "(");
  }

  void shared(std::size_t i) {
    if (macro_ && tokens_.size() == 1) return; // a macro that only renames the keyword
    std::size_t first = i;
    bool dynamic = false;
    // Specifiers and the type may come before `i`; alignas(...) and the like end in a parenthesis.
    while (first > 0 && !at(first - 1, ";") && !at(first - 1, "{") && !at(first - 1, "}") &&
           !at(first - 1, ":")) {
      if (!at(first - 1, ")")) {
        --first;
        continue;
      }
      std::size_t open = first - 1;
      for (int depth = 0; open > 0; --open) {
        if (at(open, ")")) ++depth;
        if (at(open, "(") && --depth == 0) break;
      }
      if (open == 0 || !alignment(open - 1)) break;
      first = open - 1;
    }
    std::size_t semicolon = i;
    while (semicolon < tokens_.size() && !at(semicolon, ";")) {
      dynamic |= at(semicolon, "extern");
      if (opens_bracket(tokens_[semicolon])) semicolon = closing(tokens_, semicolon);
      ++semicolon;
    }
    for (std::size_t k = first; k < i; ++k) dynamic |= at(k, "extern");
    if (dynamic) {
      if (semicolon >= tokens_.size() && !macro_)
        fail(i, "this declaration of shared memory does not end");
      dynamic_shared(first, std::min(semicolon, tokens_.size()), i);
      return;
    }
    // `__shared__` adds its own `static`, and comes first: it may become two declarations.
    for (std::size_t k = first; k < semicolon && k <= i + 2; ++k) {
      if (at(k, "static")) replace(k, k, "");
    }
    // `static` before alignas(...) is not C++; before a GNU attribute it is.
    for (std::size_t k = first; k < semicolon && !at(k, "["); ++k) {
      if (!at(k, "alignas") || !at(k + 1, "(")) continue;
      replace(k, k + 1, "__attribute__((aligned(::kg::foreign::alignment<");
      k = closing(tokens_, k + 1);
      if (k < tokens_.size()) replace(k, k, ">())))");
    }
    if (first != i) {
      insert_before(first, "__shared__ ");
      replace(i, i, "");
    }
  }

  // [first, end) is `extern __shared__ T a[], b[][4]` with its specifiers in any order.
  void dynamic_shared(std::size_t first, std::size_t end, std::size_t keyword) {
    std::vector<std::size_t> words; // without the keyword and its specifiers
    for (std::size_t i = first; i < end; ++i) {
      if (alignment(i)) {
        i = closing(tokens_, i + 1);
      } else if (!at(i, "extern") && !at(i, "__shared__") && !at(i, "__device__")) {
        words.push_back(i);
      }
    }
    // The name comes before the first bracket outside template arguments.
    std::size_t bracket = 0;
    int angles = 0;
    for (; bracket < words.size(); ++bracket) {
      if (at(words[bracket], "<")) ++angles;
      if (at(words[bracket], ">")) --angles;
      if (at(words[bracket], "[") && angles == 0) break;
    }
    if (bracket == words.size() || bracket < 2 || !identifier(words[bracket - 1]))
      fail(keyword, "dynamic shared memory is declared as extern __shared__ T name[]; this is not");
    std::string type;
    for (std::size_t i = 0; i + 1 < bracket; ++i) {
      if (i > 0) type += ' ';
      type += tokens_[words[i]].text;
    }
    std::string declarations;
    for (std::size_t i = bracket - 1; i < words.size();) {
      const std::string_view name = tokens_[words[i]].text;
      std::string extents; // all but the first
      std::size_t dimension = 0;
      for (++i; i < words.size() && at(words[i], "[");) {
        const std::size_t close = closing(tokens_, words[i]);
        if (dimension++ > 0) extents += text_of(words[i], close + 1);
        while (i < words.size() && words[i] <= close) ++i;
      }
      if (dimension == 0 || (i < words.size() && !at(words[i], ",")))
        fail(keyword, "dynamic shared memory: \"" + std::string(name) + "\" must be an array");
      declarations += declaration(type + extents, name, scopes_[keyword]);
      if (i < words.size()) {
        ++i; // the comma
        declarations += "; ";
      }
    }
    replace(first, end - 1, declarations);
  }

  static std::string declaration(const std::string& type, std::string_view name, Scope scope) {
    const std::string quoted(name);
    if (scope == Scope::outside) {
      return "[[maybe_unused]] static constexpr ::kg::foreign::DynamicShared<" + type + "> " +
             quoted + "{}";
    }
    return "[[maybe_unused]] auto* const " + quoted + " = ::kg::dynamic_shared<" + type + ">()";
  }

  // --- The heap in device code (cuda/source/heap.h)

  void heap(std::size_t i) {
    if (scopes_[i] != Scope::device || at(i - 1, ".") || at(i - 1, "->") || at(i - 1, "operator"))
      return;
    if (at(i, "new")) {
      if (!at(i + 1, "(")) replace(i, i, "new (::kg::foreign::heap)"); // otherwise placement new
    } else if (at(i, "delete") && at(i + 1, "[")) {
      replace(i, i + 2, "::kg::foreign::heap_arrays->*");
    } else if (at(i, "delete")) {
      if (!at(i - 1, "=")) replace(i, i, "::kg::foreign::heap->*"); // not a deleted function
    } else if (at(i + 1, "(") && (!identifier(i - 1) || keyword(i - 1))) {
      std::size_t first = i;
      if (at(first - 1, "::")) --first;
      if (first < i && at(first - 1, "std")) --first;
      replace(first, i, "::kg::foreign::heap_" + std::string(tokens_[i].text));
    }
  }

  // --- Constructs without a host equivalent. A macro turns each one into an error message, so that
  // the preprocessor still decides whether it is compiled at all.

  bool device_code(std::size_t i) const {
    return scopes_[i] == Scope::device || scopes_[i] == Scope::host_device;
  }

  // In a macro of a CUDA source, assembly is assumed to be PTX.
  void assembly(std::size_t i) {
    if (!device_code(i) && !macro_) return;
    std::size_t open = i + 1;
    while (at(open, "volatile") || at(open, "__volatile__") || at(open, "__volatile")) ++open;
    if (at(open, "(")) replace(i, open - 1, "KG_NO_INLINE_PTX");
  }

  const std::string& file_;
  std::string_view text_;
  const Tokens& tokens_;
  const std::vector<Scope> scopes_;
  const bool macro_;
  Edits& edits_;
};

// Thrust, CUB and libcu++ are compiled as by a plain C++ compiler.
bool of_cccl(std::string_view name) {
  for (const char* folder : {"thrust/", "cub/", "cuda/", "nv/"}) {
    if (name.substr(1, std::string_view(folder).size()) == folder) return true;
  }
  return false;
}

} // namespace

Result rewrite(const std::string& file, std::string_view text, PassMacros& macros,
               const Resolve& resolve, bool record) {
  const Source source = tokenize(file, text);
  const Scopes scopes = scopes_of(source.code, source.conditionals);
  Edits edits;
  Rewriter(file, text, source.code, scopes.of, false, edits).run();
  for (const Macro& macro : source.macros) {
    std::vector<Scope> unknown(macro.body.size(), Scope::host);
    Rewriter(file, text, macro.body, std::move(unknown), true, edits).run();
  }
  rewrite_architecture(text, source, scopes, macros, edits);
  if (record) record_run(file, text, source, scopes, edits);
  for (const Include& include : source.includes) {
    if (!of_cccl(include.name)) continue;
    const std::size_t line = line_of(text, include.directive);
    edits.push_back({include.directive, include.directive,
                     "#include <kernelgrade_cccl_begin.h>\n#line " + std::to_string(line) + "\n"});
    edits.push_back({include.end, include.end,
                     "\n#include <kernelgrade_cccl_end.h>\n#line " +
                         std::to_string(line_of(text, include.end) + 1)});
  }
  const bool changed = !edits.empty();
  for (const Include& include : source.includes) {
    const std::string name = resolve ? resolve(include.name) : std::string();
    if (!name.empty()) edits.push_back({include.begin, include.begin + include.name.size(), name});
  }
  // At the same position, an insertion comes before a replacement.
  std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  Result result{{}, changed};
  std::size_t done = 0;
  for (const Edit& edit : edits) {
    result.text.append(text.substr(done, edit.begin - done)).append(edit.text);
    done = edit.end;
  }
  result.text.append(text.substr(done));
  return result;
}

} // namespace kg::rewrite
