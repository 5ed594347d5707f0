// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx/lexer.h"

#include "runtime/error.h"

#include <cctype>
#include <charconv>
#include <fmt/format.h>

namespace kg::ptx_run {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' ||
         c == '.' || c == ':';
}

} // namespace

void Lexer::refuse(const std::string& what) const {
  throw Error(fmt::format("{}:{}: {}", name_, here_.line, what));
}

char Lexer::take() {
  if (at_end()) refuse("the text ends within a statement; the file is cut off");
  if (text_[here_.at] == '\n') ++here_.line;
  return text_[here_.at++];
}

bool Lexer::skip_space() {
  while (!at_end()) {
    if (std::isspace(static_cast<unsigned char>(peek())) != 0) {
      take();
    } else if (peek() == '/' && peek(1) == '/') {
      while (!at_end() && peek() != '\n') take();
    } else if (peek() == '/' && peek(1) == '*') {
      while (!(peek() == '*' && peek(1) == '/')) take();
      take();
      take();
    } else {
      return true;
    }
  }
  return false;
}

bool Lexer::accept(char c) {
  skip_space();
  if (peek() != c) return false;
  take();
  return true;
}
void Lexer::expect(char c) {
  if (!accept(c)) refuse(fmt::format("'{}' is expected where '{}' stands", c, peek()));
}

std::string Lexer::word() {
  skip_space();
  const std::size_t begin = here_.at;
  while (is_word(peek())) take();
  if (begin == here_.at) refuse(fmt::format("a name is expected where '{}' stands", peek()));
  return std::string(text_.substr(begin, here_.at - begin));
}

std::int64_t Lexer::number() {
  skip_space();
  const bool negative = accept('-');
  const std::string digits = word();
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  std::uint64_t value = 0;
  const char* begin = digits.data() + (hex ? 2 : 0);
  const auto [end, error] =
      std::from_chars(begin, digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error != std::errc{} || (end != digits.data() + digits.size() && *end != 'U'))
    refuse("'" + digits + "' is not a number");
  return static_cast<std::int64_t>(negative ? ~value + 1 : value);
}

std::string Lexer::rest_of_line() {
  const std::size_t begin = here_.at;
  while (!at_end() && peek() != '\n') take();
  return std::string(text_.substr(begin, here_.at - begin));
}

void Lexer::skip_braces() {
  expect('{');
  for (int depth = 1; depth > 0;) {
    const char c = take();
    if (c == '"')
      while (take() != '"') {
      }
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
  }
}

void Lexer::skip_brackets() {
  expect('(');
  while (take() != ')') {
  }
}

void Lexer::skip_statement() {
  while (take() != ';') {
  }
}

} // namespace kg::ptx_run
