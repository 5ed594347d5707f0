// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of bias and GELU in a feed-forward block; tolerances and their derivation:
// tests/oracle/oracle_bias_gelu_backward.h.
#include "ops/bias_gelu_backward/bias_gelu_backward.h"

#include <limits>
#include <numeric>

#include "libraries/bias_gelu_backward.h"
#include "tests/contract/card.h"
#include "tests/contract/execute.h"
#include "tests/contract/rows.h"
#include "tests/contract/samples.h"
#include "tests/ops/bias_gelu/forms.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_bias_gelu_backward.h"

namespace kg::card {
namespace {

Problem problem(Dtype dtype, const Shape& shape) {
  const GeluRows parameters = gelu_grammar().parse(shape);
  const std::int64_t rows = parameters.rows, cols = parameters.cols;
  Problem result{dtype, shape.text(), bias_gelu_backward::work(dtype, rows, cols),
                 4.0 * static_cast<double>(rows * cols)};
  const auto matrix = [&](const std::string& name) {
    return Tensor{.name = name, .dtype = dtype, .extents = {rows, cols}, .col_axis = 1};
  };
  const auto columns = [&](const std::string& name) {
    return Tensor{.name = name, .dtype = dtype, .extents = {cols}, .by_row = false, .col_axis = 0};
  };
  result.parameters = parameters;
  result.inputs = {matrix("x"), columns("bias"), matrix("dy")};
  result.outputs = {matrix("dx"), columns("dbias")};
  result.outputs[0].may_be = {"x", "dy"};
  return result;
}

std::size_t workspace_bytes(bias_gelu_backward::Variant variant, const Problem& problem) {
  return dispatch(problem.dtype, [&]<class T>() {
    return bias_gelu_backward::workspace_bytes<T>(variant, rows_of(problem), cols_of(problem));
  });
}

constexpr auto kRun = []<class T>(const Call& call, bias_gelu_backward::Variant variant,
                                  Stream& stream) {
  const std::int64_t rows = call.extent("dx", 0), cols = call.extent("dx", 1);
  const std::size_t bytes = rows < 0 || cols < 0 ? 0 : workspace_bytes(variant, call.problem());
  return bias_gelu_backward::run<T>(form_of(call.problem()),
                                    {call.in<T>("x"), call.in<T>("bias"), call.in<T>("dy"),
                                     call.out<T>("dx"), call.out<T>("dbias")},
                                    bytes > 0 ? call.workspace(bytes) : nullptr, rows, cols,
                                    variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::bias_gelu_backward(vendor, form_of(call.problem()), call.problem().dtype,
                             {call.address("x"), call.address("bias"), call.address("dy"),
                              call.address("dx"), call.address("dbias")},
                             call.extent("dx", 0), call.extent("dx", 1), stream);
}

References references(const Problem& problem, const Inputs& inputs) {
  const activation::Function op = function_of(form_of(problem));
  const Dtype dtype = problem.dtype;
  const std::vector<double>& dy = inputs.at("dy").values;
  const std::vector<double> sums = test::bias_sums(inputs.at("x").values, inputs.at("bias").values);
  const auto gradients =
      test::bias_gelu_gradients_oracle(op, sums, dy, problem.tensor("bias").extents[0]);
  const auto ours = test::bias_gelu_backward_tolerances(op, dtype, sums, dy, gradients);
  const auto library = test::library_bias_gelu_backward_tolerances(op, dtype, sums, dy, gradients);
  const auto reference = [&](std::vector<double> test::BiasGeluGradients::*output) {
    return Reference{gradients.*output, [of_ours = ours.*output,
                                         of_library = library.*output](std::string_view variant) {
                       return variant.empty() ? of_library : of_ours;
                     }};
  };
  return {{"dx", reference(&test::BiasGeluGradients::dx)},
          {"dbias", reference(&test::BiasGeluGradients::dbias)}};
}

// Rows in several chunks, with a shorter last one; columns of whole packs; and columns for which
// packs span several rows merged into one, with enough of these rows for several chunks.
constexpr std::int64_t kRows = 203, kManyRows = 3203, kEven = 72, kOddCols = 41;

// Sums so far from 0 that the derivative is 1 or 0. Gradients are integers, so their sum does not
// depend on the order.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const auto& [rows, cols] :
       {std::pair{kRows, kEven}, std::pair{kRows, kOddCols}, std::pair{kManyRows, kOddCols}}) {
    const std::vector<double> dy = test::integers(dtype, rows * cols, 100, test::Tensor::c).values;
    std::vector<double> x, dx, dbias(static_cast<std::size_t>(cols), 0.0);
    for (std::size_t i = 0; i < dy.size(); ++i) {
      const bool right = i % 5 < 3;
      x.push_back(right ? 140 : -140);
      dx.push_back(right ? dy[i] : 0);
      dbias[i % dbias.size()] += dx[i];
    }
    for (double& sum : dbias) sum = test::round_to(dtype, sum);
    for (const std::string& shape : with_each_form({rows_cols(rows, cols)})) {
      samples.push_back(
          {"limits",
           shape,
           {{"x", values(dtype, x)},
            {"bias", values(dtype, test::integers(dtype, cols, 4, test::Tensor::b).values)},
            {"dy", values(dtype, dy)}}});
      samples.back().expected = {{"dx", dx}, {"dbias", dbias}};
      samples.back().zero = test::SignedZero::ignored; // dy times a derivative of 0 of either sign
    }
  }
  return samples;
}

// Non-finite values reach only their element and their column.
void add_special_columns(std::vector<Sample>& samples, Dtype dtype) {
  const double specials[] = {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity};
  for (const std::int64_t cols : {kEven, kOddCols})
    for (const std::string& shape : with_each_form({rows_cols(kRows, cols)})) {
      Inputs inputs = completed(problem(dtype, Shape::parse(shape)), {});
      const auto put = [&](const char* tensor, std::int64_t index, double value) {
        inputs.find(tensor)->second.values[static_cast<std::size_t>(index)] = value;
      };
      for (std::int64_t s = 0; s < 3; ++s) {
        put("x", 7 * cols + s, specials[s]);
        put("dy", (kRows - 1) * cols + 8 + s, specials[s]);
        put("bias", 16 + s, specials[s]);
      }
      put("dy", 20, kInfinity); // with an opposite one: NaN
      put("dy", 100 * cols + 20, -kInfinity);
      for (auto& [name, tensor] : inputs) tensor.bits.clear(); // derived from the values
      samples.push_back({"special columns", shape, std::move(inputs)});
    }
}

// Zeros, infinities, NaN, the limits of the subnormal and normal ranges: each as an element with
// each as a bias, so each dbias sums all of them and is NaN. Every bit pattern of a 16-bit type,
// and as many of f32, spread over all kinds, with zeros and normals.
std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  const auto add = [&](const std::string& fill, const test::Observed& x,
                       const test::Observed& bias) {
    const std::int64_t cols = std::ssize(bias.values);
    for (const std::string& shape :
         with_each_form({rows_cols(std::ssize(x.values) / cols, cols)})) {
      samples.push_back({fill, shape, {{"x", x}, {"bias", bias}}});
      samples.back().vacuous_outputs = {"dbias"};
    }
  };
  const test::BitPairs pairs = test::special_pairs(dtype);
  const auto count = std::ssize(test::special_values(dtype));
  add("special", bits(dtype, pairs.a), bits(dtype, {pairs.b.begin(), pairs.b.begin() + count}));
  const auto all = size_of(dtype) == 2 ? test::all_bits(dtype) : test::unique_bits(dtype, 1 << 16);
  std::vector<double> bias = test::normal(dtype, 64, test::Tensor::b).values;
  for (std::size_t i = 0; i < bias.size(); i += 2) bias[i] = 0;
  add("all_bits", bits(dtype, all), values(dtype, bias));
  add_special_columns(samples, dtype);
  return samples;
}

// Around a pack, a warp, a block's width and depth, and a chunk of rows.
std::vector<std::string> sizes(Dtype dtype) {
  const std::int64_t wide = 32 * elements_per_pack(dtype);
  std::vector<std::string> shapes;
  for (const auto& [rows, cols] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1},
                                                          {1, 3},
                                                          {3, 1},
                                                          {2, 8},
                                                          {5, 6},
                                                          {5, 12},
                                                          {300, 3},
                                                          {63, 4},
                                                          {64, 8},
                                                          {65, 8},
                                                          {128, 16},
                                                          {129, 16},
                                                          {7, 33},
                                                          {1, 1025},
                                                          {130, 1},
                                                          {31, wide - 8},
                                                          {33, wide},
                                                          {70, wide + 8},
                                                          {9, 2 * wide + 3}})
    shapes.push_back(rows_cols(rows, cols, "tanh"));
  return shapes;
}

// Packs if they align in all matrices; if rows end within packs, rows are merged, and a block needs
// enough of these for its layers. A second launch adds the sums of chunks and of merged rows.
std::vector<std::vector<std::string>> kernels(std::string_view name, const Problem& problem,
                                              const Layout& layout) {
  const std::int64_t pack = elements_per_pack(problem.dtype), rows = rows_of(problem),
                     cols = cols_of(problem);
  if (cols == 0) return {};
  const std::int64_t fold = pack / std::gcd(cols, pack);
  bool packs = fold == 1 || rows / fold >= 8;
  for (const char* const tensor : {"x", "dy", "dx"})
    packs = packs && place_of(layout, tensor).offset % pack == 0;
  const std::string kernel = name == "naive" ? "naive" : packs ? "vectorized" : "misaligned";
  std::vector<std::vector<std::string>> names = {{"bias_gelu_backward::" + kernel}};
  if (name != "naive" && ((packs && fold > 1) || rows > 64)) names.push_back({"sum_partials"});
  return names;
}

} // namespace

Card bias_gelu_backward_card() {
  using bias_gelu_backward::Variant;
  Card card(gelu_grammar());
  card.problem = problem;
  run_by(card, bias_gelu_backward::kVariants, kRun);
  card.variants[0].sequence = rows_of; // naive: a thread per column
  // The correctness tests judge a library's accuracy; when timed, it only must have worked.
  card.vendors = {
      [](const Problem& p) { return names(vendor::bias_gelu_backward_table, form_of(p), p.dtype); },
      run_vendor, 64};
  card.vendors.on_host = always({"onednn"});
  card.references = references;
  card.exact_samples = exact_samples;
  card.vendor_samples = [](Dtype) {
    std::vector<Sample> samples;
    for (const std::string& shape : with_each_form({rows_cols(kRows, kOddCols)}))
      samples.push_back({"normal", shape});
    return samples;
  };
  card.special_samples = special_samples;
  card.usual = [](Dtype) {
    return with_each_form({rows_cols(kRows, kEven), rows_cols(kRows, kOddCols)});
  };
  card.batches = [](Dtype) { // only dx has rows
    return with_each_form({"rows*_cols67", "rows*_cols64"});
  };
  card.sizes = sizes;
  card.misaligned = these({rows_cols(1, 1, "tanh"), rows_cols(6, 7, "tanh"),
                           rows_cols(66, 40, "tanh"), rows_cols(70, 9, "tanh")});
  card.empty = {"tanh_rows0_cols5", "tanh_rows5_cols0"};
  card.kernels = kernels;
  card.bit_difference_reason = "erff, tanhf, fused products";
  card.timed_on_host = {{"erf_rows128_cols512", true}, {"tanh_rows128_cols512"}};
  // At least 768 MiB of traffic, except for the first.
  card.timed_on_gpu = {{"erf_rows512_cols3072"},
                       {"erf_rows65536_cols4096", true},
                       {"tanh_rows65536_cols4096"},
                       {"erf_rows1048577_cols197"}};
  return card;
}

} // namespace kg::card
