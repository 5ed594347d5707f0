// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The tokens of a CUDA C++ source, as far as the rewriter needs them. Comments and preprocessor
// directives are skipped, and a literal is one token. Punctuators are single characters, except
// where a launch would be ambiguous.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kg::rewrite {

enum class Kind { identifier, literal, punctuator };

struct Token {
  Kind kind;
  std::string_view text;
  std::size_t begin; // offset in the file

  std::size_t end() const { return begin + text.size(); }
  bool is(std::string_view what) const { return text == what && kind != Kind::literal; }
};

using Tokens = std::vector<Token>;

// An #include as written: the name with its quotes or angle brackets.
struct Include {
  std::string_view name;
  std::size_t begin;
  std::size_t directive; // offset of its #
  std::size_t end;       // end of the line
};

// A #define or #undef. An #undef has no body.
struct Macro {
  std::string_view name;
  Tokens body;
  std::size_t begin; // offset of its #
};

// #if, #ifdef, #ifndef, #elif, #elifdef, #elifndef, #else or #endif.
struct Conditional {
  std::string_view keyword;
  Tokens condition;
  std::size_t begin; // offset of its #
  std::size_t end;

  bool opens() const { return keyword.substr(0, 2) == "if"; }
  bool closes() const { return keyword == "endif"; }
};

struct Source {
  Tokens code;
  std::vector<Macro> macros;
  std::vector<Include> includes;
  std::vector<Conditional> conditionals;
};

// Source text that is not understood. The message begins with "<file>:<line>: ".
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The line number of `offset` in `text`, counted from 1.
std::size_t line_of(std::string_view text, std::size_t offset);

// Throws Error at the line of `offset` in `text`, the content of `file`.
[[noreturn]] void fail_at(const std::string& file, std::string_view text, std::size_t offset,
                          const std::string& message);

// The tokens of `text`, which must outlive them. Throws Error for a comment or literal without an
// end.
Source tokenize(const std::string& file, std::string_view text);

} // namespace kg::rewrite
