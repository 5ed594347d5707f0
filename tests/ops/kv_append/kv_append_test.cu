// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to kv_append; its card configures those of every operation.
#include "ops/kv_append/kv_append.h"

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"

namespace kg::card {
namespace {

// A sequence may append nothing, and tokens beyond the capacity are dropped.
KG_OWN_TEST(PlacesOutsideAreNotStored) {
  for (const char* const page : {"", "_page3"}) {
    const std::string shape = std::string("b5_t3_h2_d16_k7") + page;
    judge.check({"patterns", shape, {{"lengths", values(Dtype::i32, {-3, -1, 5, 7, 2000000000})}}});
  }
}

// Appending tokens one by one equals appending them at once.
KG_OWN_TEST(TokensMayComeOneByOne) {
  const auto shape = [](int tokens) {
    return "b2_t" + std::to_string(tokens) + "_h2_d16_k9_page4";
  };
  const Problem whole = problem_of(judge.card(), judge.dtype(), {"patterns", shape(3)});
  const Inputs inputs = completed(whole, {});
  judge.each_variant({"patterns", shape(3)}, [&](const Variant& variant) {
    const Outcome at_once = judge.run(variant, whole, inputs);
    const Problem single = problem_of(judge.card(), judge.dtype(), {"patterns", shape(1)});
    Inputs step = inputs;
    for (int token = 0; token < 3; ++token) {
      for (const char* const name : {"k", "v"}) {
        test::Observed rows{judge.dtype(), {}, {}};
        const test::Observed& all = inputs.at(name);
        for (std::size_t sequence = 0; sequence < 2; ++sequence)
          for (std::size_t i = 0; i < 32; ++i) {
            const std::size_t at = (sequence * 3 + static_cast<std::size_t>(token)) * 32 + i;
            rows.values.push_back(all.values.at(at));
            rows.bits.push_back(all.bits.at(at));
          }
        step[name] = rows;
      }
      step["lengths"] = inputs.at("lengths");
      for (double& length : step["lengths"].values) length += token;
      step["lengths"].bits.clear();
      const Outcome next = judge.run(variant, single, step);
      for (const char* const name : {"k_cache", "v_cache"}) step[name] = next.outputs.at(name);
    }
    for (const char* const name : {"k_cache", "v_cache"})
      EXPECT_EQ(step.at(name).bits, at_once.outputs.at(name).bits) << variant.name << ": " << name;
  });
}

KG_OWN_TEST(RefusesOtherProblems) {
  const DeviceBuffer<std::int32_t> data(4096), numbers(8);
  const kv_append::Problem valid{.batch = 2,
                                 .tokens = 1,
                                 .heads = 2,
                                 .keys = 8,
                                 .depth = 4,
                                 .value_depth = 4,
                                 .k = data.data(),
                                 .k_stride = {8, 4, 8},
                                 .v = data.data() + 512,
                                 .v_stride = {8, 4, 8},
                                 .k_cache = data.data() + 1024,
                                 .k_cache_stride = {32, 4, 8},
                                 .v_cache = data.data() + 2048,
                                 .v_cache_stride = {32, 4, 8},
                                 .lengths = numbers.data(),
                                 .table = {4, numbers.data() + 2, 2}};
  const auto refuses = [&](const char* what, std::size_t bytes, auto change) {
    kv_append::Problem wrong = valid;
    change(wrong);
    LaunchRecorder recorder;
    EXPECT_THROW(kv_append::run(wrong, bytes, kv_append::Variant::automatic, judge.stream()), Error)
        << what;
    EXPECT_TRUE(recorder.launches().empty()) << what;
  };
  refuses("elements of three bytes", 3, [](auto&) {});
  refuses("pages without tokens", 4, [](auto& wrong) { wrong.table.tokens = 0; });
  refuses("fewer pages than keys", 4, [](auto& wrong) { wrong.table.stride = 1; });
  refuses("no lengths", 4, [](auto& wrong) { wrong.lengths = nullptr; });
  refuses("heads of a cache that overlap", 4, [](auto& wrong) { wrong.v_cache_stride.head = 3; });
  refuses("a negative stride", 4, [](auto& wrong) { wrong.k_stride.head = -4; });
  refuses("one cache in the other", 4, [](auto& wrong) { wrong.v_cache = wrong.k_cache; });
  refuses("fewer tokens than none", 4, [](auto& wrong) { wrong.tokens = -1; });
}

} // namespace
} // namespace kg::card
