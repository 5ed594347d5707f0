// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/placement.h"

#include "runtime/error.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

namespace kg::models {
namespace {

std::int64_t aligned(std::int64_t bytes) { return div_up(bytes, kAlignment) * kAlignment; }

bool together(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

void require_valid(std::span<const Lifetime> lifetimes) {
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    const Lifetime& each = lifetimes[i];
    const std::string name = "place: tensor " + std::to_string(i);
    require(each.bytes >= 0, name + " has " + std::to_string(each.bytes) + " bytes");
    require(each.first <= each.last, name + " lives from step " + std::to_string(each.first) +
                                         " to step " + std::to_string(each.last) +
                                         "; it must be written before it is read");
  }
}

std::int64_t most_live(std::span<const Lifetime> lifetimes) {
  std::int64_t most = 0;
  for (const Lifetime& moment : lifetimes) { // the peak is at some tensor's first step
    std::int64_t live = 0;
    for (const Lifetime& each : lifetimes)
      if (each.first <= moment.first && moment.first <= each.last) live += aligned(each.bytes);
    most = std::max(most, live);
  }
  return most;
}

struct Occupied {
  std::int64_t begin, end;
};

// The begin of the smallest gap that holds `bytes`, or the end of the last range if none does.
std::int64_t best_fit(std::vector<Occupied> occupied, std::int64_t bytes) {
  std::sort(occupied.begin(), occupied.end(),
            [](const Occupied& a, const Occupied& b) { return a.begin < b.begin; });
  std::int64_t best = -1, smallest = std::numeric_limits<std::int64_t>::max(), end = 0;
  for (const Occupied& each : occupied) {
    const std::int64_t gap = each.begin - end;
    if (gap >= bytes && gap < smallest) {
      best = end;
      smallest = gap;
    }
    end = std::max(end, each.end); // ranges may overlap if their lifetimes are disjoint
  }
  return best < 0 ? end : best;
}

} // namespace

Placement place(std::span<const Lifetime> lifetimes) {
  require_valid(lifetimes);
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return lifetimes[a].bytes > lifetimes[b].bytes;
  });
  Placement placement;
  placement.offsets.resize(lifetimes.size());
  placement.most_live = most_live(lifetimes);
  for (std::size_t at = 0; at < order.size(); ++at) {
    const Lifetime& own = lifetimes[order[at]];
    std::vector<Occupied> occupied;
    for (std::size_t before = 0; before < at; ++before) {
      const std::size_t other = order[before];
      if (together(own, lifetimes[other]))
        occupied.push_back(
            {placement.offsets[other], placement.offsets[other] + aligned(lifetimes[other].bytes)});
    }
    const std::int64_t offset = best_fit(std::move(occupied), aligned(own.bytes));
    placement.offsets[order[at]] = offset;
    placement.bytes = std::max(placement.bytes, offset + aligned(own.bytes));
  }
  return placement;
}

} // namespace kg::models
