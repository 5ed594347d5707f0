// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The mixed operation of several candidates. The tolerance and its derivation are in
// tests/oracle/oracle_softmax_sum.h.
#include "ops/softmax_sum/softmax_sum.h"

#include "libraries/softmax_sum.h"
#include "runtime/device.h"
#include "tests/contract/card.h"
#include "tests/ops/softmax_sum/terms.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_softmax_sum.h"

namespace kg::card {
namespace {

constexpr std::int64_t kTerms = 7; // not a multiple of the terms loaded together
constexpr std::int64_t kLength = 5003;

Problem problem(Dtype dtype, const Shape& shape) {
  const auto [terms, n] = terms_grammar().parse(shape);
  Problem result{dtype, shape.text(), softmax_sum::work(dtype, terms, n),
                 2.0 * static_cast<double>(terms * n)};
  result.inputs = {{.name = "x", .dtype = dtype, .extents = {terms, n}, .row_axis = 1},
                   {.name = "alpha", .dtype = dtype, .extents = {terms}, .by_row = false}};
  result.outputs = {{"y", dtype, {n}}};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, softmax_sum::Variant variant, Stream& stream) {
  return softmax_sum::run<T>(call.in<T>("x"), call.in<T>("alpha"), call.out<T>("y"),
                             call.extent("x", 0), call.extent("x", 1), variant, stream);
};

std::vector<std::string_view> vendors(const Problem& problem) {
  if (problem.dtype != Dtype::f32) return {};
  return names(vendor::softmax_sum_table);
}
void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::softmax_sum(vendor, call.in<float>("x"), call.in<float>("alpha"), call.out<float>("y"),
                      call.extent("x", 0), call.extent("x", 1), stream);
}

References references(const Problem& problem, const Inputs& inputs) {
  const auto oracle =
      test::softmax_sum_oracle(problem.dtype, inputs.at("x").values, inputs.at("alpha").values);
  return {{"y", {oracle.value, [bound = oracle.tolerance](std::string_view) { return bound; }}}};
}

Sample sample(Dtype dtype, const std::string& fill, test::Observed x, std::vector<double> alpha) {
  const std::int64_t terms = std::ssize(alpha);
  return {fill,
          terms_of(terms, std::ssize(x.values) / terms),
          {{"x", std::move(x)}, {"alpha", values(dtype, std::move(alpha))}}};
}

// Weights that are powers of two, for all or one of four terms, with zero weights for the others,
// and integers: every sum is exact, even in the type.
std::vector<Sample> exact_samples(Dtype dtype) {
  const std::int64_t most = (std::int64_t{1} << (test::float_format(dtype).precision - 2)) - 1;
  std::vector<double> x = test::integers(dtype, kTerms * kLength, most / 4, test::Tensor::a).values;
  for (double& value : x) value *= 4;
  std::vector<Sample> samples;
  for (const std::vector<double>& alpha : std::vector<std::vector<double>>{
           {-kInfinity, 3, -kInfinity, 3, 3, -kInfinity, 3}, // 1/4 each
           {-kInfinity, -kInfinity, -kInfinity, -kInfinity, -kInfinity, 2, -kInfinity}}) { // 1
    const std::vector<double> weights = test::softmax_weights(alpha);
    samples.push_back(sample(dtype, "integers", values(dtype, x), alpha));
    std::vector<double>& expected = samples.back().expected["y"];
    expected.assign(kLength, 0);
    for (std::int64_t i = 0; i < kTerms * kLength; ++i)
      expected[static_cast<std::size_t>(i % kLength)] +=
          weights[static_cast<std::size_t>(i / kLength)] * x[static_cast<std::size_t>(i)];
  }
  return samples;
}

// Zeros, infinities, NaNs and range limits with normals, halved so that no sum overflows; each as
// an element of alpha; and all bit patterns as the only term with a weight.
std::vector<Sample> special_samples(Dtype dtype) {
  const test::BitPairs pairs = test::special_pairs(dtype);
  std::vector<std::uint64_t> both = pairs.a;
  both.insert(both.end(), pairs.b.begin(), pairs.b.end());
  std::vector<Sample> samples = {sample(dtype, "special", bits(dtype, both), {2, 2}),
                                 sample(dtype, "all bits", bits(dtype, patterns(dtype)), {-3})};
  const auto x = values(dtype, test::normal(dtype, 3 * 41, test::Tensor::a).values);
  samples.push_back(sample(dtype, "one weight of 0", x, {1, -kInfinity, 0.5}));
  for (const std::vector<double>& alpha : std::vector<std::vector<double>>{
           {1, kNan, 0.5}, {1, kInfinity, 0.5}, {-kInfinity, -kInfinity, -kInfinity}}) {
    samples.push_back(sample(dtype, "weights of NaN", x, alpha));
    samples.back().degenerate = test::Degenerate::constant;
  }
  return samples;
}

// Around the terms loaded together, a pack, a block, a tile, and a grid.
std::vector<std::string> sizes(Dtype dtype) {
  std::vector<std::string> shapes;
  for (const std::int64_t terms : {1, 3, 4, 5, 8, 64})
    for (const std::int64_t n : {1, 3, 9, 33}) shapes.push_back(terms_of(terms, n));
  const std::int64_t tile = tile_of_terms(dtype);
  for (const std::int64_t n : {std::int64_t{255}, std::int64_t{257}, tile - 1, tile, tile + 1,
                               device_properties().sm_count * 4 * tile + 1003})
    shapes.push_back(terms_of(2, n));
  return shapes;
}

} // namespace

Card softmax_sum_card() {
  Card card(terms_grammar());
  card.problem = problem;
  run_by(card, softmax_sum::kVariants, kRun);
  card.vendors = {vendors, run_vendor};
  card.vendors.on_host = always({"onednn_openblas"});
  card.references = references;
  card.exact_samples = exact_samples;
  card.special_samples = special_samples;
  card.usual = these({terms_of(kTerms, kLength)});
  card.batches = these({"k5_n41*", "k64_n8*"});
  card.sizes = sizes;
  card.misaligned = [](Dtype dtype) {
    return std::vector<std::string>{terms_of(5, 1), terms_of(5, 5), terms_of(5, 40),
                                    terms_of(5, tile_of_terms(dtype) + 8)};
  };
  card.empty = {"k1_n0", "k5_n0", "k64_n0"};
  card.kernel_name = as_the_variant("softmax_sum");
  card.bit_difference_reason = "expf";
  card.timed_on_host = {{"k8_n32768", true}, {"k3_n65536"}};
  // At least 576 MiB of traffic in the second and third.
  card.timed_on_gpu = {{"k8_n65536"}, {"k8_n33554432", true}, {"k3_n67108864"}};
  return card;
}

} // namespace kg::card
