// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/grid_window.h"

#include "runtime/environment.h"
#include "runtime/error.h"
#include "runtime/host/sparse_memory.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>

namespace kg::host {
namespace {

constexpr int kDrawn = 2;
// For a program-wide window: grids and axes up to these sizes run whole.
constexpr std::uint64_t kWholeGrid = 4096;
constexpr unsigned kWholeAxis = 64;
constexpr std::size_t k2To31 = std::size_t{1} << 31;

thread_local GridWindow* window = nullptr;

} // namespace

GridWindow* grid_window() {
  if (window) return window;
  static GridWindow* const of_program =
      is_set("KERNELGRADE_GRID_WINDOW") ? new GridWindow(GridWindow::OfProgram()) : nullptr;
  return of_program;
}

GridWindow::GridWindow(int sm_count) : sm_count_(sm_count) {
  require(window == nullptr, "GridWindow: another one lives; windows do not nest");
  window = this;
}

GridWindow::GridWindow(OfProgram) : of_program_(true) {}

GridWindow::~GridWindow() { window = nullptr; }

bool GridWindow::runs_whole(std::uint64_t blocks) const {
  return of_program_ && blocks <= kWholeGrid;
}

void GridWindow::show(std::int64_t index, std::int64_t count) {
  require(0 <= index && index < count, "GridWindow: element " + std::to_string(index) + " of " +
                                           std::to_string(count) + " does not exist");
  const Place place{index, count};
  const auto at = std::lower_bound(places_.begin(), places_.end(), place);
  if (at == places_.end() || *at != place) places_.insert(at, place);
}

std::vector<unsigned> GridWindow::along(unsigned blocks) const {
  if (of_program_ && blocks <= kWholeAxis) {
    std::vector<unsigned> all(blocks);
    std::iota(all.begin(), all.end(), 0U);
    return all;
  }
  std::vector<Place> places = places_;
  // A program's arrays have elements of 1 to 8 bytes.
  for (const std::size_t bytes : of_program_ ? sparse_allocations() : std::vector<std::size_t>())
    for (std::size_t at = k2To31; at < bytes && at <= 16 * k2To31; at *= 2)
      places.push_back({static_cast<std::int64_t>(at), static_cast<std::int64_t>(bytes)});
  std::set<unsigned> result;
  const auto add = [&](std::int64_t block) {
    if (0 <= block && block < std::int64_t{blocks}) result.insert(static_cast<unsigned>(block));
  };
  add(0);
  add(std::int64_t{blocks} - 1);
  for (const auto& [index, count] : places) {
    // The last block may have fewer elements than others, so the estimate is off by at most one.
    const auto block = static_cast<std::int64_t>(static_cast<long double>(index) /
                                                 static_cast<long double>(count) * blocks);
    for (const std::int64_t beside : {-1, 0, 1}) add(block + beside);
  }
  std::mt19937_64 random(blocks);
  for (int i = 0; i < kDrawn; ++i) add(static_cast<std::int64_t>(random() % blocks));
  return {result.begin(), result.end()};
}

} // namespace kg::host
