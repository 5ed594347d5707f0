// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
// A driver of Dao-AILab/flash-attention's forward pass for compute capability 9.0
// (FlashAttention-3), bf16 with 128 columns per head. Compile with -std=c++17 -I CLONE/hopper -I
// CUTLASS/include; -D CAUSAL for the causal mask, else clusters of two blocks, as upstream chooses.
// Arguments: heads, rows of Q, rows of K and V; Q's rows a multiple of 256 without CAUSAL.
#include <flash_fwd_launch_template.h>

#include <cmath>

#include "product.h"

#ifdef CAUSAL
constexpr bool kCausal = true;
#else
constexpr bool kCausal = false;
#endif
constexpr int kColumns = 128;

int main(int argc, char** argv) {
  const auto [heads, q_rows, k_rows] = sizes(argc, argv);
  const int row = heads * kColumns; // elements of a row of all heads
  const std::vector<float> q = small_integers(q_rows * row, 1), k = small_integers(k_rows * row, 2),
                           v = small_integers(k_rows * row, 3);
  using Type = cutlass::bfloat16_t;
  DeviceArray<Type> device_q(q), device_k(k), device_v(v), out(std::vector<float>(q.size(), -9));
  DeviceArray<float> sums(std::vector<float>(heads * q_rows, -9));
  DeviceArray<int> semaphore(std::vector<float>(1, 0));

  Flash_fwd_params p{};
  p.q_ptr = device_q.data, p.k_ptr = device_k.data, p.v_ptr = device_v.data, p.o_ptr = out.data;
  p.q_row_stride = p.k_row_stride = p.v_row_stride = p.o_row_stride = row;
  p.q_head_stride = p.k_head_stride = p.v_head_stride = p.o_head_stride = kColumns;
  p.q_batch_stride = p.o_batch_stride = q_rows * row;
  p.k_batch_stride = p.v_batch_stride = k_rows * row;
  p.v_dim_stride = 1;
  p.softmax_lse_ptr = sums.data;
  p.b = 1, p.h = p.h_k = heads, p.seqlen_q = q_rows, p.seqlen_k = k_rows;
  p.d = p.d_rounded = p.dv = p.dv_rounded = kColumns;
  p.scale_softmax = 1 / std::sqrt(static_cast<float>(kColumns));
  p.is_bf16 = true, p.is_causal = kCausal;
  p.window_size_left = k_rows - 1, p.window_size_right = kCausal ? 0 : q_rows - 1;
  p.num_splits = 1;
  p.tile_count_semaphore = semaphore.data;
  p.arch = 90;
  CHECK(cudaDeviceGetAttribute(&p.num_sm, cudaDevAttrMultiProcessorCount, 0));
  run_flash_fwd<90, kColumns, kColumns, kCausal ? 1 : 2, Type, Type, kCausal, false, false, false,
                false, false, false, false, false, false>(p, nullptr);
  CHECK(cudaDeviceSynchronize());

  // Q K is exact. Probabilities and results are rounded to bf16, each by at most 2^-8 of the sum of
  // p |v|; 2^-12 covers exp2 and the sums in f32.
  constexpr double kTolerance = 2.0 / 256 + 1.0 / 4096;
  const std::vector<Type> got = out.host();
  long wrong = 0;
  std::vector<double> weight(k_rows);
  for (int h = 0; h < heads; ++h)
    for (int i = 0; i < q_rows; ++i) {
      const int keys = kCausal ? std::max(0, k_rows - q_rows + i + 1) : k_rows;
      double largest = -INFINITY, total = 0;
      for (int j = 0; j < keys; ++j) {
        double sum = 0;
        for (int c = 0; c < kColumns; ++c)
          sum += q[i * row + h * kColumns + c] * k[j * row + h * kColumns + c];
        largest = std::max(largest, weight[j] = sum / std::sqrt(double{kColumns}));
      }
      for (int j = 0; j < keys; ++j) total += weight[j] = std::exp(weight[j] - largest);
      for (int c = 0; c < kColumns; ++c) {
        double sum = 0, size = 0;
        for (int j = 0; j < keys; ++j) {
          const double term = weight[j] / total * v[j * row + h * kColumns + c];
          sum += term, size += std::abs(term);
        }
        const double is = static_cast<float>(got[i * row + h * kColumns + c]);
        if (std::abs(is - sum) <= kTolerance * size) continue;
        if (wrong++ == 0)
          std::printf("head %d, row %d, column %d: %g, expected %g\n", h, i, c, is, sum);
      }
    }
  return verdict(wrong, static_cast<long>(q.size()));
}
