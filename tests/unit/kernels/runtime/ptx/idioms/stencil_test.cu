// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Stencils with a halo in shared memory, in one, two and three dimensions, with coefficients in
// constant memory, and a convolution in two passes. Small integers as floats: exact.
#include "tests/unit/kernels/runtime/ptx/idioms/idiom.h"

#include <algorithm>
#include <cstdlib>

namespace kg::idioms {
namespace {

constexpr int kRadius = 3;
__constant__ float weights[kRadius + 1] = {5, -3, 2, 7};
constexpr float kWeights[kRadius + 1] = {5, -3, 2, 7};

// --- 1-D: the first threads load the halo on both sides ---

template <int Block>
__global__ void stencil_1d(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float tile[Block + 2 * kRadius];
  const int i = static_cast<int>(blockIdx.x * Block + threadIdx.x);
  const int at = static_cast<int>(threadIdx.x) + kRadius;
  const auto load = [=](int j) { return j >= 0 && j < n ? in[j] : 0.0f; };
  tile[at] = load(i);
  if (threadIdx.x < kRadius) {
    tile[at - kRadius] = load(i - kRadius);
    tile[at + Block] = load(i + Block);
  }
  __syncthreads();
  if (i >= n) return;
  float sum = weights[0] * tile[at];
  KG_UNROLL
  for (int r = 1; r <= kRadius; ++r) sum += weights[r] * (tile[at - r] + tile[at + r]);
  out[i] = sum;
}

TEST(Stencil, OneDimension) {
  under_thread_orders([](Stream& stream) {
    for (int n : {1, 5, 128, 1000}) {
      const auto values = integers<float>(static_cast<std::size_t>(n), -50, 50);
      const auto at = [&](int i) {
        return i >= 0 && i < n ? values[static_cast<std::size_t>(i)] : 0.0f;
      };
      std::vector<float> expected(values.size());
      for (int i = 0; i < n; ++i) {
        float sum = kWeights[0] * at(i);
        for (int r = 1; r <= kRadius; ++r) sum += kWeights[r] * (at(i - r) + at(i + r));
        expected[static_cast<std::size_t>(i)] = sum;
      }
      const auto in = on_device(values, stream);
      DeviceBuffer<float> out(values.size());
      launch(stencil_1d<128>,
             {.grid = blocks_for(static_cast<unsigned>(n), 128), .block = 128, .stream = &stream},
             in.data(), out.data(), n);
      EXPECT_EQ(on_host(out, stream), expected) << "n = " << n;
    }
  });
}

// --- 2-D: every thread loads as often as the tile and its halo ask ---

constexpr int kTile = 16;

__global__ void blur_2d(const float* in, float* out, int height, int width) {
  __shared__ float tile[kTile + 2][kTile + 2 + 1];
  const int x0 = static_cast<int>(blockIdx.x) * kTile - 1;
  const int y0 = static_cast<int>(blockIdx.y) * kTile - 1;
  const int rank = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  for (int k = rank; k < (kTile + 2) * (kTile + 2);
       k += static_cast<int>(blockDim.x * blockDim.y)) {
    const int ty = k / (kTile + 2);
    const int tx = k % (kTile + 2);
    const int y = min(max(y0 + ty, 0), height - 1); // the edge is repeated
    const int x = min(max(x0 + tx, 0), width - 1);
    tile[ty][tx] = in[y * width + x];
  }
  __syncthreads();
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int dy = 0; dy < 3; ++dy) {
    for (int dx = 0; dx < 3; ++dx)
      sum += static_cast<float>((dy == 1 ? 2 : 1) * (dx == 1 ? 2 : 1)) *
             tile[threadIdx.y + dy][threadIdx.x + dx];
  }
  out[y * width + x] = sum / 16;
}

TEST(Stencil, TwoDimensions) {
  under_thread_orders([](Stream& stream) {
    constexpr int kHeight = 37, kWidth = 50;
    const auto values = integers<float>(kHeight * kWidth, 0, 255);
    std::vector<float> expected;
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        float sum = 0;
        for (int dy = -1; dy <= 1; ++dy) {
          for (int dx = -1; dx <= 1; ++dx) {
            const int yy = std::clamp(y + dy, 0, kHeight - 1);
            const int xx = std::clamp(x + dx, 0, kWidth - 1);
            sum += static_cast<float>((2 - std::abs(dy)) * (2 - std::abs(dx))) *
                   values[static_cast<std::size_t>(yy * kWidth + xx)];
          }
        }
        expected.push_back(sum / 16);
      }
    }
    const auto in = on_device(values, stream);
    DeviceBuffer<float> out(values.size());
    launch(blur_2d,
           {.grid = {blocks_for(kWidth, kTile), blocks_for(kHeight, kTile)},
            .block = {kTile, kTile},
            .stream = &stream},
           in.data(), out.data(), kHeight, kWidth);
    EXPECT_EQ(on_host(out, stream), expected);
  });
}

// --- 3-D: planes pass through registers, the current one through shared memory ---

__global__ void laplacian_3d(const float* __restrict__ in, float* __restrict__ out, int3 size) {
  __shared__ float plane[10][34];
  const int x = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * 8 + threadIdx.y);
  const auto load = [&](int xx, int yy, int zz) {
    const bool inside = xx >= 0 && xx < size.x && yy >= 0 && yy < size.y && zz >= 0 && zz < size.z;
    return inside ? in[(zz * size.y + yy) * size.x + xx] : 0.0f;
  };
  const unsigned tx = threadIdx.x + 1;
  const unsigned ty = threadIdx.y + 1;
  float below = 0;
  float here = load(x, y, 0);
  for (int z = 0; z < size.z; ++z) {
    const float above = load(x, y, z + 1);
    __syncthreads(); // the plane before has been read
    plane[ty][tx] = here;
    if (threadIdx.x == 0) plane[ty][0] = load(x - 1, y, z);
    if (threadIdx.x == 31) plane[ty][33] = load(x + 1, y, z);
    if (threadIdx.y == 0) plane[0][tx] = load(x, y - 1, z);
    if (threadIdx.y == 7) plane[9][tx] = load(x, y + 1, z);
    __syncthreads();
    if (x < size.x && y < size.y) {
      out[(z * size.y + y) * size.x + x] = below + above + plane[ty][tx - 1] + plane[ty][tx + 1] +
                                           plane[ty - 1][tx] + plane[ty + 1][tx] - 6 * here;
    }
    below = here;
    here = above;
  }
}

TEST(Stencil, ThreeDimensions) {
  under_thread_orders([](Stream& stream) {
    constexpr int kX = 40, kY = 19, kZ = 5;
    const auto values = integers<float>(kX * kY * kZ, -99, 99);
    const auto at = [&](int x, int y, int z) {
      const bool inside = x >= 0 && x < kX && y >= 0 && y < kY && z >= 0 && z < kZ;
      return inside ? values[static_cast<std::size_t>((z * kY + y) * kX + x)] : 0.0f;
    };
    std::vector<float> expected;
    for (int z = 0; z < kZ; ++z) {
      for (int y = 0; y < kY; ++y) {
        for (int x = 0; x < kX; ++x) {
          expected.push_back(at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) + at(x, y + 1, z) +
                             at(x, y, z - 1) + at(x, y, z + 1) - 6 * at(x, y, z));
        }
      }
    }
    const auto in = on_device(values, stream);
    DeviceBuffer<float> out(values.size());
    launch(laplacian_3d,
           {.grid = {blocks_for(kX, 32), blocks_for(kY, 8)}, .block = {32, 8}, .stream = &stream},
           in.data(), out.data(), int3{kX, kY, kZ});
    EXPECT_EQ(on_host(out, stream), expected);
  });
}

// --- A tile turned in shared memory, padded against bank conflicts ---

__global__ void transpose_tiles(const float* in, float* out, unsigned rows, unsigned cols) {
  __shared__ float tile[32][32 + 1];
  unsigned x = blockIdx.x * 32 + threadIdx.x;
  unsigned y = blockIdx.y * 32 + threadIdx.y;
  for (unsigned j = 0; j < 32; j += blockDim.y) {
    if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
  }
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (unsigned j = 0; j < 32; j += blockDim.y) {
    if (x < rows && y + j < cols) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
  }
}

TEST(Tile, IsTransposed) {
  under_thread_orders([](Stream& stream) {
    constexpr unsigned kRows = 70, kCols = 45;
    const auto values = integers<float>(kRows * kCols, -9999, 9999);
    std::vector<float> expected;
    for (unsigned c = 0; c < kCols; ++c) {
      for (unsigned r = 0; r < kRows; ++r) expected.push_back(values[r * kCols + c]);
    }
    const auto in = on_device(values, stream);
    DeviceBuffer<float> out(values.size());
    launch(transpose_tiles,
           {.grid = {blocks_for(kCols, 32), blocks_for(kRows, 32)},
            .block = {32, 8},
            .stream = &stream},
           in.data(), out.data(), kRows, kCols);
    EXPECT_EQ(on_host(out, stream), expected);
  });
}

} // namespace
} // namespace kg::idioms
