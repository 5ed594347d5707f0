// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes: 5 n with f32 on one side, 3 n with f16 or bf16; no flops. Expected on an H200: 92 % of
// memory bandwidth. From compute capability 8.9 on, one instruction converts two numbers. Earlier
// GPUs, whose memory is also slower, take some fifteen instructions per number.
//
// A thread has four packs in flight, 64 bytes of the wider type. An access to the narrower type has
// 4 or 8 bytes per thread, 128 or 256 contiguous bytes per warp: whole sectors. Why not 16 bytes on
// both sides: a thread would have 64 bytes of f32, and its warp's accesses would have gaps.
#include "ops/cast/cast.h"

#include "primitives/fp8.h"
#include "primitives/pack.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <string>

namespace kg::cast {

constexpr int kThreads = 256;
constexpr int kPacks = 4; // per thread, loaded before the first use

template <class From, class To>
constexpr int kCount = kPackBytes / static_cast<int>(std::max(sizeof(From), sizeof(To)));

template <class To>
inline constexpr bool kIsNarrow = sizeof(To) == 1;

template <class From, class To>
__device__ __forceinline__ To casted(From x, bool saturate) {
  if constexpr (kIsNarrow<To>)
    return narrowed<To>(to_float(x), saturate);
  else
    return from_float<To>(to_float(x));
}

template <class From, class To, int Count>
__device__ __forceinline__ void cast_pack(const Pack<From, Count>& x, bool saturate,
                                          Pack<To, Count>& y) {
  if constexpr (kIsNarrow<To>) {
    if (saturate) {
      KG_UNROLL
      for (int e = 0; e < Count; e += 2) {
        To both[2];
        narrowed_pair(to_float(x.element[e]), to_float(x.element[e + 1]), both);
        y.element[e] = both[0];
        y.element[e + 1] = both[1];
      }
      return;
    }
  }
  KG_UNROLL
  for (int e = 0; e < Count; ++e) y.element[e] = casted<From, To>(x.element[e], saturate);
}

template <class From, class To>
__global__ void __launch_bounds__(kThreads)
    naive(const From* x, To* y, std::int64_t n, bool saturate) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  const From own = x[i];
  const To result = casted<From, To>(own, saturate);
  y[i] = result;
}

template <class From, class To>
__global__ void __launch_bounds__(kThreads)
    vectorized(const From* x, To* y, std::int64_t n, bool saturate) {
  constexpr int kOfPack = kCount<From, To>;
  const std::int64_t packs = n / kOfPack;
  const std::int64_t first =
      static_cast<std::int64_t>(blockIdx.x) * (kThreads * kPacks) + threadIdx.x;
  Pack<From, kOfPack> own[kPacks] = {};
  KG_UNROLL
  for (int p = 0; p < kPacks; ++p) {
    const std::int64_t pack = first + p * kThreads;
    if (pack < packs) own[p] = reinterpret_cast<const Pack<From, kOfPack>*>(x)[pack];
  }
  KG_UNROLL
  for (int p = 0; p < kPacks; ++p) {
    const std::int64_t pack = first + p * kThreads;
    if (pack >= packs) continue;
    Pack<To, kOfPack> result;
    cast_pack(own[p], saturate, result);
    store_wide(reinterpret_cast<Pack<To, kOfPack>*>(y) + pack, result);
  }
  // What is less than a pack.
  const std::int64_t i = packs * kOfPack + threadIdx.x;
  if (blockIdx.x + 1 == gridDim.x && i < n) {
    const From last = x[i];
    const To result = casted<From, To>(last, saturate);
    y[i] = result;
  }
}

namespace {

template <int Count, class T>
bool begins_pack(const T* data) {
  return reinterpret_cast<std::uintptr_t>(data) % (Count * sizeof(T)) == 0;
}

} // namespace

template <class From, class To>
Variant run(const From* x, To* y, std::int64_t n, bool saturate, Variant variant, Stream& stream) {
  constexpr int kOfPack = kCount<From, To>;
  variant = resolved(variant);
  require_extent("cast: n", n);
  if (n == 0) return variant;
  require_elements("cast: x", x, n);
  require_elements("cast: y", y, n);
  require_apart("cast: x", x, n * static_cast<std::int64_t>(sizeof(From)), "y", y,
                n * static_cast<std::int64_t>(sizeof(To)));
  const bool packs =
      variant == Variant::vectorized && begins_pack<kOfPack>(x) && begins_pack<kOfPack>(y);
  const std::int64_t tile = packs ? kThreads * kPacks * kOfPack : kThreads;
  launch(packs ? vectorized<From, To> : naive<From, To>,
         {.grid = grid_x(div_up(n, tile), "cast: the elements", "split the arrays"),
          .block = kThreads,
          .stream = &stream},
         x, y, n, saturate);
  return variant;
}

Work work(Dtype from, Dtype to, std::int64_t n) {
  const auto bytes = [n](Dtype dtype) {
    return static_cast<double>(n) * static_cast<double>(size_of(dtype));
  };
  return {.bytes = bytes(from) + bytes(to), .written = bytes(to), .flops = 0};
}

template Variant run(const float*, e4m3*, std::int64_t, bool, Variant, Stream&);
template Variant run(const float*, e5m2*, std::int64_t, bool, Variant, Stream&);
template Variant run(const f16*, e4m3*, std::int64_t, bool, Variant, Stream&);
template Variant run(const f16*, e5m2*, std::int64_t, bool, Variant, Stream&);
template Variant run(const bf16*, e4m3*, std::int64_t, bool, Variant, Stream&);
template Variant run(const bf16*, e5m2*, std::int64_t, bool, Variant, Stream&);
template Variant run(const e4m3*, float*, std::int64_t, bool, Variant, Stream&);
template Variant run(const e5m2*, float*, std::int64_t, bool, Variant, Stream&);
template Variant run(const e4m3*, f16*, std::int64_t, bool, Variant, Stream&);
template Variant run(const e5m2*, f16*, std::int64_t, bool, Variant, Stream&);
template Variant run(const e4m3*, bf16*, std::int64_t, bool, Variant, Stream&);
template Variant run(const e5m2*, bf16*, std::int64_t, bool, Variant, Stream&);

} // namespace kg::cast
