// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of the mixed operation of several candidates. Tolerances and their derivation:
// tests/oracle/oracle_softmax_sum_backward.h.
#include "ops/softmax_sum_backward/softmax_sum_backward.h"

#include "libraries/softmax_sum_backward.h"
#include "runtime/device.h"
#include "tests/contract/execute.h"
#include "tests/contract/rows.h"
#include "tests/ops/softmax_sum/terms.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_softmax_sum_backward.h"

namespace kg::card {
namespace {

constexpr std::int64_t kTerms = 7;                // not a multiple of the terms that a block takes
constexpr std::int64_t kLengths[] = {1003, 4232}; // the second: two tiles of f16 and a part, packs

std::int64_t length(const Problem& problem) { return problem.outputs[0].extents[1]; }

Problem problem(Dtype dtype, const Shape& shape) {
  const auto [terms, n] = terms_grammar().parse(shape);
  Problem result{dtype, shape.text(), softmax_sum_backward::work(dtype, terms, n),
                 3.0 * static_cast<double>(terms * n)};
  result.inputs = {{.name = "x", .dtype = dtype, .extents = {terms, n}, .row_axis = 1},
                   {.name = "alpha", .dtype = dtype, .extents = {terms}, .by_row = false},
                   {.name = "dy", .dtype = dtype, .extents = {n}}};
  result.outputs = {
      {.name = "dx", .dtype = dtype, .extents = {terms, n}, .may_be = {"x"}, .row_axis = 1},
      {.name = "dalpha", .dtype = dtype, .extents = {terms}, .by_row = false}};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, softmax_sum_backward::Variant variant,
                                  Stream& stream) {
  const std::int64_t terms = call.extent("x", 0), n = call.extent("x", 1);
  return softmax_sum_backward::run<T>(
      {call.in<T>("x"), call.in<T>("alpha"), call.in<T>("dy"), call.out<T>("dx"),
       call.out<T>("dalpha")},
      call.workspace(softmax_sum_backward::workspace_bytes<T>(variant, terms, n)), terms, n,
      variant, stream);
};

std::vector<std::string_view> vendors(const Problem& problem) {
  if (problem.dtype != Dtype::f32) return {};
  return names(vendor::softmax_sum_backward_table);
}
void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::softmax_sum_backward(vendor,
                               {call.in<float>("x"), call.in<float>("alpha"), call.in<float>("dy"),
                                call.out<float>("dx"), call.out<float>("dalpha")},
                               call.extent("x", 0), call.extent("x", 1), stream);
}

References references(const Problem& problem, const Inputs& inputs) {
  const auto right = test::softmax_sum_gradients_oracle(
      problem.dtype, inputs.at("x").values, inputs.at("alpha").values, inputs.at("dy").values);
  const auto within = [](const std::vector<double>& bound) {
    return [bound](std::string_view) { return bound; };
  };
  return {{"dx", {right.dx, within(right.dx_tolerance)}},
          {"dalpha", {right.dalpha, within(right.dalpha_tolerance)}}};
}

// Weights that are powers of two, or 0, and integers: all sums are exact in f32.
std::vector<Sample> exact_samples(Dtype dtype) {
  const std::vector<double> alpha = {-kInfinity, 3, -kInfinity, 3, 3, -kInfinity, 3}; // 1/4 each
  std::vector<Sample> samples;
  for (const std::int64_t n : kLengths)
    samples.push_back(
        {"integers",
         terms_of(kTerms, n),
         {{"x", values(dtype, test::integers(dtype, kTerms * n, 7, test::Tensor::a).values)},
          {"alpha", values(dtype, alpha)},
          {"dy", values(dtype, test::integers(dtype, n, 7, test::Tensor::c).values)}}});
  return samples;
}

// Non-finite values in dy reach their elements of dx and all of dalpha; those in x reach only
// dalpha. Weights of 0 and NaN. All bit patterns as dy.
std::vector<Sample> special_samples(Dtype dtype) {
  const std::string shape = terms_of(5, 88);
  const Inputs normals = completed(problem(dtype, Shape::parse(shape)), {});
  std::vector<Sample> samples;
  const auto add = [&](const std::string& fill, const char* tensor, std::size_t index,
                       double value) {
    Inputs inputs = normals;
    inputs.at(tensor).values[index] = value;
    samples.push_back({fill, shape, std::move(inputs)});
    samples.back().vacuous_outputs = {"dalpha"};
  };
  for (const double special : {kNan, kInfinity, -kInfinity}) {
    add("special x", "x", 100, special);
    add("special dy", "dy", 50, special);
  }
  add("a weight of 0", "alpha", 2, -kInfinity);
  samples.back().may_be_vacuous = true;
  add("weights of NaN", "alpha", 2, kNan);
  samples.back().may_be_vacuous = true;
  const auto all = patterns(dtype);
  samples.push_back({.fill = "all bits",
                     .shape = terms_of(2, std::ssize(all)),
                     .inputs = {{"dy", bits(dtype, all)}},
                     .may_be_vacuous = true});
  return samples;
}

// Around a group of terms, a pack, a block, a tile and a grid.
std::vector<std::string> sizes(Dtype dtype) {
  std::vector<std::string> shapes;
  for (const std::int64_t terms : {1, 3, 4, 5, 64})
    for (const std::int64_t n : {1, 3, 6, 8, 12, 33}) shapes.push_back(terms_of(terms, n));
  const std::int64_t tile = tile_of_terms(dtype);
  for (const std::int64_t n : {std::int64_t{255}, std::int64_t{264}, tile - 1, tile, tile + 8})
    shapes.push_back(terms_of(2, n));
  shapes.push_back(terms_of(1, device_properties().sm_count * 4 * tile + 1000));
  return shapes;
}

// Packs if they align in all tensors of n elements.
std::vector<std::vector<std::string>> kernels(std::string_view variant, const Problem& problem,
                                              const Layout& layout) {
  const std::int64_t n = length(problem);
  const std::vector<std::string> finish = {"softmax_sum_backward::finish"};
  if (n == 0) return {finish};
  if (variant == "naive")
    return {{"softmax_sum_backward::naive_sums"}, {"softmax_sum_backward::naive"}, finish};
  const std::int64_t pack = elements_per_pack(problem.dtype);
  const auto is_aligned = [&](std::string_view tensor) {
    return place_of(layout, tensor).offset % pack == 0;
  };
  const bool fits = n % pack == 0 && is_aligned("x") && is_aligned("dy") && is_aligned("dx");
  return {{fits ? "softmax_sum_backward::vectorized" : "softmax_sum_backward::misaligned"}, finish};
}

} // namespace

Card softmax_sum_backward_card() {
  Card card(terms_grammar());
  card.problem = problem;
  run_by(card, softmax_sum_backward::kVariants, kRun);
  card.vendors = {vendors, run_vendor};
  card.vendors.on_host = always({"onednn_openblas"});
  card.references = references;
  card.exact_samples = exact_samples;
  card.special_samples = special_samples;
  card.usual = these({terms_of(kTerms, kLengths[0]), terms_of(kTerms, kLengths[1])});
  card.batches = these({"k5_n41*", "k64_n8*"}); // only dx has rows
  card.sizes = sizes;
  card.vacuous_outputs = [](const Problem& p) { // with one term: w (s - w s), w = 1
    return p.tensor("x").extents[0] == 1 ? std::vector<std::string>{"dalpha"}
                                         : std::vector<std::string>{};
  };
  card.misaligned = these({terms_of(3, 5), terms_of(3, 40)});
  card.empty = {"k1_n0", "k3_n0", "k64_n0"};
  card.kernels = kernels;
  card.bit_difference_reason = "expf";
  card.timed_on_host = {{"k8_n16384", true}, {"k3_n32768"}};
  // At least 896 MiB of traffic in the second and third.
  card.timed_on_gpu = {{"k8_n65536"}, {"k8_n33554432", true}, {"k3_n67108864"}};
  return card;
}

} // namespace kg::card
