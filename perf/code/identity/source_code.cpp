// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/identity/source_code.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace kg::identity {
namespace {

constexpr std::string_view kSpace = " \t\r\f\v";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Two adjacent characters of these may form another operator.
bool is_operator(char c) {
  return std::string_view("+-*/%&|^<>=!:.#").find(c) != std::string_view::npos;
}

// Reads from the front of a text and collects the normalized text.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::string run() {
    while (at_ < text_.size()) step();
    flush();
    return std::move(out_);
  }

 private:
  bool next_is(std::string_view word) const { return text_.substr(at_).starts_with(word); }

  void step() {
    const char c = text_[at_];
    if (next_is("\\\n")) {
      skip(2);
    } else if (c == '\n') {
      if (directive_) flush();
      skip(1);
      fresh_ = true;
    } else if (kSpace.find(c) != kSpace.npos) {
      skip(1);
    } else if (next_is("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (next_is("/*")) {
      at_ = past("*/", at_ + 2);
      spaced_ = true;
    } else if (c == '"') {
      take(literal_end('"'));
    } else if (c == '\'' && !(at_ > 0 && is_word(text_[at_ - 1]))) { // otherwise as in 1'000
      take(literal_end('\''));
    } else if (c == '#' && fresh_) {
      flush();
      directive_ = true;
      take(at_ + 1);
    } else {
      take(at_ + 1);
    }
  }

  void skip(std::size_t count) {
    at_ += count;
    spaced_ = true;
  }

  // The end of the text from `from` to `mark`; the end of the whole text if the mark is missing.
  std::size_t past(std::string_view mark, std::size_t from) const {
    const std::size_t found = text_.find(mark, from);
    return found == text_.npos ? text_.size() : found + mark.size();
  }

  std::size_t literal_end(char quote) const {
    if (quote == '"' && at_ > 0 && text_[at_ - 1] == 'R') { // R"mark(...)mark"
      const std::size_t open = std::min(text_.find('(', at_), text_.size());
      return past(")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"", open);
    }
    for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
      if (text_[i] == '\\')
        ++i;
      else if (text_[i] == quote)
        return i + 1;
      else if (text_[i] == '\n')
        return i; // an apostrophe in a directive
    }
    return text_.size();
  }

  // Keeps white space as one space if it separates two words or two operator characters.
  void take(std::size_t end) {
    const char last = line_.empty() ? '\n' : line_.back(), first = text_[at_];
    const bool parts =
        is_word(last) ? is_word(first) || directive_ : is_operator(last) && is_operator(first);
    if (spaced_ && !line_.empty() && parts) line_ += ' ';
    line_.append(text_.substr(at_, end - at_));
    at_ = end;
    spaced_ = fresh_ = false;
  }

  // Ends a directive, or the code before it, which continues across lines.
  void flush() {
    if (!line_.empty() && !line_.starts_with("#include")) out_ += line_ + '\n';
    line_.clear();
    directive_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_, line_;
  bool spaced_ = false, directive_ = false;
  bool fresh_ = true; // only white space and comments so far on this line
};

} // namespace

std::string source_code(std::string_view text) { return Reader(text).run(); }

void SourceHash::add(std::string_view name, std::string_view text) {
  const bool is_code = name.ends_with(".h") || name.ends_with(".cpp") || name.ends_with(".cu") ||
                       name.ends_with(".cuh");
  texts_.push_back(is_code ? source_code(text) : std::string(text));
}

void SourceHash::into(Hash& hash) {
  std::sort(texts_.begin(), texts_.end());
  hash.number(texts_.size());
  for (const std::string& text : texts_) hash.field(text);
}

} // namespace kg::identity
