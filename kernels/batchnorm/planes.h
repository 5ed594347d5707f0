// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A tensor in nchw as kernels see it: packs of Count elements at multiples of 16 bytes, wherever
// its planes begin. A pack that two planes share is loaded whole, once for each, and each uses its
// own elements of it: every load is as wide as it can be, of planes of 7 x 7 elements, too.
#pragma once

#include "batchnorm/variants.h"
#include "primitives/divisor.h"
#include "primitives/row.h"

#include <type_traits>

namespace kg::batchnorm {

struct Planes {
  std::int64_t channels;
  std::int64_t spatial;
  std::int64_t elements;
  int past;                   // elements from the last multiple of 16 bytes to the first element
  std::int64_t packs;         // that touch a plane, at most
  std::int64_t channel_packs; // that touch a channel's planes, at most
  Divisor by_packs;
  Divisor by_spatial;
  Divisor by_channels;

  // `tensor` has problem p; p has elements.
  template <class T>
  Planes(const Problem& p, const T* tensor, int count)
      : channels(p.channels), spatial(p.spatial), elements(p.elements()),
        past((count - elements_to_boundary(tensor) % count) % count),
        packs(past == 0 && spatial % count == 0 ? spatial / count
                                                : div_up(spatial + count - 1, count)),
        channel_packs(p.batch * packs), by_packs(packs), by_spatial(spatial),
        by_channels(channels) {}
};

// Elements [begin, end) of the pack that begins at element `first` of the tensor, which may lie
// before it.
struct Window {
  std::int64_t first;
  int begin;
  int end;
};

// What of the pack at element `first` lies in [start, stop).
template <int Count>
__device__ __forceinline__ Window window(std::int64_t first, std::int64_t start,
                                         std::int64_t stop) {
  const std::int64_t before = start - first;
  const std::int64_t until = stop - first;
  return {first, before > 0 ? static_cast<int>(before < Count ? before : Count) : 0,
          until < Count ? static_cast<int>(until > 0 ? until : 0) : Count};
}

// Pack `number` of a channel's, plane after plane; no elements behind the last one.
template <int Count>
__device__ __forceinline__ Window channel_window(const Planes& p, std::int64_t channel,
                                                 std::int64_t number) {
  if (number >= p.channel_packs) return {0, 0, 0};
  const std::int64_t image = p.by_packs.quotient(number);
  const std::int64_t start = (image * p.channels + channel) * p.spatial;
  const std::int64_t aligned = (start + p.past) / Count * Count - p.past;
  return window<Count>(aligned + (number - image * p.packs) * Count, start, start + p.spatial);
}

// Elements of the tensor outside the window are loaded, too, those outside the tensor are 0.
template <class T, int Count>
__device__ __forceinline__ StoredPack<T, Count> load_window(const T* tensor, const Window& w,
                                                            std::int64_t elements) {
  StoredPack<T, Count> result;
  if (w.first >= 0 && w.first + Count <= elements && w.begin < w.end) {
    result.load(tensor + w.first);
  } else {
    Pack<T, Count> part = {};
    KG_UNROLL
    for (int e = 0; e < Count; ++e)
      if (e >= w.begin && e < w.end) part.element[e] = tensor[w.first + e];
    result.set(part);
  }
  return result;
}

// Only what the window has.
template <class T, int Count>
__device__ __forceinline__ void store_window(T* tensor, const Window& w,
                                             const Floats<Count>& values) {
  if (w.end - w.begin == Count)
    return store_pack<T, Count, Store::streamed>(tensor + w.first, 0, Count, values);
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    if (e >= w.begin && e < w.end) tensor[w.first + e] = from_float<T>(values.value[e]);
}

// Walks a thread through its share of a channel: use(windows, whole) for kTogether packs at a time,
// `whole` a constant true or false: whether the windows are all packs. Blocks share a channel along
// the grid's y.
template <int Count, class Use>
__device__ __forceinline__ void each_chunk(const Planes& p, std::int64_t channel, Use use) {
  constexpr int kStep = kTogether * kThreads;
  for (std::int64_t start = static_cast<std::int64_t>(blockIdx.y) * kStep + threadIdx.x;
       start < p.channel_packs; start += static_cast<std::int64_t>(gridDim.y) * kStep) {
    Window windows[kTogether];
    bool whole = true;
    KG_UNROLL
    for (int k = 0; k < kTogether; ++k) {
      windows[k] = channel_window<Count>(p, channel, start + k * kThreads);
      whole = whole && windows[k].end - windows[k].begin == Count;
    }
    if (whole)
      use(windows, std::true_type{});
    else
      use(windows, std::false_type{});
  }
}

// Walks along a window of the whole tensor, element by element: use(channel) at the first one and
// where a plane begins, element(e) for each.
template <int Count, class Use, class Element>
__device__ __forceinline__ void each_element(const Planes& p, const Window& w, Use use,
                                             Element element) {
  if (w.begin >= w.end) return;
  const std::int64_t at = w.first + w.begin;
  const std::int64_t plane = p.by_spatial.quotient(at);
  const std::int64_t left = p.spatial - (at - plane * p.spatial);
  const int most = static_cast<int>(p.spatial < Count ? p.spatial : Count);
  std::int64_t channel = plane - p.by_channels.quotient(plane) * p.channels;
  int of_plane = static_cast<int>(left < Count ? left : Count);
  use(channel);
  KG_UNROLL
  for (int e = 0; e < Count; ++e) {
    if (e < w.begin || e >= w.end) continue;
    if (of_plane == 0) {
      channel = channel + 1 == p.channels ? 0 : channel + 1;
      of_plane = most;
      use(channel);
    }
    element(e);
    --of_plane;
  }
}

} // namespace kg::batchnorm
