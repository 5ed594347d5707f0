// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/transpose.h"

#include "libraries/host/onednn_reorder.h"
#include "libraries/host/thrust.h"
#include "libraries/thrust_walks.h"

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
  walks::transpose(thrust::device, dtype, x, rows, cols, ldx, y, ldy);
}

} // namespace
} // namespace thrust_host

const Table<TransposeVariant> transpose_table = {
    {"onednn", onednn::reorder_supported, onednn::transpose},
    {"thrust", always, thrust_host::transpose},
};

} // namespace kg::vendor
