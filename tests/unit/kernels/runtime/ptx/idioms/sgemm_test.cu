// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products: tiles in shared memory, then registers: each thread computes a square of the
// result, tiles are loaded as float4 and the next one while the current one is used. Small
// integers: exact.
#include "tests/unit/kernels/runtime/ptx/idioms/idiom.h"

#include "instructions/cp_async.h"
#include "runtime/device.h"

namespace kg::idioms {
namespace {

// C = A B, all row-major; A is m x k, B is k x n.
struct Problem {
  int m, n, k;
};

std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, Problem p) {
  std::vector<float> c(static_cast<std::size_t>(p.m * p.n));
  for (int i = 0; i < p.m; ++i) {
    for (int l = 0; l < p.k; ++l) {
      for (int j = 0; j < p.n; ++j)
        c[static_cast<std::size_t>(i * p.n + j)] +=
            a[static_cast<std::size_t>(i * p.k + l)] * b[static_cast<std::size_t>(l * p.n + j)];
    }
  }
  return c;
}

template <class Launch>
void check(const std::vector<Problem>& problems, const Launch& run) {
  under_thread_orders([&](Stream& stream) {
    for (const Problem p : problems) {
      const auto a = integers<float>(static_cast<std::size_t>(p.m * p.k), -9, 9, 1);
      const auto b = integers<float>(static_cast<std::size_t>(p.k * p.n), -9, 9, 2);
      const auto da = on_device(a, stream);
      const auto db = on_device(b, stream);
      DeviceBuffer<float> c(static_cast<std::size_t>(p.m * p.n));
      run(p, da.data(), db.data(), c.data(), stream);
      EXPECT_EQ(on_host(c, stream), product(a, b, p)) << p.m << "x" << p.n << "x" << p.k;
    }
  });
}

// --- One element per thread, square tiles, any shape ---

constexpr int kTile = 16;

__global__ void tiled(const float* a, const float* b, float* c, Problem p) {
  __shared__ float as[kTile][kTile];
  __shared__ float bs[kTile][kTile];
  const int row = static_cast<int>(blockIdx.y) * kTile + static_cast<int>(threadIdx.y);
  const int col = static_cast<int>(blockIdx.x) * kTile + static_cast<int>(threadIdx.x);
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  float sum = 0;
  for (int l = 0; l < p.k; l += kTile) {
    as[ty][tx] = row < p.m && l + tx < p.k ? a[row * p.k + l + tx] : 0;
    bs[ty][tx] = l + ty < p.k && col < p.n ? b[(l + ty) * p.n + col] : 0;
    __syncthreads();
    KG_UNROLL
    for (int i = 0; i < kTile; ++i) sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  if (row < p.m && col < p.n) c[row * p.n + col] = sum;
}

TEST(Sgemm, Tiled) {
  check({{1, 1, 1}, {17, 33, 20}, {64, 48, 40}},
        [](Problem p, const float* a, const float* b, float* c, Stream& stream) {
          launch(tiled,
                 {.grid = {blocks_for(static_cast<unsigned>(p.n), kTile),
                           blocks_for(static_cast<unsigned>(p.m), kTile)},
                  .block = {kTile, kTile},
                  .stream = &stream},
                 a, b, c, p);
        });
}

// --- Registers: 64 x 64 per block, 4 x 4 per thread, two buffers, whole tiles only ---

constexpr int kBlockM = 64, kBlockN = 64, kBlockK = 8, kThread = 4;

struct alignas(16) Buffers {
  float a[2][kBlockK][kBlockM]; // turned, so that a thread's column is one float4
  float b[2][kBlockK][kBlockN];
};

__device__ void multiply(const Buffers& shared, int buffer, int ty, int tx,
                         float (&sum)[kThread][kThread]) {
  KG_UNROLL
  for (int l = 0; l < kBlockK; ++l) {
    const float4 column = *reinterpret_cast<const float4*>(&shared.a[buffer][l][ty * kThread]);
    const float4 row = *reinterpret_cast<const float4*>(&shared.b[buffer][l][tx * kThread]);
    const float left[kThread] = {column.x, column.y, column.z, column.w};
    const float right[kThread] = {row.x, row.y, row.z, row.w};
    KG_UNROLL
    for (int i = 0; i < kThread; ++i) {
      KG_UNROLL
      for (int j = 0; j < kThread; ++j) sum[i][j] = fmaf(left[i], right[j], sum[i][j]);
    }
  }
}

__device__ void store(float* c, int n, int row, int col, const float (&sum)[kThread][kThread]) {
  KG_UNROLL
  for (int i = 0; i < kThread; ++i) {
    *reinterpret_cast<float4*>(&c[(row + i) * n + col]) =
        make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
  }
}

__global__ void __launch_bounds__(256, 2)
    register_blocked(const float* __restrict__ a, const float* __restrict__ b,
                     float* __restrict__ c, Problem p) {
  __shared__ Buffers shared;
  const int t = static_cast<int>(threadIdx.x);
  const int m0 = static_cast<int>(blockIdx.y) * kBlockM;
  const int n0 = static_cast<int>(blockIdx.x) * kBlockN;
  const int tx = t % 16;
  const int ty = t / 16;
  // 128 threads load A, 128 load B, a float4 each.
  const bool loads_a = t < 128;
  const int a_row = t % 128 / 2, a_col = t % 2 * 4;
  const int b_row = t % 128 / 16, b_col = t % 16 * 4;
  const auto load = [&](int l) {
    return loads_a ? *reinterpret_cast<const float4*>(&a[(m0 + a_row) * p.k + l + a_col])
                   : *reinterpret_cast<const float4*>(&b[(l + b_row) * p.n + n0 + b_col]);
  };
  const auto put = [&](int buffer, float4 v) {
    if (loads_a) {
      shared.a[buffer][a_col + 0][a_row] = v.x;
      shared.a[buffer][a_col + 1][a_row] = v.y;
      shared.a[buffer][a_col + 2][a_row] = v.z;
      shared.a[buffer][a_col + 3][a_row] = v.w;
    } else {
      *reinterpret_cast<float4*>(&shared.b[buffer][b_row][b_col]) = v;
    }
  };
  float sum[kThread][kThread] = {};
  put(0, load(0));
  __syncthreads();
  int buffer = 0;
  for (int l = kBlockK; l < p.k; l += kBlockK) {
    const float4 next = load(l); // in flight while the current tile is used
    multiply(shared, buffer, ty, tx, sum);
    buffer ^= 1;
    put(buffer, next);
    __syncthreads();
  }
  multiply(shared, buffer, ty, tx, sum);
  store(c, p.n, m0 + ty * kThread, n0 + tx * kThread, sum);
}

TEST(Sgemm, RegisterBlocked) {
  check({{64, 64, 8}, {128, 64, 40}, {64, 192, 24}}, [](Problem p, const float* a, const float* b,
                                                        float* c, Stream& stream) {
    launch(register_blocked,
           {.grid = {static_cast<unsigned>(p.n / kBlockN), static_cast<unsigned>(p.m / kBlockM)},
            .block = 256,
            .stream = &stream},
           a, b, c, p);
  });
}

// --- The same tiles through cp.async in three stages; A is turned while it is copied ---

__global__ void pipelined(const float* __restrict__ a, const float* __restrict__ b,
                          float* __restrict__ c, Problem p) {
  constexpr int kStages = 3;
  struct alignas(16) Stage {
    float a[kBlockK][kBlockM];
    float b[kBlockK][kBlockN];
  };
  auto* stages = dynamic_shared<Stage>();
  const int t = static_cast<int>(threadIdx.x);
  const int m0 = static_cast<int>(blockIdx.y) * kBlockM;
  const int n0 = static_cast<int>(blockIdx.x) * kBlockN;
  const int tx = t % 16;
  const int ty = t / 16;
  const int tiles = p.k / kBlockK;
  const auto fetch = [&](int tile) {
    if (tile < tiles) {
      Stage& stage = stages[tile % kStages];
      const int l = tile * kBlockK;
      for (int e = t; e < kBlockM * kBlockK; e += 256) {
        const int row = e / kBlockK, col = e % kBlockK;
        ptx::cp_async_ca<4>(&stage.a[col][row], &a[(m0 + row) * p.k + l + col]);
      }
      if (t < 128)
        ptx::cp_async_cg(&stage.b[t / 16][t % 16 * 4], &b[(l + t / 16) * p.n + n0 + t % 16 * 4]);
    }
    ptx::cp_async_commit();
  };
  fetch(0);
  fetch(1);
  float sum[kThread][kThread] = {};
  for (int tile = 0; tile < tiles; ++tile) {
    ptx::cp_async_wait_group<1>();
    __syncthreads();
    fetch(tile + 2);
    const Stage& stage = stages[tile % kStages];
    for (int l = 0; l < kBlockK; ++l) {
      for (int i = 0; i < kThread; ++i) {
        for (int j = 0; j < kThread; ++j)
          sum[i][j] = fmaf(stage.a[l][ty * kThread + i], stage.b[l][tx * kThread + j], sum[i][j]);
      }
    }
  }
  ptx::cp_async_wait_all();
  store(c, p.n, m0 + ty * kThread, n0 + tx * kThread, sum);
}

TEST(Sgemm, Pipelined) {
  if (device_properties().compute_major < 8)
    GTEST_SKIP() << "asynchronous copies need compute capability 8.0";
  check({{64, 64, 8}, {64, 128, 16}, {128, 64, 72}}, [](Problem p, const float* a, const float* b,
                                                        float* c, Stream& stream) {
    launch(pipelined,
           {.grid = {static_cast<unsigned>(p.n / kBlockN), static_cast<unsigned>(p.m / kBlockM)},
            .block = 256,
            .shared_bytes = 3 * kBlockK * (kBlockM + kBlockN) * sizeof(float),
            .stream = &stream},
           a, b, c, p);
  });
}

} // namespace
} // namespace kg::idioms
