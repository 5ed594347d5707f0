// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace kg {

// The parameters of a case as they stand in its id: words and numbers joined by '_', e.g.
// "m1024_n1024_k1024_nn" or "add_n4096".
class Shape {
 public:
  // Throws Error on text with other characters than letters, digits, '_' and '.'.
  static Shape parse(std::string_view text);

  const std::string& text() const { return text_; }

  // The number behind `key` ("m" in "m1024"). Throws Error naming the key when it is missing, not a
  // number >= 0, or so large that the numbers asked for multiply to more than 2^58.
  std::int64_t number(std::string_view key) const;

  // The same of several numbers joined by '.': "p1.0.4".
  std::vector<std::int64_t> numbers(std::string_view key) const;

  // The one token that is among `allowed`, as its index. Throws Error listing them when none or
  // several are there.
  std::size_t word(std::initializer_list<std::string_view> allowed) const;

  // Whether the token `word`, which a shape may lack, is there.
  bool has(std::string_view word) const;

  // Whether a shape that may lack it has a number behind `key`.
  bool has_number(std::string_view key) const;

  // Which of `allowed` is there, words or phrases of several ("bias_gelu"): the one of most words.
  // "" is there where no other is. Throws Error listing them when none or several are there.
  std::size_t phrase(const std::vector<std::string>& allowed) const;

  // How often this process has parsed a text. What is timed parses none.
  static std::int64_t parses();

  // Throws Error when a token was asked for by none of the above: a misspelt parameter must not be
  // ignored.
  void require_all_used() const;

 private:
  std::string text_;
  struct Token {
    std::string text;
    mutable bool used = false;
  };
  const Token* find(std::string_view word) const;
  std::vector<Token> tokens_;
  mutable std::int64_t volume_ = 1; // of the numbers that were asked for
};

// A shape of `count` rows, from one that has a `*` behind what each row adds to a number, 1 where
// nothing stands there: of 3 rows "n41*" is "n123", and "rows*_cols8" is "rows3_cols8". Throws
// Error where there is no `*`.
std::string batch_of(std::string_view pattern, std::int64_t count);

} // namespace kg
