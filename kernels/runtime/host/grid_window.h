// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs only part of each grid, for arrays of more than 2^31 elements, where emulating all blocks
// would take minutes. The blocks must be independent and ordered like the elements along each axis
// of the grid.
#pragma once

#include <cstdint>
#include <vector>

namespace kg::host {

// During its lifetime, launches from its thread run a window of their grid. Windows do not nest.
class GridWindow {
 public:
  struct OfProgram {};

  // sm_count: the device's SM count during the lifetime, so that a grid of all resident blocks can
  // have one block per tile; 0: unchanged.
  explicit GridWindow(int sm_count = 0);
  // A window for the whole process, not only this thread. Grids of at most 4,096 blocks and axes of
  // at most 64 run whole. Larger ones also run the blocks that reach 2^31 and 2^32 elements or
  // bytes of the existing sparse arrays.
  explicit GridWindow(OfProgram);
  ~GridWindow();
  GridWindow(const GridWindow&) = delete;
  GridWindow& operator=(const GridWindow&) = delete;

  // Adds the blocks of element `index` of `count`, and their neighbours, along each axis.
  void show(std::int64_t index, std::int64_t count);

  // The blocks to run along an axis of `blocks`, in rising order: the first, the last, the blocks
  // added by show(), and some drawn with a fixed seed.
  std::vector<unsigned> along(unsigned blocks) const;
  bool runs_whole(std::uint64_t blocks) const;
  bool is_of_program() const { return of_program_; }
  int sm_count() const { return sm_count_; }

 private:
  struct Place {
    std::int64_t index, count;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> places_;
  int sm_count_ = 0;
  bool of_program_ = false;
};

// This thread's window, or the process's with KERNELGRADE_GRID_WINDOW=1; null if all blocks run.
GridWindow* grid_window();

} // namespace kg::host
