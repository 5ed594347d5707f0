// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// docs/reference/batch_invariance.md: which variants compute a row to the same bits in any batch.
#pragma once

#include <string>
#include <vector>

#include "tests/contract/card.h"

namespace kg::card {

// Generates the page from what the cards declare; the test RowsAlone checks it (alone_tests.h).
std::string batch_page(const std::vector<const Card*>& cards);

} // namespace kg::card
