// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/grid_window.h"

#include "runtime/error.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>

namespace kg::host {
namespace {

constexpr int kDrawn = 2;

thread_local GridWindow* window = nullptr;

} // namespace

GridWindow* grid_window() { return window; }

GridWindow::GridWindow(int sm_count) : sm_count_(sm_count) {
  require(window == nullptr, "GridWindow: another one lives; windows do not nest");
  window = this;
}

GridWindow::~GridWindow() { window = nullptr; }

void GridWindow::show(std::int64_t index, std::int64_t count) {
  require(0 <= index && index < count, "GridWindow: element " + std::to_string(index) + " of " +
                                           std::to_string(count) + " does not exist");
  const Place place{index, count};
  const auto at = std::lower_bound(places_.begin(), places_.end(), place);
  if (at == places_.end() || *at != place) places_.insert(at, place);
}

std::vector<unsigned> GridWindow::along(unsigned blocks) const {
  std::set<unsigned> result;
  const auto add = [&](std::int64_t block) {
    if (0 <= block && block < std::int64_t{blocks}) result.insert(static_cast<unsigned>(block));
  };
  add(0);
  add(std::int64_t{blocks} - 1);
  for (const auto& [index, count] : places_) {
    // The last block may have fewer elements than others, so the share is off by one at the most.
    const auto block = static_cast<std::int64_t>(static_cast<long double>(index) /
                                                 static_cast<long double>(count) * blocks);
    for (const std::int64_t beside : {-1, 0, 1}) add(block + beside);
  }
  std::mt19937_64 random(blocks);
  for (int i = 0; i < kDrawn; ++i) add(static_cast<std::int64_t>(random() % blocks));
  return {result.begin(), result.end()};
}

} // namespace kg::host
