// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gates of feed-forward blocks; tolerances and their derivation:
// tests/oracle/oracle_gated_activation.h. reglu's results are exact.
#include "ops/gated_activation/gated_activation.h"

#include "libraries/gated_activation.h"
#include "runtime/device.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/ops/gated_rows.h"

namespace kg::card {
namespace {

Problem problem(Dtype dtype, const Shape& shape) {
  const Gated gated = gated_grammar().parse(shape);
  const auto [form, rows, cols] = gated;
  Problem result{dtype, shape.text(), gated_activation::work(dtype, rows, cols),
                 2.0 * static_cast<double>(rows * cols)};
  result.parameters = gated;
  result.inputs = {{"x", dtype, {rows, 2 * cols}}};
  result.inputs[0].derived = true;
  result.outputs = {{"y", dtype, {rows, cols}}};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, gated_activation::Variant variant,
                                  Stream& stream) {
  return gated_activation::run<T>(gated_form_of(call.problem()), call.in<T>("x"), call.out<T>("y"),
                                  call.extent("y", 0), call.extent("y", 1), variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::gated_activation(vendor, gate_of(call.problem()), call.problem().dtype, call.address("x"),
                           call.address("y"), call.extent("y", 0), call.extent("y", 1), stream);
}

References references(const Problem& problem, const Inputs& inputs) {
  const activation::Function op = gate_of(problem);
  const Dtype dtype = problem.dtype;
  const auto x = test::halves_of(inputs.at("x").values, problem.outputs[0].extents[1]);
  const std::vector<double> y = test::gated_oracle(op, x);
  return {{"y",
           {stored_exactly(problem, y),
            [=](std::string_view variant) {
              if (variant.empty()) return test::library_gated_tolerances(op, dtype, x, y);
              if (op == activation::Function::relu)
                return std::vector<double>(); // including a zero's sign
              return test::gated_tolerances(op, dtype, x, y);
            },
            test::gated_error_units(op, dtype, x, y)}}};
}

// Rows that end within packs, and rows of whole packs; a few tiles in f32.
constexpr std::int64_t kRows = 83, kCols = 101, kEven = 104;

// Gates whose activation is the gate itself or 0, times powers of two.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const std::int64_t cols : {kCols, kEven}) {
    const GatedRows in = limit_rows(dtype, kRows, cols);
    const test::Halves<double> x = in.values(dtype);
    std::vector<double> expected;
    for (std::size_t i = 0; i < x.gate.size(); ++i)
      expected.push_back(x.gate[i] > 0 ? x.gate[i] * x.value[i] : 0);
    for (const Form form : kForms) {
      samples.push_back(in.sample(dtype, form));
      samples.back().expected["y"] = expected;
      samples.back().zero = test::SignedZero::ignored;
    }
  }
  return samples;
}

std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const GatedRows& rows : {special_rows(dtype), pattern_rows(dtype)})
    for (const Form form : kForms) samples.push_back(rows.sample(dtype, form));
  return samples;
}

// The tile of a thread block of the vectorized kernel.
std::int64_t tile(Dtype dtype) {
  return 256 * 16 / static_cast<std::int64_t>(size_of(dtype)) * (dtype == Dtype::f32 ? 2 : 1);
}

// Around a pack, a warp, a block and a tile, in both extents; and beyond one grid.
std::vector<std::string> sizes(Dtype dtype) {
  const std::int64_t tile = card::tile(dtype);
  std::vector<std::string> shapes = in_each_form(
      {"swiglu"},
      shapes_of({{1, 1},    {1, 3},        {3, 1},       {2, 2},   {5, 3},    {300, 3},
                 {7, 4},    {7, 8},        {9, 7},       {9, 9},   {3, 15},   {17, 16},
                 {3, 33},   {5, 255},      {1, 257},     {257, 1}, {3, 1024}, {1, tile - 1},
                 {1, tile}, {2, tile + 1}, {tile + 1, 2}}));
  const std::int64_t most = std::int64_t{device_properties().sm_count} * 4 * tile;
  for (const std::int64_t wide : {1000, 1003})
    shapes.push_back("reglu_" + shapes_of({{most / wide + 2, wide}})[0]);
  return shapes;
}

} // namespace

Card gated_activation_card() {
  Card card(gated_grammar());
  card.problem = problem;
  run_by(card, gated_activation::kVariants, kRun);
  // The correctness tests judge a library's accuracy; when timed, it only must have worked.
  card.vendors = {
      [](const Problem& p) { return names(vendor::gated_activation_table, gate_of(p), p.dtype); },
      run_vendor, 64};
  card.vendors.on_host = always({"onednn"});
  card.vendors.zero = test::SignedZero::ignored;
  card.references = references;
  card.exact_samples = exact_samples;
  card.special_samples = special_samples;
  card.usual = [](Dtype) { return with_each_gate(shapes_of({{kRows, kCols}})); };
  card.batches = [](Dtype) { return with_each_gate({"rows*_cols67", "rows*_cols64"}); };
  card.sizes = sizes;
  card.misaligned = [](Dtype dtype) {
    return in_each_form({"swiglu"}, shapes_of({{1, 1}, {5, 1}, {6, 7}, {3, tile(dtype) / 2 + 8}}));
  };
  card.empty = {"swiglu_rows0_cols5", "swiglu_rows5_cols0"};
  card.kernel_name = as_the_variant("gated_activation");
  card.bit_difference_reason = "expf, tanhf, erff";
  card.timed_on_host = {{"swiglu_rows64_cols1024", true}, {"geglu_rows64_cols1024"}};
  // At least 384 MiB of traffic, except for the first.
  card.timed_on_gpu = {{"swiglu_rows128_cols4864"},
                       {"swiglu_rows16384_cols4864", true},
                       {"geglu_rows16384_cols4864"},
                       {"reglu_rows16384_cols4864"},
                       {"swiglu_rows524289_cols197"}};
  return card;
}

} // namespace kg::card
