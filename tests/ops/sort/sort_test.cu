// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to sort; its card configures those of every operation.
#include "ops/sort/sort.h"

#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"

namespace kg::card {
namespace {

// More tiles than blocks count digits at once.
KG_OWN_TEST(BeyondOneGrid) {
  if (judge.dtype() != Dtype::f32) return;
  const std::int64_t n = std::int64_t{device_properties().sm_count} * 3 * 7296 + 7301;
  judge.check({"normal", "keys_n" + std::to_string(n)}, {}, {"onesweep"});
}

// Many 16-bit keys are sorted by counting, if without values and by all bits.
KG_OWN_TEST(CountsManyHalves) {
  const std::int64_t many = 1 << 22;
  const std::size_t bytes = size_of(judge.dtype());
  const auto runs = [&](std::int64_t n, bool pairs, const sort::Order& order) {
    return sort::resolved(sort::Variant::automatic, n, bytes, pairs, order);
  };
  EXPECT_EQ(runs(many, false, {.descending = true}),
            bytes == 2 ? sort::Variant::counting : sort::Variant::onesweep);
  EXPECT_EQ(runs(many - 1, false, {}), sort::Variant::onesweep);
  EXPECT_EQ(runs(many, true, {}), sort::Variant::onesweep);
  EXPECT_EQ(runs(many, false, {.begin_bit = 1}), sort::Variant::onesweep);
}

// Zeros of both signs from several blocks; and so many equal keys in one block that both halves of
// a counter word grow large.
KG_OWN_TEST(CountsKeysAlike) {
  if (size_of(judge.dtype()) != 2) return;
  const auto check = [&](std::int64_t n, const std::string& order, auto key) {
    std::vector<std::uint64_t> keys;
    for (std::int64_t i = 0; i < n; ++i) keys.push_back(key(i));
    Sample sample{
        "alike", "keys_n" + std::to_string(n) + order, {{"keys", bits(judge.dtype(), keys)}}};
    sample.may_be_vacuous = true;
    judge.check(sample, {}, {"counting"});
  };
  for (const std::string order : {"", "_descending"})
    check(3 * 32768 + 5000, order,
          [](std::int64_t i) -> std::uint64_t { return i % 7 == 0 || i % 5 == 1 ? 0x8000 : 0; });
  const std::int64_t n = std::int64_t{device_properties().sm_count} * (32768 + 1000);
  check(n, "", [n](std::int64_t i) -> std::uint64_t { return i < n / 2 ? 0x3c01 : 0x3c02; });
}

// Shapes that name bits which keys do not have, or all bits.
KG_OWN_TEST(RefusesBits) {
  const std::int64_t bits = 8 * static_cast<std::int64_t>(size_of(judge.dtype()));
  const auto parse = [&](const std::string& words) {
    judge.card().problem(judge.dtype(), Shape::parse("keys_n9_" + words));
  };
  const std::string all = std::to_string(bits), more = std::to_string(bits + 1);
  for (const std::string& words :
       {"end" + all, "end" + more, "begin" + all, std::string("begin9_end9"),
        std::string("end8_begin2"), std::string("entropy0.5"), std::string("ascending")})
    EXPECT_THROW(parse(words), Error) << words;
  EXPECT_NO_THROW(parse("descending_begin" + std::to_string(bits - 1)));
}

// Arguments that the contract's problems cannot have.
KG_OWN_TEST(RefusesProblems) {
  const DeviceBuffer<float> x(64), y(64);
  const DeviceBuffer<std::int32_t> values(64);
  LaunchRecorder recorder;
  const auto run = [&](const sort::Arrays<float>& arrays, std::int64_t n, void* workspace) {
    sort::run(arrays, n, {}, workspace, sort::Variant::automatic, judge.stream());
  };
  EXPECT_THROW(run({x.data(), y.data()}, 64, nullptr), Error);
  EXPECT_THROW(run({x.data(), y.data(), values.data()}, 64, y.data()), Error);
  EXPECT_THROW(run({x.data(), y.data()}, std::int64_t{1} << 30, y.data()), Error);
  for (const sort::Order& order : {sort::Order{.begin_bit = -1},
                                   {.begin_bit = 32},
                                   {.end_bit = 33},
                                   {.begin_bit = 5, .end_bit = 5}})
    EXPECT_THROW(sort::run<float>({x.data(), y.data()}, 64, order, nullptr, sort::Variant::naive,
                                  judge.stream()),
                 Error);
  EXPECT_TRUE(recorder.launches().empty());
}

} // namespace
} // namespace kg::card
