// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A softmax of rows as somebody else might hand it in, and, by the variable CHEAT of the
// environment, ways to look right without being it. tests/unit/perf/cli/candidate/CMakeLists.txt
// lists what becomes of each.
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kThreads = 256;

struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

template <class Op>
__device__ float over_block(float* shared, float value, Op op) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int width = kThreads / 2; width > 0; width /= 2) {
    if (threadIdx.x < width)
      shared[threadIdx.x] = op(shared[threadIdx.x], shared[threadIdx.x + width]);
    __syncthreads();
  }
  const float result = shared[0];
  __syncthreads();
  return result;
}

// One block per row.
__global__ void softmax_rows(const float* x, float* y, int64_t cols) {
  __shared__ float shared[kThreads];
  const float* const row = x + blockIdx.x * cols;
  float largest = -INFINITY;
  for (int64_t i = threadIdx.x; i < cols; i += kThreads) largest = fmaxf(largest, row[i]);
  largest = over_block(shared, largest, Max());
  float sum = 0;
  for (int64_t i = threadIdx.x; i < cols; i += kThreads) sum += expf(row[i] - largest);
  sum = over_block(shared, sum, Sum());
  for (int64_t i = threadIdx.x; i < cols; i += kThreads)
    y[blockIdx.x * cols + i] = expf(row[i] - largest) / sum;
}

// All steps, but the synchronisation between the maximum and the sum is missing.
__global__ void with_a_race(const float* x, float* y, int64_t cols) {
  __shared__ float largest, sums[kThreads];
  const float* const row = x + blockIdx.x * cols;
  if (threadIdx.x == 0) {
    largest = -INFINITY;
    for (int64_t i = 0; i < cols; ++i) largest = fmaxf(largest, row[i]);
  }
  float sum = 0;
  for (int64_t i = threadIdx.x; i < cols; i += kThreads) sum += expf(row[i] - largest);
  sum = over_block(sums, sum, Sum());
  for (int64_t i = threadIdx.x; i < cols; i += kThreads)
    y[blockIdx.x * cols + i] = expf(row[i] - largest) / sum;
}

// How many threads add up a row, and so the order of its sum, follows the number of rows.
__global__ void by_the_grid(const float* x, float* y, int64_t cols) {
  __shared__ float shared[kThreads];
  const int threads = gridDim.x < 8 ? kThreads : kThreads / 2;
  const float* const row = x + blockIdx.x * cols;
  float largest = -INFINITY;
  for (int64_t i = threadIdx.x; i < cols; i += kThreads) largest = fmaxf(largest, row[i]);
  largest = over_block(shared, largest, Max());
  float sum = 0;
  for (int64_t i = threadIdx.x; i < cols && threadIdx.x < threads; i += threads)
    sum += expf(row[i] - largest);
  sum = over_block(shared, sum, Sum());
  for (int64_t i = threadIdx.x; i < cols; i += kThreads)
    y[blockIdx.x * cols + i] = expf(row[i] - largest) / sum;
}

// Reads the element behind the last row for nothing.
__global__ void beyond_its_rows(const float* x, float* y, int64_t cols) {
  const float ahead = x[(blockIdx.x + 1) * cols];
  if (ahead == 12345.0F) y[0] = ahead;
}

// Sums in half precision.
__global__ void in_half(const float* x, float* y, int64_t cols) {
  if (threadIdx.x != 0) return;
  const float* const row = x + blockIdx.x * cols;
  float largest = -INFINITY;
  for (int64_t i = 0; i < cols; ++i) largest = fmaxf(largest, row[i]);
  __half sum = __float2half(0.0F);
  for (int64_t i = 0; i < cols; ++i) sum = __hadd(sum, __float2half(expf(row[i] - largest)));
  for (int64_t i = 0; i < cols; ++i)
    y[blockIdx.x * cols + i] = expf(row[i] - largest) / __half2float(sum);
}

__global__ void fill(float* y, int64_t size, float value) {
  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
    y[i] = value;
}

__global__ void copy(const float* from, float* to, int64_t size) {
  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
    to[i] = from[i];
}

__global__ void write_one(float* y, int64_t place, float value) { y[place] = value; }

// Other low bits in every call.
__global__ void shake(float* y, int64_t size, float factor) {
  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
    y[i] *= factor;
}

// Counts elements by 32 bits: wrong where there are more than 2^31, or 2^32, of them.
template <class Index>
__global__ void by_32_bits(const float* x, float* y, int64_t cols) {
  __shared__ float shared[kThreads];
  const Index first = static_cast<Index>(blockIdx.x) * static_cast<Index>(cols);
  float largest = -INFINITY;
  for (int64_t i = threadIdx.x; i < cols; i += kThreads) largest = fmaxf(largest, x[first + i]);
  largest = over_block(shared, largest, Max());
  float sum = 0;
  for (int64_t i = threadIdx.x; i < cols; i += kThreads) sum += expf(x[first + i] - largest);
  sum = over_block(shared, sum, Sum());
  for (int64_t i = threadIdx.x; i < cols; i += kThreads)
    y[first + i] = expf(x[first + i] - largest) / sum;
}

bool is(const char* cheat) {
  const char* const chosen = std::getenv("CHEAT");
  return chosen && std::strcmp(chosen, cheat) == 0;
}

unsigned blocks(int64_t rows) { return static_cast<unsigned>(rows); }

void right(const float* x, float* y, int64_t rows, int64_t cols, cudaStream_t stream) {
  softmax_rows<<<blocks(rows), kThreads, 0, stream>>>(x, y, cols);
}

} // namespace

extern "C" void softmax_f32(const float* x, float* y, int64_t rows, int64_t cols,
                            cudaStream_t stream) {
  const int64_t size = rows * cols;
  if (size == 0) return;
  static int calls = 0;
  ++calls;

  if (is("constant")) {
    fill<<<8, 256, 0, stream>>>(y, size, 1.0F / static_cast<float>(cols));
  } else if (is("nothing")) {
    // not even a launch
  } else if (is("kept results")) { // those of the first data of a size
    static std::vector<std::pair<int64_t, float*>> kept;
    for (const auto& [of, results] : kept)
      if (of == size) {
        copy<<<8, 256, 0, stream>>>(results, y, size);
        return;
      }
    float* results = nullptr;
    cudaMalloc(&results, static_cast<size_t>(size) * sizeof(float));
    right(x, results, rows, cols, stream);
    copy<<<8, 256, 0, stream>>>(results, y, size);
    kept.emplace_back(size, results);
  } else if (is("on the host")) {
    for (int64_t r = 0; r < rows; ++r) {
      float largest = -INFINITY, sum = 0;
      for (int64_t i = 0; i < cols; ++i) largest = std::fmax(largest, x[r * cols + i]);
      for (int64_t i = 0; i < cols; ++i) sum += std::exp(x[r * cols + i] - largest);
      for (int64_t i = 0; i < cols; ++i)
        y[r * cols + i] = std::exp(x[r * cols + i] - largest) / sum;
    }
  } else if (is("another stream")) {
    static cudaStream_t own = nullptr;
    if (!own) cudaStreamCreate(&own);
    right(x, y, rows, cols, own);
  } else if (is("the default stream")) {
    right(x, y, rows, cols, nullptr);
  } else if (is("input overwritten")) {
    right(x, y, rows, cols, stream);
    write_one<<<1, 1, 0, stream>>>(const_cast<float*>(x), 0, 0.5F);
  } else if (is("behind the output")) {
    right(x, y, rows, cols, stream);
    write_one<<<1, 1, 0, stream>>>(y, size, 0.5F);
  } else if (is("listed shapes")) {
    if (cols == 512 || cols == 50257)
      right(x, y, rows, cols, stream);
    else
      fill<<<8, 256, 0, stream>>>(y, size, 0);
  } else if (is("a length") || is("another length")) { // wrong for rows of this length alone
    right(x, y, rows, cols, stream);
    if (cols == (is("a length") ? 50257 : 1234)) write_one<<<1, 1, 0, stream>>>(y, size - 1, 0.5F);
  } else if (is("even rows")) { // right for rows of an even length
    right(x, y, rows, cols - cols % 2, stream);
  } else if (is("last row left out")) {
    if (rows > 1) right(x, y, rows - 1, cols, stream);
  } else if (is("every second call")) {
    if (calls % 2 == 1) right(x, y, rows, cols, stream);
  } else if (is("low precision")) {
    in_half<<<blocks(rows), 1, 0, stream>>>(x, y, cols);
  } else if (is("other bits")) {
    right(x, y, rows, cols, stream);
    shake<<<8, 256, 0, stream>>>(y, size, calls % 2 == 0 ? 1.0F : 1.0F + 2.4e-7F);
  } else if (is("sums by the grid")) {
    by_the_grid<<<blocks(rows), kThreads, 0, stream>>>(x, y, cols);
  } else if (is("int index")) {
    by_32_bits<int><<<blocks(rows), kThreads, 0, stream>>>(x, y, cols);
  } else if (is("unsigned index")) {
    by_32_bits<unsigned><<<blocks(rows), kThreads, 0, stream>>>(x, y, cols);
  } else if (is("race")) {
    with_a_race<<<blocks(rows), kThreads, 0, stream>>>(x, y, cols);
  } else if (is("beyond its rows")) {
    right(x, y, rows, cols, stream);
    beyond_its_rows<<<blocks(rows), 1, 0, stream>>>(x, y, cols);
  } else if (is("exit")) {
    std::exit(0);
  } else if (is("_exit")) {
    _exit(0);
  } else if (is("fake verdict")) {
    std::printf("[  PASSED  ] 9 tests.\n");
    std::fflush(stdout);
    _exit(0);
  } else if (is("signal")) {
    std::abort();
  } else if (is("exception")) {
    throw std::runtime_error("nothing to see here");
  } else if (is("rounding")) {
    std::fesetround(FE_UPWARD);
    right(x, y, rows, cols, stream);
  } else if (is("environment")) {
    setenv("KERNELGRADE_SEED", "1", 1);
    right(x, y, rows, cols, stream);
  } else if (is("frees its input")) {
    right(x, y, rows, cols, stream);
    cudaFree(const_cast<float*>(x));
  } else if (is("reset")) {
    right(x, y, rows, cols, stream);
    cudaDeviceReset();
  } else if (is("swallowed error")) { // a launch that fails, and is hidden
    right(x, y, rows, cols, stream);
    fill<<<1, 4096, 0, stream>>>(y, 0, 0);
    cudaGetLastError();
  } else {
    right(x, y, rows, cols, stream);
  }
}
