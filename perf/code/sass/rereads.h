// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which loads of a loop ask for the same data in each pass: a row's weights, for row after row.
#pragma once

#include "perf/code/sass/listing.h"

#include <vector>

namespace kg::sass {

// For each instruction of a loop's path: it is a load from global memory, and nothing that its
// address was computed from differs from the pass before.
std::vector<bool> rereads_of(const std::vector<Instruction>& path);

} // namespace kg::sass
