// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// First values of parameters and inputs, from a seed.
#pragma once

#include "models/execution.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kg::models {

// `count` numbers that are uniform within centre +- spread. Each depends on the seed, the name and
// its index alone, and no function of a maths library has a part in it: the bits are the same on
// every machine.
std::vector<float> uniform(std::uint64_t seed, std::string_view name, std::int64_t count,
                           double centre, double spread);

// Fills all parameters, part by part: a part's values do not depend on what it is stored with.
void initialise(Execution& execution, std::uint64_t seed);

} // namespace kg::models
