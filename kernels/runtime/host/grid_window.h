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
  struct OfProgram {};

  // sm_count: of the device while it lives, so that a grid of all resident blocks has one for each
  // tile; 0: as always.
  explicit GridWindow(int sm_count = 0);
  // All of the process has it, and it is not this thread's alone. Grids of at most 4,096 blocks and
  // axes of at most 64 run whole; of others also what reaches 2^31 and 2^32 elements or bytes of
  // the sparse arrays there are.
  explicit GridWindow(OfProgram);
  ~GridWindow();
  GridWindow(const GridWindow&) = delete;
  GridWindow& operator=(const GridWindow&) = delete;

  // The blocks of element `index` of `count`, and the ones beside them, along each axis.
  void show(std::int64_t index, std::int64_t count);

  // What runs along an axis of so many blocks, in rising order: the first, the last, what is shown,
  // and some that are drawn by a fixed seed.
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

// This thread's, else the program's with KERNELGRADE_GRID_WINDOW=1; null where all blocks run.
GridWindow* grid_window();

} // namespace kg::host
