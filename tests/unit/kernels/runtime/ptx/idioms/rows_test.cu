// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What transformer code does with rows: softmax with a running maximum, layernorm with 128-bit
// loads, attention one key at a time, GELU and cross entropy. Compared with loops over doubles; the
// tolerances follow from the roundings that are counted at each test (u = 2^-24).
#include "tests/unit/kernels/runtime/ptx/idioms/idiom.h"

#include <cmath>
#include <numbers>

namespace kg::idioms {
namespace {

constexpr double kU = 0x1p-24;

__device__ float warp_max(float value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  return value;
}
__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

// 16 bytes of any element, loaded and stored as one vector.
template <class T>
struct alignas(16) Packed128 {
  static constexpr int kSize = 16 / sizeof(T);
  T payload[kSize];

  __device__ T& operator[](int i) { return payload[i]; }
  __device__ const T& operator[](int i) const { return payload[i]; }
};
template <class T>
__device__ Packed128<T> load128cs(const T* address) { // read once: do not keep it in the cache
  const int4 bits = __ldcs(reinterpret_cast<const int4*>(address));
  Packed128<T> values;
  static_assert(sizeof(bits) == sizeof(values));
  memcpy(&values, &bits, sizeof(bits));
  return values;
}
template <class T>
__device__ void store128cs(T* address, const Packed128<T>& values) {
  int4 bits;
  memcpy(&bits, &values, sizeof(bits));
  __stcs(reinterpret_cast<int4*>(address), bits);
}

// --- Softmax: one warp per row, maximum and sum in one pass ---

struct Running {
  float maximum;
  float sum;
};
__device__ Running combine(Running a, Running b) {
  const bool a_larger = a.maximum > b.maximum;
  const Running larger = a_larger ? a : b;
  const Running smaller = a_larger ? b : a;
  return {larger.maximum, larger.sum + smaller.sum * expf(smaller.maximum - larger.maximum)};
}

__global__ void online_softmax(const float* in, float* out, int rows, int cols) {
  const int row = static_cast<int>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
  if (row >= rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const float* x = in + static_cast<std::ptrdiff_t>(row) * cols;
  Running mine{-INFINITY, 0};
  for (int i = lane; i < cols; i += 32) {
    const float larger = fmaxf(mine.maximum, x[i]);
    mine.sum = mine.sum * expf(mine.maximum - larger) + expf(x[i] - larger);
    mine.maximum = larger;
  }
  for (int offset = 16; offset > 0; offset >>= 1) {
    const Running other{__shfl_xor_sync(0xffffffffu, mine.maximum, offset),
                        __shfl_xor_sync(0xffffffffu, mine.sum, offset)};
    if (other.sum > 0) mine = mine.sum > 0 ? combine(mine, other) : other;
  }
  for (int i = lane; i < cols; i += 32)
    __stcs(out + static_cast<std::ptrdiff_t>(row) * cols + i,
           expf(__ldg(x + i) - mine.maximum) / mine.sum);
}

// Relative error: the argument's difference is rounded once (|x - m| u), expf is within 2 units,
// the sum has cols/32 + 5 terms in a chain, each with a product and an exponential, the division
// once.
TEST(Rows, OnlineSoftmax) {
  under_thread_orders([](Stream& stream) {
    for (int cols : {3, 100, 1000}) {
      constexpr int kRows = 5;
      const auto x = normals(static_cast<std::size_t>(kRows * cols));
      const auto in = on_device(x, stream);
      DeviceBuffer<float> out(x.size());
      launch(online_softmax, {.grid = 2, .block = 96, .stream = &stream}, in.data(), out.data(),
             kRows, cols);
      const auto got = on_host(out, stream);
      for (int r = 0; r < kRows; ++r) {
        const float* row = x.data() + r * cols;
        double largest = row[0], smallest = row[0], sum = 0;
        for (int i = 0; i < cols; ++i) {
          largest = std::max<double>(largest, row[i]);
          smallest = std::min<double>(smallest, row[i]);
        }
        for (int i = 0; i < cols; ++i) sum += std::exp(row[i] - largest);
        const double bound = (6 * (cols / 32.0 + 6) + 2 * (largest - smallest)) * kU;
        for (int i = 0; i < cols; ++i) {
          const double expected = std::exp(row[i] - largest) / sum;
          ASSERT_NEAR(got[static_cast<std::size_t>(r * cols + i)], expected, bound * expected)
              << "row " << r << ", column " << i;
        }
      }
    }
  });
}

// --- Layernorm: packed loads, the row kept in shared memory ---

__global__ void layernorm(const float* __restrict__ in, const float* __restrict__ weight,
                          const float* __restrict__ bias, float* __restrict__ out,
                          float* __restrict__ means, int rows, int cols) {
  // [weight][bias][one row per warp]
  float* s_weight = dynamic_shared<float>();
  float* s_bias = s_weight + cols;
  float* s_row = s_bias + cols + static_cast<int>(threadIdx.y) * cols;
  const int thread = static_cast<int>(threadIdx.x + threadIdx.y * 32) * 4;
  for (int i = thread; i < cols; i += static_cast<int>(blockDim.x * blockDim.y) * 4) {
    *reinterpret_cast<float4*>(s_weight + i) = *reinterpret_cast<const float4*>(weight + i);
    *reinterpret_cast<float4*>(s_bias + i) = *reinterpret_cast<const float4*>(bias + i);
  }
  __syncthreads();
  const int row = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  if (row >= rows) return;
  in += static_cast<std::ptrdiff_t>(row) * cols;
  out += static_cast<std::ptrdiff_t>(row) * cols;
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x) * 4; i < cols; i += 128) {
    const Packed128<float> x = load128cs(in + i);
    for (int k = 0; k < 4; ++k) {
      sum += x[k];
      s_row[i + k] = x[k];
    }
  }
  const float mean = warp_sum(sum) / static_cast<float>(cols);
  float squares = 0;
  for (int i = static_cast<int>(threadIdx.x) * 4; i < cols; i += 128) {
    for (int k = 0; k < 4; ++k) {
      const float d = s_row[i + k] - mean;
      squares = fmaf(d, d, squares);
    }
  }
  const float scale = rsqrtf(warp_sum(squares) / static_cast<float>(cols) + 1e-5f);
  for (int i = static_cast<int>(threadIdx.x) * 4; i < cols; i += 128) {
    Packed128<float> y;
    for (int k = 0; k < 4; ++k)
      y[k] = fmaf(scale * (s_row[i + k] - mean), s_weight[i + k], s_bias[i + k]);
    store128cs(out + i, y);
  }
  if (threadIdx.x == 0) __stcs(means + row, mean);
}

// The mean and the sum of squares are chains of cols/32 + 5 roundings; what they move the result by
// is bounded by (chain + 8) u times 1 + |normalised| (|weight| = 1 here), plus the mean's own error
// in units of the deviation, which is 1.
TEST(Rows, Layernorm) {
  under_thread_orders([](Stream& stream) {
    constexpr int kRows = 7, kCols = 384, kWarps = 2;
    const auto x = normals(kRows * kCols);
    const auto weight = integers<float>(kCols, 1, 1);
    const auto bias = integers<float>(kCols, -2, 2, 1);
    const auto in = on_device(x, stream);
    const auto w = on_device(weight, stream);
    const auto b = on_device(bias, stream);
    DeviceBuffer<float> out(x.size()), means(kRows);
    launch(layernorm,
           {.grid = blocks_for(kRows, kWarps),
            .block = {32, kWarps},
            .shared_bytes = (2 + kWarps) * kCols * sizeof(float),
            .stream = &stream},
           in.data(), w.data(), b.data(), out.data(), means.data(), kRows, kCols);
    const auto got = on_host(out, stream);
    for (int r = 0; r < kRows; ++r) {
      const float* row = x.data() + r * kCols;
      double mean = 0, variance = 0;
      for (int i = 0; i < kCols; ++i) mean += row[i] / static_cast<double>(kCols);
      for (int i = 0; i < kCols; ++i)
        variance += (row[i] - mean) * (row[i] - mean) / static_cast<double>(kCols);
      for (int i = 0; i < kCols; ++i) {
        const double normalised = (row[i] - mean) / std::sqrt(variance + 1e-5);
        const double expected = normalised + bias[static_cast<std::size_t>(i)];
        const double bound = (kCols / 32.0 + 13) * kU * (3 + std::abs(normalised));
        ASSERT_NEAR(got[static_cast<std::size_t>(r * kCols + i)], expected, bound)
            << "row " << r << ", column " << i;
      }
    }
    EXPECT_EQ(on_host(means, stream).size(), static_cast<std::size_t>(kRows));
  });
}

// --- Attention: one warp per query, keys one at a time with a running softmax ---

template <int HeadSize>
__global__ void attention(const float* q, const float* k, const float* v, float* out, int length) {
  constexpr int kPerLane = HeadSize / 32;
  const int query = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  if (query >= length) return;
  const int lane = static_cast<int>(threadIdx.x);
  float mine[kPerLane], sum[kPerLane] = {};
  for (int i = 0; i < kPerLane; ++i) mine[i] = q[query * HeadSize + 32 * i + lane];
  const float scale = rsqrtf(static_cast<float>(HeadSize));
  float maximum = -INFINITY, total = 0;
  for (int key = 0; key <= query; ++key) { // causal
    float dot = 0;
    KG_UNROLL
    for (int i = 0; i < kPerLane; ++i) dot = fmaf(mine[i], k[key * HeadSize + 32 * i + lane], dot);
    const float score = warp_sum(dot) * scale;
    const float larger = fmaxf(maximum, score);
    const float correction = expf(maximum - larger);
    const float weight = expf(score - larger);
    total = total * correction + weight;
    for (int i = 0; i < kPerLane; ++i)
      sum[i] = sum[i] * correction + weight * v[key * HeadSize + 32 * i + lane];
    maximum = larger;
  }
  for (int i = 0; i < kPerLane; ++i) out[query * HeadSize + 32 * i + lane] = sum[i] / total;
}

// A score of 64 products carries at most 9 roundings of chain times sum|q||k|/8 <= 8 * 64/8: with
// |q|, |k| <= 4 that moves a weight by less than 600 u; the running sums add 6 per key.
TEST(Rows, Attention) {
  under_thread_orders([](Stream& stream) {
    constexpr int kLength = 33, kHead = 64;
    const auto q = integers<float>(kLength * kHead, -1, 1, 1);
    const auto k = integers<float>(kLength * kHead, -1, 1, 2);
    const auto v = normals(kLength * kHead, 3);
    const auto dq = on_device(q, stream), dk = on_device(k, stream), dv = on_device(v, stream);
    DeviceBuffer<float> out(v.size());
    launch(attention<kHead>, {.grid = blocks_for(kLength, 4), .block = {32, 4}, .stream = &stream},
           dq.data(), dk.data(), dv.data(), out.data(), kLength);
    const auto got = on_host(out, stream);
    for (int i = 0; i < kLength; ++i) {
      std::vector<double> weight;
      double total = 0;
      for (int j = 0; j <= i; ++j) {
        double dot = 0;
        for (int d = 0; d < kHead; ++d)
          dot += q[static_cast<std::size_t>(i * kHead + d)] *
                 k[static_cast<std::size_t>(j * kHead + d)];
        weight.push_back(std::exp(dot / 8));
        total += weight.back();
      }
      for (int d = 0; d < kHead; ++d) {
        double sum = 0, magnitude = 0;
        for (int j = 0; j <= i; ++j) {
          const double term =
              weight[static_cast<std::size_t>(j)] * v[static_cast<std::size_t>(j * kHead + d)];
          sum += term;
          magnitude += std::abs(term);
        }
        ASSERT_NEAR(got[static_cast<std::size_t>(i * kHead + d)], sum / total,
                    (24 + 6.0 * kLength) * kU * magnitude / total)
            << "query " << i << ", dimension " << d;
      }
    }
  });
}

// --- Cross entropy with the block's maximum and sum, and an index per row ---

__global__ void cross_entropy(const float* logits, const int* targets, float* losses, int cols) {
  __shared__ float by_warp[32];
  const float* x = logits + static_cast<std::ptrdiff_t>(blockIdx.x) * cols;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int warps = static_cast<int>(blockDim.x / 32);
  float maximum = -INFINITY;
  for (int i = static_cast<int>(threadIdx.x); i < cols; i += static_cast<int>(blockDim.x))
    maximum = fmaxf(maximum, x[i]);
  maximum = warp_max(maximum);
  if (lane == 0) by_warp[warp] = maximum;
  __syncthreads();
  maximum = warp_max(lane < warps ? by_warp[lane] : -INFINITY);
  __syncthreads();
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < cols; i += static_cast<int>(blockDim.x))
    sum += expf(x[i] - maximum);
  sum = warp_sum(sum);
  if (lane == 0) by_warp[warp] = sum;
  __syncthreads();
  sum = warp_sum(lane < warps ? by_warp[lane] : 0);
  if (threadIdx.x == 0) losses[blockIdx.x] = logf(sum) - (x[targets[blockIdx.x]] - maximum);
}

// The chain of the sum (cols/128 + 10), |x - m| < 10 in the exponentials and in the result.
TEST(Rows, CrossEntropy) {
  under_thread_orders([](Stream& stream) {
    constexpr int kRows = 4, kCols = 500;
    const auto x = normals(kRows * kCols);
    const auto targets = integers<int>(kRows, 0, kCols - 1, 1);
    const auto in = on_device(x, stream);
    const auto at = on_device(targets, stream);
    DeviceBuffer<float> losses(kRows);
    launch(cross_entropy, {.grid = kRows, .block = 128, .stream = &stream}, in.data(), at.data(),
           losses.data(), kCols);
    const auto got = on_host(losses, stream);
    for (std::size_t r = 0; r < kRows; ++r) {
      double sum = 0;
      for (std::size_t i = 0; i < kCols; ++i) sum += std::exp(x[r * kCols + i]);
      const double expected = std::log(sum) - x[r * kCols + static_cast<std::size_t>(targets[r])];
      EXPECT_NEAR(got[r], expected, (kCols / 128.0 + 40) * kU) << "row " << r;
    }
  });
}

} // namespace
} // namespace kg::idioms
