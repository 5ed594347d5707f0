// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of rmsnorm and layernorm.
//
// Theoretical minimum: one read and one write per element, 8 bytes in f32 and 4 in f16 and bf16;
// gamma and beta stay in L1 and L2. The 4 to 8 operations per element are a tenth of an H200's
// capacity in that time. Measured there: 95 to 100 % of copy bandwidth for rows of 1,024 columns,
// with one warp per row; shorter rows leave lanes idle.
//
// The variance is computed from centred values of the on-chip row; the second pass over registers
// is free. Why not one pass, E[x^2] - mean^2: it loses the square of |mean| / deviation, all of
// f32's precision at 4096. Why not Welford's update: one division per element for the same
// accuracy. Why not the row in shared memory as f32: registers avoid that traffic.
// persistent_row_kernel.h handles longer rows. Unaligned rows and rows above 128 KiB are read
// again, from L2 if the rows in flight fit.
#pragma once

#include "ops/normalization/kind.h"
#include "ops/normalization/row_parts.h"
#include "ops/normalization/variants.h"
#include "primitives/unpack_pairs.h"

namespace kg::normalization {

// gamma, beta, mean and rstd may be null: gamma counts as ones, beta as zeros; mean and rstd are
// omitted. Kind::rms has no beta and no mean.
template <class T>
struct Forward {
  const T* x;
  std::int64_t x_stride;
  const T* gamma;
  const T* beta;
  float epsilon;
  T* y;
  std::int64_t y_stride;
  float* mean;
  float* rstd;
  std::int64_t rows;
  std::int64_t cols;
};

inline constexpr int kNaiveThreads = 128;
inline constexpr int kRowsPerBlock = 4; // warp_per_row: one warp per row
inline constexpr int kReductions = 2;   // maximum per row

// 1 / sqrt(mean of squares + epsilon), each step correctly rounded.
__device__ inline float reciprocal_deviation(float squares, float cols, float epsilon) {
  return 1.0f / sqrtf(squares / cols + epsilon);
}

template <class T>
__device__ void store_statistics(const Forward<T>& f, std::int64_t row, float mean, float rstd) {
  if (f.mean != nullptr) f.mean[row] = mean;
  if (f.rstd != nullptr) f.rstd[row] = rstd;
}

template <Kind kind, class T>
__global__ void __launch_bounds__(kNaiveThreads) naive(Forward<T> f) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= f.rows) return;
  const T* from = f.x + row * f.x_stride;
  T* to = f.y + row * f.y_stride;
  const auto cols = static_cast<float>(f.cols);
  float mean = 0;
  if constexpr (kind == Kind::layer) {
    for (std::int64_t j = 0; j < f.cols; ++j) mean += to_float(from[j]);
    mean /= cols;
  }
  float squares = 0;
  for (std::int64_t j = 0; j < f.cols; ++j) {
    const float centred = to_float(from[j]) - mean;
    squares += centred * centred;
  }
  const float rstd = reciprocal_deviation(squares, cols, f.epsilon);
  for (std::int64_t j = 0; j < f.cols; ++j) {
    float value = (to_float(from[j]) - mean) * rstd;
    if (f.gamma != nullptr) value *= to_float(f.gamma[j]);
    if (f.beta != nullptr) value += to_float(f.beta[j]);
    to[j] = from_float<T>(value);
  }
  store_statistics(f, row, mean, rstd);
}

// gamma and beta of one vector, if present.
template <class T, int Count>
struct Weights {
  StoredPack<T, Count> gamma = {};
  StoredPack<T, Count> beta = {};

  __device__ __forceinline__ static Weights load(const Forward<T>& f, std::int64_t pack) {
    Weights result;
    if (f.gamma != nullptr) result.gamma = load_stored<T, Count>(f.gamma, pack, f.cols);
    if (f.beta != nullptr) result.beta = load_stored<T, Count>(f.beta, pack, f.cols);
    return result;
  }
  // For whole vectors, whose numbers may have 32 bits.
  template <class Pack>
  __device__ __forceinline__ static Weights load_whole(const Forward<T>& f, Pack pack) {
    Weights result;
    if (f.gamma != nullptr) result.gamma.load(f.gamma + pack * Count);
    if (f.beta != nullptr) result.beta.load(f.beta + pack * Count);
    return result;
  }
  __device__ __forceinline__ void keep_raw() {
    gamma.keep_raw();
    beta.keep_raw();
  }
  // Both in one branch, so that multiply and add fuse into one instruction.
  __device__ __forceinline__ void apply(const Forward<T>& f, Floats<Count>& x) const {
    if (f.gamma != nullptr) {
      const Floats<Count> by = unpack_pairs(gamma);
      if (f.beta != nullptr) {
        const Floats<Count> and_by = unpack_pairs(beta);
        KG_UNROLL
        for (int e = 0; e < Count; ++e) x.value[e] = x.value[e] * by.value[e] + and_by.value[e];
      } else {
        KG_UNROLL
        for (int e = 0; e < Count; ++e) x.value[e] *= by.value[e];
      }
    } else if (f.beta != nullptr) {
      const Floats<Count> by = unpack_pairs(beta);
      KG_UNROLL
      for (int e = 0; e < Count; ++e) x.value[e] += by.value[e];
    }
  }
};

// part: the thread's part of the row, already loaded; sum(value) reduces over threads. If
// Part::kInWholePacks, gamma and beta permit whole vectors, and complete vectors take a branch that
// skips the per-element range checks.
template <Kind kind, class T, class Part, class Sum>
__device__ void normalize(const Forward<T>& f, std::int64_t row, Part part, bool is_first,
                          Sum sum) {
  constexpr int kCount = Part::kCount;
  using Values = Floats<kCount>;
  const auto cols = static_cast<float>(f.cols);
  float mean = 0;
  if constexpr (kind == Kind::layer) {
    float total = 0;
    part.each([&](auto, const Values& x) {
      KG_UNROLL
      for (int e = 0; e < kCount; ++e) total += x.value[e];
    });
    mean = sum(total) / cols;
  }

  float squares = 0;
  part.each([&](auto pack, const Values& x) {
    using Index = decltype(pack);
    const int in_row = elements_in_row<kCount, Index>(pack, static_cast<Index>(f.cols));
    if (Part::kInWholePacks && in_row >= kCount) {
      KG_UNROLL
      for (int e = 0; e < kCount; ++e) {
        const float centred = x.value[e] - mean;
        squares += centred * centred;
      }
      return;
    }
    KG_UNROLL
    for (int e = 0; e < kCount; ++e) {
      const float centred = x.value[e] - mean;
      // A zero past the row's end would not stay zero when centred.
      if (kind == Kind::rms || e < in_row) squares += centred * centred;
    }
  });
  const float rstd = reciprocal_deviation(sum(squares), cols, f.epsilon);

  part.store(
      f.y + row * f.y_stride,
      [&](auto pack) {
        return Part::kInWholePacks ? Weights<T, kCount>::load_whole(f, pack)
                                   : Weights<T, kCount>::load(f, pack);
      },
      [&](Values& x, const Weights<T, kCount>& by) {
        KG_UNROLL
        for (int e = 0; e < kCount; ++e) x.value[e] = (x.value[e] - mean) * rstd;
        by.apply(f, x);
      });
  if (is_first) store_statistics(f, row, mean, rstd);
}

template <Kind kind, class T, int Count, int Packs>
__global__ void __launch_bounds__(kRowsPerBlock* kLanes) warp_per_row(Forward<T> f) {
  const std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / kLanes;
  if (row >= f.rows) return; // a whole warp
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  HeldPart<T, Count, Packs> part(f.x + row * f.x_stride, f.cols, lane, kLanes);
  part.arrive();
  normalize<kind>(f, row, part, lane == 0, [](float value) { return warp_sum(value); });
}

// Block-wide sum; each sum has its own scratch, so that it does not wait for the previous sum.
class BlockSum {
 public:
  __device__ explicit BlockSum(float* scratch) : scratch_(scratch) {}
  __device__ float operator()(float value) {
    float* const own = scratch_;
    scratch_ += kMaxWarps;
    return block_sum(value, own);
  }

 private:
  float* scratch_;
};

template <Kind kind, class T, int Count>
__global__ void __launch_bounds__(kMaxBlockThreads) block_rereading(Forward<T> f) {
  __shared__ float scratch[kReductions * kMaxWarps];
  const std::int64_t row = blockIdx.x;
  const auto thread = static_cast<int>(threadIdx.x);
  RereadPart<T, Count> part(f.x + row * f.x_stride, f.cols, thread, static_cast<int>(blockDim.x));
  normalize<kind>(f, row, part, thread == 0, BlockSum(scratch));
}

} // namespace kg::normalization
