// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Complete models as cases for another program, from the output of `kernelgrade model export`.
#pragma once

#include "perf/peers/exchange/folder.h"

#include <filesystem>
#include <vector>

namespace kg::exchange {

// Their rows have no variant yet. The folder must outlive them. A result is correct if its mean
// absolute error is at most 1e-5 of the expected values' mean magnitude, and no element is off by
// more than ten times that.
std::vector<Given> exported_models(const std::filesystem::path& folder);

// What is wrong with one of these results; empty if it is correct.
std::string distance_fault(const std::vector<float>& result, const std::vector<float>& expected);

} // namespace kg::exchange
