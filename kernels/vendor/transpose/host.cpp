// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/transpose/transpose.h"

#include "vendor/host/onednn.h"
#include "vendor/host/thrust.h"

#include <thrust/scatter.h>

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::memory;

// A reorder between two strided layouts of one matrix.
void transpose(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx, float* y,
               std::int64_t ldy, Stream&) {
  translate("transpose", [&] {
    const dnnl::engine& engine = onednn::engine();
    const memory::dims shape = {rows, cols};
    const memory::desc from(shape, memory::data_type::f32, memory::dims{ldx, 1});
    const memory::desc to(shape, memory::data_type::f32, memory::dims{1, ldy});
    execute(dnnl::reorder({engine, from, engine, to}),
            {{DNNL_ARG_FROM, wrap(from, x)}, {DNNL_ARG_TO, wrap(to, y)}});
  });
}

} // namespace
} // namespace onednn

namespace thrust_host {
namespace {

void transpose(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx, float* y,
               std::int64_t ldy, Stream&) {
  const auto from = thrust::make_transform_iterator(Index(0), AlongRows{cols, ldx});
  const auto to = thrust::make_transform_iterator(Index(0), AlongColumns{cols, ldy});
  const auto elements = thrust::make_permutation_iterator(x, from);
  thrust::scatter(thrust::device, elements, elements + rows * cols, to, y);
}

} // namespace
} // namespace thrust_host

namespace {

constexpr TransposeVariant kTable[] = {
    {"onednn", onednn::transpose},
    {"thrust", thrust_host::transpose},
};

} // namespace

std::span<const TransposeVariant> transpose_table() { return kTable; }

} // namespace kg::vendor
