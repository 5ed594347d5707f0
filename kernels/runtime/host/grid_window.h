// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A part of each grid, for arrays of more than 2^31 elements: the emulator would take minutes for
// all blocks. The blocks must be independent of each other, and in the order of the elements along
// each axis of the grid.
#pragma once

#include <cstdint>
#include <vector>

namespace kg::host {

// While it lives, launches from its thread run a window of their grid. Windows do not nest.
class GridWindow {
 public:
  // sm_count: of the device while it lives, so that a grid of all resident blocks has one for each
  // tile; 0: as always.
  explicit GridWindow(int sm_count = 0);
  ~GridWindow();
  GridWindow(const GridWindow&) = delete;
  GridWindow& operator=(const GridWindow&) = delete;

  // The blocks of element `index` of `count`, and the ones beside them, along each axis.
  void show(std::int64_t index, std::int64_t count);

  // What runs along an axis of so many blocks, in rising order: the first, the last, what is shown,
  // and some that are drawn by a fixed seed.
  std::vector<unsigned> along(unsigned blocks) const;
  int sm_count() const { return sm_count_; }

 private:
  struct Place {
    std::int64_t index, count;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> places_;
  int sm_count_;
};

// This thread's; null where all blocks run.
GridWindow* grid_window();

} // namespace kg::host
