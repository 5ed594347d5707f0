// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of reductions of rows and of a tensor's middle axis. Shapes: the operation,
// o<outer>_a<axis>_i<inner>.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle_reduction_backward.h"

#include "reduction_backward/reduction_backward.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace kg::perf {
namespace {

using reduction_backward::Extents;
using reduction_backward::Op;

template <class T>
struct Gradients {
  Gradients(Op op, const Extents& extents, reduction_backward::Variant variant, Stream& stream)
      : x(extents[0] * extents[1] * extents[2], test::Tensor::a, stream),
        dy(extents[0] * extents[2], test::Tensor::b, stream),
        dx(static_cast<std::size_t>(extents[0] * extents[1] * extents[2])),
        workspace(reduction_backward::workspace_bytes<T>(op, extents, variant)) {}
  RandomData<T> x;
  RandomData<T> dy;
  DeviceBuffer<T> dx;
  DeviceBuffer<unsigned char> workspace;
};

// All of up to 2^20 elements, beyond that the first outer ones.
template <class T>
std::string verify(Op op, const Extents& extents, const Gradients<T>& data, Stream& stream) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  const auto [all, axis, inner] = extents;
  const Extents part{std::min(all, kMost / (axis * inner)), axis, inner};
  const std::int64_t count = part[0] * axis * inner;
  const std::vector<double> dy = data.dy.values(0, part[0] * inner);
  std::vector<double> right =
      op == Op::max || op == Op::min
          ? test::extremum_gradient_oracle(data.x.values(0, count), dy, part, op == Op::max)
          : test::shared_gradient_oracle(dy, part, op == Op::mean ? static_cast<double>(axis) : 1);
  for (double& value : right) value = test::round_to(dtype_of<T>, value);
  const auto comparison = test::compare(observe(data.dx, {0, count}, stream),
                                        test::exactly(dtype_of<T>, {count}, right));
  return comparison.passed() ? "" : comparison.text();
}

template <class T>
Workload workload(Op op, const Extents& extents, reduction_backward::Variant variant) {
  Stream stream;
  auto data = std::make_shared<Gradients<T>>(op, extents, variant, stream);
  return {[=](Stream& s) {
            reduction_backward::run<T>(op, extents,
                                       {data->x.data(), data->dy.data(), data->dx.data()},
                                       data->workspace.data(), variant, s);
          },
          [=](Stream& s) { data->dx.poison(s); },
          [=](Stream& s) { return verify(op, extents, *data, s); },
          std::string(reduction_backward::name(variant))};
}

template <class T>
Case make_case(Op op, const Extents& extents) {
  Case result{Kind::memory, reduction_backward::work(op, dtype_of<T>, extents), {}};
  result.automatic = reduction_backward::name(
      reduction_backward::resolved(reduction_backward::Variant::automatic));
  for (const reduction_backward::Variant variant : reduction_backward::kVariants)
    result.variants.push_back({std::string(reduction_backward::name(variant)), false,
                               [=] { return workload<T>(op, extents, variant); }});
  return result;
}

} // namespace

Operation reduction_backward_operation() {
  Operation operation{
      "reduction_backward", "reduction", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"sum_o256_a1024_i1", true}, {"max_o128_a1024_i1"}, {"mean_o4_a64_i512"}};
  else // 512 MiB of 16-bit elements in all but the first
    operation.shapes = {{"sum_o64_a1024_i1"},
                        {"sum_o262144_a1024_i1", true},
                        {"mean_o4096_a256_i256"},
                        {"max_o262144_a1024_i1"},
                        {"max_o4096_a256_i256"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Op op = reduction_backward::kOps[shape.word({"sum", "mean", "max", "min"})];
    const Extents extents{shape.number("o"), shape.number("a"), shape.number("i")};
    if (dtype == Dtype::f16) return make_case<f16>(op, extents);
    if (dtype == Dtype::bf16) return make_case<bf16>(op, extents);
    return make_case<float>(op, extents);
  };
  return operation;
}

} // namespace kg::perf
