// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The folder through which another program receives cases and returns their results:
//
//   cases.json                        "cases": their descriptions, and the journal's first line
//   inputs/CASE/TENSOR                the bytes of an input, little-endian, row-major, dense
//   results/VARIANT/CASE/TIME/TENSOR  the bytes of an output, for each time it was computed
//
// The program writes a journal of its rows like a process of `run` (perf/cli/journal.h). Its
// results are judged here, by the rules for libraries.
#pragma once

#include "perf/judge/result.h"
#include "perf/measure/exchange.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kg::exchange {

// An exported case: its row, still without a variant, and its description.
struct Given {
  judge::Measured row;
  perf::Exchange exchange;
};

void write_cases(const std::filesystem::path& folder,
                 const std::map<std::string, std::string>& environment,
                 const std::vector<Given>& cases);

// Empty if there is a result of the variant and all are correct; otherwise what is wrong.
std::string verify(const std::filesystem::path& folder, const judge::RowKey& key,
                   const perf::Exchange& exchange);

// What the exchange shows of the first results, correct or not; empty if there are none.
std::map<std::string, std::string> shown(const std::filesystem::path& folder,
                                         const judge::RowKey& key, const perf::Exchange& exchange);

} // namespace kg::exchange
