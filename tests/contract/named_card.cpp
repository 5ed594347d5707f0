// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/named_card.h"
#include "tests/contract/card.h"

#include "runtime/dtype.h"
#include "runtime/error.h"

#include <list>
#include <mutex>
#include <sstream>
#include <string>

namespace kg::card {
namespace {

Dtype type_named(const std::string& word) {
  for (std::size_t i = 0; i < kMostEnumerators; ++i)
    if (name(static_cast<Dtype>(i)) == word) return static_cast<Dtype>(i);
  fail("kernelgrade_add_op: no type " + word + "; runtime/dtype.h lists them");
}

} // namespace

const Card& named_card(Card (*make)(), const char* name, const char* category, const char* dtypes) {
  static std::mutex mutex;
  static std::list<Card> cards;
  Card card = make();
  card.name = name;
  card.category = category;
  card.dtypes.clear();
  std::istringstream words(dtypes);
  for (std::string word; words >> word;) card.dtypes.push_back(type_named(word));
  const std::lock_guard lock(mutex);
  return cards.emplace_back(std::move(card));
}

} // namespace kg::card
