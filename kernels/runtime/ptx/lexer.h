// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the characters of a PTX module in order: words, numbers and punctuation. Comments are
// skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kg::ptx_run {

class Lexer {
 public:
  // Messages contain `name`. The text must outlive the lexer.
  Lexer(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {}

  struct Mark {
    std::size_t at = 0;
    int line = 1;
  };
  Mark mark() const { return here_; }
  void go_to(const Mark& mark) { here_ = mark; }

  int line() const { return here_.line; }
  // Throws Error with the module's name and the line.
  [[noreturn]] void refuse(const std::string& what) const;

  bool at_end() const { return here_.at == text_.size(); }
  char peek(std::size_t ahead = 0) const {
    return here_.at + ahead < text_.size() ? text_[here_.at + ahead] : '\0';
  }
  char take();
  bool skip_space(); // and comments; returns whether any text is left
  bool accept(char c);
  void expect(char c);
  std::string word();    // letters, digits and _ $ % . :
  std::int64_t number(); // decimal or hexadecimal, with a sign
  std::string rest_of_line();
  void skip_braces();
  void skip_brackets(); // (not nested)
  void skip_statement();

 private:
  std::string_view text_;
  std::string name_;
  Mark here_;
};

} // namespace kg::ptx_run
