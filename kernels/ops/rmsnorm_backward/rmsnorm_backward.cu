// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels: ops/normalization/backward_kernels.h, with their design and expected performance,
// backward_cluster_kernel.h and backward_long_rows.h.
#include "ops/rmsnorm_backward/rmsnorm_backward.h"

#include "ops/normalization/backward.h"

namespace kg::rmsnorm_backward {

using normalization::Kind;

std::size_t workspace_bytes(Variant variant, std::int64_t rows, std::int64_t cols) {
  return normalization::backward::workspace_bytes(Kind::rms, variant, rows, cols);
}

template <class T>
Variant run(MatrixView<const T> dy, MatrixView<const T> x, const T* gamma, const float* rstd,
            MatrixView<T> dx, T* dgamma, void* workspace, Variant variant, Stream& stream) {
  return normalization::backward::run_backward<Kind::rms, T>("rmsnorm_backward", dy, x, gamma,
                                                             nullptr, rstd, dx, dgamma, nullptr,
                                                             workspace, variant, stream);
}

template Variant run(MatrixView<const float>, MatrixView<const float>, const float*, const float*,
                     MatrixView<float>, float*, void*, Variant, Stream&);
template Variant run(MatrixView<const f16>, MatrixView<const f16>, const f16*, const float*,
                     MatrixView<f16>, f16*, void*, Variant, Stream&);
template Variant run(MatrixView<const bf16>, MatrixView<const bf16>, const bf16*, const float*,
                     MatrixView<bf16>, bf16*, void*, Variant, Stream&);

Work work(Dtype dtype, std::int64_t rows, std::int64_t cols) {
  return normalization::backward::backward_work(Kind::rms, dtype, rows, cols, 9);
}

} // namespace kg::rmsnorm_backward
