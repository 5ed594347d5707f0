// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/accuracy.h"

#include <map>
#include <utility>

#include <fmt/format.h>

namespace kg::test {

namespace {

struct Largest {
  double share = 0;
  std::string where;
};

std::map<std::pair<VariantId, std::string>, Largest>& kept() {
  static std::map<std::pair<VariantId, std::string>, Largest> shares;
  return shares;
}

} // namespace

void record_share(const VariantId& id, std::string_view output, double share,
                  std::string_view where) {
  Largest& largest = kept()[{id, std::string(output)}];
  if (share < largest.share || (share == largest.share && !largest.where.empty())) return;
  largest = {share, std::string(where)};
}

std::vector<std::string> largest_shares() {
  std::vector<std::string> lines;
  for (const auto& [of, largest] : kept()) {
    const auto& [id, output] = of;
    lines.push_back(fmt::format("{}.{}, variant {}: {} takes {:.2g} of its bound at most ({})",
                                id.op, id.dtype, id.variant, output, largest.share, largest.where));
  }
  return lines;
}

} // namespace kg::test
