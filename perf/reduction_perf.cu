// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reducing a matrix over everything, along its rows and along its columns, and a tensor along its
// middle axis. Shapes: all, rows or columns with r<rows>_c<cols>, tensor with o<outer>_a<axis>_
// i<inner>, behind mean_, max_ or min_; without these it is the sum.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "perf/thrust_note.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/oracle_rows.h"
#include "tests/oracle/tolerance.h"
#include "tests/oracle/tolerance_rows.h"
#include "vendor/reduction/reduction.h"

#include "reduction/reduction.h"

#include <algorithm>
#include <memory>
#include <string>

namespace kg::perf {
namespace {

using reduction::Extents;
using reduction::Op;

template <class T>
struct Reduced {
  Reduced(Op op, const Extents& extents, reduction::Variant variant, Stream& stream)
      : op(op), extents(extents), x(extents[0] * extents[1] * extents[2], test::Tensor::a, stream),
        out(static_cast<std::size_t>(extents[0] * extents[2])),
        workspace(reduction::workspace_bytes(reduction::packed<T>(nullptr, extents), variant)) {}
  Op op;
  Extents extents;
  RandomData<T> x;
  DeviceBuffer<T> out;
  DeviceBuffer<unsigned char> workspace;
};

// The bound of the longest chain that any variant or vendor may have. Extrema are exact, and so are
// the sums of i32.
double tolerance(Op op, Dtype dtype, double value, double norm2, double mean_abs,
                 std::int64_t axis) {
  if (op == Op::max || op == Op::min || dtype == Dtype::i32) return 0;
  const double computed =
      op == Op::mean
          ? test::mean_f32_tolerance(value, norm2, mean_abs, axis, 1)
          : test::sum_f32_tolerance(value, norm2, mean_abs * static_cast<double>(axis), axis, 1);
  return test::stored_tolerance(dtype, value, computed);
}

// Every result up to 2^24 elements. Beyond, the first outer ones; a single outer one would need a
// pass over all of x in fp64, and is checked at smaller sizes only.
template <class T>
std::string verify(const Reduced<T>& data, Stream& stream) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  const auto [all, axis, inner] = data.extents;
  const std::int64_t outer = std::min(all, kMost / (axis * inner));
  if (outer == 0) return "";
  const std::vector<double> x = data.x.values(0, outer * axis * inner);
  std::vector<double> slices; // each result's elements in a row
  for (std::int64_t o = 0; o < outer; ++o) {
    const auto part = x.begin() + o * axis * inner;
    const auto turned =
        test::transpose_oracle(std::vector<double>(part, part + axis * inner), axis, inner);
    slices.insert(slices.end(), turned.begin(), turned.end());
  }
  const std::int64_t results = outer * inner;
  const test::MeanOracle mean = test::row_means_oracle(slices, results, axis);
  const std::vector<double> value =
      data.op == Op::sum    ? test::row_sums_oracle(slices, results, axis).value
      : data.op == Op::mean ? mean.value
      : data.op == Op::max  ? test::row_maxima_oracle(slices, results, axis).value
                            : test::row_minima_oracle(slices, results, axis).value;
  std::vector<double> bounds;
  for (std::size_t i = 0; i < value.size(); ++i)
    bounds.push_back(
        tolerance(data.op, dtype_of<T>, value[i], mean.norm2[i], mean.mean_abs[i], axis));
  const auto comparison = test::compare(observe(data.out, {0, results}, stream),
                                        {dtype_of<T>, {results}, value, bounds});
  return comparison.passed() ? "" : comparison.text();
}

template <class T, class Run>
Workload workload(std::string name, Op op, const Extents& extents, reduction::Variant variant,
                  Run run) {
  Stream stream;
  auto data = std::make_shared<Reduced<T>>(op, extents, variant, stream);
  return {[=](Stream& s) { run(*data, s); }, [=](Stream& s) { data->out.poison(s); },
          [=](Stream& s) { return verify(*data, s); }, std::move(name)};
}

template <class T>
Case make_case(Op op, const Extents& extents) {
  // On the executor a warp's shuffles cost more than its loads; columns have none.
  Case result{
      extents[2] > 1 ? Kind::memory : Kind::sync, reduction::work(dtype_of<T>, extents), {}};
  result.automatic = reduction::name(reduction::resolved(reduction::Variant::automatic));
  for (const reduction::Variant variant : reduction::kVariants) {
    const std::string name(reduction::name(variant));
    result.variants.push_back(
        {name, false,
         [=] {
           return workload<T>(name, op, extents, variant, [=](const Reduced<T>& r, Stream& s) {
             reduction::run(op, reduction::packed<T>(r.x.data(), extents), r.out.data(),
                            r.workspace.data(), variant, s);
           });
         },
         variant != reduction::Variant::naive ||
             is_timed_in_sequence(reduction::chain(
                 reduction::packed(static_cast<const T*>(nullptr), extents), variant))});
  }
  const vendor::ReductionProblem problem{static_cast<vendor::Reduce>(op), dtype_of<T>, extents[0],
                                         extents[1], extents[2]};
  for (const std::string_view variant : vendor::reduction_variants(problem)) {
    const std::string name(variant);
    result.variants.push_back({name, true,
                               [=] {
                                 return workload<T>(name, op, extents, reduction::Variant::naive,
                                                    [=](const Reduced<T>& r, Stream& s) {
                                                      vendor::reduction(name, problem, r.x.data(),
                                                                        r.out.data(), s);
                                                    });
                               },
                               true, thrust_note(name)});
  }
  return result;
}

Op op_of(const Shape& shape) {
  for (const Op op : {Op::mean, Op::max, Op::min}) {
    const std::string word(reduction::name(op));
    if (!shape.text().starts_with(word + "_")) continue;
    shape.word({word}); // seen
    return op;
  }
  return Op::sum;
}

Extents extents_of(const Shape& shape) {
  enum { all, rows, columns, tensor };
  const std::size_t kind = shape.word({"all", "rows", "columns", "tensor"});
  if (kind == tensor) return {shape.number("o"), shape.number("a"), shape.number("i")};
  const std::int64_t r = shape.number("r");
  const std::int64_t c = shape.number("c");
  if (kind == all) return {1, r * c, 1};
  return kind == rows ? Extents{r, c, 1} : Extents{1, r, c};
}

} // namespace

Operation reduction_operation() {
  Operation operation{
      "reduction", "reduction", {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i32}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"all_r1024_c512", true}, {"rows_r512_c1024"},
                        {"columns_r1024_c512"},   {"mean_rows_r512_c1024"},
                        {"max_all_r1024_c512"},   {"min_columns_r1024_c512"}};
  else // 1 GiB of f32 at 2^28 elements
    operation.shapes = {{"all_r1_c65536"},          {"all_r16384_c16384", true},
                        {"rows_r16384_c16384"},     {"rows_r1048576_c256"},
                        {"columns_r16384_c16384"},  {"columns_r1048576_c256"},
                        {"tensor_o4096_a256_i256"}, {"mean_rows_r16384_c16384"},
                        {"max_rows_r1048576_c256"}, {"min_tensor_o4096_a256_i256"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Op op = op_of(shape);
    const Extents extents = extents_of(shape);
    if (dtype == Dtype::f16) return make_case<f16>(op, extents);
    if (dtype == Dtype::bf16) return make_case<bf16>(op, extents);
    if (!reduction::supports(op, dtype)) return Case{}; // no variants
    if (dtype == Dtype::i32) return make_case<std::int32_t>(op, extents);
    return make_case<float>(op, extents);
  };
  return operation;
}

} // namespace kg::perf
