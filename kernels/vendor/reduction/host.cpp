// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/reduction/reduction.h"

#include "vendor/host/onednn.h"
#include "vendor/host/thrust.h"

#include <thrust/reduce.h>
#include <thrust/tabulate.h>

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;

dnnl::primitive make_reduction(const memory::desc& from, const memory::desc& to) {
  const dnnl::engine& engine = onednn::engine();
  constexpr auto kSum = algorithm::reduction_sum;
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::reduction({engine, kSum, from, to, 0.0F, 0.0F});
#else
  return dnnl::reduction({{kSum, from, to, 0.0F, 0.0F}, engine});
#endif
}

memory::desc result_of(SumAxis axis, std::int64_t rows, std::int64_t cols) {
  return matrix(memory::data_type::f32, axis == SumAxis::rows ? rows : 1,
                axis == SumAxis::columns ? cols : 1);
}

bool reduction_supported(SumAxis axis) {
  return creatable([&] {
    make_reduction(matrix(memory::data_type::f32, kProbe, kProbe), result_of(axis, kProbe, kProbe));
  });
}

void reduction(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
               Stream&) {
  translate("reduction", [&] {
    const memory::desc from = matrix(memory::data_type::f32, rows, cols);
    const memory::desc to = result_of(axis, rows, cols);
    execute(make_reduction(from, to),
            {{DNNL_ARG_SRC, wrap(from, x)}, {DNNL_ARG_DST, wrap(to, out)}});
  });
}

} // namespace
} // namespace onednn

namespace thrust_host {
namespace {

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

} // namespace
} // namespace thrust_host

namespace {

bool any_axis(SumAxis) { return true; }

constexpr ReductionVariant kTable[] = {
    {"onednn", onednn::reduction_supported, onednn::reduction},
    {"thrust", any_axis, thrust_host::reduction},
};

} // namespace

std::span<const ReductionVariant> reduction_table() { return kTable; }

} // namespace kg::vendor
