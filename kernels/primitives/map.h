// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Contiguous arrays of one type, element by element: a function of the i-th elements of all inputs
// gives the i-th elements of all outputs. The kernels stay with their operations; here is the walk.
//
// Bytes under way: a thread issues Loads packs of each input before it uses the first one, so 1024
// threads of a multiprocessor have Loads x Inputs x 16 KiB under way; see elementwise.cu for what a
// GPU wants. No __restrict__: an output may be an input. All loads of a tile therefore stand before
// its first store, else the compiler could not move them there.
#pragma once

#include "primitives/pack.h"
#include "runtime/device.h"

#include <algorithm>
#include <cstdint>

namespace kg {

inline constexpr int kMapThreads = 256;
inline constexpr int kMapBlocksPerSm = 4; // resident on compute capability 7.5 and later

template <class T, int Inputs, int Outputs>
struct Arrays {
  const T* in[Inputs];
  T* out[Outputs];
};

template <class T, int Inputs, int Outputs>
__device__ __forceinline__ Arrays<T, Inputs, Outputs> advanced(Arrays<T, Inputs, Outputs> arrays,
                                                               std::int64_t elements) {
  KG_UNROLL
  for (int k = 0; k < Inputs; ++k) arrays.in[k] += elements;
  KG_UNROLL
  for (int k = 0; k < Outputs; ++k) arrays.out[k] += elements;
  return arrays;
}

// Element i of all arrays. function(const T (&in)[Inputs], T (&out)[Outputs]).
template <class T, int Inputs, int Outputs, class Function>
__device__ inline void map_element(const Arrays<T, Inputs, Outputs>& arrays, std::int64_t i,
                                   Function function) {
  T in[Inputs];
  T out[Outputs];
  KG_UNROLL
  for (int k = 0; k < Inputs; ++k) in[k] = arrays.in[k][i];
  function(in, out);
  KG_UNROLL
  for (int k = 0; k < Outputs; ++k) arrays.out[k][i] = out[k];
}

// One pack of each input, loaded before.
template <int Count, class T, int Inputs, int Outputs, class Function>
__device__ inline void map_pack(const Arrays<T, Inputs, Outputs>& arrays, std::int64_t pack,
                                const Pack<T, Count> (&x)[Inputs], Function function) {
  Pack<T, Count> y[Outputs];
  KG_UNROLL
  for (int e = 0; e < Count; ++e) {
    T in[Inputs];
    T out[Outputs];
    KG_UNROLL
    for (int k = 0; k < Inputs; ++k) in[k] = x[k].element[e];
    function(in, out);
    KG_UNROLL
    for (int k = 0; k < Outputs; ++k) y[k].element[e] = out[k];
  }
  KG_UNROLL
  for (int k = 0; k < Outputs; ++k) reinterpret_cast<Pack<T, Count>*>(arrays.out[k])[pack] = y[k];
}

template <int Count, class T, int Inputs, int Outputs>
__device__ inline void load_packs(const Arrays<T, Inputs, Outputs>& arrays, std::int64_t pack,
                                  Pack<T, Count> (&x)[Inputs]) {
  KG_UNROLL
  for (int k = 0; k < Inputs; ++k)
    x[k] = reinterpret_cast<const Pack<T, Count>*>(arrays.in[k])[pack];
}

// `packs` packs of Count elements that begin at the arrays, each aligned to its size. A block of
// kMapThreads takes tiles of kMapThreads x Loads packs, one grid of blocks after the other.
template <int Count, int Loads, class T, int Inputs, int Outputs, class Function>
__device__ inline void map_packs(const Arrays<T, Inputs, Outputs>& arrays, std::int64_t packs,
                                 Function function) {
  constexpr int kTile = kMapThreads * Loads;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kTile;
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTile + threadIdx.x;
  std::int64_t tile_end = static_cast<std::int64_t>(blockIdx.x + 1) * kTile;

  for (; tile_end <= packs; first += step, tile_end += step) {
    Pack<T, Count> x[Loads][Inputs];
    KG_UNROLL
    for (int l = 0; l < Loads; ++l) load_packs<Count>(arrays, first + l * kMapThreads, x[l]);
    KG_UNROLL
    for (int l = 0; l < Loads; ++l)
      map_pack<Count>(arrays, first + l * kMapThreads, x[l], function);
  }
  // The last tile, not full: the block whose turn it is finds `first` in range.
  for (; first < packs && first < tile_end; first += kMapThreads) {
    Pack<T, Count> x[Inputs];
    load_packs<Count>(arrays, first, x);
    map_pack<Count>(arrays, first, x, function);
  }
}

// n elements of arrays that are all `head` elements, at most n, from the next pack boundary.
template <int Loads, class T, int Inputs, int Outputs, class Function>
__device__ inline void map_aligned(const Arrays<T, Inputs, Outputs>& arrays, std::int64_t n,
                                   int head, Function function) {
  constexpr int kCount = kPackElements<T>;
  const std::int64_t packs = (n - head) / kCount;
  const std::int64_t body = packs * kCount;
  map_packs<kCount, Loads>(advanced(arrays, head), packs, function);
  // The last block has the shortest way through the loop above.
  if (blockIdx.x + 1 == gridDim.x) {
    const int edge = static_cast<int>(n - body); // head and tail together
    const int i = static_cast<int>(threadIdx.x);
    if (i < edge) map_element(arrays, i < head ? i : body + i, function);
  }
}

// n elements of arrays that no shift aligns together: single elements, as many bytes under way.
template <int Loads, class T, int Inputs, int Outputs, class Function>
__device__ inline void map_misaligned(const Arrays<T, Inputs, Outputs>& arrays, std::int64_t n,
                                      Function function) {
  map_packs<1, Loads * kPackElements<T>>(arrays, n, function);
}

// Elements before the next pack boundary, which must be as many for all arrays; else -1.
template <class T, int Inputs, int Outputs>
int common_head(const Arrays<T, Inputs, Outputs>& arrays) {
  const int head = elements_to_boundary(arrays.in[0]);
  const auto differs = [head](const T* array) { return elements_to_boundary(array) != head; };
  if (std::any_of(arrays.in, arrays.in + Inputs, differs)) return -1;
  if (std::any_of(arrays.out, arrays.out + Outputs, differs)) return -1;
  return head;
}

// Blocks for n elements of T: all that are resident at once, or as many as there are tiles.
template <class T, int Loads>
unsigned map_grid(std::int64_t n) {
  constexpr std::int64_t kTile = std::int64_t{kMapThreads} * Loads * kPackElements<T>;
  const std::int64_t tiles = n / kTile + (n % kTile != 0);
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * kMapBlocksPerSm;
  return static_cast<unsigned>(std::clamp<std::int64_t>(tiles, 1, resident));
}

} // namespace kg
