// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Masked softmax of attention scores, with a byte per element or causal. Causal masks are for
// sequences of as many queries as the shape gives, or as fit. Tolerances are softmax's: the single
// rounding of scaling and subtraction replaces that of x - m. The libraries' chain has an addend
// instead of the mask.
#include "ops/masked_softmax/masked_softmax.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "libraries/masked_softmax.h"
#include "runtime/device.h"
#include "tests/contract/cluster_rows.h"
#include "tests/contract/rows.h"
#include "tests/contract/samples.h"
#include "tests/ops/masked_softmax/kernel_name.h"
#include "tests/ops/masked_softmax/masks.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_masked_softmax.h"
#include "tests/oracle/random.h"
#include "tests/oracle/tolerance.h"

namespace kg::card {
namespace {

// 1 / sqrt(64), for a common head dimension. A power of two, so scaling is exact.
constexpr float kScale = 0.125F;
constexpr std::string_view kForms[] = {"boolean", "causal"};

// 0: the mask is boolean.
std::int64_t queries_of(const Problem& problem) {
  const auto queries = problem.scalars.find("queries");
  return queries == problem.scalars.end() ? 0 : static_cast<std::int64_t>(queries->second);
}

std::string causal(std::int64_t rows, std::int64_t cols, std::int64_t queries) {
  return masked_grammar().print({true, {rows, cols}, queries});
}

// True if element `i` of the matrix, whose first row is `first_row` of a larger one, is visible.
bool shows(std::int64_t i, std::int64_t cols, std::int64_t queries, std::int64_t first_row = 0) {
  return i % cols <= (first_row + i / cols) % queries + cols - queries;
}

// Keeps three of four, in a pattern that no pack repeats, for timing.
constexpr std::int64_t kKeepPeriod = 20;
std::uint64_t timed_keep(std::int64_t i) { return i * 7 / 5 % 4 == 0 ? 0 : 1; }

// Keeps three of four, with arbitrary nonzero bytes.
std::vector<double> random_keep(std::int64_t count) {
  const test::Random random(test::seed(), 31);
  std::vector<double> keep;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    const auto byte = static_cast<std::int8_t>(random.integer(index, 1, 255));
    keep.push_back(random.chance(index, 0.75) ? byte : 0);
  }
  return keep;
}

// Large enough for the scaled elements to be normal numbers.
std::vector<double> logits(Dtype dtype, std::int64_t count) {
  std::vector<double> x = test::normal(dtype, count, test::Tensor::a).values;
  for (double& value : x) value *= 8;
  return x;
}

void draw(const Problem& problem, Inputs& inputs) {
  const std::int64_t count = problem.outputs[0].size();
  if (!inputs.contains("x")) inputs["x"] = values(problem.dtype, logits(problem.dtype, count));
  if (queries_of(problem) == 0 && !inputs.contains("keep"))
    inputs["keep"] = values(Dtype::i8, random_keep(count));
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Masked parameters = masked_grammar().parse(shape);
  const auto& [is_causal, size, queries] = parameters;
  const auto [rows, cols] = size;
  if (!is_causal && queries > 0)
    throw Error("shape '" + shape.text() + "': a boolean mask has no queries; remove 'queries" +
                std::to_string(queries) + "'");
  std::int64_t read = rows * cols;
  for (std::int64_t query = 0; query < queries; ++query)
    read -= rows / queries * std::clamp<std::int64_t>(queries - query - 1, 0, cols);
  Problem result{dtype, shape.text(), masked_softmax::work(dtype, rows, cols, queries),
                 5 * static_cast<double>(read)};
  result.parameters = parameters;
  result.scalars = {{"scale", kScale}};
  result.calling = {is_causal ? "causal" : "boolean", {{"rows", {rows}}, {"cols", {cols}}}};
  if (is_causal) {
    result.scalars["queries"] = static_cast<double>(queries);
    result.calling->integers.push_back({"queries", {queries}});
  }
  result.inputs = {{"x", dtype, {rows, cols}}};
  if (!is_causal)
    result.inputs.push_back({.name = "keep",
                             .dtype = Dtype::i8,
                             .extents = {rows, cols},
                             .element = timed_keep,
                             .period = kKeepPeriod});
  result.outputs = {{"y", dtype, {rows, cols}, true, {"x"}}};
  result.gaps = true;
  result.unread = static_cast<double>(rows * cols - read) * static_cast<double>(size_of(dtype));
  result.draw = draw;
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, masked_softmax::Variant variant,
                                  Stream& stream) {
  const std::int64_t queries = queries_of(call.problem());
  masked_softmax::Mask mask = masked_softmax::causal_mask(queries);
  if (queries == 0) {
    const MatrixView<const std::int8_t> keep = call.rows_in<std::int8_t>("keep");
    mask = masked_softmax::boolean_mask(
        {reinterpret_cast<const std::uint8_t*>(keep.data), keep.shape, keep.stride});
  }
  return masked_softmax::run<T>(call.scalar("scale"), call.rows_in<T>("x"), mask,
                                call.rows_out<T>("y"), variant, stream);
};

std::int64_t rows_of_addend(const Problem& problem) {
  const std::int64_t queries = queries_of(problem);
  return queries == 0 ? rows_of(problem) : queries;
}

// The libraries' addend to the scaled elements; all sequences share a causal mask.
Problem with_addend(const Problem& ours, std::string_view) {
  Problem result = ours;
  const std::int64_t queries = queries_of(ours), cols = cols_of(ours);
  const auto addend = [](auto keep) { return keep != 0 ? 0 : -kInfinity; };
  const auto causal_addend = [=](std::int64_t i) { return addend(shows(i, cols, queries)); };
  const auto timed_addend = [=, dtype = ours.dtype](std::int64_t i) {
    return test::encode(dtype, queries == 0 ? addend(timed_keep(i)) : causal_addend(i));
  };
  result.inputs[0].derived = result.outputs[0].derived = true;
  for (Tensor& input : result.inputs) input.optional = input.name == "keep"; // no library reads it
  result.inputs.push_back({.name = "addend",
                           .dtype = ours.dtype,
                           .extents = {rows_of_addend(ours), cols},
                           .by_row = queries == 0,
                           .element = timed_addend,
                           .period = queries == 0 ? kKeepPeriod : 0});
  result.draw = [=](const Problem& p, Inputs& inputs) {
    draw(p, inputs);
    std::vector<double> made;
    for (std::int64_t i = 0; i < p.tensor("addend").size(); ++i)
      made.push_back(queries == 0 ? addend(inputs.at("keep").values[static_cast<std::size_t>(i)])
                                  : causal_addend(i));
    inputs["addend"] = values(p.dtype, std::move(made));
  };
  return result;
}

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  const Problem& problem = call.problem();
  const std::int64_t queries = call.extent("addend", 0), rows = rows_of(problem);
  const std::int64_t sequences = queries > 0 ? rows / queries : rows;
  vendor::masked_softmax(
      vendor, {problem.dtype, call.scalar("scale"), sequences, queries, cols_of(problem)},
      call.address("x"), call.address("addend"), call.address("y"), stream);
}

// A library may sum a row sequentially.
std::int64_t chain(std::string_view variant, std::int64_t cols) {
  if (variant.empty()) return cols;
  return masked_softmax::chain(enumerator_of(masked_softmax::kVariants, variant), cols);
}

References references(const Problem& problem, const Inputs& inputs) {
  const std::int64_t queries = queries_of(problem), cols = cols_of(problem);
  std::vector<std::uint8_t> keep;
  for (std::int64_t i = 0; i < problem.outputs[0].size(); ++i)
    keep.push_back(queries == 0 ? inputs.at("keep").values[static_cast<std::size_t>(i)] != 0
                                : shows(i, cols, queries, problem.first_row));
  const auto oracle = std::make_shared<test::SoftmaxOracle>(test::masked_softmax_oracle(
      problem.scalars.at("scale"), inputs.at("x").values, keep, rows_of(problem), cols));
  return {{"y", {oracle->value, [=, dtype = problem.dtype](std::string_view variant) {
                   return test::softmax_tolerances(*oracle, dtype, chain(variant, cols));
                 }}}};
}

// The upper right corner of a triangle of at least 32 queries holds a 16 x 16 tile of zeros.
test::Degenerate degenerate(const Masked& masked) {
  return masked.queries >= 32 ? test::Degenerate::sparse : test::Degenerate::no;
}

Sample sample(Dtype dtype, const std::string& fill, const std::string& shape,
              std::vector<double> x) {
  return {.fill = fill,
          .shape = shape,
          .inputs = {{"x", values(dtype, std::move(x))}},
          .degenerate = degenerate(masked_grammar().parse(shape))};
}

// Rows of equal numbers of which 2^j are kept give exactly 2^-j there. A causal mask cannot keep
// such counts; with one query per sequence it keeps all, and the logits select the elements.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Size size : {Size{40, 64}, Size{24, 1000}, Size{14, 4099}}) {
    const test::SoftmaxFill fill = test::softmax_plateaus(dtype, size.rows, size.cols);
    std::vector<double> keep;
    for (const double value : fill.expected) keep.push_back(value == 0 ? 0 : 1);
    samples.push_back(sample(dtype, "ones", rows_cols(size.rows, size.cols, "boolean"),
                             std::vector<double>(fill.expected.size(), 8)));
    samples.back().inputs["keep"] = values(Dtype::i8, keep);
    samples.back().expected["y"] = fill.expected;
    samples.push_back(
        sample(dtype, fill.input.name, causal(size.rows, size.cols, 1), fill.input.values));
    samples.back().expected["y"] = fill.expected;
  }
  return samples;
}

// Square and rectangular causal masks, and several sequences; if there are more queries than keys,
// the first rows see nothing and are 0. Also scales that are not powers of two, as for 80 elements
// per head, with logits that are far apart: an extra rounding of the factor, to any type, is
// visible where a difference is large.
std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Size size : {Size{48, 24}, Size{66, 33}, Size{60, 130}})
    for (const std::int64_t queries : {size.rows, size.rows / 2, size.rows / 3, std::int64_t{1}}) {
      const Masked masked{true, size, queries};
      samples.push_back({.fill = "normal",
                         .shape = masked_grammar().print(masked),
                         .degenerate = degenerate(masked)});
    }
  const double spread = dtype == Dtype::f16 ? 2 : 20; // f16 cannot represent e^-20
  for (const float scale : {1 / std::sqrt(80.0F), 1 / std::sqrt(40.0F), 0.3F, 1.7F})
    for (const Size size : {Size{33, 96}, Size{12, 1000}, Size{3, 4160}}) {
      std::vector<double> x = test::normal(dtype, size.rows * size.cols, test::Tensor::a).values;
      for (double& value : x)
        value = test::round_to(dtype, std::clamp(value * spread, -70.0, 40.0) / scale);
      for (const std::string_view form : kForms) {
        samples.push_back(sample(dtype, "far apart", rows_cols(size.rows, size.cols, form), x));
        samples.back().scalars["scale"] = scale;
      }
    }
  return samples;
}

// Lengths of whole packs beyond a two-stage pipeline, and beyond any pipeline; and a length without
// packs that no block's shared memory holds as f32.
std::vector<std::int64_t> long_rows(Dtype dtype) {
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  const auto shared = static_cast<std::int64_t>(device_properties().shared_bytes_per_block_optin);
  return {73744 / size, 131120 / size, shared / 4 + 7};
}

// Rows in which nothing is kept, or a single element at each position that a thread or pack could
// miss. An element of -inf counts as masked.
void add_masked_rows(std::vector<Sample>& samples, Dtype dtype, std::int64_t cols) {
  constexpr std::int64_t kRows = 16;
  std::vector<double> keep(static_cast<std::size_t>(kRows * cols), 1);
  const auto at = [&](std::int64_t row, std::int64_t col) {
    return static_cast<std::size_t>(row * cols + col);
  };
  for (const std::int64_t row : {1, 2, 3, 4, 7}) std::fill_n(&keep[at(row, 0)], cols, 0);
  keep[at(2, 0)] = keep[at(3, cols - 1)] = keep[at(4, cols / 2)] = 1;
  std::vector<double> x = logits(dtype, kRows * cols);
  x[at(2, 0)] = x[at(3, cols - 1)] = -2000; // the exponential of its negative is infinite
  for (const char* const fill : {"masked", "masked and -inf"}) {
    samples.push_back(sample(dtype, fill, rows_cols(kRows, cols, "boolean"), x));
    samples.back().inputs["keep"] = values(Dtype::i8, keep);
    std::fill_n(&x[at(6, 0)], cols, -kInfinity);
  }
}

// Kept elements behave as in softmax, masked elements are not read.
void add_special_rows(std::vector<Sample>& samples, Dtype dtype, std::int64_t cols) {
  constexpr std::int64_t kRows = 20;
  const double largest = test::max_finite(dtype);
  std::vector<double> keep = random_keep(kRows * cols);
  std::vector<double> x = logits(dtype, kRows * cols);
  const auto hidden = [&](const std::function<bool(std::size_t)>& is_kept) {
    std::vector<double> result = logits(dtype, kRows * cols);
    for (std::size_t i = 0; i < result.size(); ++i)
      if (!is_kept(i)) result[i] = i % 3 == 0 ? kNan : i % 3 == 1 ? kInfinity : largest;
    return result;
  };
  std::int64_t row = 0;
  for (const double special : {kNan, kInfinity, -kInfinity, largest, -largest})
    for (const std::int64_t col : {std::int64_t{0}, cols / 2, cols - 1}) {
      const auto at = static_cast<std::size_t>(row++ * cols + col);
      keep[at] = 1;
      x[at] = special;
    }
  const auto under_bytes = hidden([&](std::size_t i) { return keep[i] != 0; });
  for (const auto& [fill, data] : {std::pair{"special", x}, std::pair{"hidden", under_bytes}}) {
    samples.push_back(sample(dtype, fill, rows_cols(kRows, cols, "boolean"), data));
    samples.back().inputs["keep"] = values(Dtype::i8, keep);
  }
  x = hidden([&](std::size_t i) { return shows(static_cast<std::int64_t>(i), cols, kRows); });
  samples.push_back(sample(dtype, "hidden", causal(kRows, cols, kRows), x));
  for (const double special : {kNan, kInfinity, -kInfinity})
    x[static_cast<std::size_t>(row++ * cols)] = special;
  samples.push_back(sample(dtype, "special", causal(kRows, cols, kRows), x));
}

std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const std::int64_t cols : {20, 67, 1024, 4099}) add_masked_rows(samples, dtype, cols);
  for (const std::int64_t cols : long_rows(dtype)) add_masked_rows(samples, dtype, cols);
  for (const std::int64_t cols : {24, 67, 1024, 4099}) add_special_rows(samples, dtype, cols);
  return samples;
}

std::vector<std::string> both_forms(const std::vector<Size>& sizes) {
  std::vector<std::string> shapes;
  for (const std::string_view form : kForms)
    for (const Size size : sizes) shapes.push_back(rows_cols(size.rows, size.cols, form));
  return shapes;
}

std::vector<std::string> sizes(Dtype dtype) {
  std::vector<std::string> shapes = lengths_of_rows("boolean");
  shapes.erase(shapes.begin()); // a single column reveals few errors
  for (const std::string& shape : numbers_of_rows(20, "boolean")) shapes.push_back(shape);
  for (const std::string& shape : both_forms({{3, 8200}})) shapes.push_back(shape);
  std::int64_t rows = 18; // enough for a block to take a second row of a pipeline
  for (const std::int64_t cols : long_rows(dtype)) {
    for (const std::string& shape : both_forms({{rows, cols}})) shapes.push_back(shape);
    rows = 2;
  }
  return shapes;
}

template <std::vector<std::string> (*shapes)(Dtype, std::string_view)>
std::vector<std::string> of_both_forms(Dtype dtype) {
  std::vector<std::string> all = shapes(dtype, "boolean");
  for (const std::string& shape : shapes(dtype, "causal")) all.push_back(shape);
  return all;
}

} // namespace

Card masked_softmax_card() {
  Card card(masked_grammar());
  card.problem = problem;
  card.forms = {"boolean", "causal"};
  run_rows_by(card, masked_softmax::kVariants, kRun);
  // A library may round its results twice, as with softmax.
  card.vendors = {[](const Problem& p) { return names(vendor::masked_softmax_table, p.dtype); },
                  run_vendor, 4, with_addend};
  card.vendors.on_host = always({"onednn"});
  card.references = references;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  card.special_samples = special_samples;
  card.usual = [](Dtype) {
    std::vector<std::string> shapes = both_forms({{65, 96}, {33, 1000}, {9, 1536}, {2, 5000}});
    shapes.push_back(causal(66, 96, 33));
    return shapes;
  };
  depend_on_vectors(card);
  card.batches = [](Dtype) { // with causal masks each row has its sequence's mask
    std::vector<std::string> batches = batches_of_rows("boolean");
    batches.push_back("causal_rows8*_cols96_queries4");
    return batches;
  };
  card.sizes = sizes;
  card.degenerate = [](const Problem& p) { return degenerate(p.parameters.as<Masked>()); };
  card.pitches = of_both_forms<rows_off_packs>;
  card.misaligned = of_both_forms<short_rows>;
  card.empty = {"boolean_rows0_cols5",    "boolean_rows5_cols0",  "boolean_rows0_cols0",
                "causal_rows0_cols5",     "causal_rows5_cols0",   "causal_rows0_cols0",
                "boolean_rows0_cols5000", "causal_rows0_cols5000"};
  card.large_strides = of_both_forms<two_rows>;
  card.refuses_overlap = false;
  card.refused_scalars = {{"scale", {0, -1, kInfinity, kNan}}, {"queries", {7}}};
  card.kernel_name = masked_softmax_kernel;
  card.bit_difference_reason = "expf";
  card.bound_on_host = kg::Bound::sync; // shuffles and barriers cost more than memory
  card.timed_on_host = {
      {"causal_rows512_cols512", true}, {"causal_rows32_cols2048"}, {"boolean_rows32_cols1000"}};
  // A small one, and at least 0.5 GiB of f32.
  card.timed_on_gpu = {{"causal_rows512_cols512"},     {"causal_rows131072_cols1024", true},
                       {"causal_rows32768_cols4096"},  {"boolean_rows131072_cols1024"},
                       {"boolean_rows16384_cols8192"}, {"boolean_rows2048_cols65536"}};
  return card;
}

} // namespace kg::card
