// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmax and log-softmax of rows that fit a warp, rows that fit a block's shared memory, and
// longer ones. Tolerances and their derivation: tests/oracle/tolerance.h.
#include "ops/softmax/softmax.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "libraries/softmax.h"
#include "primitives/chunk_config.h"
#include "primitives/pipeline_config.h"
#include "runtime/device.h"
#include "tests/contract/cluster_rows.h"
#include "tests/contract/rows.h"
#include "tests/contract/samples.h"
#include "tests/ops/softmax/forms.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_rows.h"
#include "tests/oracle/random.h"
#include "tests/oracle/tolerance.h"
#include "tests/oracle/tolerance_softmax.h"

namespace kg::card {
namespace {

// Rows that no block's shared memory holds as f32.
std::int64_t beyond_shared() {
  return static_cast<std::int64_t>(device_properties().shared_bytes_per_block_optin / 4) + 7;
}

// Lengths in whole packs around the capacities of a row pipeline, of a block, and of clusters of
// two and more, for devices with 64, 163 and 227 KiB of shared memory per block.
std::vector<std::int64_t> long_rows(Dtype dtype) {
  std::vector<std::int64_t> lengths;
  for (const std::int64_t bytes : {32768, 41040, 73744, 131120, 204816, 409600})
    lengths.push_back(bytes / static_cast<std::int64_t>(size_of(dtype)));
  return lengths;
}
std::int64_t long_row(Dtype dtype) { return long_rows(dtype)[2]; }

Problem problem(Dtype dtype, const Shape& shape) {
  const SoftmaxRows parameters = softmax_grammar().parse(shape);
  const std::int64_t rows = parameters.rows, cols = parameters.cols;
  Problem result{dtype, shape.text(), softmax::work(dtype, rows, cols),
                 4.0 * static_cast<double>(rows * cols)};
  result.parameters = parameters;
  result.inputs = {{"x", dtype, {rows, cols}}};
  result.outputs = {{"y", dtype, {rows, cols}, true, {"x"}}};
  result.gaps = true;
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, softmax::Variant variant, Stream& stream) {
  return softmax::run<T>(softmax_kind(call.problem()), call.rows_in<T>("x"), call.rows_out<T>("y"),
                         variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  const Problem& problem = call.problem();
  vendor::softmax(vendor, softmax_kind(problem), problem.dtype, call.address("x"),
                  call.address("y"), call.extent("y", 0), call.extent("y", 1), stream);
}

// A library may sum a row sequentially.
std::int64_t chain(std::string_view variant, std::int64_t cols) {
  if (variant.empty()) return cols;
  return softmax::chain(enumerator_of(softmax::kVariants, variant), cols);
}

// In u * condition, the unit for comparing the accuracy of two implementations.
std::vector<double> units(Dtype dtype, const std::vector<double>& value,
                          const std::vector<double>& distance, const std::vector<double>& log_sum) {
  std::vector<double> result;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const double apart = std::isfinite(distance[i]) ? distance[i] : 0;
    const double size = std::isfinite(value[i]) ? std::fabs(value[i]) : 0;
    const double f32 = log_sum.empty() ? size * (1 + apart) : 1 + size + apart + log_sum[i];
    result.push_back(f32 * unit_roundoff(Dtype::f32) +
                     (dtype == Dtype::f32 ? 0 : size * unit_roundoff(dtype)) +
                     test::half_min_subnormal(dtype));
  }
  return result;
}

References references(const Problem& problem, const Inputs& inputs) {
  const std::vector<double>& x = inputs.at("x").values;
  const std::int64_t rows = problem.outputs[0].extents[0], cols = cols_of(problem);
  const Dtype dtype = problem.dtype;
  if (is_log(problem)) {
    const auto oracle =
        std::make_shared<test::LogSoftmaxOracle>(test::log_softmax_oracle(x, rows, cols));
    return {{"y",
             {oracle->value,
              [=](std::string_view variant) {
                return test::log_softmax_tolerances(*oracle, dtype, chain(variant, cols));
              },
              units(dtype, oracle->value, oracle->distance, oracle->log_sum)}}};
  }
  const auto oracle = std::make_shared<test::SoftmaxOracle>(test::softmax_oracle(x, rows, cols));
  return {{"y",
           {oracle->value,
            [=](std::string_view variant) {
              return test::softmax_tolerances(*oracle, dtype, chain(variant, cols));
            },
            units(dtype, oracle->value, oracle->distance, {})}}};
}

// Each row of probabilities sums to 1, or to NaN if the whole row is NaN.
std::string rows_sum_to_one(const Problem& problem, const Inputs& outputs) {
  if (is_log(problem)) return "";
  const std::vector<double>& y = outputs.at("y").values;
  const std::int64_t cols = cols_of(problem);
  for (std::int64_t first = 0; cols > 0 && first < std::ssize(y); first += cols) {
    const std::span row =
        std::span(y).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(cols));
    double sum = 0, largest = 0;
    for (const double p : row) {
      sum += p;
      largest = std::max(largest, p);
    }
    const double bound = test::softmax_row_sum_tolerance(problem.dtype, cols, largest);
    if (!std::isnan(sum) && !(std::fabs(sum - 1) <= bound))
      return "row " + std::to_string(first / cols) + " sums to 1 + " + std::to_string(sum - 1) +
             ", allowed " + std::to_string(bound);
  }
  return "";
}

Sample sample(Dtype dtype, const std::string& fill, std::string shape, std::vector<double> x,
              test::Degenerate degenerate = test::Degenerate::no) {
  return {fill, std::move(shape), {{"x", values(dtype, std::move(x))}}, {}, {}, degenerate};
}

// Rows whose largest element is at least 104 above the others, whose exponentials vanish in a sum
// with 1: the sum is 1, its logarithm 0, and the results are the differences, which are integers.
// They use all of the type's bits.
Sample differences(Dtype dtype, std::int64_t rows, std::int64_t cols) {
  const auto integers = static_cast<std::int64_t>(1 / unit_roundoff(dtype)); // below: exact
  const test::Random random(test::seed(), 23);
  std::vector<double> x, expected;
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    const auto of_row = static_cast<std::uint64_t>(rows * cols + 2 * (i / cols));
    const std::int64_t most = random.integer(of_row, -integers / 4, integers / 4);
    const bool largest = i % cols == random.integer(of_row + 1, 0, cols - 1);
    const std::int64_t below =
        largest ? 0 : random.integer(static_cast<std::uint64_t>(i), 104, integers / 2);
    x.push_back(static_cast<double>(most - below));
    expected.push_back(static_cast<double>(-below));
  }
  Sample result = sample(dtype, "differences", rows_cols(rows, cols, "log"), std::move(x));
  result.expected["y"] = std::move(expected);
  return result;
}

std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Size size : {Size{40, 64}, Size{60, 1000}, Size{21, 1024}, Size{14, 4099},
                          Size{3, beyond_shared()}, Size{3, long_row(dtype)}}) {
    test::SoftmaxFill fill = test::softmax_plateaus(dtype, size.rows, size.cols);
    // With fewer rows than powers of two, no row fills all tiles.
    samples.push_back(sample(dtype, fill.input.name, rows_cols(size.rows, size.cols),
                             std::move(fill.input.values),
                             size.rows < 10 ? test::Degenerate::sparse : test::Degenerate::no));
    samples.back().expected["y"] = std::move(fill.expected);
  }
  for (const Size size : {Size{20, 64}, Size{7, 1000}, Size{6, 4099}, Size{2, beyond_shared()},
                          Size{2, long_row(dtype)}})
    samples.push_back(differences(dtype, size.rows, size.cols));
  return samples;
}

std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples;
  // Logits far apart: exponentials that are subnormal, zero, and nearly one; logarithms of
  // probabilities that softmax would round to 0.
  for (const Size size : {Size{30, 300}, Size{6, 4100}, Size{1, beyond_shared()}}) {
    const std::int64_t count = size.rows * size.cols;
    auto x = test::outliers(dtype, count, 7, 32, test::Tensor::a).values;
    for (std::int64_t i = 0; i < count; ++i) // the last tile's results are all zero
      if (i % size.cols >= size.cols - 16)
        x[static_cast<std::size_t>(i)] = -test::max_finite(dtype);
    samples.push_back(sample(dtype, "outliers", rows_cols(size.rows, size.cols), std::move(x),
                             test::Degenerate::sparse));
    samples.push_back(sample(dtype, "outliers", rows_cols(size.rows, size.cols, "log"),
                             test::outliers(dtype, count, 7, 64, test::Tensor::a).values));
  }
  // Maxima that come late and often: rescaling a running sum is most sensitive to these. At the
  // steeper slope all but the last columns are practically zero.
  for (const std::int64_t cols : {beyond_shared(), long_row(dtype)}) {
    for (const double rise : {4.0, 125.0}) {
      std::vector<double> x;
      for (std::int64_t i = 0; i < 2 * cols; ++i)
        x.push_back(test::round_to(dtype, rise / static_cast<double>(cols) *
                                              static_cast<double>(i % cols)));
      samples.push_back(sample(dtype, "rising", rows_cols(2, cols), std::move(x),
                               rise < 10 ? test::Degenerate::no : test::Degenerate::sparse));
    }
  }
  return samples;
}

// One special value at each position that a thread, a pack or a row could miss; the other rows do
// not change.
Sample special_rows(Dtype dtype, std::int64_t cols, bool log) {
  const double largest = test::max_finite(dtype);
  std::vector<double> x;
  std::int64_t rows = 0;
  const auto add_row = [&](double everywhere,
                           const std::vector<std::pair<std::int64_t, double>>& special) {
    std::vector<double> row = test::normal(dtype, cols, test::Tensor::b).values;
    if (everywhere != 0) std::fill(row.begin(), row.end(), everywhere);
    for (const auto& [place, value] : special) row[static_cast<std::size_t>(place)] = value;
    x.insert(x.end(), row.begin(), row.end());
    ++rows;
  };
  for (const double special : {kNan, kInfinity, -kInfinity}) {
    add_row(0, {{cols - 1, special}});
    if (cols < 4096) add_row(0, {{0, special}});
    if (cols < 4096) add_row(0, {{cols / 2, special}});
    add_row(special, {});
  }
  add_row(-kInfinity, {{cols - 1, -3}});
  add_row(-kInfinity, {{0, kNan}});
  add_row(-kInfinity, {{cols / 2, kInfinity}});
  add_row(kNan, {{cols - 1, kInfinity}});
  add_row(-largest, {});
  add_row(largest, {});
  add_row(-largest, {{cols / 2, largest}});
  add_row(largest, {{cols - 1, -kInfinity}});
  return sample(dtype, "special", rows_cols(rows, cols, log ? "log" : ""), std::move(x));
}

std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const std::int64_t cols :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{67}, std::int64_t{1024}, std::int64_t{2048},
        std::int64_t{4099}, beyond_shared(), long_row(dtype)})
    samples.push_back(special_rows(dtype, cols, false));
  for (const std::int64_t cols :
       {std::int64_t{7}, std::int64_t{67}, std::int64_t{4099}, beyond_shared()})
    samples.push_back(special_rows(dtype, cols, true));
  return samples;
}

std::vector<std::string> sizes(Dtype dtype) {
  std::vector<std::string> shapes = lengths_of_rows();
  for (const std::string& shape : numbers_of_rows(12)) shapes.push_back(shape);
  for (const std::int64_t cols : {1, 2, 9, 33, 129, 1023, 1025, 4097})
    shapes.push_back(rows_cols(3, cols, "log"));
  for (const std::int64_t cols : long_rows(dtype)) {
    shapes.push_back(rows_cols(3, cols));
    shapes.push_back(rows_cols(1, cols, "log"));
  }
  return shapes;
}

// Packs of 16 bytes if every row of both matrices is aligned.
std::vector<std::string> kernel_name(std::string_view variant, const Problem& problem,
                                     const Layout& layout) {
  if (variant == "naive") return {"softmax::naive<"};
  if (variant == "warp") return {"softmax::warp_per_row<"};
  const std::int64_t cols = cols_of(problem), pack = elements_per_pack(problem.dtype);
  const bool aligned = rows_are_aligned(problem, layout);
  const std::string count = ", " + std::to_string(aligned ? pack : 1);
  const RowPipelineShape pipeline =
      row_pipeline_shape(rows_of(problem), cols, static_cast<std::size_t>(size_of(problem.dtype)));
  if (aligned && pipeline.shared_bytes > 0)
    return {"softmax::block_in_ring<",
            count + ", " + std::to_string(pipeline.is_short ? kShortRowPacks : kLongRowPacks) +
                ">"};
  const ChunkShape chunked = chunk_shape(cols, static_cast<std::size_t>(size_of(problem.dtype)));
  if (aligned && chunked.shared_bytes > 0)
    return {"softmax::row_in_pieces<", (chunked.blocks > 1 ? ", true, " : ", false, ") +
                                           std::to_string(chunked.threads) + ">"};
  if (!aligned && cols < beyond_shared() - 500) return {"softmax::block_in_shared<"};
  return {"softmax::block_two_reads<", count + ">"};
}

} // namespace

Card softmax_card() {
  Card card(softmax_grammar());
  card.problem = problem;
  card.forms = {"", "log"};
  run_rows_by(card, softmax::kVariants, kRun, 20000);
  Variant& naive = card.variants.front();
  naive.accurate = false;
  naive.sequence = cols_of;
  // oneDNN rounds bf16 results twice: 2.8 times the tolerance, seen with 2.6.3.
  card.vendors = {
      [](const Problem& p) { return names(vendor::softmax_table, softmax_kind(p), p.dtype); },
      run_vendor, 4};
  card.vendors.on_host = always({"onednn"});
  card.references = references;
  card.also = rows_sum_to_one;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  card.special_samples = special_samples;
  // Evaluated when tests run, not earlier: --help and list need no device.
  card.usual = [](Dtype) {
    return std::vector<std::string>{
        rows_cols(65, 96),          rows_cols(33, 1000),
        rows_cols(9, 1536),         rows_cols(8, 3001),
        rows_cols(33, 1000, "log"), rows_cols(2, beyond_shared()),
        rows_cols(2, 5000),         rows_cols(2, beyond_shared(), "log"),
        rows_cols(2, 5000, "log")};
  };
  depend_on_vectors(card);
  card.batches = [](Dtype) {
    std::vector<std::string> batches = batches_of_rows();
    for (const char* const cols : {"99", "1000", "5000"})
      batches.push_back(std::string("log_rows*_cols") + cols);
    return batches;
  };
  card.sizes = sizes;
  card.degenerate = [](const Problem& p) {
    if (cols_of(p) != 1) return test::Degenerate::no;
    return is_log(p) ? test::Degenerate::zero : test::Degenerate::constant;
  };
  card.pitches = [](Dtype dtype) { return rows_off_packs(dtype); };
  card.misaligned = [](Dtype dtype) {
    std::vector<std::string> shapes = short_rows(dtype);
    shapes.push_back(rows_cols(5, 64 * elements_per_pack(dtype) + 3, "log"));
    shapes.push_back(rows_cols(2, 4096 + 3));
    return shapes;
  };
  card.empty = {"rows0_cols5",     "rows5_cols0",    "rows0_cols0",
                "log_rows0_cols5", "rows0_cols5000", "log_rows0_cols5000"};
  card.large_strides = [](Dtype dtype) {
    std::vector<std::string> shapes = two_rows(dtype);
    shapes.push_back(rows_cols(2, long_row(dtype)));
    return shapes;
  };
  card.refuses_overlap = false;
  card.kernel_name = kernel_name;
  card.bit_difference_reason = "expf, logf";
  card.bound_on_host = kg::Bound::sync; // shuffles and barriers cost more than memory
  card.timed_on_host = {{"rows32_cols512", true},
                        {"rows32_cols1000"},
                        {"rows16_cols4096"},
                        {"log_rows32_cols512"},
                        {"log_rows16_cols4096"}};
  // A small one, and at least 0.5 GiB of f32.
  card.timed_on_gpu = {{"rows128_cols1024"},   {"rows131072_cols1024", true},
                       {"rows32768_cols4096"}, {"rows4096_cols32768"},
                       {"rows2048_cols65536"}, {"rows1024_cols131072"},
                       {"rows512_cols262144"}, {"log_rows32768_cols4096"}};
  return card;
}

} // namespace kg::card
