// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/rmsnorm_backward/rmsnorm_backward.h"

#include "libraries/rmsnorm_backward.h"
#include "tests/ops/normalization/backward.h"

namespace kg::card {
namespace {

Problem problem(Dtype dtype, const Shape& shape) {
  return norm_backward::problem(dtype, shape, rmsnorm_backward::work, 9, false);
}

constexpr auto kRun = []<class T>(const Call& call, rmsnorm_backward::Variant variant,
                                  Stream& stream) {
  const std::size_t bytes =
      norm_backward::has_columns(call.problem())
          ? rmsnorm_backward::workspace_bytes(variant, call.extent("dx", 0), call.extent("dx", 1))
          : 0;
  return rmsnorm_backward::run<T>(call.rows_in<T>("dy"), call.rows_in<T>("x"), call.in<T>("gamma"),
                                  call.in<float>("rstd"), call.rows_out<T>("dx"),
                                  call.out<T>("dgamma"),
                                  bytes > 0 ? call.workspace(bytes) : nullptr, variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::rmsnorm_backward(vendor, call.problem().dtype,
                           {call.address("dy"), call.address("x"), call.address("gamma"),
                            call.in<float>("rstd"), call.address("dx"), call.address("dgamma"),
                            call.extent("dx", 0), call.extent("dx", 1)},
                           stream);
}

} // namespace

Card rmsnorm_backward_card() {
  Card card = norm_backward::card(kRun);
  card.problem = problem;
  card.vendors = {[](const Problem& p) { return names(vendor::rmsnorm_backward_table, p.dtype); },
                  run_vendor, 4};
  card.random_samples = [](Dtype dtype) {
    auto samples = norm_backward::random_samples({{"gamma"}, {"dgamma"}});
    norm_backward::add_other_statistics(samples, problem, dtype);
    return samples;
  };
  card.special_samples = [](Dtype dtype) { return norm_backward::special_samples(problem, dtype); };
  return card;
}

} // namespace kg::card
