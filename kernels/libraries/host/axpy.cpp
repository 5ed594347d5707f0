// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/axpy.h"
#include "runtime/error.h"

#include "libraries/host/onednn.h"
#include "libraries/host/thrust.h"

#include <cblas.h>

#include <cstring>
#include <limits>
#include <string>

#include <thrust/transform.h>

namespace kg::vendor {
namespace openblas {
namespace {

void axpy(Dtype, float alpha, const void* x, const void* y, void* out, std::int64_t n, Stream&) {
  constexpr std::int64_t kMost = std::numeric_limits<blasint>::max();
  require(n <= kMost, "kg::vendor::axpy: n is " + std::to_string(n) +
                          "; this OpenBLAS takes at most " + std::to_string(kMost));
  std::memcpy(out, y, static_cast<std::size_t>(n) * sizeof(float));
  cblas_saxpy(static_cast<blasint>(n), alpha, static_cast<const float*>(x), 1,
              static_cast<float*>(out), 1);
}

} // namespace
} // namespace openblas

namespace onednn {
namespace {

using dnnl::memory;

// A sum of two arrays, each with a factor.
dnnl::primitive make_axpy(float alpha, const memory::desc& each) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::sum({engine(), each, {alpha, 1.0F}, {each, each}});
#else
  return dnnl::sum(dnnl::sum::primitive_desc(each, {alpha, 1.0F}, {each, each}, engine()));
#endif
}

// Not f16: oneDNN 2.6.3 returns infinities for finite sums (seen on a CPU without f16 arithmetic).
bool axpy_supported(Dtype dtype) {
  return dtype != Dtype::f16 && offers(type_of(dtype), [&](memory::data_type type) {
           make_axpy(0.5F, vector(type, kProbe));
         });
}

void axpy(Dtype dtype, float alpha, const void* x, const void* y, void* out, std::int64_t n,
          Stream&) {
  translate("axpy", [&] {
    const memory::desc each = vector(type_of(dtype).value(), n);
    execute(make_axpy(alpha, each), {{DNNL_ARG_MULTIPLE_SRC, wrap(each, x)},
                                     {DNNL_ARG_MULTIPLE_SRC + 1, wrap(each, y)},
                                     {DNNL_ARG_DST, wrap(each, out)}});
  });
}

} // namespace
} // namespace onednn

namespace thrust_host {
namespace {

void axpy(Dtype, float alpha, const void* x, const void* y, void* out, std::int64_t n, Stream&) {
  const auto* first = static_cast<const float*>(x);
  thrust::transform(thrust::device, first, first + n, static_cast<const float*>(y),
                    static_cast<float*>(out), [alpha](float a, float b) { return alpha * a + b; });
}

} // namespace
} // namespace thrust_host

namespace {

bool only_f32(Dtype dtype) { return dtype == Dtype::f32; }

} // namespace

const Table<AxpyVariant> axpy_table = {
    {"onednn", onednn::axpy_supported, onednn::axpy},
    {"openblas", only_f32, openblas::axpy},
    {"thrust", only_f32, thrust_host::axpy},
};

} // namespace kg::vendor
