// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to concat and split; their card configures those of every operation.
#include "ops/concat/concat.h"

#include "primitives/row_move.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"

namespace kg::card {
namespace {

// Parts and whole with independent offsets; the contract moves all parts by the same offset.
KG_OWN_TEST(PartsApart) {
  const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(judge.dtype()));
  for (const std::int64_t inner : {3 * pack, 5 * pack + 1})
    for (const char* const op : {"concat", "split"})
      judge.check({"unique_bits", std::string(op) + "_outer4_p2.3_inner" + std::to_string(inner)},
                  {{"part0", {3, 0}}, {"part1", {3, 0}}, {"whole", {2, 0}}});
}

// Every launch for more parts than one takes.
KG_OWN_TEST(KernelsOfManyParts) {
  const Sample nine{"unique_bits", "concat_outer3_p1.2.3.4.5.6.7.8.9_inner2"};
  judge.each_variant(nine, [&](const Variant& variant) {
    const Outcome outcome = judge.run(variant.name, nine);
    EXPECT_EQ(outcome.kernels.size(), 2u);
    for (const std::string& kernel : outcome.kernels)
      EXPECT_NE(kernel.find("concat::" + variant.name), std::string::npos) << kernel;
  });
}

// Rows beyond the blocks of the first grid.
KG_OWN_TEST(BeyondOneGrid) {
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * kRowBlocksPerSm;
  const std::string shape = "_outer" + std::to_string(resident * kMostRows + 33) + "_p1.2_inner1";
  judge.check({"unique_bits", "concat" + shape});
  judge.check({"unique_bits", "split" + shape});
}

// Splitting a concatenation restores its parts.
KG_OWN_TEST(ThereAndBack) {
  const std::string shape = "_outer7_p3.0.12_inner11";
  const Sample there{"unique_bits", "concat" + shape};
  const Inputs parts = completed(problem_of(judge.card(), judge.dtype(), there), {});
  judge.each_variant(there, [&](const Variant& variant) {
    Sample back{"unique_bits", "split" + shape};
    back.inputs["whole"] = judge.run(variant.name, there).outputs.at("whole");
    const Outcome outcome = judge.run(variant.name, back);
    for (const auto& [name, part] : parts)
      EXPECT_EQ(outcome.bits(name), part.bits) << variant.name << ", " << name;
  });
}

// Indices beyond 32 bits in the whole and in its second part.
KG_OWN_TEST(MoreThan2To31Elements) {
  const auto problem_in = [&](const std::string& form) {
    return problem_of(judge.card(), judge.dtype(),
                      {"marks", form + "_outer2_p16.536870914_inner2"});
  };
  const Problem problem = problem_in("concat"), back = problem_in("split");
  const std::int64_t count = problem.outputs[0].size();
  KG_HUGE(static_cast<std::size_t>(2 * count) * size_of(judge.dtype()));
  dispatch_moved(judge.dtype(), [&]<class T>() {
    const T everywhere =
        test::from_raw_bits<T>(0x3C3C3C3C3C3C3C3C & test::poison_bits(judge.dtype()));
    std::vector<DeviceBuffer<T>> parts;
    std::vector<test::Marks<T>> marks;
    test::Marks<T> whole;
    std::int64_t first = 0;
    for (const Tensor& part : problem.inputs) {
      const std::int64_t cols = part.extents[1];
      parts.emplace_back(static_cast<std::size_t>(part.size()));
      marks.emplace_back();
      for (const std::int64_t i : {std::int64_t{0}, cols - 1, cols, 2 * cols - 1}) {
        const T mark = test::from_raw_bits<T>(static_cast<std::uint64_t>(whole.size() + 1));
        marks.back()[i] = mark;
        whole[i / cols * problem.outputs[0].extents[1] + first + i % cols] = mark;
      }
      first += cols;
    }
    const DeviceBuffer<T> y(static_cast<std::size_t>(count));
    const auto bound = [&](const Problem& p) {
      Call call(p);
      for (std::size_t i = 0; i < parts.size(); ++i)
        call.bind("part" + std::to_string(i), parts[i].data());
      call.bind("whole", y.data());
      return call;
    };
    for (const Variant& variant : judge.card().variants) {
      for (std::size_t i = 0; i < parts.size(); ++i) {
        fill_bytes(parts[i].data(), 0x3C, parts[i].bytes(), judge.stream());
        test::put(marks[i], parts[i], judge.stream());
      }
      fill_bytes(y.data(), 0, y.bytes(), judge.stream());
      variant.run(bound(problem), judge.stream());
      EXPECT_TRUE(test::holds(y, everywhere, whole, judge.stream())) << variant.name;
      for (const auto& part : parts) fill_bytes(part.data(), 0, part.bytes(), judge.stream());
      variant.run(bound(back), judge.stream());
      for (std::size_t i = 0; i < parts.size(); ++i) {
        EXPECT_TRUE(test::holds(parts[i], everywhere, marks[i], judge.stream())) << variant.name;
        EXPECT_NO_THROW(parts[i].check_guards());
      }
      EXPECT_NO_THROW(y.check_guards());
    }
  });
}

// Problems that no shape can express.
KG_OWN_TEST(RefusesProblems) {
  const DeviceBuffer<double> memory(64);
  const std::vector<const void*> parts = {memory.data(), memory.data() + 8};
  void* const whole = memory.data() + 32;
  const std::size_t bytes = size_of(judge.dtype());
  using Extents = std::vector<std::int64_t>;
  const auto run = [&](std::span<const void* const> from, const Extents& extents,
                       std::int64_t inner, std::size_t element) {
    concat::run_concat(from, whole, {2, inner, extents}, element, concat::Variant::automatic,
                       judge.stream());
  };
  LaunchRecorder recorder;
  EXPECT_THROW(run(parts, {1, 2}, -2, bytes), Error);
  EXPECT_THROW(run(parts, {1, 2, 3}, 2, bytes), Error);
  EXPECT_THROW(run(parts, {1, 2}, 2, 3), Error);
  EXPECT_NO_THROW(run({}, {}, 4, bytes)); // without parts nothing happens
  EXPECT_TRUE(recorder.launches().empty());
}

} // namespace
} // namespace kg::card
