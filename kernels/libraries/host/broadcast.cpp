// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/broadcast.h"

#include "libraries/host/onednn_binary.h"
#include "libraries/host/thrust.h"
#include "libraries/thrust_walks.h"

#include <thrust/functional.h>
#include <thrust/transform.h>

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::memory;

memory::desc packed(memory::data_type type, const std::array<std::int64_t, 5>& extents) {
  return {{extents.begin(), extents.end()}, type, memory::format_tag::abcde};
}

bool broadcast_supported(elementwise::Op op, Dtype dtype, const BroadcastShapes& shapes) {
  return element_count(result_extents(shapes)) > 0 &&
         offers(type_of(dtype), [&](memory::data_type type) {
           make<dnnl::binary>(algorithm_of(op), packed(type, shapes.a), packed(type, shapes.b),
                              packed(type, result_extents(shapes)));
         });
}

void broadcast(elementwise::Op op, Dtype dtype, const BroadcastShapes& shapes, const void* a,
               const void* b, void* out, Stream&) {
  translate("broadcast", [&] {
    const memory::data_type type = type_of(dtype).value();
    combine(op, {packed(type, shapes.a), a}, {packed(type, shapes.b), b},
            {packed(type, result_extents(shapes)), out});
  });
}

} // namespace
} // namespace onednn

namespace thrust_host {
namespace {

void broadcast(elementwise::Op op, Dtype, const BroadcastShapes& shapes, const void* a,
               const void* b, void* out, Stream&) {
  const auto first =
      walks::elements(static_cast<const float*>(a), walks::repeated(shapes, shapes.a));
  const auto second =
      walks::elements(static_cast<const float*>(b), walks::repeated(shapes, shapes.b));
  const auto run = [&](auto function) {
    thrust::transform(thrust::device, first, first + element_count(result_extents(shapes)), second,
                      static_cast<float*>(out), function);
  };
  switch (op) {
  case elementwise::Op::add: return run(thrust::plus<float>());
  case elementwise::Op::sub: return run(thrust::minus<float>());
  case elementwise::Op::mul: return run(thrust::multiplies<float>());
  case elementwise::Op::div: return run(thrust::divides<float>());
  }
}

} // namespace
} // namespace thrust_host

namespace {

bool only_f32(elementwise::Op, Dtype dtype, const BroadcastShapes&) { return dtype == Dtype::f32; }

} // namespace

const Table<BroadcastVariant> broadcast_table = {
    {"onednn", onednn::broadcast_supported, onednn::broadcast},
    {"thrust", only_f32, thrust_host::broadcast},
};

} // namespace kg::vendor
