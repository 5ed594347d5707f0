// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the cards of rmsnorm, layernorm and residual_rmsnorm. Tolerances of the rows'
// statistics are here, those of the results in tests/oracle/tolerance_rows.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ops/normalization/variants.h"
#include "tests/contract/cluster_rows.h"
#include "tests/contract/rows.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_rows.h"
#include "tests/oracle/tolerance_rows.h"

namespace kg::card::norm {

inline constexpr double kEpsilon = 1e-5F;
// Unaligned. With one more column, aligned: beyond a pipeline in f32, beyond registers in 16 bits.
inline constexpr std::int64_t kBeyondBlock = normalization::kBlockMaxCols + 7;

// The input of the normalization, and which of the two norms it is.
struct Rows {
  Dtype dtype;
  Size size;
  const std::vector<double>& x;
  double epsilon;
  bool centred;
};

inline std::vector<double> values_or_none(const Inputs& inputs, std::string_view tensor) {
  const auto found = inputs.find(tensor);
  return found == inputs.end() ? std::vector<double>() : found->second.values;
}

// A library may sum a row sequentially.
inline std::int64_t chain(std::string_view variant, std::int64_t cols) {
  if (variant.empty()) return cols;
  return normalization::chain(enumerator_of(normalization::kVariants, variant), cols);
}

// `f32_tolerance`: a tolerance of tolerance_rows.h for an element of the oracle; `condition`: the
// magnitude that scales the element's error.
template <class Tolerance, class Condition>
Reference result(Dtype dtype, std::int64_t cols, test::NormOracle right, Tolerance f32_tolerance,
                 Condition condition) {
  std::vector<double> unit;
  for (std::size_t i = 0; i < right.value.size(); ++i) {
    const double each =
        unit_roundoff(Dtype::f32) * condition(right, i) +
        (dtype == Dtype::f32 ? 0 : unit_roundoff(dtype) * std::fabs(right.value[i]));
    unit.push_back(std::isfinite(each) ? each : 1);
  }
  const auto oracle = std::make_shared<test::NormOracle>(std::move(right));
  return {oracle->value,
          [=](std::string_view variant) {
            std::vector<double> bounds;
            for (std::size_t i = 0; i < oracle->value.size(); ++i)
              bounds.push_back(
                  std::isfinite(oracle->value[i])
                      ? test::stored_tolerance(dtype, oracle->value[i],
                                               f32_tolerance(*oracle, i, chain(variant, cols)))
                      : 0);
            return bounds;
          },
          std::move(unit)};
}

// The rmsnorm of z.
inline Reference rms_result(Dtype dtype, Size size, const std::vector<double>& z,
                            const Inputs& inputs, double epsilon) {
  return result(
      dtype, size.cols,
      test::rms_norm_oracle(z, size.rows, size.cols, values_or_none(inputs, "gamma"), epsilon),
      [](const test::NormOracle& oracle, std::size_t i, std::int64_t chain) {
        return test::rms_norm_f32_tolerance(oracle.value[i], chain);
      },
      [](const test::NormOracle& oracle, std::size_t i) { return std::fabs(oracle.value[i]); });
}

// Adds mean (of a centered norm) and rstd. The mean's tolerance is the part that
// layer_norm_f32_tolerance grants it, in units of |mean| + deviation. rstd's is that of an element
// of size rstd and quotient 1, plus the effect of a mean that is off by d: it adds d^2 to the
// variance, which the root halves. Squares of 16-bit numbers have few digits, so the roundings of
// their sum, at most u each, may have equal signs. Without a finite rstd the mean is undefined.
inline void add_statistics(References& references, const Rows& of) {
  const auto [rows, cols] = of.size;
  std::vector<double> mean(static_cast<std::size_t>(rows)), squares, rstd;
  if (of.centred) mean = test::row_means_oracle(of.x, rows, cols).value;
  for (std::size_t i = 0; i < of.x.size(); ++i) {
    const double centred = of.x[i] - mean[i / static_cast<std::size_t>(cols)];
    squares.push_back(centred * centred);
  }
  for (const double square : test::row_means_oracle(squares, rows, cols).value)
    rstd.push_back(1 / std::sqrt(square + of.epsilon));
  if (cols == 0) mean.clear(), rstd.clear(); // none are written
  const auto bounds = [=, dtype = of.dtype, centred = of.centred, cols = cols](bool of_rstd) {
    return [=](std::string_view variant) {
      const double u = unit_roundoff(Dtype::f32);
      const auto length = static_cast<double>(chain(variant, cols));
      const double walk = 1.5 * std::sqrt(length);
      const double sum = dtype == Dtype::f32 ? walk : length;
      std::vector<double> result;
      for (std::size_t r = 0; r < rstd.size(); ++r) {
        const double mean_bound =
            centred ? (16 + walk) * u * (std::fabs(mean[r]) + 1 / rstd[r]) : 0;
        const double bound =
            of_rstd ? (8 + sum / 2) * u * rstd[r] + std::pow(mean_bound * rstd[r], 2) / 2 * rstd[r]
                    : mean_bound;
        result.push_back(std::isfinite(bound) ? bound : 0);
      }
      return result;
    };
  };
  references["rstd"] = {rstd, bounds(true)};
  if (of.centred) references["mean"] = {mean, bounds(false)};
}

// Packs of 16 bytes if all inputs and outputs except the statistics are aligned.
inline auto kernel_name(std::string family) {
  return [=](std::string_view variant, const Problem& problem,
             const Layout& layout) -> std::vector<std::string> {
    if (variant == "naive") return {family + "::naive<"};
    const std::int64_t pack = elements_per_pack(problem.dtype);
    const bool packs = rows_are_aligned(problem, layout) &&
                       std::all_of(problem.inputs.begin(), problem.inputs.end(), [&](auto& input) {
                         return place_of(layout, input.name).offset % pack == 0;
                       });
    const std::string count = ", " + std::to_string(packs ? pack : 1);
    if (variant == "warp") return {family + "::warp_per_row<", count + ", "};
    if (packs && family == "normalization") {
      const std::int64_t cols = cols_of(problem), rows = rows_of(problem);
      const auto size = static_cast<std::size_t>(size_of(problem.dtype));
      const auto vectors = static_cast<std::int64_t>(problem.inputs.size()) - 1; // gamma, beta
      // With all vectors or, for whole packs, without; at most one configuration fits alone.
      for (const auto shape : {row_pipeline_shape, single_stage_shape})
        for (const std::int64_t kept : {vectors, cols % pack == 0 ? 0 : vectors}) {
          const RowPipelineShape pipeline =
              shape(rows, cols, size, kept * padded_row_bytes(cols, size));
          if (pipeline.shared_bytes == 0) continue;
          const int packs_of_thread = pipeline.stages == 1 ? kSingleStagePacks
                                      : pipeline.is_short  ? kShortRowPacks
                                                           : kLongRowPacks;
          return {family + "::block_in_ring<", count + ", " + std::to_string(packs_of_thread) +
                                                   ", " + std::to_string(pipeline.stages) + ">"};
        }
    } else if (packs && cols_of(problem) <= normalization::kBlockMaxCols) {
      return {family + "::block_in_registers<", count + ">"};
    }
    return {family + "::block_rereading<", count + ">"};
  };
}

inline std::vector<std::string> usual(Dtype) {
  return {rows_cols(65, 96), rows_cols(33, 1000), rows_cols(9, 1536), rows_cols(2, kBeyondBlock),
          rows_cols(2, kForCluster)};
}

inline std::vector<std::string> sizes(Dtype dtype) {
  std::vector<std::string> shapes = lengths_of_rows();
  shapes.erase(shapes.begin()); // a single column reveals few errors
  for (const std::string& shape : numbers_of_rows(24)) shapes.push_back(shape);
  for (const std::int64_t cols : {std::int64_t{997}, std::int64_t{8200}})
    shapes.push_back(rows_cols(2, cols));
  shapes.push_back(rows_cols(2, kBeyondBlock + 1));
  shapes.push_back(rows_cols(1, 2 * (kBeyondBlock + 1)));
  // Beyond a pipeline of two stages, with so many rows that a block takes a second one; beyond any.
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  shapes.push_back(rows_cols(18, 73744 / size));
  shapes.push_back(rows_cols(2, 131120 / size));
  return shapes;
}

// Without each optional tensor, and without several.
inline void add_optional(std::vector<Sample>& samples,
                         const std::vector<std::vector<std::string>>& ways) {
  for (const Size size : {Size{20, 100}, Size{3, 1300}, Size{2, kBeyondBlock}})
    for (const std::vector<std::string>& without : ways) {
      samples.push_back({.fill = "normal", .shape = rows_cols(size.rows, size.cols)});
      for (const std::string& tensor : without) samples.back().fill += ", no " + tensor;
      samples.back().without = without;
      if (size.rows < 3) samples.back().vacuous_outputs = {"mean", "rstd"}; // they may be equal
    }
}

// A sample with this x and epsilon; the statistics of its rows may all be equal.
inline Sample sample(Dtype dtype, const std::string& fill, Size size, std::vector<double> x,
                     double epsilon = kEpsilon) {
  return {.fill = fill,
          .shape = rows_cols(size.rows, size.cols),
          .inputs = {{"x", values(dtype, std::move(x))}},
          .scalars = {{"epsilon", epsilon}},
          .vacuous_outputs = {"mean", "rstd"}};
}

// Row magnitudes up to 2^40 (f16: 2^12), with significant and insignificant epsilons.
inline void add_scales(std::vector<Sample>& samples, Dtype dtype) {
  const Size size{2, 300};
  const bool narrow = dtype == Dtype::f16;
  for (const double epsilon : {0.0F, 1e-12F, 1e-5F, 2.0F})
    for (const int exponent : {narrow ? -6 : -30, 0, narrow ? 12 : 40}) {
      // Skip results that epsilon makes too small for a 16-bit type.
      if (narrow && epsilon > 1 && exponent < 0) continue;
      std::vector<double> x = test::normal(dtype, size.rows * size.cols, test::Tensor::a).values;
      for (double& value : x) value = test::round_to(dtype, std::ldexp(value, exponent));
      samples.push_back(sample(dtype, "scaled", size, std::move(x), epsilon));
    }
}

// One special value at each position that a thread, a pack or a row could miss, each followed by an
// ordinary row.
inline std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const std::int64_t cols : {std::int64_t{2}, std::int64_t{67}, std::int64_t{1024},
                                  std::int64_t{2051}, kForCluster, kBeyondBlock}) {
    std::vector<double> x;
    std::int64_t rows = 0;
    const auto add_row = [&](double everywhere,
                             const std::vector<std::pair<std::int64_t, double>>& special) {
      std::vector<double> row = test::normal(dtype, cols, test::Tensor::a).values;
      if (everywhere != 0) std::fill(row.begin(), row.end(), everywhere);
      for (const auto& [place, value] : special) row[static_cast<std::size_t>(place)] = value;
      x.insert(x.end(), row.begin(), row.end());
      const std::vector<double> ordinary = test::normal(dtype, cols, test::Tensor::c).values;
      x.insert(x.end(), ordinary.begin(), ordinary.end());
      rows += 2;
    };
    for (const double special : {kNan, kInfinity, -kInfinity}) {
      add_row(0, {{cols - 1, special}});
      if (cols > 4096) continue;
      add_row(0, {{0, special}});
      add_row(0, {{cols / 2, special}});
      add_row(special, {});
    }
    add_row(0, {{0, kInfinity}, {cols - 1, -kInfinity}});
    add_row(0, {{cols / 2, kInfinity}, {cols - 1, kNan}});
    samples.push_back(sample(dtype, "special", {rows, cols}, std::move(x)));
  }
  return samples;
}

// Optional tensors. Rows without elements have no statistics.
inline Tensor parameter(const std::string& name, Dtype dtype, std::int64_t cols) {
  return {.name = name, .dtype = dtype, .extents = {cols}, .by_row = false, .optional = true};
}
inline Tensor statistic(const std::string& name, std::int64_t rows, std::int64_t cols) {
  return {.name = name,
          .dtype = Dtype::f32,
          .extents = {cols == 0 ? 0 : rows},
          .derived = true,
          .optional = true,
          .extra = true};
}

// An rmsnorm; the caller adds or replaces the parts of other operations.
inline Problem problem(Dtype dtype, const Shape& shape,
                       Work (*work)(Dtype, std::int64_t, std::int64_t), double operations) {
  const auto [rows, cols] = rows_grammar().parse(shape);
  Problem result{dtype, shape.text(), work(dtype, rows, cols),
                 operations * static_cast<double>(rows * cols)};
  result.inputs = {{"x", dtype, {rows, cols}}, parameter("gamma", dtype, cols)};
  result.outputs = {{"y", dtype, {rows, cols}, true, {"x"}}, statistic("rstd", rows, cols)};
  result.scalars = {{"epsilon", kEpsilon}};
  result.gaps = true;
  return result;
}

// All common parts; problem, vendors, references and data differ.
template <class Run>
Card card(Run run) {
  Card result(rows_grammar());
  run_rows_by(result, normalization::kVariants, run);
  // Sums a row sequentially: within its tolerance, but less accurate than any library.
  result.variants.front().accurate = false; // naive
  result.kernel_name = kernel_name("normalization");
  result.special_samples = special_samples;
  result.usual = usual;
  depend_on_vectors(result);
  result.batches = [](Dtype) { return batches_of_rows(); };
  result.vendor_samples = [](Dtype dtype) {
    std::vector<Sample> samples;
    for (const std::string& shape : usual(dtype)) samples.push_back({"normal", shape});
    samples.push_back({.fill = "normal, by a large epsilon",
                       .shape = rows_cols(20, 100),
                       .scalars = {{"epsilon", 2}}});
    return samples;
  };
  result.sizes = sizes;
  result.pitches = [](Dtype dtype) { return rows_off_packs(dtype); };
  result.misaligned = [](Dtype dtype) {
    std::vector<std::string> shapes = short_rows(dtype);
    shapes.push_back(rows_cols(2, kBeyondBlock));
    shapes.push_back(rows_cols(2, kForCluster - 1));
    return shapes;
  };
  result.empty = {"rows0_cols5", "rows5_cols0", "rows0_cols0", "rows0_cols4104"};
  result.large_strides = [](Dtype dtype) { return two_rows(dtype); };
  result.refuses_overlap = false;
  result.refused_scalars = {{"epsilon", {-1e-5, kNan, kInfinity}}};
  result.bit_difference_reason = "fused products";
  result.bound_on_host = kg::Bound::sync; // shuffles and barriers cost more than memory accesses
  result.timed_on_host = {
      {"rows32_cols512", true}, {"rows32_cols1000"}, {"rows16_cols4096"}, {"rows2_cols8200"}};
  // A small one, and at least 0.25 GiB in f16.
  result.timed_on_gpu = {{"rows128_cols1024"},
                         {"rows131072_cols1024", true},
                         {"rows16384_cols8192"},
                         {"rows4096_cols32768"}};
  return result;
}

// Rows of +-2^k, or of one such number and zeros in each group of four. The mean of the squares is
// a power of four in every order of summation, and the rms norm is +-gamma, or twice that. `visit`
// gets the index, 2^k and the sign, 0 for the zeros.
template <class Visit>
std::vector<double> rows_of_powers(Size size, const std::vector<double>& gamma, Visit visit) {
  const test::Random random(test::seed(), 0x51);
  std::vector<double> expected;
  for (std::int64_t r = 0; r < size.rows; ++r) {
    const std::int64_t every = size.cols % 4 == 0 && r % 2 ? 4 : 1;
    const double magnitude = std::ldexp(1.0, static_cast<int>(r % 9) - 4);
    for (std::int64_t c = 0; c < size.cols; ++c) {
      const auto index = static_cast<std::uint64_t>(r * size.cols + c);
      const double sign = c % every ? 0 : random.sign(index);
      visit(index, magnitude, sign);
      expected.push_back(sign * (every == 4 ? 2 : 1) * gamma[static_cast<std::size_t>(c)]);
    }
  }
  return expected;
}
inline constexpr Size kSizesOfPowers[] = {{24, 64},  {9, 999},         {17, 1024},
                                          {6, 2052}, {2, kForCluster}, {3, kBeyondBlock}};

} // namespace kg::card::norm
