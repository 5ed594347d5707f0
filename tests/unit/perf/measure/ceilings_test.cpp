// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The probes on the device of this build, whose results are looked at, and the ceilings made of
// their times, which are invented ones. Nothing here asserts a measured time.
#include "perf/lab/ceilings/ceilings.h"

#include "runtime/device.h"
#include "tests/unit/perf/measure/fake_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace kg::perf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

std::vector<Probe> all_probes() {
  std::vector<Probe> probes = stream_probes();
  for (const auto& more : {arithmetic_probes(), product_probes()})
    probes.insert(probes.end(), more.begin(), more.end());
  return probes;
}

TEST(Probes, LeaveWhatTheyMust) {
  Stream stream;
  std::set<std::string> names;
  for (const Probe& probe : all_probes()) {
    SCOPED_TRACE(probe.name);
    EXPECT_TRUE(names.insert(probe.name).second);
    EXPECT_GT(probe.amount, 0);
    const Workload workload = probe.make();
    workload.poison(stream);
    EXPECT_NE(workload.verify(stream), "") << "before it ran";
    workload.run(stream);
    EXPECT_EQ(workload.verify(stream), "");
  }
  for (const char* name : {"read_bytes_per_s", "write_bytes_per_s", "copy_bytes_per_s",
                           "add_bytes_per_s", "l2_read_bytes_per_s", "fma_f32_flops_per_s"})
    EXPECT_TRUE(names.contains(name)) << name;
}

// Reading counts once, copying twice, adding three times; what lies in the L2 is read more
// than once.
TEST(Probes, CountWhatTheyMove) {
  const std::vector<Probe> probes = stream_probes();
  ASSERT_EQ(probes.size(), 5u);
  const double array = probes[0].amount;
  EXPECT_EQ(probes[1].amount, array);
  EXPECT_EQ(probes[2].amount, 2 * array);
  EXPECT_EQ(probes[3].amount, 3 * array);
  EXPECT_GE(probes[4].amount, 2 * (static_cast<double>(device_properties().l2_bytes) / 4));
}

Workload taking(test::FakeTime& time, double ns, const std::string& wrong = "") {
  return {[&time, ns](Stream&) { time.pass(ns); }, [](Stream&) {},
          [wrong](Stream&) { return wrong; }, "probe"};
}

const Ceiling& named(const std::vector<Ceiling>& ceilings, std::string_view name) {
  for (const Ceiling& ceiling : ceilings)
    if (ceiling.name == name) return ceiling;
  throw Error("no ceiling " + std::string(name));
}

TEST(Ceilings, AreAmountsOverTheMedianTime) {
  test::FakeTime time;
  const auto make = [&] { return taking(time, 2e6); };
  const auto found = measure_ceilings({{"copy_bytes_per_s", Bound::memory, 8e6, make}},
                                      *test::fake_apparatus(time));
  const Ceiling& copy = named(found, "copy_bytes_per_s");
  EXPECT_EQ(copy.problem, "");
  EXPECT_DOUBLE_EQ(copy.value, 4e9);
  EXPECT_DOUBLE_EQ(copy.low, 4e9);
  EXPECT_DOUBLE_EQ(copy.high, 4e9);
  EXPECT_DOUBLE_EQ(named(found, "empty_launch_ns").value, 1e6);
}

TEST(Ceilings, OfAWrongResultThereIsNone) {
  test::FakeTime time;
  const auto make = [&] { return taking(time, 2e6, "element 0 is 1 instead of 0.75"); };
  const auto found = measure_ceilings({{"copy_bytes_per_s", Bound::memory, 8e6, make}},
                                      *test::fake_apparatus(time));
  EXPECT_THAT(named(found, "copy_bytes_per_s").problem, HasSubstr("element 0 is 1"));
  EXPECT_FALSE(roofs_of(found).contains("copy_bytes_per_s"));
  EXPECT_FALSE(roofs_of(found).contains("dram_bytes_per_s"));
}

TEST(Ceilings, RoofsAreTheGreatestOfTheirKind) {
  EXPECT_THAT(roofs_of({{"read_bytes_per_s", 3}, {"add_bytes_per_s", 5}, {"copy_bytes_per_s", 4}}),
              UnorderedElementsAre(Pair("read_bytes_per_s", 3), Pair("add_bytes_per_s", 5),
                                   Pair("copy_bytes_per_s", 4), Pair("dram_bytes_per_s", 5)));
  EXPECT_THAT(roofs_of({{"read_bytes_per_s", 3}, {"l2_read_bytes_per_s", 6}}),
              UnorderedElementsAre(Pair("read_bytes_per_s", 3), Pair("l2_read_bytes_per_s", 6),
                                   Pair("dram_bytes_per_s", 3)));
  EXPECT_THAT(roofs_of({{"fma_f32_flops_per_s", 60}, {"cublas_f32_flops_per_s", 50}}),
              UnorderedElementsAre(Pair("fma_f32_flops_per_s", 60),
                                   Pair("cublas_f32_flops_per_s", 50),
                                   Pair("f32_flops_per_s", 60)));
  EXPECT_THAT(roofs_of({{"mma_bf16_flops_per_s", 600}, {"cublas_bf16_flops_per_s", 800}}),
              UnorderedElementsAre(Pair("mma_bf16_flops_per_s", 600),
                                   Pair("cublas_bf16_flops_per_s", 800),
                                   Pair("bf16_matrix_flops_per_s", 800)));
  EXPECT_THAT(roofs_of({{"mma_tf32_flops_per_s", 300}}),
              ElementsAre(Pair("f32_matrix_flops_per_s", 300), Pair("mma_tf32_flops_per_s", 300)));
  EXPECT_THAT(roofs_of({{"empty_node_ns", 1200}}), ElementsAre(Pair("empty_node_ns", 1200)));
}

} // namespace
} // namespace kg::perf
