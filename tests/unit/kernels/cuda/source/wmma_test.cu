// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// nvcuda::wmma as kernels use it: every shape, type and layout on integers, whose sums are exact.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

using namespace nvcuda;

namespace {

template <class T>
T* managed(std::size_t n) {
  T* data = nullptr;
  EXPECT_EQ(cudaMallocManaged(&data, n * sizeof(T)), cudaSuccess);
  return data;
}

// What a fragment of T stores.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, wmma::precision::tf32>, float, T>;

// A matrix in memory, of rows or of columns, that lie `pitch` elements apart.
struct View {
  bool rows;
  int pitch;
  __host__ __device__ std::size_t at(int row, int column) const {
    return rows ? row * pitch + column : column * pitch + row;
  }
};

constexpr int kSteps = 3;    // of the depth
constexpr int kBetween = 32; // rows from one warp's tile to the next: an aligned address

// d = 2 (a b + c), of which each warp computes a tile.
template <class T, int M, int N, int K, class RowsOfA, class RowsOfB, class Sum>
__global__ void product(const Stored<T>* a, View of_a, const Stored<T>* b, View of_b, const Sum* c,
                        Sum* d, View of_d) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, RowsOfA> a_frag;
  wmma::fragment<wmma::matrix_b, M, N, K, T, RowsOfB> b_frag;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> c_frag, acc_frag;
  const int row = threadIdx.x / warpSize * kBetween;
  const auto layout = of_d.rows ? wmma::mem_row_major : wmma::mem_col_major;
  wmma::fill_fragment(acc_frag, 0.0f);
  for (int k = 0; k < kSteps * K; k += K) {
    wmma::load_matrix_sync(a_frag, a + of_a.at(row, k), of_a.pitch);
    wmma::load_matrix_sync(b_frag, b + of_b.at(k, 0), of_b.pitch);
    if constexpr (std::is_same_v<T, wmma::precision::tf32>)
      for (int t = 0; t < a_frag.num_elements; t++)
        a_frag.x[t] = wmma::__float_to_tf32(a_frag.x[t]);
    wmma::mma_sync(acc_frag, a_frag, b_frag, acc_frag);
  }
  wmma::load_matrix_sync(c_frag, c + of_d.at(row, 0), of_d.pitch, layout);
  for (int t = 0; t < c_frag.num_elements; t++)
    c_frag.x[t] = Sum(2) * acc_frag.x[t] + Sum(2) * c_frag.x[t];
  wmma::store_matrix_sync(d + of_d.at(row, 0), c_frag, of_d.pitch, layout);
}

template <class T, int M, int N, int K, class RowsOfA, class RowsOfB, class Sum>
void check(bool rows_of_d) {
  constexpr int kWarps = 2, kPad = 32; // a multiple of 32 bytes, whatever the type
  constexpr int kRows = kWarps * kBetween, kDepth = kSteps * K;
  const bool rows_of_a = std::is_same_v<RowsOfA, wmma::row_major>;
  const bool rows_of_b = std::is_same_v<RowsOfB, wmma::row_major>;
  const View of_a{rows_of_a, (rows_of_a ? kDepth : kRows) + kPad};
  const View of_b{rows_of_b, (rows_of_b ? N + N % 16 : kDepth) + kPad}; // whole rows of 16 bytes
  const View of_d{rows_of_d, (rows_of_d ? N : kRows) + kPad};
  const int sign = std::is_same_v<T, unsigned char> ? 0 : 3;
  const auto value_of_a = [&](int i, int k) { return (5 * i + 3 * k + i * k) % 7 - sign; };
  const auto value_of_b = [&](int k, int j) { return (2 * k + 7 * j + k * j) % 5 - sign; };
  const auto value_of_c = [](int i, int j) { return 11 * i - 13 * j; };

  auto* a = managed<Stored<T>>((kRows + kPad) * (kDepth + kPad));
  auto* b = managed<Stored<T>>((kDepth + kPad) * (N + 8 + kPad));
  auto *c = managed<Sum>((kRows + kPad) * (N + kPad)),
       *d = managed<Sum>((kRows + kPad) * (N + kPad));
  for (int k = 0; k < kDepth; ++k) {
    for (int i = 0; i < kRows; ++i) a[of_a.at(i, k)] = Stored<T>(value_of_a(i, k));
    for (int j = 0; j < N; ++j) b[of_b.at(k, j)] = Stored<T>(value_of_b(k, j));
  }
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < N; ++j) c[of_d.at(i, j)] = Sum(value_of_c(i, j));
  product<T, M, N, K, RowsOfA, RowsOfB, Sum><<<1, 32 * kWarps>>>(a, of_a, b, of_b, c, d, of_d);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; i % kBetween < M && j < N; ++j) {
      int right = value_of_c(i, j);
      for (int k = 0; k < kDepth; ++k) right += value_of_a(i, k) * value_of_b(k, j);
      ASSERT_EQ(static_cast<float>(d[of_d.at(i, j)]), static_cast<float>(2 * right))
          << "row " << i << ", column " << j << " of " << M << "x" << N << "x" << K << ", a by "
          << (rows_of_a ? "rows" : "columns") << ", b by " << (rows_of_b ? "rows" : "columns");
    }
  for (void* data : {(void*)a, (void*)b, (void*)c, (void*)d}) cudaFree(data);
}

template <class T, int M, int N, int K, class Sum>
void check_layouts() {
  using wmma::col_major;
  using wmma::row_major;
  for (const bool rows_of_d : {true, false}) {
    check<T, M, N, K, row_major, row_major, Sum>(rows_of_d);
    check<T, M, N, K, row_major, col_major, Sum>(rows_of_d);
    check<T, M, N, K, col_major, row_major, Sum>(rows_of_d);
    check<T, M, N, K, col_major, col_major, Sum>(rows_of_d);
  }
}
template <class T, class Sum>
void check_shapes() {
  check_layouts<T, 16, 16, 16, Sum>();
  check_layouts<T, 32, 8, 16, Sum>();
  check_layouts<T, 8, 32, 16, Sum>();
}

TEST(Wmma, Halves) {
  check_shapes<half, float>();
  check_shapes<half, half>();
}
TEST(Wmma, Bfloat16) { check_shapes<__nv_bfloat16, float>(); }
TEST(Wmma, Integers) {
  check_shapes<signed char, int>();
  check_shapes<unsigned char, int>();
}
TEST(Wmma, Doubles) { check_layouts<double, 8, 8, 4, double>(); }
TEST(Wmma, Tf32) { check_layouts<wmma::precision::tf32, 16, 16, 8, float>(); }

// Of a float 10 bits of fraction count: 1 + 2^-11 is rounded to 1 + 2^-10 by the conversion.
__global__ void convert(float* values) {
  values[threadIdx.x] = wmma::__float_to_tf32(values[threadIdx.x]);
}

TEST(Wmma, Tf32KeepsTenBits) {
  float* values = managed<float>(2);
  values[0] = 1 + 0x1p-11f;
  values[1] = 1 + 0x1p-10f;
  convert<<<1, 2>>>(values);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(values[0], 1 + 0x1p-10f);
  EXPECT_EQ(values[1], 1 + 0x1p-10f);
  cudaFree(values);
}

// The sums of a product are in f32, whatever they are kept in.
__global__ void sum_in_float(const half* ones, half* out) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fragment<wmma::accumulator, 16, 16, 16, half> d;
  wmma::load_matrix_sync(a, ones, 16);
  wmma::load_matrix_sync(b, ones, 16);
  wmma::fill_fragment(c, 2048.5f);
  wmma::mma_sync(d, a, b, c);
  wmma::store_matrix_sync(out, d, 16, wmma::mem_row_major);
}

TEST(Wmma, SumsAreRoundedOnce) {
  half *ones = managed<half>(256), *out = managed<half>(256);
  for (int i = 0; i < 256; ++i) ones[i] = 1.0f;
  sum_in_float<<<1, 32>>>(ones, out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 256; ++i) ASSERT_EQ(static_cast<float>(out[i]), 2064.0f);
  cudaFree(ones);
  cudaFree(out);
}

// What CUDA leaves undefined is a fault.
enum class Mistake { none, half_a_warp, misaligned, odd_pitch, another_matrix };

__global__ void load(Mistake mistake, const half* data, half* out) {
  wmma::fragment<wmma::accumulator, 16, 16, 16, half> sum;
  if (mistake == Mistake::half_a_warp && threadIdx.x < 16) return;
  if (mistake == Mistake::another_matrix && threadIdx.x == 5) data += 256;
  if (mistake == Mistake::misaligned) data += 8;
  wmma::load_matrix_sync(sum, data, mistake == Mistake::odd_pitch ? 20 : 16, wmma::mem_row_major);
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}

std::string fault(Mistake mistake) {
  half *data = managed<half>(1024), *out = managed<half>(256);
  cudaMemset(data, 0, 1024 * sizeof(half));
  testing::internal::CaptureStderr();
  load<<<1, 32>>>(mistake, data, out);
  cudaDeviceSynchronize();
  const std::string said = testing::internal::GetCapturedStderr();
  cudaDeviceReset();
  return said;
}

TEST(Wmma, MistakesAreFaults) {
  EXPECT_EQ(fault(Mistake::none), "");
  const auto says = [](Mistake mistake, const std::string& words) {
    const std::string said = fault(mistake);
    EXPECT_NE(said.find(words), std::string::npos) << said;
    EXPECT_NE(said.find("wmma_test.cu:"), std::string::npos) << said;
  };
  says(Mistake::half_a_warp, "wmma::load_matrix_sync by 16 lanes of the warp");
  says(Mistake::misaligned, "the address of the matrix is not aligned to 32 bytes");
  says(Mistake::odd_pitch, "rows lie 40 bytes apart");
  says(Mistake::another_matrix, "not all lanes of the warp name the same matrix");
}

} // namespace
