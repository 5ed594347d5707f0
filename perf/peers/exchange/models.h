// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole models as cases for another program, from what `kernelgrade model export` wrote.
#pragma once

#include "perf/peers/exchange/folder.h"

#include <filesystem>
#include <vector>

namespace kg::exchange {

// Their rows have no variant yet. The folder must outlive them. A result is right where its mean
// absolute error is at most 1e-5 of the mean size of what must come out, and no element is farther
// off than ten times that.
std::vector<Given> exported_models(const std::filesystem::path& folder);

// What is wrong with one of these results; empty where nothing is.
std::string distance_fault(const std::vector<float>& result, const std::vector<float>& expected);

} // namespace kg::exchange
