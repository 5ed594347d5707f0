// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How pooling_test.cu runs and judges one problem.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/strided.h"
#include "tests/oracle/tolerance_rows.h"
#include "tests/pooling_problems.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "pooling/pooling.h"

namespace kg::test {

using pooling::Kind;
using pooling::kKinds;
using pooling::kVariants;
using pooling::Layout;
using pooling::Problem;
using pooling::Variant;

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

template <typename T>
class PoolingTest : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("pooling", kDtype, kVariants, kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {"pooling", std::string(name(kDtype)), std::string(pooling::name(variant))};
  }

  static std::string kernel_of(Variant variant, const Problem& problem) {
    if (variant == Variant::naive) return "pooling::naive";
    if (!problem.is_global()) return "pooling::strips";
    return problem.layout == Layout::nchw ? "pooling::global_planes" : "pooling::global_channels";
  }

  static CaseContext context(Kind kind, Variant variant, std::string fill, const Problem& problem) {
    return {CaseId("pooling." + std::string(name(kDtype)) + "." + std::string(name(kind)) + "_" +
                   text(problem)),
            std::string(pooling::name(variant)),
            std::move(fill),
            shape_in_layout(problem, problem.out_height(), problem.out_width()),
            {}};
  }

  // Ours, with everything checked but the values; x and the result are in the problem's layout.
  std::vector<T> run(Kind kind, Variant variant, const Problem& problem, const std::vector<T>& x,
                     Offsets offsets = {}) {
    constexpr std::int64_t kBehind = 5;
    const std::vector<T> stored = scatter(x, contiguous({problem.inputs()}, offsets.x));
    const auto device_x = device_input(stored, offsets.x, stream_);
    const DeviceBuffer<T> device_y(offsets.y + problem.outputs() + kBehind);
    Hygiene hygiene(id(variant));
    hygiene.input("x", stored, device_x, stream_);
    LaunchRecorder recorder;
    const Variant ran = pooling::run<T>(kind, problem, device_x.data() + offsets.x,
                                        device_y.data() + offsets.y, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    EXPECT_EQ(recorder.launches().size(), problem.planes() > 0 ? 1u : 0u);
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_NE(launch.kernel_name.find(kernel_of(variant, problem)), std::string::npos)
          << launch.kernel_name;
    return hygiene.output(device_y, contiguous({problem.outputs()}, offsets.y), stream_);
  }

  // What x, in nchw, should give, and how far a sum in any order may be from it; both in the
  // problem's layout.
  struct Reference {
    std::vector<double> value;
    std::vector<double> tolerance; // empty: the maximum, which is exact
  };
  static Reference reference(Kind kind, const Problem& problem, const std::vector<double>& x) {
    const Pooling pooling = oracle_problem(kind, problem);
    if (kind == Kind::max) return {y_in_layout(max_pool_oracle(pooling, x).value, problem), {}};
    const PoolOracle oracle = average_pool_oracle(pooling, x);
    const std::int64_t area = problem.vertical.kernel * problem.horizontal.kernel;
    std::vector<double> tolerance;
    for (std::size_t i = 0; i < oracle.value.size(); ++i)
      tolerance.push_back(
          std::isfinite(oracle.value[i])
              ? stored_tolerance(kDtype, oracle.value[i],
                                 average_pool_f32_tolerance(area, oracle.mean_abs[i]))
              : 0);
    return {y_in_layout(oracle.value, problem), y_in_layout(tolerance, problem)};
  }

  static Expectation expectation(const Problem& problem, const Reference& right) {
    return {kDtype, shape_in_layout(problem, problem.out_height(), problem.out_width()),
            right.value, right.tolerance};
  }

  // Every kind and variant on x, which is in nchw, against the oracle.
  void check(const std::string& fill, const Problem& problem, const std::vector<double>& x,
             Degenerate degenerate = Degenerate::no, Offsets offsets = {}) {
    for (const Kind kind : kKinds) {
      const Reference right = reference(kind, problem, x);
      const Expectation expected = expectation(problem, right);
      EXPECT_TRUE(not_vacuous(expected, degenerate)) << name(kind) << " " << text(problem);
      for (const Variant variant : kVariants) {
        const auto y = run(kind, variant, problem, elements<T>(x_in_layout(x, problem)), offsets);
        EXPECT_TRUE(verdict(compare(observe(y), expected), context(kind, variant, fill, problem)));
      }
    }
  }

  static std::vector<double> normals(const Problem& problem, Tensor tensor = Tensor::a) {
    return normal(kDtype, problem.inputs(), tensor).values;
  }

  Stream stream_;
};

} // namespace kg::test
