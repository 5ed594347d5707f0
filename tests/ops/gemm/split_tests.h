// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of gemm's split_k, for gemm_test.cu: the sum of its parts, its workspace, and when
// automatic selects it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "ops/gemm/gemm.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "tests/contract/own_test.h"
#include "tests/contract/refusing.h"
#include "tests/oracle/fills.h"
#include "tests/support/device_types.h"
#include "tests/support/metamorphic.h"

namespace kg::card {
namespace {

// Dense matrices of normal numbers.
template <class T>
struct SplitOperands {
  SplitOperands(std::int64_t rows, std::int64_t columns, std::int64_t depth)
      : m(rows), n(columns), k(depth), a(normal(m * k, test::Tensor::a)),
        b(normal(k * n, test::Tensor::b)), c(static_cast<std::size_t>(m * n)) {}
  std::int64_t m, n, k;
  DeviceBuffer<T> a, b, c;

  gemm::BasicProblem<T> problem() const {
    return {.m = m,
            .n = n,
            .k = k,
            .a = a.data(),
            .lda = k,
            .b = b.data(),
            .ldb = n,
            .c = c.data(),
            .ldc = n};
  }

 private:
  static DeviceBuffer<T> normal(std::int64_t count, test::Tensor tensor) {
    Stream stream;
    return DeviceBuffer<T>::from_host(
        test::elements<T>(test::normal(test::DtypeOf<T>::value, count, tensor).values), stream);
  }
};

// C is the sum of the underlying variant's results for each part, added in order. Tested in f32, in
// which C holds such sums.
KG_OWN_TEST(PartsAreAddedInTheirOrder) {
  using gemm::Variant;
  if (judge.dtype() != Dtype::f32) return;
  constexpr std::int64_t kDepth = 32, kK = 3 * kDepth + 4;
  const SplitOperands<float> operands(35, 70, kK);
  Stream stream;
  for (const gemm::Math math : {gemm::Math::f32, gemm::Math::tf32}) {
    const Variant beneath =
        gemm::supports<float>(Variant::mma, math) ? Variant::mma : Variant::tiled;
    gemm::Problem problem = operands.problem();
    problem.math = math;
    problem.parts = 4;
    const DeviceBuffer<std::byte> workspace(gemm::workspace_bytes(problem, Variant::split_k));
    problem.workspace = workspace.data();
    EXPECT_EQ(gemm::run(problem, Variant::split_k, stream), Variant::split_k);
    const std::vector<float> split = operands.c.to_host(stream);
    std::vector<std::vector<float>> parts;
    for (std::int64_t first = 0; first < kK; first += kDepth) {
      gemm::Problem part = problem;
      part.a += first;
      part.b += first * part.ldb;
      part.k = std::min(kDepth, kK - first);
      gemm::run(part, beneath, stream);
      parts.push_back(operands.c.to_host(stream));
    }
    const auto sum = [](const auto& terms) {
      std::vector<float> total = terms.front();
      for (std::size_t i = 1; i < terms.size(); ++i)
        for (std::size_t e = 0; e < total.size(); ++e) total[e] += terms[i][e];
      return total;
    };
    EXPECT_TRUE(test::same_bits("the sum of the parts", split, sum(parts))) << name(math);
    std::reverse(parts.begin(), parts.end());
    EXPECT_FALSE(test::same_bits("their sum from the last on", split, sum(parts))) << name(math);
  }
}

KG_OWN_TEST(WorkspaceOfParts) {
  dispatch(judge.dtype(), [&]<class T>() {
    using gemm::Variant;
    using Asked = gemm::BasicProblem<T>;
    if (!gemm::supports<T>(Variant::split_k)) return; // bf16 before compute capability 8.0
    const DeviceBuffer<T> memory(512);
    const Asked valid{.m = 5,
                      .n = 6,
                      .k = 100,
                      .a = memory.data(),
                      .lda = 100,
                      .b = memory.data(),
                      .ldb = 6,
                      .c = memory.data(),
                      .ldc = 6,
                      .batch = 2,
                      .stride_c = 30,
                      .workspace = memory.data(),
                      .parts = 3};
    constexpr std::size_t kBytes = 2 * 2 * 5 * 8 * sizeof(float); // parts of 64; rows of 16 bytes
    EXPECT_EQ(gemm::workspace_bytes(valid, Variant::split_k), kBytes);
    EXPECT_EQ(gemm::workspace_bytes(valid, Variant::naive), 0u);
    const auto expect = [&](const std::string& words, auto change) {
      Asked p = valid;
      change(p);
      const std::string said = refusal([&] { gemm::run(p, Variant::split_k, judge.stream()); });
      EXPECT_NE(said.find(words), std::string::npos) << said;
    };
    expect("workspace is null or not aligned; pass " + std::to_string(kBytes),
           [](Asked& p) { p.workspace = nullptr; });
    expect("workspace is null or not aligned", [&](Asked& p) { p.workspace = memory.data() + 1; });
    expect("parts is -1", [](Asked& p) { p.parts = -1; });
  });
}

// A tile is at most 128 wide.
KG_OWN_TEST(AutomaticSplitsLongProductsOfFewTiles) {
  dispatch(judge.dtype(), [&]<class T>() {
    using gemm::Variant;
    if (!gemm::supports<T>(Variant::split_k)) return; // bf16 before compute capability 8.0
    const std::int64_t half = device_properties().sm_count / 2;
    const auto bytes = [](std::int64_t m, std::int64_t n, std::int64_t k) {
      return gemm::workspace_bytes(gemm::BasicProblem<T>{.m = m, .n = n, .k = k},
                                   Variant::automatic);
    };
    EXPECT_EQ(bytes(16, 16, 1024), 2 * 16 * 16 * sizeof(float));
    EXPECT_EQ(bytes(16, 16, 1023), 0u);
    EXPECT_EQ(bytes(8, 16, 1024), 0u) << "for skinny";
    EXPECT_GT(bytes(16, half * 64, 1024), 0u);
    EXPECT_EQ(bytes(16, half * 128 + 1, 1024), 0u);

    const SplitOperands<T> operands(9, 12, 1024);
    gemm::BasicProblem<T> problem = operands.problem();
    EXPECT_EQ(gemm::run(problem, Variant::automatic, judge.stream()), Variant::naive);
    const DeviceBuffer<std::byte> workspace(gemm::workspace_bytes(problem, Variant::automatic));
    problem.workspace = workspace.data();
    EXPECT_EQ(gemm::run(problem, Variant::automatic, judge.stream()), Variant::split_k);
    judge.stream().synchronize();
  });
}

} // namespace
} // namespace kg::card
