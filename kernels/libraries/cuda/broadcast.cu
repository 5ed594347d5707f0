// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/broadcast.h"

#include "libraries/cuda/op_tensor.h"
#include "libraries/cuda/thrust_arithmetic.h"
#include "libraries/thrust_walks.h"

#include <limits>

#include <thrust/transform.h>

namespace kg::vendor {
namespace cudnn {
namespace {

// cudnnOpTensor, as in the wrapper of `elementwise`: no division, and it only repeats b. cuDNN
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

template <class T, class Combine>
void transform(const BroadcastShapes& shapes, const void* a, const void* b, void* out,
               Combine combine, Stream& stream) {
  const auto first = walks::elements(static_cast<const T*>(a), walks::repeated(shapes, shapes.a));
  const auto second = walks::elements(static_cast<const T*>(b), walks::repeated(shapes, shapes.b));
  thrust::transform(on(stream), first, first + element_count(result_extents(shapes)), second,
                    static_cast<T*>(out), combine);
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
