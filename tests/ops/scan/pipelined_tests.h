// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of scan's variant pipelined, for scan_test.cu.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/scan/scan.h"
#include "runtime/device.h"
#include "runtime/hopper_device.h"
#include "runtime/launch.h"
#include "runtime/schedule.h"
#include "tests/contract/own_test.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"
#include "tests/support/device_types.h"

namespace kg::card {
namespace {

// Elements of a tile of pipelined, which has 18 KiB.
template <class T>
constexpr std::int64_t kLongTile = 18 * 1024 / sizeof(T);

// Arrays in device memory, and scans of their first n elements by pipelined.
template <class T>
class PipelinedScan {
 public:
  PipelinedScan(const std::vector<T>& x, Stream& stream)
      : stream_(stream), x_(DeviceBuffer<T>::from_host(x, stream)), y_(x.size()),
        workspace_(scan::workspace_bytes<T>(std::ssize(x), scan::Variant::pipelined)) {}

  std::vector<T> operator()(scan::Op op, scan::Kind kind, std::int64_t n) {
    fill_bytes(y_.data(), 0x5a, y_.bytes(), stream_);
    scan::run<T>({op, kind, n}, x_.data(), nullptr, y_.data(), workspace_.data(),
                 scan::Variant::pipelined, stream_);
    return y_.to_host(stream_);
  }

 private:
  const HopperDevice device_;
  Stream& stream_;
  DeviceBuffer<T> x_, y_;
  DeviceBuffer<std::byte> workspace_;
};

// Several blocks at a time, so that tiles wait for those of other blocks.
std::vector<Schedule> crowded_schedules() {
  std::vector<Schedule> schedules = test::thread_orders();
  for (std::uint64_t seed = 11; seed < 15; ++seed) schedules.push_back({ThreadOrder::random, seed});
  for (Schedule& each : schedules) each.workers = 8;
  return schedules;
}

// Sums modulo 2^32 are exact in every order. Lengths around tiles, groups of 32 tiles and regions
// of 32 groups, with incomplete packs of each length; elements after the last one are not written.
KG_OWN_TEST(PipelinedLengths) {
  using T = std::int32_t;
  if (judge.dtype() != Dtype::i32) return;
  constexpr std::int64_t kTile = kLongTile<T>, kRegion = 32 * 32 * kTile,
                         kMost = kRegion + kTile + 3;
  std::vector<T> x(kMost);
  std::vector<std::uint32_t> sums(kMost + 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<T>(i * 2654435761u);
    sums[i + 1] = sums[i] + static_cast<std::uint32_t>(x[i]);
  }
  PipelinedScan<T> scanned(x, judge.stream());
  const auto check = [&](std::int64_t n) {
    const bool exclusive = n % 2 == 1;
    const std::vector<T> y =
        scanned(scan::Op::sum, exclusive ? scan::Kind::exclusive : scan::Kind::inclusive, n);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < std::ssize(y); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::uint32_t right = i >= n ? 0x5a5a5a5a : sums[at + (exclusive ? 0 : 1)];
      wrong += static_cast<std::uint32_t>(y[at]) != right;
    }
    EXPECT_EQ(wrong, 0) << n << " elements";
  };
  check(kMost);
  const ScopedSchedule scope({.order = ThreadOrder::random, .seed = 5, .workers = 4});
  for (const std::int64_t whole : {std::int64_t{0}, std::int64_t{4}, kTile, 2 * kTile, 7 * kTile})
    for (const std::int64_t rest : {-5, -1, 0, 1, 2, 3})
      if (whole + rest > 0) check(whole + rest);
  for (const std::int64_t whole : {32 * kTile, 33 * kTile})
    for (const std::int64_t rest : {-1, 2}) check(whole + rest);
}

// Sums of normals have the same bits whichever blocks take which tiles.
KG_OWN_TEST(PipelinedBitsInEveryOrder) {
  if (is_integer(judge.dtype())) return;
  dispatch(judge.dtype(), [&]<class T>() {
    constexpr std::int64_t kCount = 70 * kLongTile<T> - 3;
    const std::vector<double> values = test::normal(judge.dtype(), kCount, test::Tensor::a).values;
    std::vector<T> x(values.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = from_float<T>(static_cast<float>(values[i]));
    PipelinedScan<T> scanned(x, judge.stream());
    const auto bytes = [&] {
      const std::vector<T> y = scanned(scan::Op::sum, scan::Kind::inclusive, kCount);
      const auto* const from = reinterpret_cast<const std::byte*>(y.data());
      return std::vector<std::byte>(from, from + y.size() * sizeof(T));
    };
    const std::vector<std::byte> first = bytes();
    for (const Schedule& schedule : crowded_schedules()) {
      const ScopedSchedule scope(schedule);
      EXPECT_TRUE(bytes() == first) << to_string(schedule);
    }
  });
}

// The variant that `run` reports, and its last launch.
template <class T>
std::pair<scan::Variant, LaunchRecord> run_recorded(const scan::Problem& problem, const T* x,
                                                    const std::int8_t* heads, T* y, void* workspace,
                                                    scan::Variant variant, Stream& stream) {
  const LaunchRecorder recorder;
  const scan::Variant ran = scan::run(problem, x, heads, y, workspace, variant, stream);
  stream.synchronize();
  return {ran, recorder.launches().back()};
}

// Bulk copies need 16-byte alignment; heads have no stages; few tiles need no pipeline.
KG_OWN_TEST(AutomaticTakesPipelinedWhereItPays) {
  using scan::Variant;
  using T = float;
  if (judge.dtype() != Dtype::f32) return;
  const std::int64_t blocks = 2 * std::int64_t{device_properties().sm_count};
  const std::int64_t least = blocks * kLongTile<T> + 1, room = least + 4;
  Stream& stream = judge.stream();
  const DeviceBuffer<T> x(static_cast<std::size_t>(room)), y(x.size());
  const DeviceBuffer<std::int8_t> heads(x.size());
  const DeviceBuffer<std::byte> workspace(scan::workspace_bytes<T>(room, Variant::automatic));
  fill_bytes(x.data(), 0, x.bytes(), stream);
  fill_bytes(heads.data(), 0, heads.bytes(), stream);
  const auto expect = [&](const char* what, std::int64_t n, int x_at, int y_at, bool segmented,
                          Variant automatic, Variant asked) {
    const auto run = [&](Variant variant) {
      return run_recorded<T>({scan::Op::sum, scan::Kind::inclusive, n, segmented}, x.data() + x_at,
                             heads.data(), y.data() + y_at, workspace.data(), variant, stream);
    };
    const auto expect_kernel = [&](const LaunchRecord& launch, Variant right) {
      const std::string kernel = std::string("scan::").append(name(right)) + "<";
      EXPECT_NE(launch.kernel_name.find(kernel), std::string::npos)
          << what << ": " << launch.kernel_name;
      EXPECT_EQ(launch.cooperative, right == Variant::pipelined) << what;
    };
    const auto [ran, launch] = run(Variant::automatic);
    EXPECT_EQ(name(ran), name(automatic)) << what;
    expect_kernel(launch, automatic);
    expect_kernel(run(Variant::pipelined).second, asked);
  };
  if (backend == Backend::host && device_properties().compute_major != 9) {
    EXPECT_FALSE(scan::supports(Variant::pipelined));
    EXPECT_EQ(scan::resolved<T>({scan::Op::sum, scan::Kind::inclusive, least}, Variant::automatic),
              Variant::look_back);
    EXPECT_THROW(scan::run<T>({scan::Op::sum, scan::Kind::inclusive, 8}, x.data(), nullptr,
                              y.data(), workspace.data(), Variant::pipelined, stream),
                 Error);
  }
  const HopperDevice device;
  if (!scan::supports(Variant::pipelined)) return;
  constexpr Variant kPipelined = Variant::pipelined, kLookBack = Variant::look_back;
  expect("more tiles than blocks", least, 0, 0, false, kPipelined, kPipelined);
  expect("as many tiles as blocks", least - 1, 0, 0, false, kLookBack, kPipelined);
  expect("x and y off by 16 bytes", least, 4, 4, false, kPipelined, kPipelined);
  expect("x at an odd address", least, 1, 0, false, kLookBack, kLookBack);
  expect("y at an odd address", least, 0, 1, false, kLookBack, kLookBack);
  expect("segments", least, 0, 0, true, kLookBack, kLookBack);
}

} // namespace
} // namespace kg::card
