// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// split_k of gemm, for gemm_test.cu: what its parts add up to, its workspace, and when automatic
// takes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/error.h"
#include "tests/gemm_fixture.h"
#include "tests/support/metamorphic.h"

namespace kg::test {
namespace {

using namespace gemm_case;

// C is the sum of what the variant beneath makes of each part, in their order, and of no other
// order. Seen in f32, where C holds such sums.
TYPED_TEST(Gemm, PartsAreAddedInTheirOrder) {
  if constexpr (dtype_of<TypeParam> == Dtype::f32) {
    constexpr std::int64_t kDepth = 32;
    const Setup s{.m = 35, .n = 70, .k = 3 * kDepth + 4};
    const Data data = normal_data<TypeParam>(s);
    for (const gemm::Math math : {gemm::Math::f32, gemm::Math::tf32}) {
      const Variant beneath =
          gemm::supports<TypeParam>(Variant::mma, math) ? Variant::mma : Variant::tiled;
      Stream stream;
      Matrices<TypeParam> matrices(s, data, stream);
      gemm::Problem problem = matrices.problem(Variant::split_k);
      problem.math = math;
      problem.parts = 4;
      const DeviceBuffer<std::byte> workspace(gemm::workspace_bytes(problem, Variant::split_k));
      problem.workspace = workspace.data();
      EXPECT_EQ(gemm::run(problem, Variant::split_k, stream), Variant::split_k);
      const std::vector<TypeParam> split = matrices.result("split_k", stream);
      std::vector<std::vector<TypeParam>> parts;
      for (std::int64_t first = 0; first < s.k; first += kDepth) {
        gemm::Problem part = problem;
        part.a += first;
        part.b += first * part.ldb;
        part.k = std::min(kDepth, s.k - first);
        gemm::run(part, beneath, stream);
        parts.push_back(matrices.result(gemm::name(beneath), stream));
      }
      const auto sum = [](const auto& terms) {
        std::vector<TypeParam> total = terms.front();
        for (std::size_t i = 1; i < terms.size(); ++i)
          for (std::size_t e = 0; e < total.size(); ++e) total[e] += terms[i][e];
        return total;
      };
      EXPECT_TRUE(same_bits("the sum of the parts", split, sum(parts))) << gemm::name(math);
      std::reverse(parts.begin(), parts.end());
      EXPECT_FALSE(same_bits("their sum from the last on", split, sum(parts))) << gemm::name(math);
    }
  }
}

TYPED_TEST(Gemm, WorkspaceOfParts) {
  using Problem = gemm::BasicProblem<TypeParam>;
  if (!gemm::supports<TypeParam>(Variant::split_k)) return; // bf16 before compute capability 8.0
  const DeviceBuffer<TypeParam> memory(512);
  const Problem valid{.m = 5,
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
  const auto message = [](const Problem& problem) -> std::string {
    Stream stream;
    try {
      gemm::run(problem, Variant::split_k, stream);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  Problem p = valid;
  p.workspace = nullptr;
  EXPECT_NE(message(p).find("workspace is null or not aligned; pass " + std::to_string(kBytes)),
            std::string::npos);
  p.workspace = memory.data() + 1;
  EXPECT_NE(message(p).find("workspace is null or not aligned"), std::string::npos);
  p.parts = -1;
  EXPECT_NE(message(p).find("parts is -1"), std::string::npos);
}

// A tile is at most 128 wide.
TYPED_TEST(Gemm, AutomaticSplitsLongProductsOfFewTiles) {
  if (!gemm::supports<TypeParam>(Variant::split_k)) return; // bf16 before compute capability 8.0
  const std::int64_t half = device_properties().sm_count / 2;
  const auto bytes = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return gemm::workspace_bytes(gemm::BasicProblem<TypeParam>{.m = m, .n = n, .k = k},
                                 Variant::automatic);
  };
  EXPECT_EQ(bytes(16, 16, 1024), 2 * 16 * 16 * sizeof(float));
  EXPECT_EQ(bytes(16, 16, 1023), 0u);
  EXPECT_EQ(bytes(8, 16, 1024), 0u) << "for skinny";
  EXPECT_GT(bytes(16, half * 64, 1024), 0u);
  EXPECT_EQ(bytes(16, half * 128 + 1, 1024), 0u);

  const Setup s{.m = 9, .n = 12, .k = 1024};
  const Data data = normal_data<TypeParam>(s);
  Stream stream;
  Matrices<TypeParam> matrices(s, data, stream);
  gemm::BasicProblem<TypeParam> problem = matrices.problem(Variant::naive);
  EXPECT_EQ(gemm::run(problem, Variant::automatic, stream), Variant::naive);
  const DeviceBuffer<std::byte> workspace(gemm::workspace_bytes(problem, Variant::automatic));
  problem.workspace = workspace.data();
  EXPECT_EQ(gemm::run(problem, Variant::automatic, stream), Variant::split_k);
}

} // namespace
} // namespace kg::test
