// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How reduction_test.cu runs and judges one tensor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/oracle_rows.h"
#include "tests/oracle/slice_hint.h"
#include "tests/oracle/strided.h"
#include "tests/oracle/tolerance.h"
#include "tests/oracle/tolerance_rows.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"
#include "vendor/reduction/reduction.h"

#include "reduction/reduction.h"

namespace kg::test {

using reduction::Extents;
using reduction::kOps;
using reduction::kVariants;
using reduction::Op;
using reduction::Variant;

struct Size {
  std::int64_t rows;
  std::int64_t cols;
};

// Sums over all of a matrix, over its rows, over its columns.
inline std::vector<Extents> axes_of(Size size) {
  return {{1, size.rows * size.cols, 1}, {size.rows, size.cols, 1}, {1, size.rows, size.cols}};
}

inline constexpr Size kOdd{101, 1027};
inline constexpr Extents kMiddle{5, 70, 24}; // whole packs of every type
inline constexpr Extents kRagged{3, 130, 7};

inline std::vector<Extents> shapes() {
  std::vector<Extents> all = axes_of(kOdd);
  all.insert(all.end(), {kMiddle, kRagged});
  return all;
}

inline vendor::ReductionProblem vendor_problem(Op op, Dtype dtype, const Extents& extents) {
  return {static_cast<vendor::Reduce>(op), dtype, extents[0], extents[1], extents[2]};
}

// Where x lies: elements beyond `inner` between neighbours of the axis (beyond `axis` where inner
// is 1), beyond that between outer ones, and before the first.
struct Layout {
  std::int64_t gap = 0;
  std::int64_t outer_gap = 0;
  std::int64_t offset = 0;
};

inline Strided placed(const Extents& extents, Layout layout) {
  const auto [outer, axis, inner] = extents;
  const std::int64_t step = inner == 1 ? 1 : inner + layout.gap;
  const std::int64_t far = axis * step + (inner == 1 ? layout.gap : 0) + layout.outer_gap;
  return {{outer, axis, inner}, {far, step, 1}, layout.offset};
}

inline std::int64_t result_count(const Extents& extents) { return extents[0] * extents[2]; }

// The elements of each result in a row, results one after the other; and back.
inline std::vector<double> slices_of(const std::vector<double>& x, const Extents& extents) {
  const auto [outer, axis, inner] = extents;
  std::vector<double> slices;
  slices.reserve(x.size());
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i)
      for (std::int64_t a = 0; a < axis; ++a)
        slices.push_back(x[static_cast<std::size_t>((o * axis + a) * inner + i)]);
  return slices;
}
inline std::vector<double> tensor_of(const std::vector<double>& slices, const Extents& extents) {
  return slices_of(slices, {extents[0], extents[2], extents[1]});
}

// What a result should be, and what its bound depends on.
struct Oracle {
  std::vector<double> value;
  std::vector<double> norm2;    // of the summed elements; empty for extrema
  std::vector<double> mean_abs; //
};

inline Oracle oracle_of(Op op, const std::vector<double>& x, const Extents& extents) {
  const std::vector<double> slices = slices_of(x, extents);
  const std::int64_t results = result_count(extents);
  const std::int64_t axis = extents[1];
  if (op == Op::max) return {row_maxima_oracle(slices, results, axis).value, {}, {}};
  if (op == Op::min) return {row_minima_oracle(slices, results, axis).value, {}, {}};
  MeanOracle mean = row_means_oracle(slices, results, axis);
  if (op == Op::mean) return {mean.value, mean.norm2, mean.mean_abs};
  return {row_sums_oracle(slices, results, axis).value, mean.norm2, mean.mean_abs};
}

// Bounds of results that were computed in `chains` chains and rounded to `dtype`. What is not
// finite is right or wrong, and so are extrema.
inline std::vector<double> bounds(Op op, Dtype dtype, const Oracle& oracle, std::int64_t axis,
                                  std::int64_t chains) {
  std::vector<double> result(oracle.value.size(), 0.0);
  if (op == Op::max || op == Op::min) return result;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double value = oracle.value[i];
    if (!std::isfinite(value)) continue;
    const double sum_abs = oracle.mean_abs[i] * static_cast<double>(axis);
    const double computed =
        op == Op::sum
            ? sum_f32_tolerance(value, oracle.norm2[i], sum_abs, axis, chains)
            : mean_f32_tolerance(value, oracle.norm2[i], oracle.mean_abs[i], axis, chains);
    result[i] = stored_tolerance(dtype, value, computed);
  }
  return result;
}

template <typename T>
class Reduction : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("reduction", kDtype, kVariants,
                     kDtype == Dtype::i32
                         ? std::initializer_list<Evidence>{Evidence::exact, Evidence::vendor,
                                                           Evidence::hygiene, Evidence::empty,
                                                           Evidence::repeats}
                         : kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {"reduction", std::string(name(kDtype)), std::string(reduction::name(variant))};
  }

  static CaseContext context(Op op, Variant variant, std::string fill, const Extents& extents) {
    return {CaseId("reduction." + std::string(name(kDtype)) + "." +
                   std::string(reduction::name(op)) + "_o" + std::to_string(extents[0]) + "_a" +
                   std::to_string(extents[1]) + "_i" + std::to_string(extents[2])),
            std::string(reduction::name(variant)),
            std::move(fill),
            {result_count(extents)},
            {}};
  }

  // Ours, with everything checked but the values.
  std::vector<T> run(Op op, Variant variant, const std::vector<T>& x, const Extents& extents,
                     Layout layout = {}) {
    const Strided place = placed(extents, layout);
    const std::int64_t results = result_count(extents);
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> stored_x = scatter(x, place);
    const auto device_x = device_input(stored_x, place, stream_);
    const DeviceBuffer<T> device_out(results + kBehind);
    const View<const T, 3> view{
        device_x.data() + layout.offset, extents, {place.strides[0], place.strides[1], 1}};
    const DeviceBuffer<unsigned char> workspace(reduction::workspace_bytes(view, variant));

    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, device_x, stream_);
    hygiene.workspace(workspace);
    LaunchRecorder recorder;
    const Variant ran =
        reduction::run(op, view, device_out.data(),
                       workspace.size() > 0 ? workspace.data() : nullptr, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().empty(), results == 0);
    return hygiene.output(device_out, contiguous({results}), stream_);
  }

  static std::vector<double> tolerances(Op op, Variant variant, const Oracle& oracle,
                                        const Extents& extents) {
    const std::int64_t chain = std::max<std::int64_t>(
        reduction::chain(reduction::packed<T>(nullptr, extents), variant), 1);
    return bounds(op, kDtype, oracle, extents[1], std::max<std::int64_t>(extents[1] / chain, 1));
  }

  // Every variant on this tensor, within the bound.
  void check(Op op, const std::string& fill, const std::vector<double>& values,
             const Extents& extents, Layout layout = {}) {
    const Oracle oracle = oracle_of(op, values, extents);
    const bool sums = op == Op::sum || op == Op::mean;
    for (const Variant variant : kVariants) {
      const std::vector<double> tolerance = tolerances(op, variant, oracle, extents);
      const Expectation expected{kDtype, {result_count(extents)}, oracle.value, tolerance};
      // Few extrema may be equal, sums of one term are exact, and so is what is not finite.
      if (sums && extents[1] > 1 &&
          std::all_of(oracle.value.begin(), oracle.value.end(),
                      [](double value) { return std::isfinite(value); })) {
        EXPECT_TRUE(not_vacuous(expected, degenerate_of(oracle.value.size())))
            << fill << " " << reduction::name(op);
      }
      EXPECT_TRUE(verdict(
          compare(observe(run(op, variant, elements<T>(values), extents, layout)), expected),
          context(op, variant, fill, extents)));
    }
  }

  // Bit for bit the results in `expected`, rounded once.
  void check_exact(Op op, const std::string& fill, const std::vector<double>& values,
                   std::vector<double> expected, const Extents& extents, Layout layout = {}) {
    for (double& value : expected) value = round_to(kDtype, value);
    const Expectation right = exactly(kDtype, {result_count(extents)}, expected);
    EXPECT_TRUE(not_vacuous(right, degenerate_of(expected.size()))) << fill;
    for (const Variant variant : kVariants) {
      const Comparison comparison =
          compare(observe(run(op, variant, elements<T>(values), extents, layout)), right);
      EXPECT_TRUE(verdict(comparison, context(op, variant, fill, extents)))
          << (op == Op::sum ? hint(values, extents, comparison) : "");
    }
  }

  // Integers whose sums are exact in every order in f32.
  void check_exact_sums(SumRange range, const Extents& extents, Layout layout = {}) {
    const Fill fill = exact_fill(range, extents);
    check_exact(Op::sum, fill.name, fill.values, oracle_of(Op::sum, fill.values, extents).value,
                extents, layout);
  }

  // What of the axis the wrong sums lack.
  static std::string hint(const std::vector<double>& x, const Extents& extents,
                          const Comparison& comparison) {
    const std::vector<double> slices = slices_of(x, extents);
    std::vector<WrongSum> wrong;
    for (const Mismatch& mismatch : comparison.first) {
      const auto first = slices.begin() + mismatch.index * extents[1];
      wrong.push_back({{first, first + extents[1]}, mismatch.expected, mismatch.actual});
    }
    const std::string slice = slice_hint(wrong);
    return slice.empty() ? "" : "along the axis, " + slice;
  }

  static Fill exact_fill(SumRange range, const Extents& extents) {
    Fill fill = exact_sums(kDtype, kDtype, range, result_count(extents), extents[1]);
    fill.values = tensor_of(fill.values, extents);
    return fill;
  }

  static std::vector<double> normals(const Extents& extents) {
    return normal(kDtype, extents[0] * extents[1] * extents[2], Tensor::a).values;
  }

  Stream stream_;
};

} // namespace kg::test
