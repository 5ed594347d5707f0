// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls that gemm refuses, with messages that name the cause, for gemm_test.cu.
#pragma once

#include <string>

#include "ops/gemm/gemm.h"
#include "runtime/error.h"
#include "tests/contract/own_test.h"
#include "tests/contract/refusing.h"
#include "tests/support/device_types.h"

namespace kg::card {
namespace {

using gemm::BiasGradient;
using gemm::Epilogue;
using gemm::Transpose;

KG_OWN_TEST(RefusesVariantsOfOtherTypes) {
  dispatch(judge.dtype(), [&]<class T>() {
    Stream stream;
    for (const gemm::Variant variant : gemm::kVariants) {
      if (gemm::supports<T>(variant)) continue;
      const auto run = [&] { gemm::run(gemm::BasicProblem<T>{}, variant, stream); };
      EXPECT_NE(refusal(run).find("no variant"), std::string::npos) << gemm::name(variant);
    }
  });
}

KG_OWN_TEST(RefusesWrongExtents) {
  dispatch(judge.dtype(), [&]<class T>() {
    Stream stream;
    const auto message = [&](const gemm::BasicProblem<T>& problem) {
      return refusal([&] { gemm::run(problem, gemm::Variant::automatic, stream); });
    };
    const gemm::BasicProblem<T> valid{
        .transpose_a = Transpose::yes, .m = 4, .n = 5, .k = 6, .lda = 4, .ldb = 5, .ldc = 5};
    const auto with = [&](std::int64_t gemm::BasicProblem<T>::*field, std::int64_t value) {
      gemm::BasicProblem<T> p = valid;
      p.*field = value;
      return p;
    };
    using Asked = gemm::BasicProblem<T>;
    EXPECT_NE(message(with(&Asked::m, -1)).find("m is -1"), std::string::npos);
    EXPECT_NE(message(with(&Asked::n, -1)).find("n is -1"), std::string::npos);
    EXPECT_NE(message(with(&Asked::k, -1)).find("k is -1"), std::string::npos);
    EXPECT_NE(message(with(&Asked::lda, 3)).find("lda is 3"), std::string::npos);
    EXPECT_NE(message(with(&Asked::ldb, 4)).find("ldb is 4"), std::string::npos);
    EXPECT_NE(message(with(&Asked::ldc, 4)).find("ldc is 4"), std::string::npos);
  });
}

KG_OWN_TEST(RefusesEpiloguesWithoutTheirArguments) {
  dispatch(judge.dtype(), [&]<class T>() {
    Stream stream;
    const DeviceBuffer<T> memory(64);
    using Asked = gemm::BasicProblem<T>;
    const Asked valid{.m = 2,
                      .n = 3,
                      .k = 4,
                      .a = memory.data(),
                      .lda = 4,
                      .b = memory.data(),
                      .ldb = 3,
                      .c = memory.data() + 32,
                      .ldc = 3};
    const auto message = [&](const Asked& problem) {
      return refusal([&] { gemm::run(problem, gemm::Variant::naive, stream); });
    };
    Asked p = valid;
    p.epilogue = Epilogue::bias_relu;
    EXPECT_NE(message(p).find("bias is null; the epilogue bias_relu"), std::string::npos);
    p.bias = memory.data() + 16;
    p.z = memory.data() + 48;
    p.ldz = 2;
    EXPECT_NE(message(p).find("ldz is 2"), std::string::npos);
    p.epilogue = Epilogue::none;
    p.ldz = 3;
    EXPECT_NE(message(p).find("no epilogue"), std::string::npos);
    p.z = nullptr;
    EXPECT_NE(message(p).find("no epilogue"), std::string::npos);
  });
}

KG_OWN_TEST(RefusesGradientsWithoutTheirArguments) {
  dispatch(judge.dtype(), [&]<class T>() {
    Stream stream;
    const auto memory = DeviceBuffer<T>::from_host(std::vector<T>(64, from_float<T>(0)), stream);
    T* const at = memory.data();
    using Asked = gemm::BasicProblem<T>;
    const Asked valid{.m = 2,
                      .n = 3,
                      .k = 4,
                      .a = at,
                      .lda = 4,
                      .b = at + 8,
                      .ldb = 3,
                      .c = at + 24,
                      .ldc = 3,
                      .epilogue = Epilogue::drelu,
                      .z = at + 32,
                      .ldz = 3};
    const DeviceBuffer<std::byte> workspace(gemm::workspace_bytes(
        [&] {
          Asked p = valid;
          p.bias_gradient = BiasGradient::of_c;
          return p;
        }(),
        gemm::Variant::naive));
    const auto expect = [&](const std::string& words, auto change) {
      Asked p = valid;
      p.workspace = workspace.data();
      change(p);
      const std::string said = refusal([&] { gemm::run(p, gemm::Variant::naive, stream); });
      EXPECT_NE(said.find(words), std::string::npos) << said;
    };
    expect("accepted", [](Asked&) {});
    expect("z is null; the epilogue drelu", [](Asked& p) { p.z = nullptr; });
    expect("ldz is 2", [](Asked& p) { p.ldz = 2; });
    expect("drelu adds none", [&](Asked& p) { p.bias = at + 60; });
    expect("stride_z is -1", [](Asked& p) { p.stride_z = -1; });
    expect("accepted", [](Asked& p) { p.z = p.c; });
    expect("gemm: z", [](Asked& p) { p.z = p.c + 1; });
    expect("overlap", [](Asked& p) {
      p.z = p.c;
      p.ldz = 4;
    });

    const auto with_sums = [&](BiasGradient gradient, auto change) {
      return [=](Asked& p) {
        p.bias_gradient = gradient;
        p.dbias = at + 56;
        change(p);
      };
    };
    const auto of_c = [&](auto change) { return with_sums(BiasGradient::of_c, change); };
    expect("accepted", of_c([](Asked&) {}));
    expect("dbias is null", of_c([](Asked& p) { p.dbias = nullptr; }));
    expect("bias_gradient is none", [&](Asked& p) { p.dbias = at + 56; });
    expect("batch is 2; dbias", of_c([](Asked& p) {
             p.batch = 2;
             p.stride_c = 6;
             p.epilogue = Epilogue::none;
             p.z = nullptr;
           }));
    expect("workspace is null or not aligned", of_c([](Asked& p) { p.workspace = nullptr; }));
    for (const std::ptrdiff_t overlapped : {0, 8 + 11, 24 + 5, 32 + 5})
      expect("overlap", of_c([&](Asked& p) { p.dbias = at + overlapped; }));
    expect("transpose_a is not set", with_sums(BiasGradient::of_a, [](Asked&) {}));
    expect("transpose_b is set", with_sums(BiasGradient::of_b, [](Asked& p) {
             p.transpose_b = Transpose::yes;
             p.ldb = 4;
           }));
  });
}

KG_OWN_TEST(RefusesBatchesThatOverlap) {
  dispatch(judge.dtype(), [&]<class T>() {
    Stream stream;
    const DeviceBuffer<T> memory(256);
    using Asked = gemm::BasicProblem<T>;
    const Asked valid{.m = 2,
                      .n = 3,
                      .k = 0,
                      .a = memory.data(),
                      .lda = 4,
                      .b = memory.data(),
                      .ldb = 3,
                      .c = memory.data() + 128,
                      .ldc = 7,
                      .batch = 2,
                      .stride_c = 10};
    const auto message = [&](std::int64_t Asked::*field, std::int64_t value) {
      Asked p = valid;
      p.*field = value;
      return refusal([&] { gemm::run(p, gemm::Variant::naive, stream); });
    };
    EXPECT_NE(message(&Asked::batch, -1).find("batch is -1"), std::string::npos);
    EXPECT_NE(message(&Asked::stride_a, -1).find("stride_a is -1"), std::string::npos);
    EXPECT_NE(message(&Asked::stride_b, -1).find("stride_b is -1"), std::string::npos);
    for (const std::int64_t overlapping : {-3, 0, 2, 5, 9}) // rows of 3, stride 7
      EXPECT_NE(
          message(&Asked::stride_c, overlapping).find("stride_c is " + std::to_string(overlapping)),
          std::string::npos);
    for (const std::int64_t apart : {3, 4, 10})
      EXPECT_EQ(message(&Asked::stride_c, apart), "accepted") << apart;
  });
}

} // namespace
} // namespace kg::card
