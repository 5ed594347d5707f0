// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace kg {

// The parameters of a case as in its id: words and numbers joined by '_', e.g.
// "m1024_n1024_k1024_nn" or "add_n4096".
class Shape {
 public:
  // Throws Error if the text has characters other than letters, digits, '_' and '.'.
  static Shape parse(std::string_view text);

  const std::string& text() const { return text_; }

  // The number after `key` ("m" in "m1024"). Throws Error naming the key if it is missing, not a
  // number >= 0, or so large that the product of all requested numbers exceeds 2^58.
  std::int64_t number(std::string_view key) const;

  // The same for several numbers joined by '.': "p1.0.4".
  std::vector<std::int64_t> numbers(std::string_view key) const;

  // The index in `allowed` of the only token found there. Throws Error listing `allowed` if there
  // is no such token or several.
  std::size_t word(std::initializer_list<std::string_view> allowed) const;

  // Whether the shape contains the optional token `word`.
  bool has(std::string_view word) const;

  // Whether the shape contains an optional number after `key`.
  bool has_number(std::string_view key) const;

  // The index of the entry of `allowed` found in the shape: a word or a phrase ("bias_gelu"), the
  // longest match; "" matches if no other does. Throws Error listing them for none or several.
  std::size_t phrase(const std::vector<std::string>& allowed) const;

  // How often this process has parsed a text. Timed code must not parse.
  static std::int64_t parses();

  // Throws Error if none of the functions above asked for a token: a misspelt parameter must not be
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
  mutable std::int64_t volume_ = 1; // product of the requested numbers
};

// The shape with `count` rows. In a pattern `*` marks numbers that grow with the rows, by the
// digits before it or by 1: for 3 rows "n41*" becomes "n123", "rows*_cols8" becomes "rows3_cols8".
// Throws Error if the pattern has no `*`.
std::string batch_of(std::string_view pattern, std::int64_t count);

} // namespace kg
