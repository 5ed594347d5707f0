// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/broadcast.h"

#include "vendor/cuda/op_tensor.h"
#include "vendor/cuda/thrust_arithmetic.h"

#include <limits>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/transform.h>

namespace kg::vendor {
namespace cudnn {
namespace {

// cudnnOpTensor, as in the wrapper of `elementwise`: no division, and only b is repeated. cuDNN
// counts in int.
bool broadcast_supported(elementwise::Op op, Dtype dtype, const BroadcastShapes& shapes) {
  return op != elementwise::Op::div && type_of(dtype).has_value() &&
         shapes.a == result_extents(shapes) &&
         element_count(shapes.a) <= std::numeric_limits<int>::max();
}

void broadcast(elementwise::Op op, Dtype dtype, const BroadcastShapes& shapes, const void* a,
               const void* b, void* out, Stream& stream) {
  const Scales scales{.b = op == elementwise::Op::sub ? -1.0F : 1.0F};
  op_tensor(op == elementwise::Op::mul ? CUDNN_OP_TENSOR_MUL : CUDNN_OP_TENSOR_ADD, dtype, shapes,
            scales, a, b, out, stream);
}

} // namespace
} // namespace cudnn

namespace thrust_cuda {
namespace {

struct Extents {
  std::int64_t value[kBroadcastRank];
};

Extents extents_of(const std::array<std::int64_t, kBroadcastRank>& from) {
  Extents to{};
  for (int d = 0; d < kBroadcastRank; ++d) to.value[d] = from[d];
  return to;
}

// Where element i of the result lies in an operand.
struct Repeated {
  Extents extents, strides;
  __host__ __device__ std::int64_t operator()(std::int64_t i) const {
    std::int64_t place = 0;
    for (int d = kBroadcastRank - 1; d >= 0; --d) {
      place += i % extents.value[d] * strides.value[d];
      i /= extents.value[d];
    }
    return place;
  }
};

template <class T, class Combine>
void transform(const BroadcastShapes& shapes, const void* a, const void* b, void* out,
               Combine combine, Stream& stream) {
  const Extents extents = extents_of(result_extents(shapes));
  const auto walk = [&](const void* data, const std::array<std::int64_t, kBroadcastRank>& own) {
    return thrust::make_permutation_iterator(
        static_cast<const T*>(data),
        thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                        Repeated{extents, extents_of(repeated_strides(own))}));
  };
  const auto first = walk(a, shapes.a);
  thrust::transform(on(stream), first, first + element_count(result_extents(shapes)),
                    walk(b, shapes.b), static_cast<T*>(out), combine);
}

bool broadcast_supported(elementwise::Op, Dtype dtype, const BroadcastShapes&) {
  return is_float(dtype);
}

void broadcast(elementwise::Op op, Dtype dtype, const BroadcastShapes& shapes, const void* a,
               const void* b, void* out, Stream& stream) {
  translate("transform", [&] {
    with_float(dtype, [&](auto element) {
      using T = decltype(element);
      with_combine<T>(op, [&](auto combine) { transform<T>(shapes, a, b, out, combine, stream); });
    });
  });
}

} // namespace
} // namespace thrust_cuda

const Table<BroadcastVariant> broadcast_table = {
    {"thrust", thrust_cuda::broadcast_supported, thrust_cuda::broadcast},
    {"cudnn", cudnn::broadcast_supported, cudnn::broadcast},
};

} // namespace kg::vendor
