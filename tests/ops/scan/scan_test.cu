// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to scan; its card configures those of every operation.
#include "ops/scan/scan.h"

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/ops/scan/pipelined_tests.h"
#include "tests/ops/scan/samples.h"
#include "tests/support/huge.h"

namespace kg::card {
namespace {

using scan::Kind;
using scan::Op;

constexpr std::int64_t kTile = 4096; // of look_back

// 0 and 1, so that all sums are exact.
void expect_sums(Judge& judge, scan::Kind kind, std::int64_t n,
                 const std::vector<std::int64_t>& where) {
  std::vector<float> x(static_cast<std::size_t>(n)), expected(x.size());
  std::vector<std::int8_t> heads(x.size(), 0);
  for (const std::int64_t at : where) heads[static_cast<std::size_t>(at)] = 1;
  float sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i * 2654435761u >> 13 & 1u);
    if (heads[i] != 0) sum = 0;
    if (kind == Kind::exclusive) expected[i] = sum;
    sum += x[i];
    if (kind == Kind::inclusive) expected[i] = sum;
  }
  Stream& stream = judge.stream();
  const auto from = DeviceBuffer<float>::from_host(x, stream);
  const auto flags = DeviceBuffer<std::int8_t>::from_host(heads, stream);
  const DeviceBuffer<float> y(x.size());
  const DeviceBuffer<std::byte> workspace(
      scan::workspace_bytes<float>(n, scan::Variant::look_back));
  scan::run<float>({Op::sum, kind, n, !where.empty()}, from.data(), flags.data(), y.data(),
                   workspace.data(), scan::Variant::look_back, stream);
  EXPECT_NO_THROW(workspace.check_guards());
  EXPECT_TRUE(y.to_host(stream) == expected) << n << " elements";
}

// More than 32 groups of 32 tiles, so that one region continues where another ends.
KG_OWN_TEST(BeyondOneRegion) {
  if (judge.dtype() != Dtype::f32) return;
  expect_sums(judge, Kind::inclusive, (1024 + 34) * kTile + 5, {});
}

// A segment over more than a group of tiles, and one over the rest.
KG_OWN_TEST(SegmentsOverGroups) {
  if (judge.dtype() != Dtype::f32) return;
  expect_sums(judge, Kind::exclusive, 100 * kTile, {40 * kTile + 17, 98 * kTile});
}

// Beyond one group of 32 tiles, in each type: sums of normals compared with the oracle.
KG_OWN_TEST(BeyondOneGroup) {
  judge.check(judge.random(scan_samples::shape_of(Op::sum, Kind::inclusive, true, 67 * kTile - 3)),
              {}, {"look_back"});
  const std::int64_t tile = 18 * 1024 / static_cast<std::int64_t>(size_of(judge.dtype()));
  judge.check(judge.random(scan_samples::shape_of(Op::sum, Kind::inclusive, false, 67 * tile - 3)),
              {}, {"pipelined"});
}

// A sum starts from +0, in each segment; among equal zeros the last one is the maximum.
KG_OWN_TEST(SignsOfZeros) {
  if (is_integer(judge.dtype())) return;
  std::vector<double> x(100, -0.0), heads(100, 0.0);
  for (std::size_t i = 40; i < 90; i += 3) x[i] = 0.0;
  heads[30] = heads[41] = 1;
  for (const std::string& shape : scan_samples::each_form({100})) {
    Sample sample{"zeros", shape, {{"x", values(judge.dtype(), x)}}};
    if (scan_samples::grammar().parse(shape).heads)
      sample.inputs["heads"] = values(Dtype::i8, heads);
    sample.may_be_vacuous = true;
    judge.check_exactly(sample);
  }
}

// Each array may be misaligned independently.
KG_OWN_TEST(AlignedApart) {
  for (const bool segmented : {false, true}) {
    const Sample sample =
        judge.random(scan_samples::shape_of(Op::sum, Kind::inclusive, segmented, kOdd));
    judge.check(sample, {{"x", {1, 0}}});
    judge.check(sample, {{"y", {1, 0}}});
    if (segmented) judge.check(sample, {{"heads", {1, 0}}});
  }
}

// Segments after the last element set no mark.
KG_OWN_TEST(EmptySegmentsAtTheEnd) {
  if (judge.dtype() != Dtype::f32) return;
  Sample sample{"empty at the end", "sum_inclusive_n32_offsets6"};
  sample.inputs["x"] = values(Dtype::f32, std::vector<double>(32, 1));
  sample.inputs["offsets"] = values(Dtype::i32, {0, 0, 5, 5, 32, 32, 32});
  judge.check_exactly(sample);
}

// Arguments that the contract's problems cannot have.
KG_OWN_TEST(RefusesProblems) {
  const DeviceBuffer<float> x(9000), y(9000);
  LaunchRecorder recorder;
  const auto run = [&](std::int64_t n, void* workspace) {
    scan::run<float>({Op::sum, Kind::inclusive, n}, x.data(), nullptr, y.data(), workspace,
                     scan::Variant::automatic, judge.stream());
  };
  EXPECT_THROW(run(5000, nullptr), Error);
  EXPECT_THROW(run(std::int64_t{1} << 41, y.data()), Error);
  const DeviceBuffer<std::int32_t> offsets(4);
  const auto run_segments = [&](std::int64_t n, std::int64_t count, void* workspace) {
    scan::run_segments<float>({Op::sum, Kind::inclusive, n}, x.data(), {offsets.data(), count},
                              y.data(), workspace, scan::Variant::automatic, judge.stream());
  };
  EXPECT_THROW(run_segments(100, 3, nullptr), Error);
  EXPECT_THROW(run_segments(100, 0, y.data()), Error);
  EXPECT_THROW(run_segments(std::int64_t{1} << 31, 3, y.data()), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

// Indices beyond 32 bits.
KG_OWN_TEST(BeyondThirtyOneBits) {
  constexpr std::int64_t kCount = (std::int64_t{1} << 31) + 4099;
  if (judge.dtype() != Dtype::i32) return;
  // A block waits for its predecessors, so a window cannot run alone.
  KG_SKIP_IF_TOO_HUGE(2 * size_of(judge.dtype()) * kCount);
  const DeviceBuffer<std::int32_t> data(static_cast<std::size_t>(kCount));
  fill_bytes(data.data(), 0, data.bytes(), judge.stream());
  const DeviceBuffer<std::byte> workspace(
      scan::workspace_bytes<std::int32_t>(kCount, scan::Variant::look_back));
  const std::int32_t one = 1;
  for (const std::int64_t at : {std::int64_t{0}, kCount - 2})
    copy_to_device(data.data() + at, &one, sizeof one, judge.stream());
  scan::run<std::int32_t>({Op::sum, Kind::inclusive, kCount}, data.data(), nullptr, data.data(),
                          workspace.data(), scan::Variant::look_back, judge.stream());
  std::vector<std::int32_t> last(3);
  copy_to_host(last.data(), data.data() + (kCount - 3), sizeof(std::int32_t) * 3, judge.stream());
  EXPECT_EQ(last, (std::vector<std::int32_t>{1, 2, 2}));
}

} // namespace
} // namespace kg::card
