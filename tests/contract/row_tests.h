// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What operations on the rows of matrices promise beyond the contract.
#pragma once

#include <string>
#include <string_view>

#include "tests/contract/contract.h"

namespace kg::card {

// More rows than a grid's y extent could count; without blocks per row, whose emulation is slow.
void check_many_rows(Judge& judge);

// Variant block, whose blocks stay and take row after row (primitives/pipeline_config.h): three and
// more for each. `form` begins the shape.
void check_rows_take_turns(Judge& judge, std::string_view form = "");

// Rows are computed apart: they may change places, and what is in one reaches no other. Of a
// problem of at least four rows whose inputs are all by row or the same for all rows.
void check_rows_are_independent(Judge& judge, const std::string& shape);

} // namespace kg::card
