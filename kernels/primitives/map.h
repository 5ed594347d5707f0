// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Element-wise functions over contiguous arrays of one type: the i-th outputs are a function of the
// i-th inputs. This header has the loop; each operation defines its kernels.
//
// Bytes in flight: a thread issues Loads packs of each input before it uses the first one, so 1024
// threads per multiprocessor have Loads x Inputs x 16 KiB in flight; elementwise.cu says how much a
// GPU needs. No __restrict__, since an output may be an input. All loads of a tile therefore
// precede its first store, because the compiler could not move them there.
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

// The function over one pack of each input, which is already loaded.
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

// Maps `packs` aligned packs of Count elements. A grid-stride loop: a block of kMapThreads threads
// processes tiles of kMapThreads x Loads packs.
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
  // The last, partial tile: only one block finds `first` in range.
  for (; first < packs && first < tile_end; first += kMapThreads) {
    Pack<T, Count> x[Inputs];
    load_packs<Count>(arrays, first, x);
    map_pack<Count>(arrays, first, x, function);
  }
}

// Maps n elements of arrays that are all `head` <= n elements before a pack boundary.
template <int Loads, class T, int Inputs, int Outputs, class Function>
__device__ inline void map_aligned(const Arrays<T, Inputs, Outputs>& arrays, std::int64_t n,
                                   int head, Function function) {
  constexpr int kCount = kPackElements<T>;
  const std::int64_t packs = (n - head) / kCount;
  const std::int64_t body = packs * kCount;
  map_packs<kCount, Loads>(advanced(arrays, head), packs, function);
  // By the last block, which has the least work in the loop above.
  if (blockIdx.x + 1 == gridDim.x) {
    const int edge = static_cast<int>(n - body); // head and tail together
    const int i = static_cast<int>(threadIdx.x);
    if (i < edge) map_element(arrays, i < head ? i : body + i, function);
  }
}

// Maps n elements of differently aligned arrays, element by element, with as many bytes in flight.
template <int Loads, class T, int Inputs, int Outputs, class Function>
__device__ inline void map_misaligned(const Arrays<T, Inputs, Outputs>& arrays, std::int64_t n,
                                      Function function) {
  map_packs<1, Loads * kPackElements<T>>(arrays, n, function);
}

// Elements before the next pack boundary, if the same for all arrays; otherwise -1.
template <class T, int Inputs, int Outputs>
int common_head(const Arrays<T, Inputs, Outputs>& arrays) {
  const int head = elements_to_boundary(arrays.in[0]);
  const auto differs = [head](const T* array) { return elements_to_boundary(array) != head; };
  if (std::any_of(arrays.in, arrays.in + Inputs, differs)) return -1;
  if (std::any_of(arrays.out, arrays.out + Outputs, differs)) return -1;
  return head;
}

// The grid for n elements of T: the number of resident blocks, or of tiles if there are fewer.
template <class T, int Loads>
unsigned map_grid(std::int64_t n) {
  constexpr std::int64_t kTile = std::int64_t{kMapThreads} * Loads * kPackElements<T>;
  const std::int64_t tiles = n / kTile + (n % kTile != 0);
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * kMapBlocksPerSm;
  return static_cast<unsigned>(std::clamp<std::int64_t>(tiles, 1, resident));
}

} // namespace kg
