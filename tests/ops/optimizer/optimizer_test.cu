// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to optimizers; their card configures those of every operation.
#include "ops/optimizer/optimizer.h"

#include <cmath>

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_optimizer.h"
#include "tests/oracle/tolerance.h"

namespace kg::card {
namespace {

using optimizer::Kind;

std::string parameter(Dtype dtype) { return dtype == Dtype::f32 ? "value0" : "master0"; }

// A sample of one tensor without decay and scale.
Sample sample_of(Dtype dtype, const std::string& shape, std::vector<double> value,
                 std::vector<double> gradient) {
  return {.fill = "by hand",
          .shape = shape,
          .inputs = {{parameter(dtype), values(Dtype::f32, std::move(value))},
                     {"gradient0", values(dtype, std::move(gradient))},
                     {"scale", values(Dtype::f32, {1})}},
          .scalars = {{"rate", 0.5}, {"decay", 0}}};
}

// Expects these exact values of an output from each variant.
void expect_exactly(Judge& judge, const Sample& sample, const std::string& output,
                    const std::vector<double>& expected) {
  judge.each_variant(sample, [&](const Variant& variant) {
    EXPECT_EQ(judge.run(variant.name, sample).outputs.at(output).values, expected)
        << variant.name << ": " << output << " of " << sample.shape;
  });
}

KG_OWN_TEST(StepsByHand) {
  const Dtype dtype = judge.dtype();
  Sample sgd = sample_of(dtype, "sgd_p3", {1, 2, -4}, {2, -1, 0});
  expect_exactly(judge, sgd, "value0", {0, 2.5, -4}); // 1 - 0.5 * 2, ...
  sgd.inputs["scale"] = values(Dtype::f32, {0.25});
  sgd.scalars["decay"] = 0.5; // g = 0.5 + 0.5, -0.25 + 1, -2
  expect_exactly(judge, sgd, "value0", {0.5, 1.625, -3});

  Sample momentum = sample_of(dtype, "momentum_p2", {1, 2}, {2, -1});
  momentum.inputs["first0"] = values(Dtype::f32, {4, 8});
  momentum.scalars["beta1"] = 0.5;
  expect_exactly(judge, momentum, "first0", {4, 3}); // 0.5 * 4 + 2, 0.5 * 8 - 1
  expect_exactly(judge, momentum, "value0", {-1, 0.5});

  // Looks ahead: 2 + 0.5 * 4, -1 + 0.5 * 3.
  Sample nesterov = momentum;
  nesterov.shape = "nesterov_p2";
  expect_exactly(judge, nesterov, "first0", {4, 3});
  expect_exactly(judge, nesterov, "value0", {-1, 1.75});

  // First step from zero: m = 2 and v = 4; corrected 4 and 16: 0.5 * 4 / (4 + 4).
  Sample adam = sample_of(dtype, "adam_p2_t1", {1, 1}, {4, -4});
  adam.inputs["first0"] = adam.inputs["second0"] = values(Dtype::f32, {0, 0});
  adam.scalars.insert({{"beta1", 0.5}, {"beta2", 0.75}, {"epsilon", 4}});
  expect_exactly(judge, adam, "first0", {2, -2});
  expect_exactly(judge, adam, "second0", {4, 4});
  expect_exactly(judge, adam, "value0", {0.75, 1.25});

  // The third step: 1 - 0.5^3 = 7/8, 1 - 0.75^3 = 37/64.
  adam.shape = "adam_p2_t3";
  judge.each_variant(adam, [&](const Variant& variant) {
    const double expected = 1 - 0.5 * (2 / 0.875) / (std::sqrt(4 / 0.578125) + 4);
    const double u = unit_roundoff(dtype);
    EXPECT_NEAR(judge.run(variant.name, adam).outputs.at("value0").values[0], expected, 8 * u)
        << variant.name;
  });
}

// adam's decay passes through its moments, that of adamw and lion does not.
KG_OWN_TEST(DecoupledDecay) {
  const Dtype dtype = judge.dtype();
  Sample adam = sample_of(dtype, "adam_p2_t1", {8, -8}, {4, 4});
  adam.inputs["first0"] = adam.inputs["second0"] = values(Dtype::f32, {0, 0});
  adam.scalars.insert({{"beta1", 0.5}, {"beta2", 0.75}, {"epsilon", 8}});
  adam.scalars["decay"] = 0.5; // g = 4 + 4, 4 - 4
  expect_exactly(judge, adam, "first0", {4, 0});
  expect_exactly(judge, adam, "second0", {16, 0});
  expect_exactly(judge, adam, "value0", {8 - 0.5 * 8 / (8 + 8), -8});

  Sample adamw = adam;
  adamw.shape = "adamw_p2_t1";
  adamw.scalars["epsilon"] = 4;
  expect_exactly(judge, adamw, "first0", {2, 2});
  expect_exactly(judge, adamw, "second0", {4, 4});
  expect_exactly(judge, adamw, "value0", {0.75 * 8 - 0.25, 0.75 * -8 - 0.25});
}

// Steps of one length in either direction, and no step if the blend is 0.
KG_OWN_TEST(LionsSign) {
  const Dtype dtype = judge.dtype();
  Sample lion = sample_of(dtype, "lion_p6", {1, 1, 1, 1, 1, 1}, {0x1p-14, -512, 0, 0, -6, 6});
  lion.inputs["first0"] = values(Dtype::f32, {0, 0, 0x1p-100, 0, 6, -6});
  lion.scalars.insert({{"beta1", 0.5}, {"beta2", 0.75}});
  expect_exactly(judge, lion, "value0", {0.5, 1.5, 0.5, 1, 1, 1});
  expect_exactly(judge, lion, "first0", {0x1p-16, -128, 0.75 * 0x1p-100, 0, 3, -3});
  lion.scalars["decay"] = 0.5;
  expect_exactly(judge, lion, "value0", {0.25, 1.25, 0.25, 0.75, 0.75, 0.75});
}

// Including payloads of NaNs, for any flag value.
KG_OWN_TEST(FoundInfLeavesAllBits) {
  for (const Kind kind : optimizer::kKinds)
    for (const double flag : {1.0, -1.0, 65536.0}) {
      const std::string step = has_second(kind) ? "_t7" : "";
      Sample sample{"all patterns", std::string(name(kind)) + "_p5000.3" + step};
      const Problem problem = problem_of(judge.card(), judge.dtype(), sample);
      for (const Tensor& output : problem.outputs)
        sample.inputs[output.name] =
            bits(output.dtype, test::unique_bits(output.dtype, output.size()));
      sample.inputs["found_inf"] = values(Dtype::i32, {flag});
      judge.each_variant(sample, [&](const Variant& variant) {
        const Outcome outcome = judge.run(variant.name, sample);
        for (const Tensor& output : problem.outputs)
          EXPECT_EQ(outcome.bits(output.name), sample.inputs.at(output.name).bits)
              << variant.name << ": " << name(kind) << " changed " << output.name
              << " where an infinity was found (" << flag << ")";
      });
    }
}

// Ten steps on one table, each with another gradient, compared with fp64 within the tolerance of
// ten steps.
KG_OWN_TEST(TenStepsOfOneTable) {
  constexpr std::size_t kSize = 1000;
  dispatch(judge.dtype(), [&]<class T>() {
    constexpr bool kMaster = sizeof(T) < sizeof(float);
    Stream& stream = judge.stream();
    const std::vector<double> start = test::normal(Dtype::f32, kSize, test::Tensor::a).values;
    for (const Kind kind : optimizer::kKinds)
      for (const optimizer::Variant variant : optimizer::kVariants) {
        const DeviceBuffer<T> value(kSize), gradient(kSize);
        DeviceBuffer<float> kept(kSize), first(kSize), second(kSize);
        fill_bytes(first.data(), 0, first.bytes(), stream);
        fill_bytes(second.data(), 0, second.bytes(), stream);
        optimizer::Parameter<T> p{.size = kSize,
                                  .value = value.data(),
                                  .gradient = gradient.data(),
                                  .master = kept.data(),
                                  .first = first.data(),
                                  .second = second.data()};
        float* values = kept.data();
        if constexpr (!kMaster) {
          values = value.data();
          p.master = nullptr;
        }
        const std::vector<float> narrow(start.begin(), start.end());
        copy_to_device(values, narrow.data(), kSize * sizeof(float), stream);
        const std::span<const optimizer::Parameter<T>> all(&p, 1);
        const DeviceBuffer<std::byte> memory(optimizer::table_bytes(all));
        const auto table = optimizer::make_table(kind, all, memory.data(), stream);
        optimizer::Step step{
            .rate = 0.01, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-6, .decay = 0.1};
        std::vector<test::OptimizerState> right(kSize);
        for (std::size_t i = 0; i < kSize; ++i) right[i].value = test::Running::stored(start[i]);
        for (step.number = 1; step.number <= 10; ++step.number) {
          const auto seed = static_cast<std::uint64_t>(step.number);
          const std::vector<double> g =
              test::normal(judge.dtype(), kSize, test::Tensor::b, seed).values;
          std::vector<T> rounded;
          for (const double each : g) rounded.push_back(from_float<T>(static_cast<float>(each)));
          copy_to_device(gradient.data(), rounded.data(), gradient.bytes(), stream);
          optimizer::run(table, step, variant, stream);
          for (std::size_t i = 0; i < kSize; ++i)
            right[i] = test::optimizer_step(kind, step, 1, right[i], g[i]);
        }
        const auto read = [&](const float* array) {
          std::vector<float> result(kSize);
          copy_to_host(result.data(), array, kSize * sizeof(float), stream);
          return result;
        };
        const std::vector<float> master = read(values);
        const std::vector<float> m = read(first.data()), v = read(second.data());
        const std::vector<T> stored = value.to_host(stream);
        for (std::size_t i = 0; i < kSize; ++i) {
          SCOPED_TRACE(std::string(name(kind)) + ", " + std::string(name(variant)) + ", element " +
                       std::to_string(i));
          ASSERT_NEAR(master[i], right[i].value.value, right[i].value.error);
          ASSERT_NEAR(m[i], right[i].first.value, right[i].first.error);
          ASSERT_NEAR(v[i], right[i].second.value, right[i].second.error);
          ASSERT_EQ(to_float(stored[i]), to_float(from_float<T>(master[i])));
        }
        memory.check_guards();
      }
  });
}

// The tolerance is tight enough: a wrong correction of the moments exceeds it by far.
KG_OWN_TEST(BoundsTellStepsApart) {
  const optimizer::Step third{
      .rate = 0.01, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-6, .number = 3};
  optimizer::Step fourth = third;
  fourth.number = 4;
  const test::OptimizerState from{{1, 0}, {0.25, 0}, {0.5, 0}};
  const auto [expected, error] = test::optimizer_step(Kind::adam, third, 1, from, 0.5).value;
  const double other = test::optimizer_step(Kind::adam, fourth, 1, from, 0.5).value.value;
  EXPECT_GT(std::fabs(other - expected), 100 * error);
  EXPECT_LT(error, 1e-6);
}

KG_OWN_TEST(RefusesTables) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> narrow(4096);
    const DeviceBuffer<float> wide(4096);
    const DeviceBuffer<std::byte> memory(4096);
    std::vector<optimizer::Parameter<T>> valid(2);
    for (std::size_t i = 0; i < 2; ++i)
      valid[i] = {.size = 100,
                  .value = narrow.data() + 1000 * i,
                  .gradient = narrow.data() + 2000 + 1000 * i,
                  .master = wide.data() + 1000 * i,
                  .first = wide.data() + 200 + 1000 * i,
                  .second = wide.data() + 400 + 1000 * i};
    using Parameters = std::vector<optimizer::Parameter<T>>;
    const auto make = [&](Kind kind, const Parameters& parameters, void* at) {
      return optimizer::make_table<T>(kind, parameters, at, judge.stream());
    };
    const auto refuses = [&](const char* what, Kind kind, auto change) {
      Parameters wrong = valid;
      change(wrong);
      EXPECT_THROW(make(kind, wrong, memory.data()), Error) << what;
    };
    EXPECT_NO_THROW(make(Kind::adam, valid, memory.data()));
    EXPECT_THROW(make(Kind::adam, valid, nullptr), Error);
    EXPECT_THROW(make(Kind::adam, valid, memory.data() + 8), Error);
    refuses("a moment of two", Kind::adam, [](auto& wrong) { wrong[1].first = wrong[0].first; });
    refuses("a moment within the other", Kind::adam,
            [](auto& wrong) { wrong[0].second = wrong[0].first + 99; });
    refuses("a gradient that is written", Kind::sgd,
            [](auto& wrong) { wrong[1].gradient = wrong[0].value + 1; });
    refuses("no second moment", Kind::adam, [](auto& wrong) { wrong[1].second = nullptr; });
    refuses("a negative size", Kind::sgd, [](auto& wrong) { wrong[1].size = -1; });
    refuses("a size that no grid takes", Kind::sgd,
            [](auto& wrong) { wrong[1].size = std::int64_t{1} << 45; });
    Parameters shared = valid; // which is only read
    shared[1].gradient = shared[0].gradient;
    EXPECT_NO_THROW(make(Kind::adam, shared, memory.data()));
    Parameters few = valid; // sgd has no moments
    few[0].first = few[0].second = few[1].first = few[1].second = nullptr;
    const auto sgd = make(Kind::sgd, few, memory.data());
    LaunchRecorder recorder;
    EXPECT_THROW(optimizer::run(sgd, {.rate = -1}, optimizer::Variant::automatic, judge.stream()),
                 Error);
    const auto adam = make(Kind::adam, valid, memory.data());
    EXPECT_THROW(optimizer::run(adam, {.number = 0}, optimizer::Variant::naive, judge.stream()),
                 Error);
    EXPECT_TRUE(recorder.launches().empty());
  });
}

// The card builds one table for all runs on the same tensors, and another for other tensors.
KG_OWN_TEST(TablesFollowTheirTensors) {
  const Problem problem = problem_of(judge.card(), judge.dtype(), {"normal", "sgd_p3"});
  Call call(problem);
  int made = 0;
  const auto made_by = [&](const Call& each) { return each.once([&] { return ++made; }); };
  EXPECT_EQ(made_by(call), 1);
  EXPECT_EQ(made_by(call), 1);
  const Call copy = call; // on the same tensors
  EXPECT_EQ(made_by(copy), 1);
  call.bind("gradient0", nullptr);
  EXPECT_EQ(made_by(call), 2);
  EXPECT_EQ(made_by(copy), 1);
}

// Hundreds of tensors in one launch.
KG_OWN_TEST(OneLaunch) {
  std::string shape = "lion_p4097";
  for (int i = 0; i < 300; ++i) shape += ".3";
  const Sample sample{"normal", shape};
  judge.each_variant(sample, [&](const Variant& variant) {
    EXPECT_EQ(judge.run(variant.name, sample).kernels.size(), 1u) << variant.name;
  });
}

} // namespace
} // namespace kg::card
