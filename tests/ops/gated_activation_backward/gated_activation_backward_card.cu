// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of the gates of feed-forward blocks; tolerances and their derivation:
// tests/oracle/oracle_gated_activation.h. reglu's results are exact.
#include "ops/gated_activation_backward/gated_activation_backward.h"

#include "libraries/gated_activation_backward.h"
#include "runtime/device.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/ops/gated_rows.h"

namespace kg::card {
namespace {

Problem problem(Dtype dtype, const Shape& shape) {
  const Gated gated = gated_grammar().parse(shape);
  const auto [form, rows, cols] = gated;
  Problem result{dtype, shape.text(), gated_activation_backward::work(dtype, rows, cols),
                 5.0 * static_cast<double>(rows * cols)};
  result.parameters = gated;
  result.inputs = {{"x", dtype, {rows, 2 * cols}}, {"dy", dtype, {rows, cols}}};
  result.outputs = {{"dx", dtype, {rows, 2 * cols}, true, {"x"}}};
  result.inputs[0].derived = result.outputs[0].derived = true;
  return result;
}

std::int64_t cols_of(const Problem& problem) { return problem.inputs[1].extents[1]; }

constexpr auto kRun = []<class T>(const Call& call, gated_activation_backward::Variant variant,
                                  Stream& stream) {
  return gated_activation_backward::run<T>(
      gated_form_of(call.problem()), call.in<T>("x"), call.in<T>("dy"), call.out<T>("dx"),
      call.extent("dy", 0), call.extent("dy", 1), variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::gated_activation_backward(vendor, gate_of(call.problem()), call.problem().dtype,
                                    call.address("x"), call.address("dy"), call.address("dx"),
                                    call.extent("dy", 0), call.extent("dy", 1), stream);
}

References references(const Problem& problem, const Inputs& inputs) {
  const activation::Function op = gate_of(problem);
  const Dtype dtype = problem.dtype;
  const std::int64_t cols = cols_of(problem);
  const auto x = test::halves_of(inputs.at("x").values, cols);
  const std::vector<double>& dy = inputs.at("dy").values;
  const test::Halves<double> dx = test::gated_gradients_oracle(op, x, dy);
  return {
      {"dx", {stored_exactly(problem, test::side_by_side(dx, cols)), [=](std::string_view variant) {
                if (variant.empty())
                  return test::side_by_side(
                      test::library_gated_gradient_tolerances(op, dtype, x, dy, dx), cols);
                if (op == activation::Function::relu)
                  return std::vector<double>(); // including a zero's sign
                return test::side_by_side(test::gated_gradient_tolerances(op, dtype, x, dy, dx),
                                          cols);
              }}}};
}

// Rows that end within packs, and rows of whole packs; a few tiles in f32.
constexpr std::int64_t kRows = 43, kUneven = 101, kEven = 104;

// Gates whose activation is the gate itself or 0, with derivatives of 1 and 0.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const std::int64_t cols : {kUneven, kEven}) {
    const GatedRows in = limit_rows(dtype, kRows, cols);
    const test::Halves<double> x = in.values(dtype);
    std::vector<double> dy;
    test::Halves<double> dx;
    for (std::size_t i = 0; i < x.gate.size(); ++i) {
      dy.push_back(2 * x.value[(7 * i + 3) % x.value.size()]);
      dx.gate.push_back(x.gate[i] > 0 ? dy[i] * x.value[i] : 0);
      dx.value.push_back(x.gate[i] > 0 ? dy[i] * x.gate[i] : 0);
    }
    for (const Form form : kForms) {
      samples.push_back(in.sample(dtype, form));
      samples.back().inputs["dy"] = values(dtype, dy);
      samples.back().expected["dx"] = test::side_by_side(dx, cols);
      samples.back().zero = test::SignedZero::ignored;
    }
  }
  return samples;
}

// With normal gradients, and special values with special ones.
std::vector<Sample> special_samples(Dtype dtype) {
  const GatedRows special = special_rows(dtype);
  std::vector<std::uint64_t> gates;
  for (std::size_t i = 0; i < special.halves.gate.size(); ++i)
    gates.push_back(special.halves.gate[(7 * i + 3) % special.halves.gate.size()]);
  std::vector<Sample> samples;
  for (const Form form : kForms) {
    samples.push_back(special.sample(dtype, form));
    samples.push_back(special.sample(dtype, form));
    samples.back().inputs["dy"] = bits(dtype, gates);
    samples.push_back(pattern_rows(dtype).sample(dtype, form));
  }
  return samples;
}

// The tile of a thread block of the vectorized kernel.
std::int64_t tile(Dtype dtype) { return 256 * 16 / static_cast<std::int64_t>(size_of(dtype)); }

// Around a pack, a warp, a block and a tile, in both extents; and beyond one grid.
std::vector<std::string> sizes(Dtype dtype) {
  const std::int64_t tile = card::tile(dtype);
  std::vector<std::string> shapes = in_each_form(
      {"swiglu"}, shapes_of({{1, 1},    {1, 3},        {3, 1},    {2, 2},        {300, 3},
                             {7, 4},    {5, 6},        {5, 12},   {7, 8},        {9, 7},
                             {17, 16},  {3, 33},       {5, 255},  {1, 257},      {257, 1},
                             {3, 1024}, {1, tile - 1}, {1, tile}, {2, tile + 8}, {tile + 1, 8}}));
  const std::int64_t most = std::int64_t{device_properties().sm_count} * 4 * tile;
  for (const std::int64_t cols : {std::int64_t{1003}, std::int64_t{1008}})
    shapes.push_back("reglu_" + shapes_of({{most / cols + 2, cols}})[0]);
  return shapes;
}

// Packs if they align in all arrays and rows.
std::vector<std::string> kernel_name(std::string_view variant, const Problem& problem,
                                     const Layout& layout) {
  if (variant == "naive") return {"gated_activation_backward::naive"};
  const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(problem.dtype));
  bool fits = cols_of(problem) % pack == 0;
  for (const char* const each : {"x", "dy", "dx"})
    fits = fits && place_of(layout, each).offset % pack == 0;
  return {fits ? "gated_activation_backward::vectorized" : "gated_activation_backward::misaligned"};
}

} // namespace

Card gated_activation_backward_card() {
  Card card(gated_grammar());
  card.problem = problem;
  run_by(card, gated_activation_backward::kVariants, kRun);
  // The correctness tests judge a library's accuracy; when timed, it only must have worked.
  card.vendors = {[](const Problem& p) {
                    return names(vendor::gated_activation_backward_table, gate_of(p), p.dtype);
                  },
                  run_vendor, 64};
  card.vendors.on_host = always({"onednn"});
  card.vendors.zero = test::SignedZero::ignored;
  card.references = references;
  card.exact_samples = exact_samples;
  card.special_samples = special_samples;
  card.usual = [](Dtype) { return with_each_gate(shapes_of({{kRows, kUneven}, {kRows, kEven}})); };
  card.batches = [](Dtype) { return with_each_gate({"rows*_cols67", "rows*_cols64"}); };
  card.sizes = sizes;
  card.misaligned = [](Dtype dtype) {
    return in_each_form({"swiglu"}, shapes_of({{1, 1}, {6, 7}, {6, 8}, {3, tile(dtype) / 2 + 8}}));
  };
  card.empty = {"swiglu_rows0_cols5", "swiglu_rows5_cols0"};
  card.kernel_name = kernel_name;
  card.bit_difference_reason = "expf, tanhf, erff, fused products";
  card.timed_on_host = {{"swiglu_rows64_cols1024", true}, {"geglu_rows64_cols1024"}};
  // At least 640 MiB of traffic, except for the first.
  card.timed_on_gpu = {{"swiglu_rows128_cols4864"},
                       {"swiglu_rows16384_cols4864", true},
                       {"geglu_rows16384_cols4864"},
                       {"swiglu_rows524289_cols197"}};
  return card;
}

} // namespace kg::card
