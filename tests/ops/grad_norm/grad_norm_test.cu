// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to grad_norm; its card configures those of every operation.
#include "ops/grad_norm/grad_norm.h"

#include <cmath>

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"

namespace kg::card {
namespace {

struct Seen {
  double norm, scale, found_inf;
};

void expect_seen(Judge& judge, const Sample& sample, const Seen& expected) {
  judge.each_variant(sample, [&](const Variant& variant) {
    const Outcome outcome = judge.run(variant.name, sample);
    const auto number = [&](const char* name) { return outcome.outputs.at(name).values[0]; };
    EXPECT_EQ(number("norm"), expected.norm) << variant.name;
    EXPECT_EQ(number("scale"), expected.scale) << variant.name;
    EXPECT_EQ(number("found_inf"), expected.found_inf) << variant.name;
  });
}

// 2^2 + 4^2 + 4^2 = 6^2, over two tensors.
KG_OWN_TEST(NormsByHand) {
  const Dtype dtype = judge.dtype();
  Sample sample{
      .fill = "by hand",
      .shape = "p2.1",
      .inputs = {{"gradient0", values(dtype, {2, -4})}, {"gradient1", values(dtype, {4})}},
      .scalars = {{"limit", 8}}};
  expect_seen(judge, sample, {6, 1, 0});
  sample.scalars["limit"] = 1.5;
  expect_seen(judge, sample, {6, static_cast<float>(1.5 / (6 + 1e-6)), 0});
  sample.scalars["limit"] = 0;
  expect_seen(judge, sample, {6, 0, 0});
  Sample tiny = sample; // makes the summand epsilon visible
  tiny.inputs["gradient1"] = values(dtype, {0});
  tiny.inputs["gradient0"] = values(dtype, {0, 0});
  expect_seen(judge, tiny, {0, 0, 0});
  tiny.inputs["gradient0"] = values(dtype, {0x1p-20, 0});
  tiny.scalars["limit"] = 0x1p-21;
  expect_seen(judge, tiny, {0x1p-20, static_cast<float>(0x1p-21 / (0x1p-20 + 1e-6)), 0});
  sample.shape = "p2.1_scaled";
  sample.scalars["limit"] = 8;
  sample.inputs["unscale"] = values(Dtype::f32, {0.25});
  expect_seen(judge, sample, {1.5, 0.25, 0});
  sample.inputs["unscale"] = values(Dtype::f32, {4});
  expect_seen(judge, sample, {24, static_cast<float>(4 * (8 / (24 + 1e-6))), 0});
}

// In the first, the last and another element of each tensor.
KG_OWN_TEST(FindsEachInfinity) {
  const std::vector<std::int64_t> sizes = {1, 4097, 20000};
  for (std::size_t t = 0; t < sizes.size(); ++t)
    for (const std::int64_t at : {std::int64_t{0}, sizes[t] / 3, sizes[t] - 1}) {
      Sample sample{.fill = "one infinity", .shape = "p1.4097.20000"};
      std::vector<double> g(static_cast<std::size_t>(sizes[t]), 0.5);
      g[static_cast<std::size_t>(at)] = at % 2 == 0 ? kInfinity : -kInfinity;
      sample.inputs["gradient" + std::to_string(t)] = values(judge.dtype(), std::move(g));
      expect_seen(judge, sample, {kInfinity, 0, 1});
    }
}

// Each element counts: the norm without it differs.
KG_OWN_TEST(CountsEachElement) {
  const std::int64_t size = 16385;
  for (const std::int64_t at :
       {std::int64_t{0}, std::int64_t{4095}, std::int64_t{4096}, std::int64_t{8191},
        std::int64_t{12287}, std::int64_t{16383}, std::int64_t{16384}}) {
    std::vector<double> g(static_cast<std::size_t>(size), 0);
    g[static_cast<std::size_t>(at)] = -3;
    const Sample sample{.fill = "one number",
                        .shape = "p16385",
                        .inputs = {{"gradient0", values(judge.dtype(), std::move(g))}},
                        .scalars = {{"limit", 100}}};
    expect_seen(judge, sample, {3, 1, 0});
  }
}

// More blocks than the last launch has threads.
KG_OWN_TEST(ManyBlocks) {
  dispatch(judge.dtype(), [&]<class T>() {
    constexpr std::size_t kTensors = 5000, kSize = 3;
    const DeviceBuffer<T> data = DeviceBuffer<T>::from_host(
        std::vector<T>(kTensors * kSize, from_float<T>(2)), judge.stream());
    std::vector<grad_norm::Gradient<T>> gradients;
    for (std::size_t i = 0; i < kTensors; ++i)
      gradients.push_back({kSize, data.data() + i * kSize});
    const std::span<const grad_norm::Gradient<T>> all = gradients;
    const DeviceBuffer<std::byte> memory(grad_norm::table_bytes(all));
    const DeviceBuffer<float> numbers(2);
    const DeviceBuffer<std::int32_t> flag(1);
    const auto table = grad_norm::make_table(all, {numbers.data(), numbers.data() + 1, flag.data()},
                                             memory.data(), judge.stream());
    for (const grad_norm::Variant variant : grad_norm::kVariants) {
      grad_norm::run(table, nullptr, 1e6, variant, judge.stream());
      EXPECT_EQ(numbers.to_host(judge.stream())[0], std::sqrt(4.0F * kTensors * kSize));
      EXPECT_EQ(flag.to_host(judge.stream())[0], 0);
      EXPECT_NO_THROW(memory.check_guards());
    }
  });
}

KG_OWN_TEST(RefusesTables) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(1024);
    const DeviceBuffer<float> numbers(16);
    const DeviceBuffer<std::int32_t> flags(4);
    const DeviceBuffer<std::byte> memory(4096);
    const grad_norm::Results results{numbers.data(), numbers.data() + 1, flags.data()};
    std::vector<grad_norm::Gradient<T>> valid = {{500, data.data()}, {500, data.data() + 500}};
    const auto make = [&](const std::vector<grad_norm::Gradient<T>>& gradients,
                          const grad_norm::Results& to, void* at) {
      return grad_norm::make_table<T>(gradients, to, at, judge.stream());
    };
    EXPECT_NO_THROW(make(valid, results, memory.data()));
    EXPECT_THROW(make(valid, results, nullptr), Error);
    EXPECT_THROW(make(valid, results, memory.data() + 4), Error);
    EXPECT_THROW(make({{-1, data.data()}}, results, memory.data()), Error);
    EXPECT_THROW(make({{1, nullptr}}, results, memory.data()), Error);
    grad_norm::Results wrong = results;
    wrong.scale = wrong.norm;
    EXPECT_THROW(make(valid, wrong, memory.data()), Error);
    wrong = results;
    wrong.found_inf = reinterpret_cast<std::int32_t*>(wrong.scale);
    EXPECT_THROW(make(valid, wrong, memory.data()), Error);
    wrong = results;
    wrong.found_inf = nullptr;
    EXPECT_THROW(make(valid, wrong, memory.data()), Error);
    const auto table = make(valid, results, memory.data());
    LaunchRecorder recorder;
    EXPECT_THROW(grad_norm::run(table, nullptr, -1, grad_norm::Variant::automatic, judge.stream()),
                 Error);
    EXPECT_TRUE(recorder.launches().empty());
  });
}

} // namespace
} // namespace kg::card
