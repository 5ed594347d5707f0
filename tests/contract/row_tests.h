// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of row operations beyond the general conformance tests.
#pragma once

#include <string>
#include <string_view>

#include "tests/contract/contract.h"

namespace kg::card {

// More rows than a grid's y extent can hold. Omits variants with a block per row: slow to emulate.
void check_many_rows(Judge& judge);

// Variant block, whose persistent blocks process one row after another
// (primitives/pipeline_config.h): three or more rows per block. The shape begins with `form`.
void check_rows_take_turns(Judge& judge, std::string_view form = "");

// Rows are independent: permuting rows permutes the results, and a change in one row affects no
// other. The problem has at least four rows; its inputs are by row or shared by all rows.
void check_rows_are_independent(Judge& judge, const std::string& shape);

} // namespace kg::card
