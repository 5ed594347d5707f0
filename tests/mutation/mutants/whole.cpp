// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/mutation/mutants/whole.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include <fmt/format.h>

namespace kg::mutants {

namespace {

enum class Class { word, literal, operation, open, close, end }; // `end` is the ; of a statement

struct Token {
  Class kind;
  std::string_view text;
  std::size_t begin;
  bool spaced; // after white space
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Longest first, like the C++ lexer.
constexpr std::array<std::string_view, 25> kOperators = {
    "<<=", ">>=", "->*", "<=>", "...", "::", "->", "++", "--", "<<", ">>", "<=", ">=",
    "==",  "!=",  "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^="};

std::size_t end_of_literal(std::string_view source, std::size_t at) {
  const char quote = source[at];
  for (++at; at < source.size() && source[at] != quote; ++at)
    if (source[at] == '\\') ++at;
  return std::min(at + 1, source.size());
}

// Without comments; a preprocessor directive becomes a ;.
std::vector<Token> tokens_of(std::string_view source) {
  std::vector<Token> tokens;
  bool spaced = true, first = true; // of its line
  for (std::size_t at = 0; at < source.size();) {
    const char c = source[at];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      spaced = true;
      first |= c == '\n';
      ++at;
      continue;
    }
    if (source.substr(at, 2) == "//" || (c == '#' && first)) {
      const std::size_t line = std::min(source.find('\n', at), source.size());
      if (c == '#') tokens.push_back({Class::end, source.substr(at, line - at), at, spaced});
      at = line;
      continue;
    }
    if (source.substr(at, 2) == "/*") {
      at = std::min(source.find("*/", at) + 2, source.size());
      spaced = true;
      continue;
    }
    Class kind = Class::operation;
    std::size_t end = at + 1;
    if (c == '"' || (c == '\'' && (at == 0 || !is_word(source[at - 1])))) {
      kind = Class::literal;
      end = end_of_literal(source, at);
    } else if (is_word(c)) {
      const bool number = std::isdigit(static_cast<unsigned char>(c)) != 0;
      kind = number ? Class::literal : Class::word;
      while (end < source.size() &&
             (is_word(source[end]) || (number && (source[end] == '.' || source[end] == '\''))))
        ++end;
    } else if (c == '(' || c == '[' || c == '{') {
      kind = Class::open;
    } else if (c == ')' || c == ']' || c == '}') {
      kind = Class::close;
    } else if (c == ';') {
      kind = Class::end;
    } else {
      const auto longest =
          std::find_if(kOperators.begin(), kOperators.end(), [&](std::string_view each) {
            return source.substr(at, each.size()) == each;
          });
      if (longest != kOperators.end()) end = at + longest->size();
    }
    tokens.push_back({kind, source.substr(at, end - at), at, spaced});
    spaced = first = false;
    at = end;
  }
  return tokens;
}

// The `<` and `>` of template arguments become brackets.
void find_templates(std::vector<Token>& tokens) {
  std::vector<std::size_t> open;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    Token& token = tokens[i];
    if (token.text == "<" && !token.spaced && tokens[i - 1].kind == Class::word) {
      token.kind = Class::open;
      open.push_back(i);
    } else if ((token.text == ">" || token.text == ">>") && !open.empty() && !token.spaced) {
      token.kind = Class::close;
      for (std::size_t n = 0; n < token.text.size() && !open.empty(); ++n) open.pop_back();
    } else if (token.kind == Class::end) {
      open.clear();
    }
  }
}

// The precedence of a binary operator, at most 14: [expr] of the standard. 0 is a comma.
int binding(std::string_view op) {
  static constexpr std::array<std::array<std::string_view, 11>, 13> kLevels = {{
      {","},
      {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="},
      {"?", ":"},
      {"||"},
      {"&&"},
      {"|"},
      {"^"},
      {"&"},
      {"==", "!="},
      {"<", ">", "<=", ">="},
      {"<<", ">>"},
      {"+", "-"},
      {"*", "/", "%"},
  }};
  for (std::size_t level = 0; level < kLevels.size(); ++level)
    if (std::find(kLevels[level].begin(), kLevels[level].end(), op) != kLevels[level].end())
      return static_cast<int>(level);
  return -1;
}
constexpr int kUnary = 13, kPostfix = 14;

bool ends_operand(const Token& token) {
  static constexpr std::array<std::string_view, 5> kBefore = {"return", "else", "case", "throw",
                                                              "co_return"};
  if (token.kind == Class::word)
    return std::find(kBefore.begin(), kBefore.end(), token.text) == kBefore.end();
  return token.kind == Class::literal || (token.kind == Class::close && token.text != "}");
}

using Tokens = std::vector<Token>;

// The operator of lowest precedence outside brackets in [begin, end); kPostfix if there is none.
int loosest(const Tokens& tokens, std::size_t begin, std::size_t end) {
  int depth = 0, result = kPostfix;
  for (std::size_t i = begin; i < end; ++i) {
    if (tokens[i].kind == Class::open) ++depth;
    if (tokens[i].kind == Class::close) depth -= static_cast<int>(tokens[i].text == ">>" ? 2 : 1);
    if (depth > 0 || tokens[i].kind != Class::operation) continue;
    if (i == begin || !ends_operand(tokens[i - 1])) {
      if (i == begin || tokens[i].text != "::") result = std::min(result, kUnary);
    } else if (const int level = binding(tokens[i].text); level >= 0) {
      result = std::min(result, level);
    }
  }
  return result;
}

bool balanced(const Tokens& tokens, std::size_t begin, std::size_t end) {
  int depth = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (tokens[i].kind == Class::open) ++depth;
    if (tokens[i].kind == Class::close) depth -= tokens[i].text == ">>" ? 2 : 1;
    if (depth < 0) return false;
  }
  return depth == 0;
}

// The token that opens the bracket closed by token `close`.
std::size_t opening_of(const Tokens& tokens, std::size_t close) {
  int depth = 0;
  for (std::size_t i = close; i > 0; --i) {
    if (tokens[i].kind == Class::close) depth += tokens[i].text == ">>" ? 2 : 1;
    if (tokens[i].kind == Class::open && --depth <= 0) return i;
  }
  return 0;
}

// Whether token `at` is the ) of `if (...)` or similar, after which a statement begins.
bool closes_condition(const Tokens& tokens, std::size_t at) {
  static constexpr std::array<std::string_view, 5> kBefore = {"if", "for", "while", "switch",
                                                              "constexpr"};
  const std::size_t open = tokens[at].text == ")" ? opening_of(tokens, at) : 0;
  return open > 0 &&
         std::find(kBefore.begin(), kBefore.end(), tokens[open - 1].text) != kBefore.end();
}

// Whether the statement that contains token `at` must be a compile-time constant.
bool is_constant(const Tokens& tokens, std::size_t at) {
  for (std::size_t i = at; i-- > 0;) {
    const Token& token = tokens[i];
    if (token.kind == Class::end || token.text == "{" || token.text == "}") return false;
    if (token.text == "constexpr" || token.text == "static_assert") return true;
    if (token.kind != Class::close) continue;
    if (closes_condition(tokens, i)) return false;
    i = opening_of(tokens, i);
  }
  return false;
}

std::string why_no_expression(const Tokens& tokens, std::size_t begin, std::size_t end) {
  if (is_constant(tokens, begin)) return "a constant cannot be chosen at run time";
  const int inner = loosest(tokens, begin, end);
  const auto looser = [&](const Token& beside) {
    return fmt::format("\"{}\" beside it binds tighter than what it holds", beside.text);
  };
  if (begin > 0) {
    const Token& left = tokens[begin - 1];
    if (left.kind == Class::open && left.text == "<")
      return "an argument of a template cannot be chosen at run time";
    if (ends_operand(left) && !closes_condition(tokens, begin - 1))
      return fmt::format("\"{}\" before it belongs to it", left.text);
    if (left.text == "." || left.text == "->" || left.text == "::") return looser(left);
    if (left.kind == Class::operation) {
      const bool binary = left.text == "," || (begin > 1 && ends_operand(tokens[begin - 2]));
      const int level = binary ? binding(left.text) : kUnary;
      // Operators of equal precedence group from the left: `a - [b + c]` is a different sum.
      const bool any_order = left.text == "+" || left.text == "&&" || left.text == "||";
      if (inner < level || (inner == level && level > 2 && level < kUnary && !any_order))
        return looser(left);
    }
  }
  if (end < tokens.size()) {
    const Token& right = tokens[end];
    if (right.kind == Class::word || right.kind == Class::literal)
      return fmt::format("\"{}\" behind it belongs to it", right.text);
    if (right.text == "(" || right.text == "[" || right.text == "." || right.text == "->" ||
        right.text == "++" || right.text == "--" || right.text == "::") {
      if (inner < kPostfix) return looser(right);
    } else if (right.kind == Class::operation && inner < binding(right.text)) {
      return looser(right);
    }
  }
  return {};
}

std::string why_no_statement(const Tokens& tokens, std::size_t begin, std::size_t end) {
  static constexpr std::array<std::string_view, 6> kDeclarations = {"const", "constexpr", "auto",
                                                                    "using", "static",    "int"};
  const Token& first = tokens[begin];
  if (std::find(kDeclarations.begin(), kDeclarations.end(), first.text) != kDeclarations.end())
    return "what it declares would end with the branch";
  if (tokens[end - 1].kind != Class::end && tokens[end - 1].text != "}")
    return "a statement ends with ; or }";
  if (begin == 0) return {};
  const Token& left = tokens[begin - 1];
  if (left.kind != Class::end && left.kind != Class::open && left.kind != Class::close &&
      left.text != "else" && left.text != ":")
    return fmt::format("\"{}\" before it belongs to it", left.text);
  return {};
}

} // namespace

std::string why_not_whole(std::string_view source, Place place, Kind kind) {
  Tokens tokens = tokens_of(source);
  find_templates(tokens);
  const auto at = [&](std::size_t character) {
    const auto found = std::find_if(tokens.begin(), tokens.end(),
                                    [&](const Token& token) { return token.begin >= character; });
    return static_cast<std::size_t>(found - tokens.begin());
  };
  const std::size_t begin = at(place.begin), end = at(place.end);
  const bool cut = (begin < tokens.size() && begin < end && tokens[begin].begin != place.begin) ||
                   (end > 0 && tokens[end - 1].begin + tokens[end - 1].text.size() > place.end);
  if (begin == end || cut) return "it begins or ends within a word";
  if (!balanced(tokens, begin, end)) return "its brackets do not match";
  return kind == Kind::expression ? why_no_expression(tokens, begin, end)
                                  : why_no_statement(tokens, begin, end);
}

} // namespace kg::mutants
