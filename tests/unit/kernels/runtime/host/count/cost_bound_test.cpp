// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The bound of a row as gate and bless have it; its arithmetic is
// tests/unit/perf/code/timing_model/.
#include "perf/judge/exact_table.h"
#include "tests/unit/kernels/runtime/host/count/cost_commands.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>

namespace kg::cli {
namespace {

using test::CostCommands;
using test::Outcome;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// Grid, registers and loads in flight are in a row's bound; what changes there is said.
TEST_F(CostCommands, TheBoundIsGated) {
  launch_.kernel = "kg::copy::copy";
  launch_.grid = {64, 1, 1};
  launch_.block = {256, 1, 1};
  launch_.round_trips = 128;
  launch_.sites[0].sectors = launch_.unique_read = 65536;
  launch_.unique_written = 0;
  const std::filesystem::path resources = folder_.path() / "resources" / "sm_90a-cuda13.0.csv";
  const auto take = [&](double registers) {
    judge::save_exact(
        judge::resource_table(), resources,
        {{{"copy.copy"}, {registers, 0, 0, 0, 0, 256, 100, 0, 0, 0, 0, 0, 0, 0}, "", "why", 0}});
  };
  // As blessed but for the one thing that `change` does.
  const auto changed = [&](const std::function<void()>& change) {
    take(32);
    EXPECT_EQ((*this)({"bless", "--cost", "--why", "again"}).exit_code, 0);
    const count::Launch before = launch_;
    change();
    Outcome outcome = (*this)({"gate", "--cost", "--case", "copy.f32.n64", "--variant", "plain"});
    launch_ = before;
    return outcome;
  };
  const Outcome same = changed([] {});
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;

  const Outcome one_block = changed([&] { launch_.grid = {1, 1, 1}; });
  EXPECT_EQ(one_block.exit_code, 1);
  EXPECT_THAT(one_block.out,
              AllOf(ContainsRegex("bound_ns.h200: regressed: value .*; most of it at copy.cu:12; "
                                  "limited by loads in flight: kg::copy::copy: 1 blocks of 256"),
                    ContainsRegex("serial_round_trips: regressed: value 2 -> 128"),
                    ContainsRegex("\\(info\\) .* waves: .*value 0.5 -> 0.0078125")));
  // 129 blocks do no more than 64 did, but the last of them alone.
  EXPECT_THAT(changed([&] {
                launch_.grid = {129, 1, 1};
              }).out,
              ContainsRegex("bound_ns.h200: regressed: .*1.01 waves of 128 \\(8 on each of 16"));
  EXPECT_THAT(changed([&] { launch_.round_trips *= 2; }).out,
              ContainsRegex("serial_round_trips: regressed: value 2 -> 4.*32 KiB in flight"));
  EXPECT_THAT(changed([&] { take(128); }).out, ContainsRegex("resident_blocks: .*value 8 -> 2"));
  const Outcome unfit = changed([&] { launch_.block = {1024, 1, 1}, take(72); });
  EXPECT_EQ(unfit.exit_code, 1);
  EXPECT_THAT(unfit.out, HasSubstr("bound_ns.h200: invalid: kg::copy::copy does not fit a "
                                   "multiprocessor of nvidia-h200: a block of 1024 threads with "
                                   "72 registers each"));

  std::filesystem::remove(resources);
  const Outcome unknown = (*this)({"gate", "--cost"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.out, ContainsRegex("bound_ns.h200: invalid: .*sm_90a-cuda13.0.csv has no "
                                         "kernel copy.copy, whose registers the bound needs"));
  const Outcome refused = (*this)({"bless", "--cost", "--why", "without"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.out, ContainsRegex("bound_ns.h200 +refused .*has no kernel copy.copy"));
  write_file(resources, "schema,kernel\n");
  EXPECT_THAT((*this)({"gate", "--cost"}).out, ContainsRegex("bound_ns.h200: invalid: .*csv:1"));
}

// One GPU, one model: what profile prints is the bound that gate and bless have. Of the GPUs before
// 9.0 the registers are those for 8.0.
TEST_F(CostCommands, ProfileHasTheGatedBound) {
  launch_.kernel = "kg::copy::copy";
  launch_.grid = {64, 1, 1};
  launch_.block = {256, 1, 1};
  launch_.collectives = {{"mma_m16n8k16<bf16>", 64}};
  const auto save = [&](const char* name, double registers) {
    judge::save_exact(
        judge::resource_table(), folder_.path() / "resources" / name,
        {{{"copy.copy"}, {registers, 0, 0, 0, 0, 256, 100, 0, 0, 0, 0, 0, 0, 0}, "", "why", 0}});
  };
  save("sm_90a-cuda13.0.csv", 32);
  const auto profile = [&](const char* gpu) {
    return (*this)(
               {"profile", "--cost", "--case", "copy.f32.n64", "--variant", "plain", "--gpu", gpu})
        .out;
  };
  const std::string h200 = profile("nvidia-h200");
  EXPECT_THAT(h200,
              ContainsRegex("16 multiprocessors of nvidia-h200, as many as the emulated device "
                            "has, .*registers of sm_90a-cuda13.0"
                            "\nkernel +at least .*\nkg::copy::copy +[0-9.]+ us"));
  EXPECT_EQ((*this)({"bless", "--cost", "--why", "first"}).exit_code, 0);
  const judge::ExactFile costs =
      judge::load_exact(judge::cost_table(), folder_.path() / "simt" / "copy.csv");
  const auto gated =
      std::find_if(costs.rows.begin(), costs.rows.end(), [](const judge::ExactRow& row) {
        return row.key == std::vector<std::string>{"copy.f32.n64", "plain", "bound_ns.h200"};
      });
  ASSERT_NE(gated, costs.rows.end());
  EXPECT_THAT(h200, HasSubstr(fmt::format("kg::copy::copy  {:.3g} us", gated->values[0] / 1000)));

  EXPECT_THAT(profile("nvidia-a100"),
              AllOf(HasSubstr("registers of sm_80-cuda13.0"),
                    HasSubstr("threads and dynamic shared memory alone"),
                    HasSubstr("sm_80-cuda13.0.csv has no kernel copy.copy")));
  save("sm_80-cuda13.0.csv", 32);
  EXPECT_THAT(profile("nvidia-a100"), Not(HasSubstr("has no kernel")));
  EXPECT_THAT(profile("nvidia-t4"), HasSubstr("nvidia-t4 has no MMA instructions on bf16"));
  save("sm_80-cuda13.0.csv", 255);
  launch_.block = {1024, 1, 1};
  EXPECT_THAT(profile("nvidia-a100"), ContainsRegex("kg::copy::copy +- +does not fit"));
}

} // namespace
} // namespace kg::cli
