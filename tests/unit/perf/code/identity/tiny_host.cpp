// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The same on the host: a function with a constant, data and a call of another library.
#include <cmath>

namespace kg::tiny {

float table[2] = {KG_FACTOR, 2};

float scale(float x) { return std::sin(x) * table[1] + table[0]; }

} // namespace kg::tiny
