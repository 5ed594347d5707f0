// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/rewrite/tokens.h"

#include <algorithm>
#include <array>

namespace kg::rewrite {
namespace {

bool starts_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool digit(char c) { return c >= '0' && c <= '9'; }
bool continues_identifier(char c) { return starts_identifier(c) || digit(c); }

// Whether a quote after this identifier begins a literal with a prefix.
bool literal_prefix(std::string_view text) {
  return text == "L" || text == "u" || text == "U" || text == "u8";
}
bool raw_prefix(std::string_view text) {
  return text == "R" || text == "LR" || text == "uR" || text == "UR" || text == "u8R";
}

// Longest first. `>` stays single, because >> and >>> also close template argument lists.
constexpr std::array<std::string_view, 8> kPunctuators = {
    "<<<", "<=>", "<<", "<=", "::", "->", ">=", "##"};

class Lexer {
 public:
  Lexer(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  Source source() {
    bool line_start = true; // only blanks and comments so far
    while (skip_blanks(text_.size(), line_start)) {
      if (line_start && text_[at_] == '#') {
        directive();
      } else {
        token(source_.code, text_.size());
        line_start = false;
      }
    }
    return std::move(source_);
  }

 private:
  char peek(std::size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }

  // Moves to the next token before `end`; false if there is none. Sets `newline` if one was passed.
  bool skip_blanks(std::size_t end, bool& newline) {
    while (at_ < end) {
      const char c = text_[at_];
      if (c == '\n') {
        newline = true;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        ++at_;
      } else if (c == '\\' && (peek(at_ + 1) == '\n' || peek(at_ + 1) == '\r')) {
        at_ += peek(at_ + 1) == '\r' ? 3 : 2;
      } else if (c == '/' && peek(at_ + 1) == '/') {
        at_ = std::min(end, logical_line_end(at_));
      } else if (c == '/' && peek(at_ + 1) == '*') {
        const std::size_t close = text_.find("*/", at_ + 2);
        if (close == std::string_view::npos)
          fail_at(file_, text_, at_, "this comment does not end");
        at_ = close + 2;
      } else {
        return true;
      }
    }
    return false;
  }

  // The newline that ends the line of `from`. A backslash continues the line.
  std::size_t logical_line_end(std::size_t from) const {
    for (std::size_t i = from; i < text_.size(); ++i) {
      if (text_[i] != '\n') continue;
      const std::size_t last = i > from && text_[i - 1] == '\r' ? i - 1 : i;
      if (last == from || text_[last - 1] != '\\') return i;
    }
    return text_.size();
  }

  // The end of the directive at at_. A backslash or a comment of several lines continues it.
  std::size_t directive_end() const {
    std::size_t i = at_;
    while (i < text_.size() && text_[i] != '\n') {
      if (text_[i] == '\\') {
        i += peek(i + 1) == '\r' ? 3 : 2;
      } else if (text_[i] == '/' && peek(i + 1) == '/') {
        return logical_line_end(i);
      } else if (text_[i] == '/' && peek(i + 1) == '*') {
        const std::size_t close = text_.find("*/", i + 2);
        if (close == std::string_view::npos) fail_at(file_, text_, i, "this comment does not end");
        i = close + 2;
      } else if (text_[i] == '"') { // // in a string does not begin a comment
        for (++i; i < text_.size() && text_[i] != '"' && text_[i] != '\n'; ++i) {
          if (text_[i] == '\\') ++i;
        }
        if (peek(i) == '"') ++i;
      } else {
        ++i;
      }
    }
    return std::min(i, text_.size());
  }

  void directive() {
    const std::size_t begin = at_;
    const std::size_t end = directive_end();
    ++at_; // '#'
    bool newline = false;
    if (!skip_blanks(end, newline)) return;
    const std::string_view name = identifier();
    if (name == "include" && skip_blanks(end, newline)) {
      const char close = text_[at_] == '<' ? '>' : '"';
      const std::size_t last = text_.find(close, at_ + 1);
      if ((text_[at_] == '<' || text_[at_] == '"') && last < end)
        source_.includes.push_back({text_.substr(at_, last + 1 - at_), at_, begin, end});
    } else if ((name == "define" || name == "undef") && skip_blanks(end, newline)) {
      const std::string_view macro = identifier();
      source_.macros.push_back({macro, tokens_to(end), begin});
    } else if (conditional(name)) {
      Tokens condition; // text after #else and #endif is a remark
      if (name != "else" && name != "endif") condition = tokens_to(end);
      source_.conditionals.push_back({name, std::move(condition), begin, end});
    }
    at_ = end;
  }

  static bool conditional(std::string_view name) {
    for (const char* word :
         {"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif"}) {
      if (name == word) return true;
    }
    return false;
  }

  Tokens tokens_to(std::size_t end) {
    Tokens tokens;
    bool newline = false;
    while (skip_blanks(end, newline)) token(tokens, end);
    return tokens;
  }

  std::string_view identifier() {
    const std::size_t begin = at_;
    while (continues_identifier(peek(at_))) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void token(Tokens& tokens, std::size_t end) {
    const std::size_t begin = at_;
    Kind kind = Kind::punctuator;
    const char c = text_[at_];
    if (starts_identifier(c)) {
      const std::string_view name = identifier();
      kind = Kind::identifier;
      if (peek(at_) == '"' && raw_prefix(name)) {
        raw_string(begin);
        kind = Kind::literal;
      } else if ((peek(at_) == '"' || peek(at_) == '\'') && literal_prefix(name)) {
        quoted(begin);
        kind = Kind::literal;
      }
    } else if (digit(c) || (c == '.' && digit(peek(at_ + 1)))) {
      number();
      kind = Kind::literal;
    } else if (c == '"' || c == '\'') {
      quoted(begin);
      kind = Kind::literal;
    } else {
      at_ += punctuator();
    }
    at_ = std::min(at_, end);
    tokens.push_back({kind, text_.substr(begin, at_ - begin), begin});
  }

  std::size_t punctuator() const {
    for (std::string_view candidate : kPunctuators) {
      if (text_.substr(at_, candidate.size()) == candidate) return candidate.size();
    }
    return 1;
  }

  // 1'000, 0x1p-3f, 1e+5: a quote between digits separates them.
  void number() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const char before = text_[at_ - (at_ > 0 ? 1 : 0)];
      const bool sign = (c == '+' || c == '-') &&
                        (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      const bool separator = c == '\'' && continues_identifier(peek(at_ + 1));
      if (!continues_identifier(c) && c != '.' && !sign && !separator) return;
      ++at_;
    }
  }

  void quoted(std::size_t begin) {
    const char quote = text_[at_++];
    while (peek(at_) != quote) {
      if (at_ >= text_.size() || text_[at_] == '\n')
        fail_at(file_, text_, begin, "this literal does not end on its line");
      at_ += text_[at_] == '\\' && peek(at_ + 1) == '\r' ? 3 : text_[at_] == '\\' ? 2 : 1;
    }
    ++at_;
  }

  // R"mark( ... )mark"
  void raw_string(std::size_t begin) {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos || open - at_ > 17)
      fail_at(file_, text_, begin, "this raw string has no opening parenthesis");
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t end = text_.find(close, open);
    if (end == std::string_view::npos) fail_at(file_, text_, begin, "this raw string does not end");
    at_ = end + close.size();
  }

  const std::string& file_;
  std::string_view text_;
  std::size_t at_ = 0;
  Source source_;
};

} // namespace

std::size_t line_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  return static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
}

void fail_at(const std::string& file, std::string_view text, std::size_t offset,
             const std::string& message) {
  throw Error(file + ":" + std::to_string(line_of(text, offset)) + ": " + message);
}

Source tokenize(const std::string& file, std::string_view text) {
  return Lexer(file, text).source();
}

} // namespace kg::rewrite
