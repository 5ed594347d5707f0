// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How pooling_backward_test.cu runs and judges one problem.
#pragma once

#include <algorithm>
#include <cmath>
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
#include "tests/oracle/tolerance.h"
#include "tests/pooling_problems.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "pooling_backward/pooling_backward.h"

namespace kg::test {

using pooling::Kind;
using pooling::kKinds;
using pooling::Layout;
using pooling::Problem;
using pooling_backward::kVariants;
using pooling_backward::Variant;

// Elements between the start of each array's storage, which is aligned to 256 bytes, and the array.
struct Offsets {
  std::int64_t x = 0;
  std::int64_t dy = 0;
  std::int64_t dx = 0;
};

// x and dy, in nchw.
struct GradientInputs {
  std::vector<double> x;
  std::vector<double> dy;
};

template <typename T>
class PoolingBackwardTest : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("pooling_backward", kDtype, kVariants, kRoundedOperation);
  }

  static VariantId id(Variant variant) {
    return {"pooling_backward", std::string(name(kDtype)),
            std::string(pooling_backward::name(variant))};
  }

  // The kernels that must run, in their order.
  static std::vector<std::string> kernels_of(Variant variant, Kind kind, const Problem& problem) {
    if (problem.planes() == 0) return {};
    if (variant == Variant::naive) return {"pooling_backward::naive"};
    if (kind == Kind::max) return {"pooling_backward::choose", "pooling_backward::gather"};
    return {"pooling_backward::gather"};
  }

  static CaseContext context(Kind kind, Variant variant, std::string fill, const Problem& problem) {
    return {CaseId("pooling_backward." + std::string(name(kDtype)) + "." + std::string(name(kind)) +
                   "_" + text(problem)),
            std::string(pooling_backward::name(variant)),
            std::move(fill),
            shape_in_layout(problem, problem.height, problem.width),
            {}};
  }

  // Ours, with everything checked but the values; inputs in nchw, the result in the problem's
  // layout.
  std::vector<T> run(Kind kind, Variant variant, const Problem& problem,
                     const GradientInputs& inputs, Offsets offsets = {}) {
    constexpr std::int64_t kBehind = 5;
    const auto stored = [&](const std::vector<double>& values, std::int64_t offset) {
      const auto size = static_cast<std::int64_t>(values.size());
      return scatter(elements<T>(values), contiguous({size}, offset));
    };
    const std::vector<T> stored_x = stored(x_in_layout(inputs.x, problem), offsets.x);
    const std::vector<T> stored_dy = stored(y_in_layout(inputs.dy, problem), offsets.dy);
    const auto device_x = device_input(stored_x, offsets.x, stream_);
    const auto device_dy = device_input(stored_dy, offsets.dy, stream_);
    const DeviceBuffer<T> device_dx(offsets.dx + problem.inputs() + kBehind);
    const DeviceBuffer<unsigned char> workspace(
        pooling_backward::workspace_bytes(variant, kind, problem));
    Hygiene hygiene(id(variant));
    hygiene.input("x", stored_x, device_x, stream_);
    hygiene.input("dy", stored_dy, device_dy, stream_);
    hygiene.workspace(workspace);
    LaunchRecorder recorder;
    const Variant ran = pooling_backward::run<T>(
        kind, problem, kind == Kind::max ? device_x.data() + offsets.x : nullptr,
        device_dy.data() + offsets.dy, device_dx.data() + offsets.dx,
        workspace.size() > 0 ? workspace.data() : nullptr, variant, stream_);
    stream_.synchronize();
    EXPECT_EQ(ran, variant);
    const std::vector<std::string> kernels = kernels_of(variant, kind, problem);
    EXPECT_EQ(recorder.launches().size(), kernels.size());
    for (std::size_t i = 0; i < std::min(kernels.size(), recorder.launches().size()); ++i)
      EXPECT_NE(recorder.launches()[i].kernel_name.find(kernels[i]), std::string::npos)
          << recorder.launches()[i].kernel_name;
    return hygiene.output(device_dx, contiguous({problem.inputs()}, offsets.dx), stream_);
  }

  // What dx should be, and how far it may be from that, in the problem's layout.
  struct Reference {
    std::vector<double> value;
    std::vector<double> tolerance;
  };
  static Reference reference(Kind kind, const Problem& problem, const GradientInputs& inputs) {
    const Pooling pooling = oracle_problem(kind, problem);
    const PoolGradient oracle = kind == Kind::max
                                    ? max_pool_gradient_oracle(pooling, inputs.x, inputs.dy)
                                    : average_pool_gradient_oracle(pooling, inputs.dy);
    std::vector<double> tolerance;
    for (std::size_t i = 0; i < oracle.value.size(); ++i) {
      // A maximum that comes from one window is its dy, bit for bit.
      const bool exact = oracle.terms[i] <= (kind == Kind::max ? 1 : 0);
      tolerance.push_back(
          exact || !std::isfinite(oracle.value[i])
              ? 0
              : stored_tolerance(kDtype, oracle.value[i],
                                 pool_gradient_f32_tolerance(oracle.terms[i], oracle.sum_abs[i])));
    }
    return {x_in_layout(oracle.value, problem), x_in_layout(tolerance, problem)};
  }

  static Expectation expectation(const Problem& problem, const Reference& right) {
    return {kDtype, shape_in_layout(problem, problem.height, problem.width), right.value,
            right.tolerance};
  }

  // Rows that no window reaches, or none of whose elements is a maximum, are tiles of zeros.
  static Degenerate degenerate_of(const Expectation& expected) {
    const std::int64_t tile = expected.shape[2] * expected.shape[3];
    for (auto at = expected.value.begin(); at != expected.value.end(); at += tile)
      if (std::all_of(at, at + tile, [](double value) { return value == 0; }))
        return Degenerate::sparse;
    return Degenerate::no;
  }

  // Every kind and variant, against the oracle.
  void check(const std::string& fill, const Problem& problem, const GradientInputs& inputs,
             Offsets offsets = {}) {
    for (const Kind kind : kKinds) {
      const Reference right = reference(kind, problem, inputs);
      const Expectation expected = expectation(problem, right);
      for (const Variant variant : kVariants) {
        const auto dx = run(kind, variant, problem, inputs, offsets);
        EXPECT_TRUE(verdict(compare(observe(dx), expected), context(kind, variant, fill, problem)));
      }
    }
  }

  // Normal data; of f16 and bf16 many maxima are ties.
  static GradientInputs normals(const Problem& problem) {
    return {normal(kDtype, problem.inputs(), Tensor::a).values,
            normal(kDtype, problem.outputs(), Tensor::b).values};
  }

  Stream stream_;
};

} // namespace kg::test
