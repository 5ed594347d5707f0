// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/transpose.h"

#include "primitives/words.h"
#include "vendor/host/onednn_reorder.h"
#include "vendor/host/thrust.h"

#include <thrust/scatter.h>

namespace kg::vendor {
namespace onednn {
namespace {

// A reorder between two strided layouts of one matrix.
void transpose(Dtype dtype, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx,
               void* y, std::int64_t ldy, Stream&) {
  reorder("transpose", dtype, {rows, cols}, x, {ldx, 1}, y, {1, ldy});
}

} // namespace
} // namespace onednn

namespace thrust_host {
namespace {

void transpose(Dtype dtype, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx,
               void* y, std::int64_t ldy, Stream&) {
  const auto from = thrust::make_transform_iterator(Index(0), AlongRows{cols, ldx});
  const auto to = thrust::make_transform_iterator(Index(0), AlongColumns{cols, ldy});
  with_word("kg::vendor::transpose", size_of(dtype), [&](auto word) {
    const auto elements =
        thrust::make_permutation_iterator(static_cast<const decltype(word)*>(x), from);
    thrust::scatter(thrust::device, elements, elements + rows * cols, to,
                    static_cast<decltype(word)*>(y));
  });
}

} // namespace
} // namespace thrust_host

const Table<TransposeVariant> transpose_table = {
    {"onednn", onednn::reorder_supported, onednn::transpose},
    {"thrust", always, thrust_host::transpose},
};

} // namespace kg::vendor
