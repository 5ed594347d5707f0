// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of softmax and log-softmax, for rows that fit a warp, rows that fit a block's shared
// memory, and longer ones. Tolerances and their derivation: tests/oracle/tolerance_softmax.h.
// Timing does not require a valid softmax, so y is normal there.
#include "ops/softmax_backward/softmax_backward.h"

#include <cmath>
#include <limits>
#include <memory>

#include "libraries/softmax_backward.h"
#include "runtime/device.h"
#include "tests/contract/cluster_rows.h"
#include "tests/contract/execute.h"
#include "tests/contract/rows.h"
#include "tests/contract/samples.h"
#include "tests/ops/softmax/forms.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_rows.h"
#include "tests/oracle/oracle_softmax_backward.h"
#include "tests/oracle/tolerance_softmax.h"

namespace kg::card {
namespace {

constexpr std::string_view kForms[] = {"", "log"};

// Rows of f32 whose y and dy no cluster's shared memory holds.
constexpr std::int64_t kBeyondCluster = 240000;

// Rows whose y and dy no block's shared memory holds.
std::int64_t beyond_shared(Dtype dtype) {
  return static_cast<std::int64_t>(device_properties().shared_bytes_per_block_optin /
                                   (2 * size_of(dtype))) +
         7;
}

// The stored results of a forward pass on normal logits.
std::vector<double> drawn_y(const Problem& problem) {
  const std::int64_t rows = rows_of(problem), cols = cols_of(problem);
  const auto logits = test::normal(problem.dtype, rows * cols, test::Tensor::a).values;
  std::vector<double> y = is_log(problem) ? test::log_softmax_oracle(logits, rows, cols).value
                                          : test::softmax_oracle(logits, rows, cols).value;
  for (double& value : y) value = test::round_to(problem.dtype, value);
  return y;
}

Problem problem(Dtype dtype, const Shape& shape) {
  const SoftmaxRows parameters = softmax_grammar().parse(shape);
  const std::int64_t rows = parameters.rows, cols = parameters.cols;
  Problem result{dtype, shape.text(), softmax_backward::work(dtype, rows, cols),
                 4.0 * static_cast<double>(rows * cols)};
  result.parameters = parameters;
  result.inputs = {{"y", dtype, {rows, cols}}, {"dy", dtype, {rows, cols}}};
  result.outputs = {{"dx", dtype, {rows, cols}, true, {"y", "dy"}}};
  result.gaps = true;
  result.draw = [](const Problem& p, Inputs& inputs) {
    if (!inputs.contains("y")) inputs["y"] = values(p.dtype, drawn_y(p));
  };
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, softmax_backward::Variant variant,
                                  Stream& stream) {
  return softmax_backward::run<T>(softmax_kind(call.problem()), call.rows_in<T>("y"),
                                  call.rows_in<T>("dy"), call.rows_out<T>("dx"), variant, stream);
};

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::softmax_backward(vendor, softmax_kind(call.problem()), call.problem().dtype,
                           call.address("y"), call.address("dy"), call.address("dx"),
                           call.extent("dx", 0), call.extent("dx", 1), stream);
}

// A library may sum a row sequentially.
std::int64_t chain(std::string_view variant, std::int64_t cols) {
  if (variant.empty()) return cols;
  return softmax_backward::chain(enumerator_of(softmax_backward::kVariants, variant), cols);
}

References references(const Problem& problem, const Inputs& inputs) {
  const bool log = is_log(problem);
  const Dtype dtype = problem.dtype;
  const std::int64_t cols = cols_of(problem);
  const auto oracle_of = log ? test::log_softmax_backward_oracle : test::softmax_backward_oracle;
  const auto bound =
      log ? test::log_softmax_backward_f32_tolerance : test::softmax_backward_f32_tolerance;
  const auto oracle = std::make_shared<test::SoftmaxBackwardOracle>(
      oracle_of(inputs.at("y").values, inputs.at("dy").values, rows_of(problem), cols));
  std::vector<double> unit; // u times the condition
  for (std::size_t i = 0; i < oracle->value.size(); ++i) {
    const double value = std::fabs(oracle->value[i]);
    const double condition = oracle->weight[i] * oracle->sum_abs[i] + value;
    const double each = condition * unit_roundoff(Dtype::f32) +
                        (dtype == Dtype::f32 ? 0 : value * unit_roundoff(dtype)) +
                        test::half_min_subnormal(dtype);
    unit.push_back(std::isfinite(each) ? each : 1);
  }
  return {{"dx",
           {oracle->value,
            [=](std::string_view variant) {
              return test::softmax_backward_tolerances(*oracle, dtype, chain(variant, cols), bound);
            },
            std::move(unit)}}};
}

Sample sample(Dtype dtype, const std::string& fill, std::string shape, std::vector<double> y,
              std::vector<double> dy) {
  return {fill,
          std::move(shape),
          {{"y", values(dtype, std::move(y))}, {"dy", values(dtype, std::move(dy))}}};
}

// y of 2^j equal powers of two and zeros, and dy of integers: each product, sum and difference is
// exact in f32, in any order, and the result is rounded once. In log form, rows of -inf with one 0,
// whose probabilities are 0 and 1. A long row with one power of two. And probabilities so small
// that the results are subnormal, and exact.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Size size : {Size{40, 64}, Size{20, 1000}, Size{11, 2051}, Size{2, kForCluster},
                          Size{2, beyond_shared(dtype)}}) {
    const std::int64_t count = size.rows * size.cols;
    const std::vector<double> dy = test::integers(dtype, count, 120, test::Tensor::b).values;
    std::vector<double> logs;
    for (std::int64_t i = 0; i < count; ++i)
      logs.push_back(i % size.cols == i / size.cols * 7 % size.cols ? 0 : -kInfinity);
    samples.push_back(sample(dtype, "plateaus", rows_cols(size.rows, size.cols),
                             test::softmax_plateaus(dtype, size.rows, size.cols).expected, dy));
    samples.push_back(
        sample(dtype, "one of all", rows_cols(size.rows, size.cols, "log"), logs, dy));
  }
  samples.push_back(sample(dtype, "all alike", rows_cols(1, kBeyondCluster),
                           std::vector<double>(kBeyondCluster, 0x1p-12),
                           test::integers(dtype, kBeyondCluster, 120, test::Tensor::b).values));
  const double least = 4 * test::min_subnormal(dtype);
  for (const Size size : {Size{9, 64}, Size{4, 1500}}) {
    const std::int64_t count = size.rows * size.cols;
    std::vector<double> dy = test::integers(dtype, count, 30, test::Tensor::b).values;
    std::vector<double> expected;
    for (double& value : dy) {
      if (value == 0) value = 31; // 0 minus the tiny sum has its sign
      expected.push_back(value * least);
    }
    samples.push_back(sample(dtype, "subnormal", rows_cols(size.rows, size.cols),
                             std::vector<double>(dy.size(), least), dy));
    samples.back().expected["dx"] = std::move(expected);
  }
  return samples;
}

// dy of one sign with probabilities: the entire difference cancels.
std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const std::string_view form : kForms)
    for (const Size size : {Size{9, 500}, Size{3, 3000}}) {
      auto dy = test::positive(dtype, size.rows * size.cols, test::Tensor::b).values;
      samples.push_back({"positive",
                         rows_cols(size.rows, size.cols, form),
                         {{"dy", values(dtype, std::move(dy))}}});
    }
  return samples;
}

// One special value of y or dy at each position that a thread, a pack or a row could miss; the
// other rows do not change.
std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const std::string_view form : kForms)
    for (const std::int64_t cols : {std::int64_t{8}, std::int64_t{67}, std::int64_t{1024},
                                    std::int64_t{2051}, kForCluster, beyond_shared(dtype)}) {
      const std::int64_t rows = cols < 4096 ? 24 : 8;
      const std::string shape = rows_cols(rows, cols, form);
      Inputs inputs = completed(problem(dtype, Shape::parse(shape)), {});
      std::int64_t row = 0;
      for (const std::int64_t place : {cols - 1, std::int64_t{0}, cols / 2}) {
        if (row + 6 > rows) break;
        for (const double special :
             {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity})
          for (const char* const tensor : {"y", "dy"})
            inputs.at(tensor).values[static_cast<std::size_t>(row++ * cols + place)] = special;
      }
      samples.push_back({"special", shape, std::move(inputs)});
    }
  return samples;
}

std::vector<std::string> sizes(Dtype) {
  std::vector<std::string> shapes = lengths_of_rows();
  for (const std::string_view form : kForms) shapes.push_back(rows_cols(5, 8200, form));
  shapes.push_back(rows_cols(1, 32782)); // a cluster of more than two blocks
  shapes.push_back(rows_cols(1, kBeyondCluster + 3));
  for (const std::string& shape : numbers_of_rows(12)) shapes.push_back(shape);
  for (const std::int64_t cols : {1, 3, 9, 33, 129, 255, 1023, 1025, 4097})
    shapes.push_back(rows_cols(3, cols, "log"));
  return shapes;
}

// Packs of 16 bytes if every row of all matrices is aligned.
std::vector<std::string> kernel_name(std::string_view variant, const Problem& problem,
                                     const Layout& layout) {
  if (variant == "naive") return {"softmax_backward::naive<"};
  const std::string pack =
      ", " +
      std::to_string(rows_are_aligned(problem, layout) ? elements_per_pack(problem.dtype) : 1);
  if (variant == "warp") return {"softmax_backward::warp_per_row<", pack + ", "};
  if (variant == "cluster") return {"softmax_backward::cluster_per_row<", pack + ", "};
  return {cols_of(problem) < beyond_shared(problem.dtype) - 100 ? "::block_in_shared<"
                                                                : "::block_two_reads<",
          pack + ">"};
}

} // namespace

Card softmax_backward_card() {
  Card card(softmax_grammar());
  card.problem = problem;
  card.forms = {"", "log"};
  run_rows_by(card, softmax_backward::kVariants, kRun);
  // A library may round 16-bit results twice.
  card.vendors = {[](const Problem& p) {
                    return names(vendor::softmax_backward_table, softmax_kind(p), p.dtype);
                  },
                  run_vendor, 4};
  card.vendors.on_host = always({"onednn"});
  card.references = references;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  card.special_samples = special_samples;
  card.usual = [](Dtype dtype) {
    std::vector<std::string> shapes = {rows_cols(65, 96)};
    for (const std::string_view form : kForms)
      for (const std::string& shape :
           {rows_cols(33, 1000, form), rows_cols(9, 1536, form),
            rows_cols(2, beyond_shared(dtype), form), rows_cols(2, kForCluster, form)})
        shapes.push_back(shape);
    return shapes;
  };
  depend_on_vectors(card);
  card.batches = [](Dtype) {
    std::vector<std::string> batches = batches_of_rows();
    batches.insert(batches.end(), {"log_rows*_cols99", "log_rows*_cols1000"});
    return batches;
  };
  card.sizes = sizes;
  card.degenerate = [](const Problem& p) { // y is 1 and dx 0
    return cols_of(p) == 1 ? test::Degenerate::zero : test::Degenerate::no;
  };
  card.pitches = [](Dtype dtype) { return rows_off_packs(dtype); };
  card.misaligned = [](Dtype dtype) {
    std::vector<std::string> shapes = short_rows(dtype);
    shapes.push_back(rows_cols(2, beyond_shared(dtype)));
    shapes.push_back(rows_cols(2, kForCluster - 1));
    return shapes;
  };
  card.empty = {"rows0_cols5",     "rows5_cols0",    "rows0_cols0",
                "log_rows0_cols5", "rows0_cols4104", "log_rows0_cols4104"};
  card.large_strides = [](Dtype dtype) { return two_rows(dtype); };
  card.refuses_overlap = false;
  card.kernel_name = kernel_name;
  card.bit_difference_reason = "expf, fused products";
  card.bound_on_host = kg::Bound::sync; // shuffles and barriers cost more than memory
  card.timed_on_host = {
      {"rows32_cols512", true}, {"rows16_cols4096"}, {"log_rows32_cols1000"}, {"rows2_cols8200"}};
  // A small one, and at least 0.75 GiB of f32.
  card.timed_on_gpu = {{"rows128_cols1024"},
                       {"rows65536_cols1024", true},
                       {"rows16384_cols4096"},
                       {"rows2048_cols32768"},
                       {"log_rows16384_cols4096"}};
  return card;
}

} // namespace kg::card
