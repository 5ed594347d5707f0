// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/elementwise.h"

#include "libraries/host/onednn_binary.h"
#include "libraries/host/thrust.h"

#include <thrust/functional.h>
#include <thrust/transform.h>

namespace kg::vendor {
namespace onednn {
namespace {

bool elementwise_supported(elementwise::Op op, Dtype dtype) {
  return offers(type_of(dtype), [&](dnnl::memory::data_type type) {
    const dnnl::memory::desc each = vector(type, kProbe);
    make<dnnl::binary>(algorithm_of(op), each, each, each);
  });
}

void elementwise(elementwise::Op op, Dtype dtype, const void* a, const void* b, void* out,
                 std::int64_t n, Stream&) {
  translate("elementwise", [&] {
    const dnnl::memory::desc each = vector(type_of(dtype).value(), n);
    combine(op, {each, a}, {each, b}, {each, out});
  });
}

} // namespace
} // namespace onednn

namespace thrust_host {
namespace {

template <class T, class Function>
void transform(const void* a, const void* b, void* out, std::int64_t n, Function function) {
  const auto* first = static_cast<const T*>(a);
  thrust::transform(thrust::device, first, first + n, static_cast<const T*>(b),
                    static_cast<T*>(out), function);
}

bool elementwise_supported(elementwise::Op op, Dtype dtype) {
  return dtype == Dtype::f32 ||
         (op == elementwise::Op::add && (dtype == Dtype::f64 || dtype == Dtype::i32));
}

void elementwise(elementwise::Op op, Dtype dtype, const void* a, const void* b, void* out,
                 std::int64_t n, Stream&) {
  if (dtype == Dtype::f64) return transform<double>(a, b, out, n, thrust::plus<double>());
  if (dtype == Dtype::i32) // unsigned, which wraps around
    return transform<std::uint32_t>(a, b, out, n, thrust::plus<std::uint32_t>());
  switch (op) {
  case elementwise::Op::add: return transform<float>(a, b, out, n, thrust::plus<float>());
  case elementwise::Op::sub: return transform<float>(a, b, out, n, thrust::minus<float>());
  case elementwise::Op::mul: return transform<float>(a, b, out, n, thrust::multiplies<float>());
  case elementwise::Op::div: return transform<float>(a, b, out, n, thrust::divides<float>());
  }
}

} // namespace
} // namespace thrust_host

const Table<ElementwiseVariant> elementwise_table = {
    {"onednn", onednn::elementwise_supported, onednn::elementwise},
    {"thrust", thrust_host::elementwise_supported, thrust_host::elementwise},
};

} // namespace kg::vendor
