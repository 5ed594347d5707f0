// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What operations on the rows of matrices promise beyond the contract.
#pragma once

#include <string>

#include "tests/contract/contract.h"

namespace kg::card {

// More rows than a grid's y extent could count; without blocks per row, whose emulation is slow.
void check_many_rows(Judge& judge);

// Rows are computed apart: they may change places, and what is in one reaches no other. Of a
// problem of at least four rows whose inputs are all by row or the same for all rows.
void check_rows_are_independent(Judge& judge, const std::string& shape);

} // namespace kg::card
