// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Selects the tile shape of `automatic`: the one with the shorter time in a model of the device, in
// which each multiprocessor computes one tile after another.
#pragma once

#include "ops/gemm/gemm.h"
#include "runtime/device.h"
#include "runtime/preconditions.h"

#include <cstdint>

namespace kg::gemm {

// Clocks a multiprocessor spends on an m x n tile: `step` per step of k, and `ends` for prologue
// and epilogue together.
struct TileTime {
  int m, n;
  double step, ends;
};

template <class T>
double clocks(const BasicProblem<T>& p, const TileTime& of) {
  const std::int64_t tiles = div_up(p.m, of.m) * div_up(p.n, of.n) * p.batch;
  const auto rounds = static_cast<double>(div_up(tiles, device_properties().sm_count));
  return rounds * (static_cast<double>(p.k) * of.step + of.ends);
}

// Clocks for the epilogue's arithmetic. A scheduler issues its quarter of a tile, one warp of
// elements at a time: gelu and its derivative take 20 to 30 instructions, in f32 30 to 40.
template <class T>
double epilogue_clocks(const BasicProblem<T>& p, const TileTime& of) {
  const bool is_cheap = p.epilogue == Epilogue::none || p.epilogue == Epilogue::bias ||
                        p.epilogue == Epilogue::bias_relu || p.epilogue == Epilogue::drelu;
  const double instructions = is_cheap ? 0 : sizeof(T) == sizeof(float) ? 35 : 25;
  return instructions * of.m * of.n / (4 * 32);
}

// Blocks of square tiles share a multiprocessor; the loop of one hides another's epilogue.
template <class T>
TileShape shape_of(const BasicProblem<T>& p, bool wide_fits, const TileTime& square,
                   const TileTime& wide) {
  if (!wide_fits || p.tiles == TileShape::square) return TileShape::square;
  if (p.tiles == TileShape::wide) return TileShape::wide;
  const TileTime alone{wide.m, wide.n, wide.step, wide.ends + epilogue_clocks(p, wide)};
  return clocks(p, alone) < clocks(p, square) ? TileShape::wide : TileShape::square;
}

} // namespace kg::gemm
