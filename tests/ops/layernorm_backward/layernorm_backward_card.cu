// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/layernorm_backward/layernorm_backward.h"

#include "libraries/layernorm_backward.h"
#include "tests/ops/normalization/backward.h"

namespace kg::card {
namespace {

Problem problem(Dtype dtype, const Shape& shape) {
  return norm_backward::problem(dtype, shape, layernorm_backward::work, 13, true);
}

constexpr auto kRun = []<class T>(const Call& call, layernorm_backward::Variant variant,
                                  Stream& stream) {
  const std::size_t bytes =
      norm_backward::has_columns(call.problem())
          ? layernorm_backward::workspace_bytes(variant, call.extent("dx", 0), call.extent("dx", 1))
          : 0;
  return layernorm_backward::run<T>(
      call.rows_in<T>("dy"), call.rows_in<T>("x"), call.in<T>("gamma"), call.in<float>("mean"),
      call.in<float>("rstd"), call.rows_out<T>("dx"), call.out<T>("dgamma"), call.out<T>("dbeta"),
      bytes > 0 ? call.workspace(bytes) : nullptr, variant, stream);
};

// The libraries take the variance, for an epsilon of 0, and some return the column sums in f32.
Problem of_vendor(const Problem& ours, std::string_view vendor) {
  Problem result = ours;
  result.inputs.push_back({.name = "variance",
                           .dtype = Dtype::f32,
                           .extents = {rows_of(ours)},
                           .element = [](std::int64_t row) {
                             return test::encode(Dtype::f32,
                                                 std::pow(norm_backward::power(row), -2));
                           }});
  for (Tensor& output : result.outputs)
    if (!output.by_row) output.dtype = vendor::layernorm_backward_sums(vendor, ours.dtype);
  return result;
}

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::layernorm_backward(vendor, call.problem().dtype,
                             {call.address("dy"), call.address("x"), call.address("gamma"),
                              call.in<float>("mean"), call.in<float>("variance"), 0,
                              call.in<float>("rstd"), call.address("dx"), call.address("dgamma"),
                              call.address("dbeta"), call.extent("dx", 0), call.extent("dx", 1)},
                             stream);
}

std::vector<Sample> random_samples(Dtype dtype) {
  auto samples =
      norm_backward::random_samples({{"gamma"}, {"dbeta"}, {"dgamma", "dbeta"}, {"dgamma"}});
  norm_backward::add_other_statistics(samples, problem, dtype);
  // After the row's end (0 - mean) rstd is infinite; within the row it is finite.
  if (dtype != Dtype::f16)
    samples.push_back(
        {"2^100",
         rows_cols(3, 41),
         {{"dy", values(dtype, test::normal(dtype, 123, test::Tensor::a).values)},
          {"x", values(dtype, std::vector<double>(123, 0x1p100))},
          {"mean", values(Dtype::f32, std::vector<double>(3, 0x1p100F * (1 - 0x1p-23F)))},
          {"rstd", values(Dtype::f32, std::vector<double>(3, 0x1p-70))}}});
  return samples;
}

} // namespace

Card layernorm_backward_card() {
  Card card = norm_backward::card(kRun);
  card.problem = problem;
  card.vendors = {[](const Problem& p) { return names(vendor::layernorm_backward_table, p.dtype); },
                  run_vendor, 4, of_vendor};
  card.vendors.on_host = always({"onednn"});
  card.random_samples = random_samples;
  card.special_samples = [](Dtype dtype) { return norm_backward::special_samples(problem, dtype); };
  return card;
}

} // namespace kg::card
