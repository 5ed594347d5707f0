// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/named_card.h"
#include "tests/contract/card.h"

#include <list>
#include <mutex>

namespace kg::card {

const Card& named_card(Card (*make)(), std::string_view name, std::string_view category,
                       std::initializer_list<Dtype> dtypes) {
  static std::mutex mutex;
  static std::list<Card> cards;
  Card card = make();
  card.name = name;
  card.category = category;
  card.dtypes = dtypes;
  const std::lock_guard lock(mutex);
  return cards.emplace_back(std::move(card));
}

} // namespace kg::card
