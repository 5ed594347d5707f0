// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// For few rows of X, the bytes are those of W, n k / 2 or n k, plus 3 % for scales in groups of
// 128; flops: 2 m n k. With one row of X, nvcc's code takes 9 instructions of a lane per byte of
// w8, and 14 for w4: it extracts, converts, shifts and multiplies two weights, and converts x. An
// H200 issues 6.6 while memory delivers a byte. Expected there: 70 % of memory bandwidth for w8, 45
// % for w4, and 85 % for w8a8, which multiplies four pairs per instruction; with four rows of X, 40
// %, 25 % and 85 %.
//
// A lane has 32 bytes of W in flight and unpacks them while other warps wait: 32 warps of a
// multiprocessor have 32 KiB. X comes from the caches, and all warps read the same rows.
//
// e4m3 is converted to float on both sides, some five instructions per element, which exceeds the
// issue slots per byte: at most 59 % of copy bandwidth (modelled).
//
// Why not Tensor Cores: a tile of 16 rows would be padding except for one. Why not pairs of 16-bit
// products, which would save instructions for w4: their sums would have only 11 bits, or 8. Why not
// X in shared memory: each warp reads a row once, in memory order.
#include "ops/quantised_matmul/variants.h"

#include "primitives/divisor.h"
#include "primitives/fp8.h"
#include "primitives/pack.h"
#include "primitives/warp.h"
#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <string>
#include <type_traits>

namespace kg::quantised_matmul {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kLanes;
constexpr int kMostRows = 4; // rows of X at a time
constexpr int kChunks = 2;   // loads per lane in flight before the first use
constexpr int kPart = 8;     // weights unpacked together

template <Kind kind>
constexpr int kWeights = kind == Kind::w4 ? 32 : 16; // per 16 bytes

template <Kind kind>
using SumOf = std::conditional_t<kind == Kind::w8a8, int, float>;

template <class T>
struct Arguments {
  Problem<T> problem;
  std::int64_t groups;      // per row
  Divisor chunks_per_group; // 16 bytes each
  Divisor columns;          // n
};

// Converts a small integer to float minus `by`: its bits as the low mantissa bits of 2^23, whose
// ulp is 1, minus 2^23 + by.
__device__ __forceinline__ float less(unsigned bits, float by) {
  return __uint_as_float(bits | 0x4B000000U) - (8388608.0F + by);
}

// Weights [8 part, 8 part + 8) of 16 bytes.
template <Kind kind>
__device__ __forceinline__ void unpack(const uint4& bytes, int part, float (&weight)[kPart]) {
  const unsigned words[] = {bytes.x, bytes.y, bytes.z, bytes.w};
  KG_UNROLL
  for (int i = 0; i < kPart; ++i)
    if constexpr (kind == Kind::w4)
      weight[i] = less(words[part] >> (4 * i) & 0xFU, 8);
    else
      weight[i] = less((words[2 * part + i / 4] ^ 0x80808080U) >> (i % 4 * 8) & 0xFFU, 128);
}

template <Kind kind>
__device__ __forceinline__ float weight_at(const void* w, std::int64_t index) {
  if constexpr (kind == Kind::w4) {
    const unsigned both = static_cast<const std::uint8_t*>(w)[index / 2];
    return static_cast<float>(static_cast<int>(both >> (index % 2 * 4) & 0xFU) - 8);
  } else {
    return static_cast<const std::int8_t*>(w)[index];
  }
}

template <Kind kind, class T>
__global__ void __launch_bounds__(kThreads) naive(Arguments<T> a) {
  const Problem<T>& p = a.problem;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= p.m * p.n) return;
  const std::int64_t row = a.columns.quotient(index), column = index - row * p.n;
  float result = 0;
  if constexpr (by_rows(kind)) {
    using Number = std::conditional_t<kind == Kind::w8a8, std::int8_t, e4m3>;
    const auto* const x = static_cast<const Number*>(p.x8) + row * p.k;
    const auto* const w = static_cast<const Number*>(p.w) + column * p.k;
    SumOf<kind> sum = 0;
    for (std::int64_t c = 0; c < p.k; ++c)
      if constexpr (kind == Kind::w8a8)
        sum += x[c] * w[c];
      else
        sum = fmaf(to_float(x[c]), to_float(w[c]), sum);
    result = static_cast<float>(sum) * p.x_scale[row] * p.w_scale[column];
  } else {
    for (std::int64_t g = 0; g < a.groups; ++g) {
      float sum = 0;
      for (std::int64_t c = g * p.group; c < (g + 1) * p.group; ++c)
        sum = fmaf(to_float(p.x[row * p.k + c]), weight_at<kind>(p.w, column * p.k + c), sum);
      result = fmaf(to_float(p.scale[column * a.groups + g]), sum, result);
    }
  }
  p.y[index] = from_float<T>(result);
}

// Adds the products of 16 bytes of W and the rows of X; `first`: their position in a row.
template <Kind kind, class T, int kRows>
__device__ __forceinline__ void add_chunk(const Problem<T>& p, const uint4& bytes, float scale,
                                          std::int64_t first, const std::int64_t (&row)[kRows],
                                          float (&sum)[kRows]) {
  float of_group[kRows] = {};
  KG_UNROLL
  for (int part = 0; part < kWeights<kind> / kPart; ++part) {
    float weight[kPart];
    unpack<kind>(bytes, part, weight);
    KG_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const auto x = *reinterpret_cast<const Pack<T, kPart>*>(p.x + row[r] + first + part * kPart);
      KG_UNROLL
      for (int i = 0; i < kPart; ++i)
        of_group[r] = fmaf(to_float(x.element[i]), weight[i], of_group[r]);
    }
  }
  KG_UNROLL
  for (int r = 0; r < kRows; ++r) sum[r] = fmaf(scale, of_group[r], sum[r]);
}

template <int kRows>
__device__ __forceinline__ void add_integers(const std::uint8_t* x, const uint4& bytes,
                                             std::int64_t first, const std::int64_t (&row)[kRows],
                                             int (&sum)[kRows]) {
  KG_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const auto own = *reinterpret_cast<const uint4*>(x + row[r] + first);
    sum[r] = __dp4a(static_cast<int>(own.x), static_cast<int>(bytes.x), sum[r]);
    sum[r] = __dp4a(static_cast<int>(own.y), static_cast<int>(bytes.y), sum[r]);
    sum[r] = __dp4a(static_cast<int>(own.z), static_cast<int>(bytes.z), sum[r]);
    sum[r] = __dp4a(static_cast<int>(own.w), static_cast<int>(bytes.w), sum[r]);
  }
}

template <int kRows>
__device__ __forceinline__ void add_floats(const std::uint8_t* x, const uint4& bytes,
                                           std::int64_t first, const std::int64_t (&row)[kRows],
                                           float (&sum)[kRows]) {
  const unsigned of_w[] = {bytes.x, bytes.y, bytes.z, bytes.w};
  float weight[16];
  KG_UNROLL
  for (int i = 0; i < 16; ++i)
    weight[i] = to_float(e4m3{static_cast<std::uint8_t>(of_w[i / 4] >> (i % 4 * 8))});
  KG_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const auto own = *reinterpret_cast<const uint4*>(x + row[r] + first);
    const unsigned of_x[] = {own.x, own.y, own.z, own.w};
    KG_UNROLL
    for (int i = 0; i < 16; ++i)
      sum[r] = fmaf(to_float(e4m3{static_cast<std::uint8_t>(of_x[i / 4] >> (i % 4 * 8))}),
                    weight[i], sum[r]);
  }
}

// kRows: rows of X at a time.
template <Kind kind, class T, int kRows>
__global__ void __launch_bounds__(kThreads) skinny(Arguments<T> a) {
  constexpr int kStep = kLanes * kWeights<kind>;
  const Problem<T>& p = a.problem;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / kLanes;
  if (column >= p.n) return; // a whole warp
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * kRows;
  std::int64_t row[kRows]; // starts of the rows; past the end, the last row again
  KG_UNROLL
  for (int r = 0; r < kRows; ++r) row[r] = (first_row + r < p.m ? first_row + r : p.m - 1) * p.k;
  const auto* const w = reinterpret_cast<const uint4*>(p.w) + column * (p.k / kWeights<kind>);
  const T* const scales = p.scale + column * a.groups;

  const auto* const x8 = static_cast<const std::uint8_t*>(p.x8);
  SumOf<kind> sum[kRows] = {};
  for (std::int64_t base = lane * kWeights<kind>; base < p.k; base += kChunks * kStep) {
    uint4 bytes[kChunks] = {};
    float scale[kChunks] = {};
    KG_UNROLL
    for (int c = 0; c < kChunks; ++c) {
      const std::int64_t chunk = (base + c * kStep) / kWeights<kind>;
      if (base + c * kStep >= p.k) continue;
      bytes[c] = w[chunk];
      if constexpr (!by_rows(kind)) scale[c] = to_float(scales[a.chunks_per_group.quotient(chunk)]);
    }
    KG_UNROLL
    for (int c = 0; c < kChunks; ++c) {
      const std::int64_t first = base + c * kStep;
      if (first >= p.k) continue;
      if constexpr (kind == Kind::w8a8)
        add_integers(x8, bytes[c], first, row, sum);
      else if constexpr (kind == Kind::e4m3)
        add_floats(x8, bytes[c], first, row, sum);
      else
        add_chunk<kind>(p, bytes[c], scale[c], first, row, sum);
    }
  }
  KG_UNROLL
  for (int r = 0; r < kRows; ++r) {
    for (int step = kLanes / 2; step > 0; step /= 2)
      sum[r] += __shfl_xor_sync(kAllLanes, sum[r], step);
    if (lane != 0 || first_row + r >= p.m) continue;
    auto result = static_cast<float>(sum[r]);
    if constexpr (by_rows(kind)) result = result * p.x_scale[first_row + r] * p.w_scale[column];
    p.y[(first_row + r) * p.n + column] = from_float<T>(result);
  }
}

namespace {

template <class T>
std::int64_t bytes_of_w(const Problem<T>& p) {
  return p.n * (p.kind == Kind::w4 ? p.k / 2 : p.k);
}

template <Kind kind, class T>
bool is_made_of_chunks(const Problem<T>& p) {
  const auto begins = [](const void* data, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(data) % bytes == 0;
  };
  if (p.k % kWeights<kind> != 0 || !begins(p.w, kPackBytes)) return false;
  if (by_rows(kind)) return begins(p.x8, kPackBytes);
  return p.group % kWeights<kind> == 0 && begins(p.x, kPart * sizeof(T));
}

template <Kind kind, class T>
void launch_kind(const Problem<T>& p, Variant variant, Stream& stream) {
  constexpr bool kGrouped = !by_rows(kind);
  const Arguments<T> a{p, kGrouped ? p.k / p.group : 1,
                       Divisor(kGrouped ? std::max<std::int64_t>(p.group / kWeights<kind>, 1) : 1),
                       Divisor(p.n)};
  const bool chunks = is_made_of_chunks<kind>(p);
  if constexpr (!kGrouped)
    if (variant == Variant::wgmma && wgmma_fits(p)) return launch_wgmma<kind>(p, stream);
  if constexpr (!kGrouped)
    if ((variant == Variant::mma || variant == Variant::wgmma) && chunks &&
        device_properties().compute_major >= 8)
      return launch_mma<kind>(p, stream);
  if (variant != Variant::naive && chunks) {
    launch(p.m == 1 ? skinny<kind, T, 1> : skinny<kind, T, kMostRows>,
           {.grid = {grid_x(div_up(p.n, kWarps), "quantised_matmul: the rows of w", "split them"),
                     static_cast<unsigned>(div_up(p.m, kMostRows))},
            .block = kThreads,
            .stream = &stream},
           a);
  } else {
    launch(naive<kind, T>,
           {.grid = grid_x(div_up(p.m * p.n, kThreads), "quantised_matmul: the elements of y",
                           "split the rows of x"),
            .block = kThreads,
            .stream = &stream},
           a);
  }
}

template <class T>
void require_valid(const Problem<T>& p) {
  require_extent("quantised_matmul: m", p.m);
  require_extent("quantised_matmul: n", p.n);
  require_extent("quantised_matmul: k", p.k);
  constexpr std::int64_t kMost = std::int64_t{65535} * kMostRows; // limit of the grid
  require(p.m <= kMost, "quantised_matmul: m is " + std::to_string(p.m) + "; it must be at most " +
                            std::to_string(kMost));
  require(p.kind != Kind::w8a8 || p.k < 1 << 17, "quantised_matmul: k is " + std::to_string(p.k) +
                                                     "; sums of w8a8 fit 32 bits below 131072");
  if (!by_rows(p.kind))
    require(p.group > 0 && p.k % p.group == 0, "quantised_matmul: group is " +
                                                   std::to_string(p.group) +
                                                   "; it must divide k, " + std::to_string(p.k));
  require(p.kind != Kind::w4 || p.k % 2 == 0,
          "quantised_matmul: k is " + std::to_string(p.k) + "; w4 has two weights in a byte");
  const std::int64_t results = p.m * p.n;
  if (results == 0) return;
  const auto input = [&](const std::string& name, const auto* data, std::int64_t bytes) {
    require_elements("quantised_matmul: " + name, data, bytes);
    if (bytes > 0)
      require_apart("quantised_matmul: " + name, data, bytes, "y", p.y,
                    results * static_cast<std::int64_t>(sizeof(T)));
  };
  require_elements("quantised_matmul: y", p.y, results);
  input("w", p.w, bytes_of_w(p));
  if (by_rows(p.kind)) {
    input("x8", p.x8, p.m * p.k);
    input("x_scale", p.x_scale, p.m * static_cast<std::int64_t>(sizeof(float)));
    input("w_scale", p.w_scale, p.n * static_cast<std::int64_t>(sizeof(float)));
  } else {
    input("x", p.x, p.m * p.k * static_cast<std::int64_t>(sizeof(T)));
    input("scale", p.scale, p.n * (p.k / p.group) * static_cast<std::int64_t>(sizeof(T)));
  }
}

} // namespace

bool supports(Variant variant, Kind kind) {
  if (variant == Variant::mma) return by_rows(kind);
  if (variant != Variant::wgmma) return true;
  return by_rows(kind) &&
         (!device_unavailable_reason().empty() || device_properties().compute_major == 9);
}

template <class T>
Variant resolved(const Problem<T>& p, Variant variant) {
  if (variant != Variant::automatic) return variant;
  if (!by_rows(p.kind) || p.m < kManyRows) return Variant::skinny;
  const bool is_exact = p.kind == Kind::w8a8;
  return is_exact && supports(Variant::wgmma, p.kind) && wgmma_fits(p) ? Variant::wgmma
                                                                       : Variant::mma;
}

template <class T>
Variant run(const Problem<T>& p, Variant variant, Stream& stream) {
  require_valid(p);
  variant = resolved(p, variant);
  require(supports(variant, p.kind), "quantised_matmul: no variant " + std::string(name(variant)) +
                                         " for " + std::string(name(p.kind)) +
                                         " on this device; use automatic");
  if (p.m * p.n == 0) return variant;
  switch (p.kind) {
  case Kind::w4: launch_kind<Kind::w4>(p, variant, stream); break;
  case Kind::w8: launch_kind<Kind::w8>(p, variant, stream); break;
  case Kind::w8a8: launch_kind<Kind::w8a8>(p, variant, stream); break;
  case Kind::e4m3: launch_kind<Kind::e4m3>(p, variant, stream); break;
  }
  return variant;
}

template <class T>
Work work(const Problem<T>& p) {
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  const double written = m * n * sizeof(T);
  const double factors = by_rows(p.kind) ? (m + n) * sizeof(float)
                                         : n * static_cast<double>(p.k / p.group) * sizeof(T);
  const double of_x = m * k * (by_rows(p.kind) ? 1 : sizeof(T));
  return {.bytes = static_cast<double>(bytes_of_w(p)) + of_x + factors + written,
          .written = written,
          .flops = 2 * m * n * k};
}

template Variant resolved(const Problem<float>&, Variant);
template Variant resolved(const Problem<f16>&, Variant);
template Variant resolved(const Problem<bf16>&, Variant);
template Variant run(const Problem<float>&, Variant, Stream&);
template Variant run(const Problem<f16>&, Variant, Stream&);
template Variant run(const Problem<bf16>&, Variant, Stream&);
template Work work(const Problem<float>&);
template Work work(const Problem<f16>&);
template Work work(const Problem<bf16>&);

} // namespace kg::quantised_matmul
