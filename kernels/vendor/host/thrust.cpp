// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiled with THRUST_HOST_SYSTEM=CPP and THRUST_DEVICE_SYSTEM=TBB (target Thrust::Host), so
// thrust::device is the CPU's worker threads. The headers' own sums over short runs use thrust::seq
// inside a worker.
#include "vendor/host/thrust.h"

#include "runtime/error.h"

#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scatter.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>
#include <thrust/version.h>

namespace kg::vendor::thrust_host {
namespace {

using Index = thrust::counting_iterator<std::int64_t>;

// Where element i of a walk over the rows of a matrix lies when its rows are `leading` apart.
struct AlongRows {
  std::int64_t cols, leading;
  std::int64_t operator()(std::int64_t i) const { return i / cols * leading + i % cols; }
};

// Where the same element lies in the transposed matrix.
struct AlongColumns {
  std::int64_t cols, leading;
  std::int64_t operator()(std::int64_t i) const { return i % cols * leading + i / cols; }
};

struct RowSum {
  const float* x;
  std::int64_t cols;
  float operator()(std::int64_t row) const {
    return thrust::reduce(thrust::seq, x + row * cols, x + (row + 1) * cols, 0.0F);
  }
};

struct ColumnSum {
  const float* x;
  std::int64_t rows, cols;
  float operator()(std::int64_t col) const {
    const auto offset = thrust::make_transform_iterator(Index(0), AlongColumns{rows, cols});
    const auto column = thrust::make_permutation_iterator(x + col, offset);
    return thrust::reduce(thrust::seq, column, column + rows, 0.0F);
  }
};

} // namespace

std::string version() {
  return std::to_string(THRUST_MAJOR_VERSION) + "." + std::to_string(THRUST_MINOR_VERSION) + "." +
         std::to_string(THRUST_SUBMINOR_VERSION);
}

void elementwise(Binary op, Dtype, const void* a, const void* b, void* out, std::int64_t n,
                 Stream&) {
  const auto* first = static_cast<const float*>(a);
  const auto run = [&](auto function) {
    thrust::transform(thrust::device, first, first + n, static_cast<const float*>(b),
                      static_cast<float*>(out), function);
  };
  switch (op) {
  case Binary::add: return run(thrust::plus<float>());
  case Binary::sub: return run(thrust::minus<float>());
  case Binary::mul: return run(thrust::multiplies<float>());
  case Binary::div: return run(thrust::divides<float>());
  }
}

void reduction(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
               Stream&) {
  switch (axis) {
  case SumAxis::all: *out = thrust::reduce(thrust::device, x, x + rows * cols, 0.0F); return;
  case SumAxis::rows: thrust::tabulate(thrust::device, out, out + rows, RowSum{x, cols}); return;
  case SumAxis::columns:
    thrust::tabulate(thrust::device, out, out + cols, ColumnSum{x, rows, cols});
    return;
  }
}

void transpose(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx, float* y,
               std::int64_t ldy, Stream&) {
  const auto from = thrust::make_transform_iterator(Index(0), AlongRows{cols, ldx});
  const auto to = thrust::make_transform_iterator(Index(0), AlongColumns{cols, ldy});
  const auto elements = thrust::make_permutation_iterator(x, from);
  thrust::scatter(thrust::device, elements, elements + rows * cols, to, y);
}

} // namespace kg::vendor::thrust_host
