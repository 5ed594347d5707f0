// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Initial values of parameters and inputs, from a seed.
#pragma once

#include "models/execution.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kg::models {

// `count` uniform numbers within centre +- spread. Each depends only on the seed, the name and its
// index. No math library function is involved, so the bits are the same on every machine.
std::vector<float> uniform(std::uint64_t seed, std::string_view name, std::int64_t count,
                           double centre, double spread);

// Fills all parameters part by part: a part's values do not depend on the parts stored with it.
void initialise(Execution& execution, std::uint64_t seed);

} // namespace kg::models
