// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/cuda/thrust.h"

#include "runtime/cuda/native.h"
#include "runtime/memory.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/system/system_error.h>
#include <thrust/transform.h>
#include <thrust/version.h>

#include <type_traits>

namespace kg::vendor::thrust_cuda {
namespace {

__device__ float widen(float value) { return value; }
__device__ float widen(__half value) { return __half2float(value); }
__device__ float widen(__nv_bfloat16 value) { return __bfloat162float(value); }

template <class T>
__device__ T narrow(float value) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return value;
  } else if constexpr (std::is_same_v<T, __half>) {
    return __float2half_rn(value);
  } else {
    return __float2bfloat16_rn(value);
  }
}

template <Binary op, class T>
struct Apply {
  __device__ T operator()(T a, T b) const {
    const float x = widen(a);
    const float y = widen(b);
    if constexpr (op == Binary::add) return narrow<T>(x + y);
    if constexpr (op == Binary::sub) return narrow<T>(x - y);
    if constexpr (op == Binary::mul) return narrow<T>(x * y);
    if constexpr (op == Binary::div) return narrow<T>(x / y);
  }
};

// The row of the i-th element.
struct RowOf {
  std::int64_t cols;
  __host__ __device__ std::int64_t operator()(std::int64_t i) const { return i / cols; }
};

// Runs `body`; what Thrust throws becomes an Error with its words.
template <class Body>
void translate(const char* what, Body body, Location where = Location::here()) {
  try {
    body();
  } catch (const thrust::system_error& error) {
    fail(std::string("Thrust ") + what + ": " + error.what(), where);
  }
}

template <Binary op, class T>
void transform(const void* a, const void* b, void* out, std::int64_t n, Stream& stream) {
  const T* first = static_cast<const T*>(a);
  thrust::transform(thrust::cuda::par_nosync.on(cuda::native(stream)), first, first + n,
                    static_cast<const T*>(b), static_cast<T*>(out), Apply<op, T>());
}

template <class T>
void elementwise(Binary op, const void* a, const void* b, void* out, std::int64_t n,
                 Stream& stream) {
  switch (op) {
  case Binary::add: return transform<Binary::add, T>(a, b, out, n, stream);
  case Binary::sub: return transform<Binary::sub, T>(a, b, out, n, stream);
  case Binary::mul: return transform<Binary::mul, T>(a, b, out, n, stream);
  case Binary::div: return transform<Binary::div, T>(a, b, out, n, stream);
  }
}

} // namespace

std::string version() {
  return std::to_string(THRUST_MAJOR_VERSION) + "." + std::to_string(THRUST_MINOR_VERSION) + "." +
         std::to_string(THRUST_SUBMINOR_VERSION);
}

bool elementwise_supported(Binary, Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

void elementwise(Binary op, Dtype dtype, const void* a, const void* b, void* out, std::int64_t n,
                 Stream& stream) {
  translate("transform", [&] {
    if (dtype == Dtype::f32) elementwise<float>(op, a, b, out, n, stream);
    if (dtype == Dtype::f16) elementwise<__half>(op, a, b, out, n, stream);
    if (dtype == Dtype::bf16) elementwise<__nv_bfloat16>(op, a, b, out, n, stream);
  });
}

bool reduction_supported(SumAxis axis) { return axis != SumAxis::columns; }

void reduction(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
               Stream& stream) {
  const auto policy = thrust::cuda::par.on(cuda::native(stream));
  if (axis == SumAxis::all) {
    float sum = 0;
    translate("reduce", [&] { sum = thrust::reduce(policy, x, x + rows * cols, 0.0F); });
    copy_to_device(out, &sum, sizeof sum, stream);
    return;
  }
  translate("reduce_by_key", [&] {
    const auto row =
        thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), RowOf{cols});
    thrust::reduce_by_key(policy, row, row + rows * cols, x, thrust::make_discard_iterator(), out);
  });
}

} // namespace kg::vendor::thrust_cuda
