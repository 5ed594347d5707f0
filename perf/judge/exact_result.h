// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counted rows in the JSON of results (result.h). Members have the names of the table's columns.
#pragma once

#include "perf/format/json_reader.h"
#include "perf/judge/exact_table.h"

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace kg::judge {

using ExactRows = std::vector<ExactMeasured>;

nlohmann::json to_json(const ExactTable& table, const ExactRows& rows);

// The rows in the member `name` of `object`. Throws Error if one is malformed.
ExactRows exact_rows(const ExactTable& table, JsonObject& object, const std::string& name);

// Appends new rows. Counts have no noise, so it throws Error if a row exists with other values.
void append(ExactRows& rows, const ExactRows& more);

} // namespace kg::judge
