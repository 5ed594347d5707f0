// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kg::cli {

// The word that the user probably meant: the fewest insertions, deletions, replacements and swaps
// of adjacent letters away from `typed`. Empty if no word is close.
std::string nearest(std::string_view typed, const std::vector<std::string>& words);

} // namespace kg::cli
