// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/format/nearest.h"

#include <algorithm>
#include <cstddef>

namespace kg::cli {
namespace {

// Optimal string alignment.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                             cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

} // namespace

std::string nearest(std::string_view typed, const std::vector<std::string>& words) {
  constexpr std::size_t kLongest = 64; // a longer word is not a typing error
  if (typed.size() > kLongest) return "";
  std::string found;
  std::size_t least = 1 + typed.size() / 4 + 1;
  for (const std::string& word : words)
    if (const std::size_t here = distance(typed, word); here < least) {
      least = here;
      found = word;
    }
  return found;
}

} // namespace kg::cli
