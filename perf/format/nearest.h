// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kg::cli {

// The word that was probably meant: the one with the fewest letters added, left out, replaced or
// swapped with their neighbour; empty where none is near.
std::string nearest(std::string_view typed, const std::vector<std::string>& words);

} // namespace kg::cli
