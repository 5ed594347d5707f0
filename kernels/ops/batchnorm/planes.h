// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Access to nchw tensors: vectors of Count elements at multiples of 16 bytes, regardless of where
// planes begin. A vector shared by two planes is loaded whole, once for each, and each uses its own
// elements. Every load is thus as wide as possible, even for planes of 7 x 7 elements.
#pragma once

#include "ops/batchnorm/variants.h"
#include "primitives/divisor.h"
#include "primitives/row.h"

#include <cstdint>
#include <type_traits>

namespace kg::batchnorm {

struct Planes {
  std::int64_t channels;
  std::int64_t spatial;
  std::int64_t elements;
  int past;           // elements from the preceding multiple of 16 bytes to the first element
  std::int64_t packs; // vectors that overlap a plane, at most
  bool whole;         // whether no vector overlaps two planes
  Divisor by_packs, by_spatial, by_channels;

  // tensor: described by problem p, which has elements.
  template <class T>
  Planes(const Problem& p, const T* tensor, int count)
      : channels(p.channels), spatial(p.spatial), elements(p.elements()),
        past((count - elements_to_boundary(tensor) % count) % count),
        packs(past == 0 && spatial % count == 0 ? spatial / count
                                                : div_up(spatial + count - 1, count)),
        whole(packs * count == spatial), by_packs(packs), by_spatial(spatial),
        by_channels(channels) {}

  // An element's channel, and the elements from it to the end of its plane.
  struct Place {
    std::int64_t channel;
    std::int64_t left;
  };
  __device__ __forceinline__ Place place_of(std::int64_t element) const {
    const std::int64_t plane = by_spatial.quotient(element);
    return {plane - by_channels.quotient(plane) * channels, (plane + 1) * spatial - element};
  }
};

// Elements [begin, end) of the vector that starts at element `first` of the tensor; `first` may
// precede the tensor.
struct Window {
  std::int64_t first;
  int begin;
  int end;
};

// The part in [start, stop) of the vector at element `first`.
template <int Count>
__device__ __forceinline__ Window window(std::int64_t first, std::int64_t start,
                                         std::int64_t stop) {
  const std::int64_t before = start - first;
  const std::int64_t until = stop - first;
  return {first, before > 0 ? static_cast<int>(before < Count ? before : Count) : 0,
          until < Count ? static_cast<int>(until > 0 ? until : 0) : Count};
}

// Iterates over the vectors of a channel, plane after plane, without a division per step.
class ChannelWalk {
 public:
  // Starts at vector `number` of the channel, and advances by `step` or by `jump` vectors.
  __device__ __forceinline__ ChannelWalk(const Planes& p, std::int64_t channel, std::int64_t number,
                                         std::int64_t step, std::int64_t jump)
      : p_(p), image_(p.channels * p.spatial), end_(p.elements + channel * p.spatial),
        start_(channel * p.spatial), pack_(0) {
    step_ = strides_of(step);
    jump_ = strides_of(jump);
    go(strides_of(number));
  }
  __device__ bool at_end() const { return start_ >= end_; }
  __device__ __forceinline__ void step() { go(step_); }
  __device__ __forceinline__ void jump() { go(jump_); }

  // Empty past the last vector.
  template <int Count, bool kWhole>
  __device__ __forceinline__ Window window() const {
    if (at_end()) return {0, 0, 0};
    if (kWhole) return {start_ + pack_ * Count, 0, Count};
    const std::int64_t aligned = (start_ + p_.past) / Count * Count - p_.past;
    return batchnorm::window<Count>(aligned + pack_ * Count, start_, start_ + p_.spatial);
  }

 private:
  struct Strides {
    std::int64_t elements; // in whole images
    std::int64_t packs;    // fewer than a plane has
  };

  __device__ __forceinline__ Strides strides_of(std::int64_t packs) const {
    const std::int64_t images = p_.by_packs.quotient(packs);
    return {images * image_, packs - images * p_.packs};
  }
  __device__ __forceinline__ void go(const Strides& by) {
    start_ += by.elements;
    pack_ += by.packs;
    if (pack_ < p_.packs) return;
    start_ += image_;
    pack_ -= p_.packs;
  }

  const Planes& p_;
  std::int64_t image_, end_;
  std::int64_t start_; // first element of the plane
  std::int64_t pack_;  // index in the plane
  Strides step_, jump_;
};

// Also loads elements outside the window; elements outside the tensor are 0.
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

// A vector of an each_chunk step; whole: all windows are full vectors within the tensor.
template <class T, int Count, class Whole>
__device__ __forceinline__ StoredPack<T, Count> load_in_chunk(const T* tensor, const Window& w,
                                                              std::int64_t elements, Whole whole) {
  if (!whole) return load_window<T, Count>(tensor, w, elements);
  StoredPack<T, Count> result;
  result.load(tensor + w.first);
  return result;
}

// Stores only the elements of the window.
template <class T, int Count>
__device__ __forceinline__ void store_window(T* tensor, const Window& w,
                                             const Floats<Count>& values) {
  if (w.end - w.begin == Count)
    return store_pack<T, Count, Store::streamed>(tensor + w.first, 0, Count, values);
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    if (e >= w.begin && e < w.end) tensor[w.first + e] = from_float<T>(values.value[e]);
}

// Iterates over a thread's share of a channel: use(windows, whole) for kTogether vectors at a time.
// `whole` is a compile-time constant: whether all windows are full vectors. Blocks share a channel
// along the grid's y axis. kWhole: planes are whole vectors.
template <int Count, bool kWhole, class Use>
__device__ __forceinline__ void each_chunk(const Planes& p, std::int64_t channel, Use use) {
  constexpr std::int64_t kStep = kTogether * kThreads;
  ChannelWalk walk(p, channel, blockIdx.y * kStep + threadIdx.x, kThreads,
                   (gridDim.y - 1) * kStep + kThreads);
  while (!walk.at_end()) {
    Window windows[kTogether];
    bool whole = true;
    KG_UNROLL
    for (int k = 0; k < kTogether; ++k) {
      if (k > 0) walk.step();
      windows[k] = walk.window<Count, kWhole>();
      whole = whole && windows[k].end - windows[k].begin == Count;
    }
    walk.jump();
    if (whole)
      use(windows, std::true_type{});
    else
      use(windows, std::false_type{});
  }
}

// Calls use(e, of(channel)) for each element e of a nonempty window of the tensor, with the channel
// of its plane. asked() is called between of() and use(), after of() has issued its loads. Most
// windows lie in one plane, most others in two.
template <int Count, class Of, class Asked, class Use>
__device__ __forceinline__ void each_element(const Planes& p, const Window& w, Of of, Asked asked,
                                             Use use) {
  const Planes::Place place = p.place_of(w.first + w.begin);
  const bool whole = w.end - w.begin == Count;
  std::int64_t channel = place.channel;
  auto numbers = of(channel);
  asked();
  if (whole && place.left >= Count) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) use(e, numbers);
    return;
  }
  const auto go_on = [&] {
    channel = channel + 1 == p.channels ? 0 : channel + 1;
    return of(channel);
  };
  if (whole && p.spatial >= Count) {
    const auto next = go_on();
    KG_UNROLL
    for (int e = 0; e < Count; ++e) {
      if (e < place.left)
        use(e, numbers);
      else
        use(e, next);
    }
    return;
  }
  const auto most = static_cast<int>(p.spatial < Count ? p.spatial : Count);
  int end = w.begin + static_cast<int>(place.left < Count ? place.left : Count);
  KG_ROLLED
  for (int begin = w.begin; begin < w.end; begin = end, end += most) {
    if (begin > w.begin) numbers = go_on();
    KG_UNROLL
    for (int e = 0; e < Count; ++e)
      if (e >= begin && e < end && e < w.end) use(e, numbers);
  }
}

} // namespace kg::batchnorm
