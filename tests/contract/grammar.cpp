// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/grammar.h"

#include "runtime/error.h"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace kg::card {
namespace {

struct Word {
  std::string text;
  std::string key; // what stands before its digits: all of "log", "rows" of "rows32"
  bool has_zero = false;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

Word word_of(const std::string& text) {
  const auto digits = std::find_if(text.begin(), text.end(), is_digit);
  Word word{text, {text.begin(), digits}};
  for (auto at = digits; at != text.end();) { // of "1.0.4" each number
    const auto end = std::find(at, text.end(), '.');
    word.has_zero |= std::all_of(at, end, [](char c) { return c == '0'; });
    at = end == text.end() ? end : end + 1;
  }
  return word;
}

std::vector<Word> words_of(const std::string& shape) {
  std::vector<Word> words;
  for (std::size_t begin = 0; begin <= shape.size();) {
    const std::size_t end = std::min(shape.find('_', begin), shape.size());
    words.push_back(word_of(shape.substr(begin, end - begin)));
    begin = end + 1;
  }
  return words;
}

// The grammar that the card's own shapes show.
struct Grammar {
  std::map<std::pair<std::string, std::string>, std::string> orders; // and a shape that has it
  std::set<std::string> may_be_zero;                                 // keys
  std::set<std::string> accepted;                                    // for messages
};

void learn(Grammar& grammar, const std::string& shape) {
  const std::vector<Word> words = words_of(shape);
  for (std::size_t i = 0; i < words.size(); ++i) {
    grammar.accepted.insert(words[i].key +
                            (words[i].key.size() < words[i].text.size() ? "<number>" : ""));
    if (words[i].has_zero) grammar.may_be_zero.insert(words[i].key);
    for (std::size_t j = i + 1; j < words.size(); ++j)
      grammar.orders.try_emplace({words[i].key, words[j].key}, shape);
  }
}

Grammar grammar_of(const Card& card, Dtype dtype) {
  Grammar grammar;
  for (const auto* const timed : {&card.timed_on_host, &card.timed_on_gpu})
    for (const TimedShape& each : *timed) learn(grammar, each.shape);
  for (const auto* const shapes : {&card.usual, &card.sizes})
    if (*shapes)
      for (const std::string& shape : (*shapes)(dtype)) learn(grammar, shape);
  return grammar;
}

bool is_timed(const Card& card, const std::string& shape) {
  const auto has = [&](const std::vector<TimedShape>& timed) {
    return std::any_of(timed.begin(), timed.end(),
                       [&](const TimedShape& each) { return each.shape == shape; });
  };
  return has(card.timed_on_host) || has(card.timed_on_gpu);
}

// Without a location: the text comes from a command line, and the message goes back there.
[[noreturn]] void refuse(const std::string& shape, const std::string& what) {
  throw Error(fmt::format("shape '{}': {}", shape, what));
}

void require_in_order(const Grammar& grammar, const std::string& shape) {
  const std::vector<Word> words = words_of(shape);
  for (std::size_t j = 1; j < words.size(); ++j)
    for (std::size_t i = 0; i < j; ++i) {
      const Word &first = words[i], &second = words[j];
      if (first.text == second.text)
        refuse(shape, fmt::format("'{}' is there twice; keep one", first.text));
      const auto right = grammar.orders.find({second.key, first.key});
      if (right == grammar.orders.end() || grammar.orders.contains({first.key, second.key}))
        continue;
      refuse(shape,
             fmt::format("put '{}' before '{}', as in {}", second.text, first.text, right->second));
    }
}

void require_no_zero(const Grammar& grammar, const std::string& shape) {
  for (const Word& word : words_of(shape))
    if (word.has_zero && !grammar.may_be_zero.contains(word.key))
      refuse(shape, fmt::format("'{}' must be at least 1", word.text));
}

} // namespace

void require_well_formed(const Card& card, Dtype dtype, const std::string& text) {
  if (is_timed(card, text)) return;
  const Shape shape = Shape::parse(text);
  const Grammar grammar = grammar_of(card, dtype);
  require_in_order(grammar, text);
  require_no_zero(grammar, text);
  try {
    const Problem problem = card.problem(dtype, shape);
    shape.require_all_used();
    for (const Tensor& output : problem.outputs)
      if (!output.extra && output.size() == 0)
        refuse(text, output.name + " has no elements: there is nothing to compute");
  } catch (const std::exception& error) {
    const std::string takes =
        card.grammar.empty() ? fmt::format("{}", fmt::join(grammar.accepted, ", ")) : card.grammar;
    throw Error(fmt::format("{}; {} takes: {}", error.what(), card.name, takes));
  }
}

} // namespace kg::card
