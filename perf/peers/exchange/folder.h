// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The folder by which another program gets cases and gives their results back:
//
//   cases.json                        "cases": what each is, and the first line of its journal
//   inputs/CASE/TENSOR                the bytes of an input, little-endian, row-major, dense
//   results/VARIANT/CASE/TIME/TENSOR  those of an output, for each time that it was computed
//
// The program writes the journal of its rows as a process of `run` does (perf/cli/journal.h). Its
// results are judged here, by what a library's are held to.
#pragma once

#include "perf/judge/result.h"
#include "perf/measure/exchange.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kg::exchange {

// A case that is given away: its row, which has no variant yet, and what it is.
struct Given {
  judge::Measured row;
  perf::Exchange exchange;
};

void write_cases(const std::filesystem::path& folder,
                 const std::map<std::string, std::string>& environment,
                 const std::vector<Given>& cases);

// Empty where every result of the variant is right and there is at least one, else what is wrong.
std::string verify(const std::filesystem::path& folder, const judge::RowKey& key,
                   const perf::Exchange& exchange);

// Of the first results, right or wrong, what the exchange shows; none where there are none.
std::map<std::string, std::string> shown(const std::filesystem::path& folder,
                                         const judge::RowKey& key, const perf::Exchange& exchange);

} // namespace kg::exchange
