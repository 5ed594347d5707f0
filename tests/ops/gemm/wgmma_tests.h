// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of gemm's wgmma, for gemm_test.cu: where it runs, and which products it leaves to mma.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ops/gemm/gemm.h"
#include "runtime/device.h"
#include "runtime/hopper_device.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/ops/gemm/split_tests.h"

namespace kg::card {
namespace {

// The variant that `run` reports, the kernel that it launches, and the thread blocks per cluster.
struct Ran {
  gemm::Variant variant;
  std::string kernel;
  unsigned cluster;
};
template <class T>
Ran run_recorded(const gemm::BasicProblem<T>& problem, gemm::Variant variant) {
  Stream stream;
  const LaunchRecorder recorder;
  const gemm::Variant ran = gemm::run(problem, variant, stream);
  stream.synchronize();
  const LaunchRecord& launch = recorder.launches().at(0);
  return {ran, launch.kernel_name, launch.cluster.x};
}

// Rows of A, B, C or z that are not 16-byte aligned cannot be described by a tensor map, or cannot
// be accessed by the kernel.
KG_OWN_TEST(AutomaticTakesWgmmaWhereTensorMapsFit) {
  dispatch(judge.dtype(), [&]<class T>() {
    using gemm::Variant;
    using Asked = gemm::BasicProblem<T>;
    constexpr std::int64_t kSide = 32, kRoom = kSide + 8;
    const SplitOperands<T> operands(kRoom, kRoom, kRoom);
    Asked fitted = operands.problem();
    fitted.m = fitted.n = fitted.k = kSide; // row stride: kRoom
    const auto expect = [&](const char* what, auto change, bool fits) {
      Asked p = fitted;
      change(p);
      const Variant right = fits ? Variant::wgmma : Variant::mma;
      const std::string kernel = "gemm::" + std::string(name(right)) + "<";
      const Ran automatic = run_recorded(p, Variant::automatic);
      EXPECT_EQ(name(automatic.variant), name(right)) << what;
      for (const Ran& ran : {automatic, run_recorded(p, Variant::wgmma)})
        EXPECT_NE(ran.kernel.find(kernel), std::string::npos) << what << ": " << ran.kernel;
    };
    const auto as_it_is = [](Asked&) {};
    if (!supports(Variant::wgmma, judge.dtype(), gemm::Math::f32)) return;
    if (backend == Backend::host && device_properties().compute_major != 9) {
      EXPECT_FALSE(gemm::supports<T>(Variant::wgmma));
      EXPECT_EQ(run_recorded(fitted, Variant::automatic).variant, Variant::mma) << "on an 8.0";
    }
    const HopperDevice device;
    expect("rows with gaps", as_it_is, true);
    expect(
        "no k", [](Asked& p) { p.k = 0; }, true);
    expect(
        "k and n that end within a pack", [](Asked& p) { p.k = 31, p.n = 27; }, true);
    expect(
        "a at an odd address", [](Asked& p) { p.a += 1; }, false);
    expect(
        "b at an odd address", [](Asked& p) { p.b += 1; }, false);
    expect(
        "c at an odd address", [](Asked& p) { p.c += 1; }, false);
    expect(
        "rows of a", [](Asked& p) { p.lda = kSide + 1; }, false);
    expect(
        "rows of b", [](Asked& p) { p.ldb = kSide + 4; }, false);
    expect(
        "rows of c", [](Asked& p) { p.ldc = kSide + 2; }, false);
  });
}

// Wide tiles if C has enough of them to fill the device.
KG_OWN_TEST(WideTilesOfWgmma) {
  dispatch(judge.dtype(), [&]<class T>() {
    using gemm::TileShape, gemm::Variant;
    if (!supports(Variant::wgmma, judge.dtype(), gemm::Math::f32)) return;
    const HopperDevice device;
    const std::int64_t n = 256 * device_properties().sm_count;
    const auto shape = [](std::int64_t columns, TileShape tiles) {
      return gemm::tile_shape(gemm::BasicProblem<T>{.m = 128,
                                                    .n = columns,
                                                    .k = 4096,
                                                    .lda = 4096,
                                                    .ldb = columns,
                                                    .ldc = columns,
                                                    .tiles = tiles},
                              Variant::wgmma);
    };
    EXPECT_EQ(shape(n, TileShape::automatic), TileShape::wide);
    EXPECT_EQ(shape(n / 2, TileShape::automatic), TileShape::square);
    EXPECT_EQ(shape(n, TileShape::square), TileShape::square);
    EXPECT_EQ(shape(8, TileShape::wide), TileShape::wide);

    // Three waves of wide tiles, or five of square ones, with an epilogue. Sharing B between blocks
    // gains less with wide tiles, which are bound by the Tensor Cores.
    const auto shape_of_rows = [&](std::int64_t rows) {
      const std::int64_t columns = n * 5 / 2 * 128 / rows;
      return gemm::tile_shape(gemm::BasicProblem<T>{.m = rows,
                                                    .n = columns,
                                                    .k = 1024,
                                                    .lda = 1024,
                                                    .ldb = columns,
                                                    .ldc = columns,
                                                    .epilogue = gemm::Epilogue::bias_gelu},
                              Variant::wgmma);
    };
    EXPECT_EQ(shape_of_rows(128), TileShape::wide);
    EXPECT_EQ(shape_of_rows(256), TileShape::square);
  });
}

// Clusters of two thread blocks if the rows of tiles come in pairs.
KG_OWN_TEST(PairsOfRowsOfTilesShareB) {
  dispatch(judge.dtype(), [&]<class T>() {
    using gemm::TileShape, gemm::Variant;
    if (!supports(Variant::wgmma, judge.dtype(), gemm::Math::f32)) return;
    const HopperDevice device;
    const SplitOperands<T> operands(392, 8, 8);
    for (const TileShape tiles : {TileShape::square, TileShape::wide})
      for (const auto& [m, sharers] :
           std::map<std::int64_t, unsigned>{{128, 1}, {136, 2}, {264, 1}, {392, 2}}) {
        gemm::BasicProblem<T> p = operands.problem();
        p.m = m;
        p.tiles = tiles;
        EXPECT_EQ(run_recorded(p, Variant::wgmma).cluster, sharers) << m;
      }
  });
}

} // namespace
} // namespace kg::card
