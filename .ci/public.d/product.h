// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
// What the drivers of public matrix products share: inputs, a reference, and a comparison bit by
// bit. The inputs are integers from -2 to 2, and all sums are exact in f32: no order of additions
// changes them. A product of k <= 64 has sums up to 256, which bf16 holds; larger ones are rounded
// once, to nearest even, as the kernels do.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    if (const cudaError_t error_ = (call); error_ != cudaSuccess) {                                \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_));         \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (false)

// m, n, k of the command line. Exits with 2 if they are not three positive numbers.
inline std::array<int, 3> sizes(int argc, char** argv) {
  std::array<int, 3> values{};
  for (int i = 0; i < 3 && argc == 4; ++i) values[i] = std::atoi(argv[i + 1]);
  for (const int value : values)
    if (value <= 0) {
      std::fprintf(stderr, "usage: %s m n k, each at least 1\n", argv[0]);
      std::exit(2);
    }
  return values;
}

// Integers from -2 to 2 without a period that a tile's width could hide.
inline std::vector<float> small_integers(std::size_t count, std::uint32_t seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>((seed >> 16) % 5) - 2;
  }
  return values;
}

// Row-major c[m][n] of row-major a[m][k] and column-major b, that is b[n][k].
inline std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, int m,
                                  int n, int k) {
  std::vector<float> c(static_cast<std::size_t>(m) * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += a[static_cast<std::size_t>(i) * k + l] * b[static_cast<std::size_t>(j) * k + l];
      c[static_cast<std::size_t>(i) * n + j] = sum;
    }
  return c;
}

// Device memory that holds the values converted to T.
template <class T>
struct DeviceArray {
  explicit DeviceArray(const std::vector<float>& values) : count(values.size()) {
    const std::vector<T> converted(values.begin(), values.end());
    CHECK(cudaMalloc(&data, count * sizeof(T)));
    CHECK(cudaMemcpy(data, converted.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data); }

  std::vector<T> host() const {
    std::vector<T> copied(count);
    CHECK(cudaMemcpy(copied.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return copied;
  }

  T* data = nullptr;
  std::size_t count;
};

enum class Major { kRow, kColumn };

// Says how many elements are wrong, and returns the program's exit code.
inline int verdict(long wrong, long count) {
  if (wrong == 0)
    std::printf("all %ld elements are right\n", count);
  else
    std::printf("%ld of %ld elements are wrong\n", wrong, count);
  return wrong != 0;
}

// Compares `c` of the given order with the row-major `expected`, rounded to T. Prints the
// first wrong element and the verdict, whose exit code it returns.
template <class T>
int compare(const std::vector<float>& expected, const std::vector<T>& c, int m, int n,
            Major major) {
  long wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      const auto at = major == Major::kRow ? static_cast<std::size_t>(i) * n + j
                                           : static_cast<std::size_t>(j) * m + i;
      const auto want = static_cast<float>(T(expected[static_cast<std::size_t>(i) * n + j]));
      const auto is = static_cast<float>(c[at]);
      if (is == want) continue;
      if (wrong++ == 0) std::printf("row %d, column %d: %g, expected %g\n", i, j, is, want);
    }
  return verdict(wrong, static_cast<long>(m) * n);
}
