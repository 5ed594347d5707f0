// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the cards of rmsnorm_backward and layernorm_backward. Tolerances and their derivation:
// tests/oracle/oracle_norm_backward.h. Rows fit a warp, a block's registers, or neither. The
// gradients' formulas accept any statistics: timed rows, and rows compared with libraries, use
// other statistics than x's, from which a library computes an exact variance.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ops/normalization/backward_variants.h"
#include "tests/contract/cluster_rows.h"
#include "tests/contract/execute.h"
#include "tests/contract/rows.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_norm_backward.h"
#include "tests/oracle/oracle_rows.h"

namespace kg::card::norm_backward {

namespace backward = normalization::backward;

inline constexpr std::int64_t kBeyondBlock = backward::kBlockMaxCols + 7; // its registers

inline bool is_centred(const Problem& problem) {
  for (const Tensor& input : problem.inputs)
    if (input.name == "mean") return true;
  return false;
}

// 1 / sqrt(variance): 1/2, 1 and 2 in rotation.
inline double power(std::int64_t row) { return std::ldexp(1.0, static_cast<int>(row % 3) - 1); }
inline std::vector<double> powers(std::int64_t rows) {
  std::vector<double> result;
  for (std::int64_t row = 0; row < rows; ++row) result.push_back(power(row));
  return result;
}

// x away from zero, where both norms would nearly agree; and the statistics of x with epsilon 1e-5,
// as a forward pass stores them.
inline void draw(const Problem& problem, Inputs& inputs) {
  const Tensor& x = problem.tensor("x");
  const std::int64_t rows = x.extents[0], cols = x.extents[1];
  if (!inputs.contains("x")) {
    auto drawn = test::normal(problem.dtype, rows * cols, test::Tensor::b).values;
    for (double& value : drawn) value = test::round_to(problem.dtype, value + 0.5);
    inputs["x"] = values(problem.dtype, std::move(drawn));
  }
  const bool centred = is_centred(problem);
  const std::vector<double>& of = inputs.at("x").values;
  std::vector<double> mean = test::row_means_oracle(of, rows, cols).value;
  std::vector<double> squares, rstd;
  for (std::size_t i = 0; i < of.size(); ++i)
    squares.push_back(
        std::pow(of[i] - (centred ? mean[i / static_cast<std::size_t>(cols)] : 0), 2));
  for (const double square : test::row_means_oracle(squares, rows, cols).value)
    rstd.push_back(static_cast<float>(1 / std::sqrt(square + 1e-5)));
  for (double& value : mean) value = static_cast<float>(value);
  if (centred && !inputs.contains("mean")) inputs["mean"] = values(Dtype::f32, std::move(mean));
  if (!inputs.contains("rstd")) inputs["rstd"] = values(Dtype::f32, std::move(rstd));
}

struct NormRows {
  Size size;
  bool padded; // true if every row is 16-byte aligned, whatever its length
};
inline ShapeGrammar<NormRows> grammar() {
  return ShapeGrammar<NormRows>()
      .nested(rows_grammar(), &NormRows::size)
      .flag("padded", &NormRows::padded);
}

inline Problem problem(Dtype dtype, const Shape& shape,
                       Work (*work)(Dtype, std::int64_t, std::int64_t), double operations,
                       bool centred) {
  const auto [size, padded] = grammar().parse(shape);
  const auto [rows, cols] = size;
  const std::int64_t pack = elements_per_pack(dtype);
  const std::int64_t gap = padded ? (pack - cols % pack) % pack : 0;
  Problem result{dtype, shape.text(), work(dtype, rows, cols),
                 operations * static_cast<double>(rows * cols)};
  result.scalars = {{"cols", static_cast<double>(cols)}}; // of the whole row, not of a window
  const auto matrix = [&](const std::string& name) {
    return Tensor{.name = name, .dtype = dtype, .extents = {rows, cols}, .gap = gap, .col_axis = 1};
  };
  const auto columns = [&](const std::string& name) {
    return Tensor{.name = name,
                  .dtype = dtype,
                  .extents = {cols},
                  .by_row = false,
                  .optional = true,
                  .col_axis = 0};
  };
  result.inputs = {matrix("dy"), matrix("x"), columns("gamma")};
  if (centred) result.inputs.push_back({"mean", Dtype::f32, {rows}});
  result.inputs.push_back(
      {.name = "rstd", .dtype = Dtype::f32, .extents = {rows}, .element = [](std::int64_t row) {
         return test::encode(Dtype::f32, power(row));
       }});
  result.calling = {"", {{"rows", {rows}}, {"cols", {cols}}}};
  result.outputs = {matrix("dx"), columns("dgamma")};
  result.outputs[0].may_be = {"dy", "x"};
  if (centred) result.outputs.push_back(columns("dbeta"));
  result.gaps = true;
  result.draw = draw;
  return result;
}

inline bool has(const Problem& problem, std::string_view output) {
  for (const Tensor& each : problem.outputs)
    if (each.name == output) return true;
  return false;
}
inline bool has_columns(const Problem& problem) {
  return has(problem, "dgamma") || has(problem, "dbeta");
}

inline References references(const Problem& problem, const Inputs& inputs) {
  const std::int64_t rows = rows_of(problem), cols = cols_of(problem);
  const auto all_cols = static_cast<std::int64_t>(problem.scalars.at("cols"));
  const Dtype dtype = problem.dtype;
  const auto of = [&](std::string_view tensor) {
    const auto found = inputs.find(tensor);
    return found == inputs.end() ? std::vector<double>() : found->second.values;
  };
  const auto oracle = std::make_shared<test::NormBackwardOracle>(test::norm_backward_oracle(
      of("dy"), of("x"), rows, cols, of("gamma"),
      is_centred(problem) ? of("mean") : std::vector<double>(), of("rstd")));
  std::vector<double> unit; // the magnitude that scales an element's error
  for (std::size_t i = 0; i < oracle->dx.size(); ++i) {
    const double each = unit_roundoff(Dtype::f32) *
                            (oracle->direct[i] + oracle->average[i] + oracle->projection[i]) +
                        (dtype == Dtype::f32 ? 0 : unit_roundoff(dtype) * std::fabs(oracle->dx[i]));
    unit.push_back(std::isfinite(each) ? each : 1);
  }
  // A library may sum sequentially.
  const auto variant_of = [](std::string_view variant) {
    return enumerator_of(backward::kVariants, variant);
  };
  const auto columns = [&](const std::string& name, std::vector<double> sums,
                           std::vector<double> sums_abs) {
    const Dtype stored = has(problem, name) ? problem.tensor(name).dtype : dtype;
    return Reference{sums, [=](std::string_view variant) {
                       const std::int64_t chain =
                           variant.empty()
                               ? rows
                               : backward::column_chain(variant_of(variant), rows, all_cols);
                       return test::norm_backward_column_tolerances(sums, sums_abs, stored, chain);
                     }};
  };
  References result = {{"dgamma", columns("dgamma", oracle->dgamma, oracle->dgamma_abs)},
                       {"dbeta", columns("dbeta", oracle->dbeta, oracle->dbeta_abs)}};
  result["dx"] = {oracle->dx,
                  [=](std::string_view variant) {
                    const std::int64_t chain =
                        variant.empty() ? cols : backward::row_chain(variant_of(variant), cols);
                    return test::norm_backward_dx_tolerances(*oracle, dtype, chain);
                  },
                  std::move(unit)};
  return result;
}

// Packs of 16 bytes if all rows, and gamma, are aligned.
inline std::vector<std::vector<std::string>> kernels(std::string_view name, const Problem& problem,
                                                     const Layout& layout) {
  const std::int64_t rows = rows_of(problem), cols = cols_of(problem);
  if (cols == 0) return {};
  const std::int64_t pack = elements_per_pack(problem.dtype);
  const bool packs =
      rows_are_aligned(problem, layout) && place_of(layout, "gamma").offset % pack == 0;
  const std::int64_t count = packs ? pack : 1;
  const bool cluster = name == "cluster", wide = cluster && cols > backward::kClusterHeldCols;
  const bool few = name == "warp" && packs && cols <= count * 32;
  const std::string each = ", " + std::to_string(count);
  const int elements = cluster ? backward::cluster_elements(cols) : backward::kHeld;
  const std::string of_block =
      cluster && !wide
          ? ", " + std::to_string(backward::cluster_threads(cols, backward::cluster_blocks(cols)))
          : "";
  const std::string held =
      each + ", " + std::to_string(few ? 1 : elements / count) + of_block + ">";
  std::vector<std::vector<std::string>> names;
  const auto add = [&](bool runs, const std::string& kernel, const std::string& end) {
    if (runs) names.push_back({"::" + kernel + "<", end});
  };
  const bool columns = has_columns(problem);
  if (name == "naive") {
    add(columns, "naive_columns", "");
    add(rows > 0, "naive_rows", "");
    return names;
  }
  if (name == "warp") {
    add(rows > 0, "warp_per_row", held);
  } else if (packs && cluster) {
    add(rows > 0, wide ? "wide_cluster_per_row" : "cluster_per_row", held);
  } else if (packs && cols <= backward::kBlockMaxCols) {
    add(rows > 0, "block_per_row", held);
  } else {
    add(rows > 0 && columns, "column_partials", each + ">");
    add(rows > 0, "block_rereading", each + ">");
  }
  add(columns, "sum_partials", "");
  return names;
}

// Small integers, with factors and lengths that are powers of two: every product, sum, mean and
// difference is exact in f32, in any order, and only the result is rounded. There are more rows
// than warps, blocks or clusters on a GPU of the executor's size, so that each takes several.
// Column sums over zero rows are 0.
inline std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Size size : {Size{200, 64}, Size{12, 512}, Size{70, 4096}, Size{20, 8192},
                          Size{20, 16384}, Size{5, 65536}, Size{3, 262144}}) {
    const std::int64_t count = size.rows * size.cols;
    const auto whole = [&](std::int64_t n, std::int64_t most, test::Tensor tensor) {
      auto drawn = test::integers(dtype, n, most, tensor).values;
      for (double& value : drawn) value = value == 0 ? static_cast<double>(most) : value;
      return values(dtype, drawn);
    };
    std::vector<double> mean;
    for (std::int64_t row = 0; row < size.rows; ++row)
      mean.push_back(static_cast<double>(row % 5) - 2);
    samples.push_back({"integers",
                       rows_cols(size.rows, size.cols),
                       {{"dy", whole(count, 8, test::Tensor::a)},
                        {"x", whole(count, 3, test::Tensor::b)},
                        {"gamma", whole(size.cols, 3, test::Tensor::c)},
                        {"mean", values(Dtype::f32, mean)},
                        {"rstd", values(Dtype::f32, powers(size.rows))}}});
  }
  for (const char* const shape : {"rows0_cols5", "rows0_cols600"})
    samples.push_back({.fill = "nothing", .shape = shape, .degenerate = test::Degenerate::zero});
  return samples;
}

// Statistics far from the data's: a mean of 1000, whose distance does not overflow, and factors
// from 2^-20 to 2^20 (f16: 2^4).
inline void add_other_statistics(std::vector<Sample>& samples,
                                 const std::function<Problem(Dtype, const Shape&)>& problem,
                                 Dtype dtype) {
  const int most = dtype == Dtype::f16 ? 4 : 20;
  const std::string shape = rows_cols(5, 300);
  for (const int exponent : {-most, most}) {
    Inputs inputs = completed(problem(dtype, Shape::parse(shape)), {});
    for (double& rstd : inputs.at("rstd").values)
      rstd = std::ldexp(static_cast<float>(1 + 0.125 * rstd), exponent);
    if (inputs.contains("mean"))
      for (double& mean : inputs.at("mean").values)
        mean = static_cast<float>(mean + (exponent > 0 ? 0.25 : 1000));
    samples.push_back({"other statistics", shape, std::move(inputs)});
  }
}

// Without each optional tensor, and without several. Also rows of one element, which layer
// normalization makes constant, so that their gradients may be vacuous.
inline std::vector<Sample> random_samples(const std::vector<std::vector<std::string>>& ways) {
  std::vector<Sample> samples;
  for (const Size size :
       {Size{20, 100}, Size{3, 1300}, Size{3, kForCluster}, Size{2, kBeyondBlock}})
    for (const std::vector<std::string>& without : ways) {
      samples.push_back({.fill = "normal", .shape = rows_cols(size.rows, size.cols)});
      for (const std::string& tensor : without) samples.back().fill += ", no " + tensor;
      samples.back().without = without;
    }
  samples.push_back({.fill = "one column",
                     .shape = rows_cols(5, 1),
                     .inputs = {{"rstd", values(Dtype::f32, std::vector<double>(5, 0.75))}},
                     .may_be_vacuous = true});
  return samples;
}

// One special value at each position that a thread, a pack or a row could miss; the other rows and
// columns do not change.
inline std::vector<Sample>
special_samples(const std::function<Problem(Dtype, const Shape&)>& problem, Dtype dtype) {
  std::vector<Sample> samples;
  for (const std::int64_t cols :
       {std::int64_t{5}, std::int64_t{67}, std::int64_t{1051}, kForCluster, kBeyondBlock}) {
    const std::int64_t rows = cols > 4096 ? 4 : 9;
    const std::string shape = rows_cols(rows, cols);
    const Inputs ordinary = completed(problem(dtype, Shape::parse(shape)), {});
    for (const double special : {kNan, kInfinity, -kInfinity})
      for (const char* const tensor : {"dy", "x"}) {
        if (cols > 4096 && !std::isnan(special)) continue;
        Inputs inputs = ordinary;
        const auto put = [&](std::int64_t row, std::int64_t column) {
          inputs.at(tensor).values[static_cast<std::size_t>(row * cols + column)] = special;
        };
        put(1, cols - 1);
        if (rows > 4) {
          put(3, 0);
          put(4, 0);
          put(6, cols / 2);
          put(7, cols / 2);
          put(7, cols - 1);
        }
        samples.push_back({"special", shape, std::move(inputs)});
      }
  }
  return samples;
}

inline std::vector<std::string> sizes(Dtype) {
  std::vector<std::string> shapes;
  for (const std::int64_t cols :
       {2,   3,   7,   8,   9,   15,  16,  17,  31,   32,   33,   63,   64,   65,  127,
        128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2049, 8191, 8193})
    shapes.push_back(rows_cols(cols > 4000 ? 2 : 3, cols) + "_padded");
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 193, 200}) shapes.push_back(rows_cols(rows, 24));
  for (const Size size : {Size{130, 576}, Size{3, 8192}, Size{1, 8190}, Size{1, 16400},
                          Size{3, 65480}, Size{1, 200000}})
    shapes.push_back(rows_cols(size.rows, size.cols));
  return shapes;
}

// The usual samples, with statistics that give a library an exact variance.
inline std::vector<Sample> vendor_samples(Dtype) {
  std::vector<Sample> samples;
  for (const Size size :
       {Size{64, 200}, Size{17, 1024}, Size{3, kForCluster}, Size{3, kBeyondBlock}})
    samples.push_back({"normal",
                       rows_cols(size.rows, size.cols),
                       {{"rstd", values(Dtype::f32, powers(size.rows))}}});
  return samples;
}

// All common parts; problem, vendors and data differ.
template <class Run>
Card card(Run run) {
  Card result(grammar());
  run_rows_by(result, backward::kVariants, run);
  Variant& naive = result.variants.front();
  naive.accurate = false;
  naive.sequence = rows_of;
  if (device_has_clusters()) { // long rows use a separate kernel
    Variant& cluster = result.variants.back();
    cluster.tried = [usual = cluster.tried](const Problem& p) {
      return usual(p) || cols_of(p) > backward::kBlockMaxCols;
    };
    cluster.timed = [](const Problem& p) { return cols_of(p) > backward::kBlockMaxCols; };
  }
  result.references = references;
  result.exact_samples = exact_samples;
  result.vendor_samples = vendor_samples;
  result.usual = these({rows_cols(65, 96), rows_cols(33, 500), rows_cols(9, 1536),
                        rows_cols(5, kBeyondBlock), rows_cols(3, kForCluster)});
  depend_on_vectors(result);
  result.batches = [](Dtype) { return batches_of_rows(); }; // only dx has rows
  result.sizes = sizes;
  result.pitches = [](Dtype dtype) { return rows_off_packs(dtype); };
  result.misaligned = [](Dtype dtype) {
    const std::int64_t pack = elements_per_pack(dtype);
    return std::vector<std::string>{rows_cols(3, 5 * pack), rows_cols(3, 20 * pack + 3),
                                    rows_cols(3, 160 * pack), rows_cols(2, kBeyondBlock),
                                    rows_cols(2, kForCluster - 1)};
  };
  result.empty = {"rows0_cols5", "rows0_cols600", "rows5_cols0", "rows0_cols0", "rows0_cols4104"};
  result.large_strides = [](Dtype dtype) { return two_rows(dtype); };
  result.refuses_overlap = false;
  result.kernels = kernels;
  result.bit_difference_reason = "fused products";
  result.bound_on_host = kg::Bound::sync; // shuffles and barriers cost more than memory accesses
  result.timed_on_host = {
      {"rows32_cols512", true}, {"rows32_cols200"}, {"rows16_cols4096"}, {"rows2_cols8200"}};
  // A small one, and at least 0.75 GiB in f16.
  result.timed_on_gpu = {{"rows128_cols1024"},
                         {"rows262144_cols512"},
                         {"rows32768_cols4096", true},
                         {"rows16384_cols8192"},
                         {"rows4096_cols32768"}};
  return result;
}

} // namespace kg::card::norm_backward
