// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds loads that read the same data in each iteration, such as weights shared by all rows.
#pragma once

#include "perf/code/sass/listing.h"

#include <vector>

namespace kg::sass {

// For each instruction of a loop's path: whether it is a global load whose address does not change
// from one iteration to the next.
std::vector<bool> rereads_of(const std::vector<Instruction>& path);

} // namespace kg::sass
