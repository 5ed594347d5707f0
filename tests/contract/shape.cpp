// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/shape.h"

#include "runtime/error.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <system_error>

namespace kg {
namespace {

// Any product of extents in an operation (elements, bytes, flops) then fits in 64 bits.
constexpr std::int64_t kMostVolume = std::int64_t{1} << 58;

std::atomic<std::int64_t> parsed = 0;

// Not std::isalnum: an id's alphabet must not depend on the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool belongs_in_id(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.';
}

// The text before the digits of "m128"; empty if there are no digits.
std::string_view key_of(std::string_view text) {
  const auto digit = std::find_if(text.begin(), text.end(), is_digit);
  return digit == text.end() ? std::string_view()
                             : text.substr(0, static_cast<std::size_t>(digit - text.begin()));
}

std::vector<std::string_view> words_of(std::string_view phrase) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin < phrase.size();) {
    const std::size_t end = std::min(phrase.find('_', begin), phrase.size());
    words.push_back(phrase.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// Without a source location: the text comes from a command line, where the message is shown.
void demand(bool condition, const std::string& message) {
  if (!condition) throw Error(message);
}

} // namespace

Shape Shape::parse(std::string_view text) {
  ++parsed;
  const auto wrong = std::find_if_not(text.begin(), text.end(), belongs_in_id);
  demand(wrong == text.end(),
         fmt::format("shape '{}' holds '{}'; write words and numbers of letters, digits and '.', "
                     "joined by '_', as in m128_n64_nn",
                     text, wrong == text.end() ? ' ' : *wrong));
  Shape shape;
  shape.text_ = text;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('_', begin), text.size());
    demand(end > begin, fmt::format("shape '{}' has an empty part; write words and numbers joined "
                                    "by single '_', as in m128_n64_nn",
                                    text));
    shape.tokens_.push_back({std::string(text.substr(begin, end - begin))});
    begin = end + 1;
  }
  return shape;
}

std::int64_t Shape::number(std::string_view key) const {
  const std::vector<std::int64_t> all = numbers(key);
  demand(all.size() == 1, fmt::format("shape '{}': '{}' is not a whole number behind '{}'", text_,
                                      fmt::join(all, "."), key));
  return all[0];
}

std::vector<std::int64_t> Shape::numbers(std::string_view key) const {
  // "n" in "n64" but not in "nn": the key is the token's entire text before its digits.
  const Token* found = nullptr;
  std::string_view digits;
  for (const Token& token : tokens_) {
    const std::string_view text = token.text;
    const auto first_digit = std::find_if(text.begin(), text.end(), is_digit);
    if (first_digit == text.end()) continue;
    const auto length = static_cast<std::size_t>(first_digit - text.begin());
    if (text.substr(0, length) != key) continue;
    demand(!found, fmt::format("shape '{}' gives '{}' twice; keep one", text_, key));
    found = &token;
    digits = text.substr(length);
  }
  demand(found, fmt::format("shape '{}' lacks '{}'; add {}<number>", text_, key, key));
  std::vector<std::int64_t> values;
  std::int64_t sum = 0;
  for (const char *at = digits.data(), *const last = at + digits.size(); at <= last;) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(at, last, value);
    demand(error == std::errc() && (end == last || *end == '.') && value <= kMostVolume,
           fmt::format("shape '{}': '{}' is not a whole number behind '{}'", text_, digits, key));
    values.push_back(value);
    sum = std::min(sum + value, kMostVolume);
    at = end + 1;
  }
  if (!found->used && sum > 0) {
    demand(
        sum <= kMostVolume / volume_,
        fmt::format("shape '{}' is too large: its numbers multiply to more than 2^58; make '{}{}' "
                    "smaller",
                    text_, key, digits));
    volume_ *= sum;
  }
  found->used = true;
  return values;
}

std::size_t Shape::word(std::initializer_list<std::string_view> allowed) const {
  const Token* found = nullptr;
  std::size_t index = 0;
  for (const Token& token : tokens_) {
    const auto match = std::find(allowed.begin(), allowed.end(), std::string_view(token.text));
    if (match == allowed.end()) continue;
    demand(!found,
           fmt::format("shape '{}' has several of: {}; keep one", text_, fmt::join(allowed, ", ")));
    found = &token;
    index = static_cast<std::size_t>(match - allowed.begin());
  }
  demand(found,
         fmt::format("shape '{}' has none of: {}; add one", text_, fmt::join(allowed, ", ")));
  found->used = true;
  return index;
}

const Shape::Token* Shape::find(std::string_view word) const {
  const auto is_word = [word](const Token& each) { return each.text == word; };
  const auto token = std::find_if(tokens_.begin(), tokens_.end(), is_word);
  if (token == tokens_.end()) return nullptr;
  demand(std::none_of(token + 1, tokens_.end(), is_word),
         fmt::format("shape '{}' has '{}' twice; keep one", text_, word));
  return &*token;
}

bool Shape::has(std::string_view word) const {
  const Token* const token = find(word);
  if (token) token->used = true;
  return token != nullptr;
}

bool Shape::has_number(std::string_view key) const {
  return std::any_of(tokens_.begin(), tokens_.end(),
                     [key](const Token& each) { return key_of(each.text) == key; });
}

std::size_t Shape::phrase(const std::vector<std::string>& allowed) const {
  std::size_t found = allowed.size(), most = 0;
  bool several = false;
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    const std::vector<std::string_view> words = words_of(allowed[i]);
    const bool there = std::all_of(words.begin(), words.end(),
                                   [this](std::string_view word) { return find(word); });
    if (!there || (found < allowed.size() && words.size() < most)) continue;
    several = found < allowed.size() && words.size() == most;
    found = i;
    most = words.size();
  }
  const std::size_t skipped = !allowed.empty() && allowed[0].empty() ? 1 : 0; // no word to list
  const std::string listed = fmt::format(
      "{}", fmt::join(allowed.begin() + static_cast<std::ptrdiff_t>(skipped), allowed.end(), ", "));
  demand(!several, fmt::format("shape '{}' has several of: {}; keep one", text_, listed));
  demand(found < allowed.size(), fmt::format("shape '{}' has none of: {}; add one", text_, listed));
  for (const std::string_view word : words_of(allowed[found])) has(word);
  return found;
}

std::int64_t Shape::parses() { return parsed; }

void Shape::require_all_used() const {
  for (const Token& token : tokens_)
    demand(token.used,
           fmt::format("shape '{}': '{}' is not a parameter of this operation; remove or "
                       "correct it (`kernelgrade list` shows the shapes in use)",
                       text_, token.text));
}

std::string batch_of(std::string_view pattern, std::int64_t count) {
  demand(pattern.find('*') != std::string_view::npos,
         fmt::format("the batch '{}' has no number that grows with its rows; put a '*' behind what "
                     "each row adds, as in rows*_cols8 or n41*",
                     pattern));
  std::string shape;
  for (const char c : pattern) {
    if (c != '*') {
      shape += c;
      continue;
    }
    std::int64_t each = 1;
    const std::size_t first = shape.find_last_not_of("0123456789") + 1;
    std::from_chars(shape.data() + first, shape.data() + shape.size(), each);
    shape.resize(first);
    shape += std::to_string(each * count);
  }
  return shape;
}

} // namespace kg
