// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counted rows in the JSON of results (result.h): members are called as the columns of the table.
#pragma once

#include "perf/format/json_reader.h"
#include "perf/judge/exact_table.h"

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace kg::judge {

using ExactRows = std::vector<ExactMeasured>;

nlohmann::json to_json(const ExactTable& table, const ExactRows& rows);

// The rows in the member `name` of `object`. Throws Error where one is malformed.
ExactRows exact_rows(const ExactTable& table, JsonObject& object, const std::string& name);

// Appends what is new. Counts have no noise: throws Error where a row is there already with other
// values.
void append(ExactRows& rows, const ExactRows& more);

} // namespace kg::judge
