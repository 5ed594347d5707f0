// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of quantised_matmul's wgmma, for quantised_matmul_test.cu: where it runs, which products it
// leaves to mma, and tiles that follow each other in a block.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "ops/quantised_matmul/quantised_matmul.h"
#include "runtime/device.h"
#include "runtime/hopper_device.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"
#include "tests/support/device_types.h"

namespace kg::card {
namespace {

// Zeros, with rows of at most kSide elements at any element of the first kRoom.
template <class T>
struct QuantisedOperands {
  static constexpr std::int64_t kSide = 32, kRoom = kSide * kSide + 16;
  DeviceBuffer<std::int8_t> x = zeros<std::int8_t>(), w = zeros<std::int8_t>();
  DeviceBuffer<float> x_scale = zeros<float>(), w_scale = zeros<float>();
  DeviceBuffer<T> y = zeros<T>();

  quantised_matmul::Problem<T> problem(quantised_matmul::Kind kind) const {
    return {.kind = kind,
            .m = kSide,
            .n = kSide,
            .k = kSide,
            .x8 = x.data(),
            .x_scale = x_scale.data(),
            .w = w.data(),
            .w_scale = w_scale.data(),
            .y = y.data()};
  }

 private:
  template <class Element>
  static DeviceBuffer<Element> zeros() {
    Stream stream;
    return DeviceBuffer<Element>::from_host(std::vector<Element>(kRoom), stream);
  }
};

struct QuantisedRun {
  quantised_matmul::Variant variant; // as `run` reports it
  std::string kernel;
  unsigned cluster, blocks;
};
template <class T>
QuantisedRun run_recorded(const quantised_matmul::Problem<T>& problem,
                          quantised_matmul::Variant variant) {
  Stream stream;
  const LaunchRecorder recorder;
  const quantised_matmul::Variant ran = quantised_matmul::run(problem, variant, stream);
  stream.synchronize();
  const LaunchRecord& launch = recorder.launches().at(0);
  return {ran, launch.kernel_name, launch.cluster.x, launch.grid.x};
}

inline bool has_wgmma() {
  const HopperDevice device;
  return supports(quantised_matmul::Variant::wgmma, quantised_matmul::Kind::w8a8);
}

// Rows of X, W or Y that are not aligned to 16 bytes cannot be described by a tensor map.
KG_OWN_TEST(AutomaticTakesWgmmaWhereTensorMapsFit) {
  dispatch(judge.dtype(), [&]<class T>() {
    using quantised_matmul::Kind, quantised_matmul::Variant;
    using Asked = quantised_matmul::Problem<T>;
    const QuantisedOperands<T> operands;
    const Asked fitted = operands.problem(Kind::w8a8);
    if (!has_wgmma()) return;
    if (backend == Backend::host && device_properties().compute_major != 9) {
      EXPECT_EQ(run_recorded(fitted, Variant::automatic).variant, Variant::mma) << "on an 8.0";
      EXPECT_THROW(run_recorded(fitted, Variant::wgmma), Error) << "on an 8.0";
    }
    const HopperDevice device;
    const auto expect = [&](const char* what, auto change, Variant right, const char* kernel) {
      Asked p = fitted;
      change(p);
      const QuantisedRun automatic = run_recorded(p, Variant::automatic);
      EXPECT_EQ(name(automatic.variant), name(right)) << what;
      for (const QuantisedRun& ran : {automatic, run_recorded(p, Variant::wgmma)})
        EXPECT_NE(ran.kernel.find("quantised_matmul::" + std::string(kernel) + "<"),
                  std::string::npos)
            << what << ": " << ran.kernel;
    };
    const auto fits = [&](const char* what, auto change) {
      expect(what, change, Variant::wgmma, "wgmma");
    };
    const auto leaves = [&](const char* what, auto change, const char* to = "mma") {
      expect(what, change, Variant::mma, to);
    };
    fits("whole packs", [](Asked&) {});
    fits("no k", [](Asked& p) { p.k = 0; });
    fits("k and n of one pack", [](Asked& p) { p.k = 16, p.n = 16 / sizeof(T); });
    leaves("rows of y", [](Asked& p) { p.n = 31; });
    leaves("y at an odd address", [](Asked& p) { p.y += 1; });
    const auto after = [](const void* bytes) { return static_cast<const char*>(bytes) + 1; };
    leaves(
        "rows of x and w", [](Asked& p) { p.k = 24; }, "naive");
    leaves(
        "x at an odd address", [&](Asked& p) { p.x8 = after(p.x8); }, "naive");
    leaves(
        "w at an odd address", [&](Asked& p) { p.w = after(p.w); }, "naive");

    // Its sums of e4m3 have fewer bits than mma's, so it must be asked for.
    const Asked floats = operands.problem(Kind::e4m3);
    EXPECT_EQ(name(run_recorded(floats, Variant::automatic).variant), "mma");
    EXPECT_NE(run_recorded(floats, Variant::wgmma).kernel.find("::wgmma<"), std::string::npos);
    Asked few = fitted;
    few.m = quantised_matmul::kManyRows - 1;
    EXPECT_EQ(name(run_recorded(few, Variant::automatic).variant), "skinny");
  });
}

// Wide tiles if they take no more time than square ones: a wide one takes that of two. Clusters of
// two blocks if the rows of tiles come in pairs.
KG_OWN_TEST(TilesAndClustersOfWgmma) {
  dispatch(judge.dtype(), [&]<class T>() {
    using quantised_matmul::Kind, quantised_matmul::Variant;
    if (!has_wgmma()) return;
    const HopperDevice device;
    const std::int64_t blocks = device_properties().sm_count;
    const std::int64_t most = 2 * blocks * 128;
    const auto scales = DeviceBuffer<float>::from_host(
        std::vector<float>(static_cast<std::size_t>(most)), judge.stream());
    const auto ran = [&](std::int64_t m, std::int64_t n) {
      const DeviceBuffer<T> y(static_cast<std::size_t>(m * n));
      return run_recorded<T>({.kind = Kind::w8a8,
                              .m = m,
                              .n = n,
                              .k = 0,
                              .x_scale = scales.data(),
                              .w_scale = scales.data(),
                              .y = y.data()},
                             Variant::wgmma);
    };
    const auto is_wide = [&](std::int64_t n) {
      return ran(8, n).kernel.find("true>") != std::string::npos;
    };
    EXPECT_FALSE(is_wide(blocks * 128));    // one round of square tiles, half of one of wide ones
    EXPECT_TRUE(is_wide(blocks * 128 + 8)); // two rounds, or one
    EXPECT_TRUE(is_wide(2 * blocks * 128)); // the same
    for (const auto& [m, sharers] :
         std::map<std::int64_t, unsigned>{{128, 1}, {136, 2}, {264, 1}, {392, 2}})
      EXPECT_EQ(ran(m, 8).cluster, sharers) << m;
    EXPECT_EQ(ran(8, most).blocks, static_cast<unsigned>(blocks));
  });
}

// Integers, and scales that are powers of two: every sum and product is exact in f32. The
// contract's reference is made for any kind, and would take a minute here.
inline void check_exact_product(Judge& judge, quantised_matmul::Kind kind, std::int64_t m,
                                std::int64_t n, std::int64_t k) {
  const bool integers = kind == quantised_matmul::Kind::w8a8;
  const Dtype type = integers ? Dtype::i8 : Dtype::e4m3;
  const auto numbers = [&](std::int64_t count, test::Tensor tensor) {
    return integers ? test::random_numbers(type, count, tensor).values
                    : test::integers(type, count, 15, tensor).values;
  };
  const std::vector<double> x = numbers(m * k, test::Tensor::a);
  const std::vector<double> w = numbers(n * k, test::Tensor::b);
  const auto powers = [](std::int64_t count, int period) {
    std::vector<double> result;
    for (std::int64_t i = 0; i < count; ++i)
      result.push_back(std::ldexp(1.0, -static_cast<int>(i % period)));
    return result;
  };
  const std::vector<double> x_scale = powers(m, 5), w_scale = powers(n, 7);
  const std::vector<std::int8_t> of_x(x.begin(), x.end()), of_w(w.begin(), w.end());
  std::vector<double> y;
  for (std::int64_t row = 0; row < m; ++row)
    for (std::int64_t column = 0; column < n; ++column) {
      const std::int8_t* const first = of_x.data() + row * k;
      const int sum = std::inner_product(first, first + k, of_w.data() + column * k, 0);
      y.push_back(test::round_to(judge.dtype(), sum * x_scale[static_cast<std::size_t>(row)] *
                                                    w_scale[static_cast<std::size_t>(column)]));
    }
  judge.check_against({"integers",
                       std::string(name(kind)) + "_m" + std::to_string(m) + "_n" +
                           std::to_string(n) + "_k" + std::to_string(k),
                       {{"x8", values(type, x)},
                        {"w", values(type, w)},
                        {"x_scale", values(Dtype::f32, x_scale)},
                        {"w_scale", values(Dtype::f32, w_scale)}}},
                      {{"y", {y, {}}}}, {}, {"wgmma"});
}

// Persistent blocks with several tiles each. The pipeline continues from tile to tile at whatever
// stage and phase a tile's slices ended. Two rows of tiles share W; one and three leave a single
// one. Most cases end within a tile, a slice, and a warp's rows.
KG_OWN_TEST(TilesFollowEachOther) {
  const std::int64_t blocks = device_properties().sm_count;
  const auto check = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    check_exact_product(judge, quantised_matmul::Kind::w8a8, m, n, k);
  };
  for (const std::int64_t slices : {2, 3, 5}) {
    const std::int64_t k = slices * 128 - 48;
    check(8, 2 * blocks * 256 - 120, k);         // wide tiles, two per block
    check(136, (blocks / 2 + 1) * 256 - 120, k); // pairs that share W, square tiles
  }
  check(136, blocks * 256 - 120, 336);         // pairs that share W, wide tiles
  check(264, (blocks / 3 + 1) * 256 + 8, 400); // three rows of tiles
  check(8, 4 * blocks * 256, 16);              // one slice per tile, more tiles than stages
  check(136, 4 * blocks * 128, 16);            // the same in pairs
  check(136, blocks * 64, 272);                // square tiles
}

// The same for e4m3, whose tiles are square.
KG_OWN_TEST(TilesOfE4m3FollowEachOther) {
  const std::int64_t blocks = device_properties().sm_count;
  const auto check = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    check_exact_product(judge, quantised_matmul::Kind::e4m3, m, n, k);
  };
  check(8, (blocks + 1) * 128 - 120, 208);
  check(136, (blocks / 2 + 1) * 128 - 120, 336);
  check(8, 6 * blocks * 128, 16);
  check(136, 3 * blocks * 128, 16);
}

} // namespace
} // namespace kg::card
