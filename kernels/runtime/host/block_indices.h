// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/host/grid_window.h"
#include "runtime/host/vector_types.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kg::host {

// The indices of the blocks to run, in order: all of a grid, or this thread's window of it.
class BlockIndices {
 public:
  explicit BlockIndices(dim3 grid) : extent_(grid) {
    const GridWindow* const window = grid_window();
    if (!window || window->runs_whole(count())) return;
    x_ = window->along(grid.x);
    y_ = window->along(grid.y);
    z_ = window->along(grid.z);
    extent_ = {static_cast<unsigned>(x_.size()), static_cast<unsigned>(y_.size()),
               static_cast<unsigned>(z_.size())};
  }
  std::uint64_t count() const { return std::uint64_t{extent_.x} * extent_.y * extent_.z; }
  uint3 operator[](std::uint64_t i) const {
    const std::size_t x = i % extent_.x, y = i / extent_.x % extent_.y,
                      z = i / extent_.x / extent_.y;
    if (!x_.empty()) return {x_[x], y_[y], z_[z]};
    return {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
  }

 private:
  dim3 extent_;
  std::vector<unsigned> x_, y_, z_; // empty: all
};

} // namespace kg::host
