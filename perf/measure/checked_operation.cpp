// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/checked_operation.h"

#include "tests/contract/grammar.h"

#include <utility>

namespace kg::perf {

Operation checked_operation(const card::Card& card) {
  Operation operation = card_operation(card);
  operation.make = [&card, make = std::move(operation.make)](Dtype dtype, const Shape& shape) {
    card::require_well_formed(card, dtype, shape.text());
    return make(dtype, shape);
  };
  return operation;
}

} // namespace kg::perf
