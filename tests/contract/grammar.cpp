// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/grammar.h"

#include "runtime/error.h"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <map>
#include <sstream>
#include <vector>

namespace kg::card {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The keys of numbers that contain a 0, with their words: "rows" of "rows0", "p" of "p1.0.4".
std::map<std::string, std::string> zeros_of(const std::string& shape) {
  std::map<std::string, std::string> zeros;
  std::istringstream words(shape);
  for (std::string word; std::getline(words, word, '_');) {
    const auto digits = std::find_if(word.begin(), word.end(), is_digit);
    std::istringstream numbers(std::string(digits, word.end()));
    for (std::string number; std::getline(numbers, number, '.');)
      if (number.find_first_not_of('0') == std::string::npos)
        zeros[std::string(word.begin(), digits)] = word;
  }
  return zeros;
}

template <class Visit>
void for_each_shape(const Card& card, Dtype dtype, Visit visit) {
  for (const auto* const timed : {&card.timed_on_host, &card.timed_on_gpu})
    for (const TimedShape& each : *timed) visit(each.shape);
  for (const auto* const shapes : {&card.usual, &card.sizes})
    if (*shapes)
      for (const std::string& shape : (*shapes)(dtype)) visit(shape);
}

bool is_timed(const Card& card, const std::string& shape) {
  const auto has = [&](const std::vector<TimedShape>& timed) {
    return std::any_of(timed.begin(), timed.end(),
                       [&](const TimedShape& each) { return each.shape == shape; });
  };
  return has(card.timed_on_host) || has(card.timed_on_gpu);
}

// Without a source location: the text comes from a command line, where the message is shown.
[[noreturn]] void refuse(const std::string& shape, const std::string& what) {
  throw Error(fmt::format("shape '{}': {}", shape, what));
}

// A number may be 0 only if one of the card's own shapes has a 0 there.
void require_no_zero(const Card& card, Dtype dtype, const std::string& shape) {
  std::map<std::string, std::string> zeros = zeros_of(shape);
  if (zeros.empty()) return;
  for_each_shape(card, dtype, [&](const std::string& own) {
    for (const auto& [key, word] : zeros_of(own)) zeros.erase(key);
  });
  if (!zeros.empty()) refuse(shape, fmt::format("'{}' must be at least 1", zeros.begin()->second));
}

} // namespace

void require_well_formed(const Card& card, Dtype dtype, const std::string& text) {
  if (is_timed(card, text)) return;
  try {
    require_no_zero(card, dtype, text); // before it is used as a divisor
    const Problem problem = card.problem(dtype, Shape::parse(text));
    for (const Tensor& output : problem.outputs)
      if (!output.extra && output.size() == 0)
        refuse(text, output.name + " has no elements: there is nothing to compute");
  } catch (const std::exception& error) {
    throw Error(fmt::format("{}; {} takes: {}", error.what(), card.name, card.grammar));
  }
}

} // namespace kg::card
