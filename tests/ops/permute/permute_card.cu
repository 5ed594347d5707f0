// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Permuting axes.
#include "ops/permute/permute.h"

#include <algorithm>

#include "libraries/permute.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/ops/permute/orders.h"

namespace kg::card {
namespace {

// With the extents of x.
Permutation permutation_of(const Problem& problem) {
  const std::vector<std::int64_t>& x = problem.inputs[0].extents;
  Permutation result = problem.parameters.as<Permutation>();
  std::copy(x.begin(), x.end(), result.shape.begin());
  return result;
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Permutation p = permute_grammar().parse(shape);
  const auto rank = static_cast<std::size_t>(p.rank);
  const std::vector<std::int64_t> x(p.shape.begin(), p.shape.begin() + p.rank);
  std::vector<std::int64_t> y;
  for (std::size_t d = 0; d < rank; ++d) y.push_back(x[static_cast<std::size_t>(p.order[d])]);
  Problem result{dtype, shape.text(), permute::work(dtype, p), 0};
  result.parameters = p;
  result.inputs = {{"x", dtype, x}};
  result.outputs = {{"y", dtype, y}};
  result.calling = {"",
                    {{"rank", {p.rank}},
                     {"extents", x, true},
                     {"order", {p.order.begin(), p.order.begin() + p.rank}, true}}};
  return result;
}

constexpr auto kRun = [](const Call& call, permute::Variant variant, Stream& stream) {
  return permute::run(call.address("x"), call.address("y"), permutation_of(call.problem()),
                      size_of(call.problem().dtype), variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  const permute::Permutation p = permutation_of(call.problem());
  const auto rank = static_cast<std::size_t>(p.rank);
  vendor::permute(vendor, call.problem().dtype, {p.shape.data(), rank}, {p.order.data(), rank},
                  call.address("x"), call.address("y"), stream);
}

Source source(const permute::Permutation& p, std::int64_t i) {
  std::array<std::int64_t, permute::kMaxRank> coordinate{};
  const auto at = [](int axis) { return static_cast<std::size_t>(axis); };
  for (int d = p.rank - 1; d >= 0; --d) {
    const std::size_t axis = at(p.order[at(d)]);
    coordinate[axis] = i % p.shape[axis];
    i /= p.shape[axis];
  }
  std::int64_t place = 0;
  for (int d = 0; d < p.rank; ++d) place = place * p.shape[at(d)] + coordinate[at(d)];
  return {"x", place};
}
SourceOfElement sources(const Problem& problem, std::string_view, const Bits&) {
  return [p = permutation_of(problem)](std::int64_t i) { return source(p, i); };
}

std::vector<std::string> sizes(Dtype) {
  std::vector<std::string> shapes = {"0_n5", "021_n4_a1_b6"};
  for (const char* const order : {"43210", "02143", "20314", "14023", "30412", "01234", "40213"})
    shapes.push_back(std::string(order) + "_n2_a3_b4_c5_e18");
  return shapes;
}

} // namespace

Card permute_card() {
  Card card(permute_grammar());
  only_moves(card, sources);
  card.problem = problem;
  run_by(card, permute::kVariants, kRun);
  card.vendors = {[](const Problem& p) { return names(vendor::permute_table, p.dtype); },
                  run_vendor};
  card.vendors.on_host = always({"onednn", "thrust"});
  card.usual =
      these({"nhwc_n2_a24_b9_c11", "heads_n2_a5_b7_c20", "10_n40_a65", "41302_n3_a2_b4_c5_e6"});
  card.sizes = sizes;
  card.misaligned = these({"10_n96_a40", "heads_n2_a3_b7_c48", "nchw_n2_a5_b9_c2"});
  card.refuses_overlap = false;
  card.empty = {"10_n0_a5", "201_n3_a0_b4"};
  // The own tests check which kernel `coalesced` runs.
  card.kernel_name = [](std::string_view variant, const Problem&, const Layout&) {
    return std::vector<std::string>{variant == "naive" ? "permute::naive<" : "permute::"};
  };
  card.timed_on_host = {{"nhwc_n2_a64_b28_c32", true},
                        {"nchw_n1_a128_b128_c3"},
                        {"heads_n2_a32_b12_c64"},
                        {"10_n4099_a131"}};
  // A small one, and at least 512 MiB of traffic.
  card.timed_on_gpu = {{"nhwc_n8_a64_b56_c56"},
                       {"nhwc_n128_a256_b56_c56", true},
                       {"nchw_n128_a56_b56_c256"},
                       {"nhwc_n1024_a3_b224_c224"},
                       {"heads_n64_a2048_b16_c128"}};
  return card;
}

} // namespace kg::card
