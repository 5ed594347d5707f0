// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels: ops/normalization/forward_kernels.h, with their design and expected performance.
#include "ops/rmsnorm/rmsnorm.h"

#include "ops/normalization/forward.h"

namespace kg::rmsnorm {

template <class T>
Variant run(MatrixView<const T> x, const T* gamma, float epsilon, MatrixView<T> y, float* rstd,
            Variant variant, Stream& stream) {
  using normalization::Kind;
  return normalization::run_forward<Kind::rms, T>("rmsnorm", x, gamma, nullptr, epsilon, y, nullptr,
                                                  rstd, variant, stream);
}

template Variant run(MatrixView<const float>, const float*, float, MatrixView<float>, float*,
                     Variant, Stream&);
template Variant run(MatrixView<const f16>, const f16*, float, MatrixView<f16>, float*, Variant,
                     Stream&);
template Variant run(MatrixView<const bf16>, const bf16*, float, MatrixView<bf16>, float*, Variant,
                     Stream&);

Work work(Dtype dtype, std::int64_t rows, std::int64_t cols) {
  return normalization::forward_work(dtype, rows, cols, 1, 4);
}

} // namespace kg::rmsnorm
