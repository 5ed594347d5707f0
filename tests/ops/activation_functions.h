// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of the activation functions in shapes ("gelutanh_n5"), and the parts that the cards of the
// functions and of their gradients share.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"

#include "ops/activation/activation.h"

namespace kg::card {

using activation::Function;
using activation::kFunctions;

// The function's word in a shape: without '_', which separates words.
inline std::string word_of(Function function) {
  std::string word(name(function));
  word.erase(std::remove(word.begin(), word.end(), '_'), word.end());
  return word;
}

struct Activated {
  Function function;
  std::int64_t n;
};
inline ShapeGrammar<Activated> activated_grammar() {
  std::vector<std::pair<std::string, Function>> words;
  for (const Function function : kFunctions) words.emplace_back(word_of(function), function);
  return ShapeGrammar<Activated>().one_of(&Activated::function, words).number("n", &Activated::n);
}
inline Function function_of(const Problem& problem) {
  return problem.parameters.as<Activated>().function;
}

inline std::vector<std::string> with_each_function(const std::vector<std::string>& shapes) {
  std::vector<std::string> words;
  for (const Function function : kFunctions) words.push_back(word_of(function));
  return in_each_form(words, shapes);
}

// `packs_of_tile`: the number of packs in a thread block's tile, by type.
inline Card activation_family(std::int64_t (*packs_of_tile)(Dtype)) {
  Card card(activated_grammar());
  card.usual = [](Dtype) { return with_each_function({"n" + std::to_string(kOdd)}); };
  card.batches = [](Dtype) { return with_each_function({"n41*"}); };
  card.sizes = [=](Dtype dtype) {
    return in_each_form({"silu"}, lengths_around_tiles(dtype, packs_of_tile(dtype)));
  };
  card.misaligned = [=](Dtype dtype) {
    return in_each_form({"silu"}, short_lengths(dtype, packs_of_tile(dtype)));
  };
  card.refuses_overlap = false;
  card.empty = {"silu_n0"};
  card.timed_on_host = {{"silu_n65536", true}, {"gelu_n65536"}, {"relu_n524288"}};
  return card;
}

} // namespace kg::card
