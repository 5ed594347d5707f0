// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bias and GELU of a feed-forward block; tolerances and their derivation:
// tests/oracle/oracle_bias_gelu.h.
#include "ops/bias_gelu/bias_gelu.h"

#include "runtime/device.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/ops/bias_gelu/forms.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_bias_gelu.h"

namespace kg::card {
namespace {

std::string shape_of(std::int64_t rows, std::int64_t cols) {
  return "rows" + std::to_string(rows) + "_cols" + std::to_string(cols);
}

Problem problem(Dtype dtype, const Shape& shape) {
  const GeluRows parameters = gelu_grammar().parse(shape);
  const std::int64_t rows = parameters.rows, cols = parameters.cols;
  Problem result{dtype, shape.text(), bias_gelu::work(dtype, rows, cols),
                 2.0 * static_cast<double>(rows * cols)};
  result.parameters = parameters;
  result.inputs = {{"x", dtype, {rows, cols}}, {"bias", dtype, {cols}, false}};
  result.outputs = {{"y", dtype, {rows, cols}, true, {"x"}}};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, bias_gelu::Variant variant, Stream& stream) {
  return bias_gelu::run<T>(form_of(call.problem()), call.in<T>("x"), call.in<T>("bias"),
                           call.out<T>("y"), call.extent("y", 0), call.extent("y", 1), variant,
                           stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::bias_gelu(vendor, form_of(call.problem()), call.problem().dtype, call.address("x"),
                    call.address("bias"), call.address("y"), call.extent("y", 0),
                    call.extent("y", 1), stream);
}

References references(const Problem& problem, const Inputs& inputs) {
  const activation::Function op = function_of(form_of(problem));
  const Dtype dtype = problem.dtype;
  const std::vector<double> sums = test::bias_sums(inputs.at("x").values, inputs.at("bias").values);
  const std::vector<double> y = test::unary_oracle(op, sums);
  return {{"y",
           {y,
            [=](std::string_view variant) {
              return variant.empty() ? test::library_bias_gelu_tolerances(op, dtype, sums, y)
                                     : test::bias_gelu_tolerances(op, dtype, sums, y);
            },
            test::unary_error_units(op, dtype, sums, y)}}};
}

// Both forms with these elements.
void add(std::vector<Sample>& samples, const std::string& fill, const test::Observed& x,
         const test::Observed& bias, const std::vector<double>& expected = {}) {
  const std::int64_t cols = std::ssize(bias.values);
  for (const std::string& shape : with_each_form({shape_of(std::ssize(x.values) / cols, cols)})) {
    samples.push_back({fill, shape, {{"x", x}, {"bias", bias}}});
    if (!expected.empty()) samples.back().expected["y"] = expected;
  }
}

// Rows that end within packs, and rows of whole packs; a few tiles in f32.
constexpr std::int64_t kRows = 83, kCols = 101, kWholePacks = 104;

// Sums of integers that fill the significand, so large that GELU is the argument itself or zero.
void add_exact(std::vector<Sample>& samples, Dtype dtype, std::int64_t cols) {
  constexpr std::int64_t kMost = 4; // largest bias
  const std::int64_t largest = (std::int64_t{1} << test::float_format(dtype).precision) - 1;
  const test::Random random(test::seed(), 23);
  const std::vector<double> bias = test::integers(dtype, cols, kMost, test::Tensor::b).values;
  std::vector<double> x, expected;
  for (std::int64_t i = 0; i < kRows * cols; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    const auto size = static_cast<double>(random.integer(index, 128 + kMost, largest - kMost));
    x.push_back(i % 3 == 0 ? -size : size);
    expected.push_back(i % 3 == 0 ? -0.0 : size + bias[static_cast<std::size_t>(i % cols)]);
  }
  add(samples, "limits", values(dtype, x), values(dtype, bias), expected);
}

std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const std::int64_t cols : {kCols, kWholePacks}) add_exact(samples, dtype, cols);
  return samples;
}

// Each special value as an element with each as a bias; every bit pattern of a 16-bit type, and as
// many of f32, spread over all kinds, with zeros and normals.
std::vector<Sample> special_samples(Dtype dtype) {
  const test::BitPairs pairs = test::special_pairs(dtype);
  const auto count = std::ssize(test::special_values(dtype));
  std::vector<Sample> samples;
  add(samples, "special", bits(dtype, pairs.a),
      bits(dtype, {pairs.b.begin(), pairs.b.begin() + count}));
  const auto all = size_of(dtype) == 2 ? test::all_bits(dtype) : test::unique_bits(dtype, 1 << 16);
  std::vector<double> bias = test::normal(dtype, 64, test::Tensor::b).values;
  for (std::size_t i = 0; i < bias.size(); i += 2) bias[i] = 0;
  add(samples, "all_bits", bits(dtype, all), values(dtype, bias));
  return samples;
}

// The tile of a thread block of the vectorized kernel.
std::int64_t tile(Dtype dtype) { return 512 * 16 / static_cast<std::int64_t>(size_of(dtype)); }

// Around a pack, a warp, a block and a tile, in both extents; and beyond one grid, or one pass of
// the grid over rows of whole packs.
std::vector<std::string> sizes(Dtype dtype) {
  const std::int64_t tile = card::tile(dtype);
  constexpr std::int64_t kWide = 1003;
  const std::int64_t most = std::int64_t{device_properties().sm_count} * 4 * tile;
  std::vector<std::string> shapes = {shape_of(most / kWide + 2, kWide),
                                     shape_of(5 * most / (2 * kWholePacks), kWholePacks)};
  for (const auto& [rows, cols] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1},   {1, 3},   {3, 1},    {2, 2},        {5, 3},    {300, 3},      {7, 4},
           {7, 8},   {9, 7},   {9, 9},    {3, 15},       {17, 16},  {3, 33},       {5, 255},
           {1, 257}, {257, 1}, {3, 1024}, {1, tile - 1}, {1, tile}, {2, tile + 1}, {tile + 1, 2}})
    shapes.push_back(shape_of(rows, cols));
  return in_each_form({"tanh"}, shapes);
}

} // namespace

Card bias_gelu_card() {
  Card card(gelu_grammar());
  card.problem = problem;
  run_by(card, bias_gelu::kVariants, kRun);
  // The correctness tests judge a library's accuracy; when timed, it only must have worked.
  card.vendors = {
      [](const Problem& p) { return names(vendor::bias_gelu_table, form_of(p), p.dtype); },
      run_vendor, 64};
  card.vendors.on_host = always({"onednn", "onednn_chain"});
  card.references = references;
  card.exact_samples = exact_samples;
  card.special_samples = special_samples;
  card.usual = [](Dtype) {
    return with_each_form({shape_of(kRows, kCols), shape_of(kRows, kWholePacks)});
  };
  card.batches = [](Dtype) { return with_each_form({"rows*_cols67", "rows*_cols64"}); };
  card.sizes = sizes;
  card.misaligned = [](Dtype dtype) {
    return in_each_form({"tanh"}, {shape_of(1, 1), shape_of(1, 5), shape_of(5, 1), shape_of(6, 7),
                                   shape_of(3, tile(dtype) / 2 + 8)});
  };
  card.empty = {"tanh_rows0_cols5", "tanh_rows5_cols0"};
  card.kernel_name = as_the_variant("bias_gelu");
  card.bit_difference_reason = "tanhf, erff";
  card.timed_on_host = {{"erf_rows64_cols1024", true}, {"tanh_rows64_cols1024"}};
  // At least 512 MiB of traffic, except for the first.
  card.timed_on_gpu = {{"erf_rows512_cols3072"},
                       {"erf_rows65536_cols4096", true},
                       {"tanh_rows65536_cols4096"},
                       {"erf_rows1048577_cols197"}};
  return card;
}

} // namespace kg::card
