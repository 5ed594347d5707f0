// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The commands with --cost, on an invented operation whose launches cost what the test says.
#include "perf/cli/temporary_folder.h"
#include "perf/cli/world.h"
#include "perf/judge/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <utility>

namespace kg::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Outcome {
  int exit_code = 0;
  std::string out, err;
};

class CostCommands : public testing::Test {
 protected:
  // copy: f32 and f16; variants plain, slow (not timed) and lib (a vendor's).
  Outcome operator()(const std::vector<std::string>& arguments, bool counts = true) {
    const auto variant = [this](const char* name, bool vendor, bool timed) {
      const auto make = [this, name] {
        return perf::Workload{[this](Stream&) { launches_.push_back(launch_); }, [](Stream&) {},
                              [this](Stream&) { return wrong_; }, name};
      };
      return perf::Variant{name, vendor, make, timed};
    };
    perf::Operation copy{"copy", "layout", {Dtype::f32, Dtype::f16}, {}, {}};
    for (const char* shape : shapes_) copy.shapes.push_back({shape, copy.shapes.empty()});
    copy.make = [variant](Dtype, const perf::Shape&) {
      return perf::Case{perf::Kind::memory,
                        {.bytes = 640},
                        {variant("plain", false, true), variant("slow", false, false),
                         variant("lib", true, true)}};
    };
    std::ostringstream out, err;
    World world{
        .operations = {copy},
        .modes = {judge::Mode::real},
        .baselines = folder_.path(),
        .source = folder_.path(),
        .executable = folder_.path() / "kernelgrade",
        .no_device = [] { return std::string("no device"); },
        .device = [] { return std::string("host"); },
        .apparatus = nullptr,
        .out = out,
        .err = err,
    };
    if (counts) world.take_launches = [this] { return std::exchange(launches_, {}); };
    world.counter_id = counter_id_;
    const int exit_code = kernelgrade(arguments, world);
    return {exit_code, out.str(), err.str()};
  }

  CostCommands() {
    count::Site site;
    site.line = "copy.cu:12";
    site.width = 4;
    site.requests = 10;
    site.lanes = 320;
    site.sectors = site.least_sectors = 40;
    launch_.kernel = "copy";
    launch_.sites = {site};
    launch_.unique_read = launch_.unique_written = 10;
  }

  TemporaryFolder folder_;
  std::vector<const char*> shapes_ = {"n64", "n128"};
  count::Launch launch_;
  std::string wrong_;
  std::string counter_id_ = "g++-12";

 private:
  std::vector<count::Launch> launches_;
};

TEST_F(CostCommands, BlessedCostsPass) {
  EXPECT_EQ((*this)({"gate", "--cost"}).exit_code, 77); // nothing is blessed yet
  EXPECT_EQ((*this)({"gate", "--cost", "--strict"}).exit_code, 1);
  ASSERT_EQ((*this)({"bless", "--cost"}).exit_code, 0);
  const std::string csv = judge::read_file(folder_.path() / "simt" / "copy.csv").value();
  EXPECT_THAT(csv,
              AllOf(HasSubstr("copy.f16.n128,slow,sectors_per_request,4,4,,"),
                    HasSubstr("copy.f32.n64,plain,sectors,40,20,g++-12,"), Not(HasSubstr("lib"))));
  EXPECT_EQ((*this)({"gate", "--cost"}).exit_code, 0);
}

TEST_F(CostCommands, OneSectorMoreFails) {
  ASSERT_EQ((*this)({"bless", "--cost"}).exit_code, 0);
  ++launch_.sites[0].sectors;
  const Outcome outcome = (*this)({"gate", "--cost", "--dtype", "f32"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("sectors_per_request: regressed: value 4 -> 4.1"),
                                 HasSubstr("copy.cu:12"), HasSubstr("misaligned read"),
                                 HasSubstr("kernelgrade gate --cost --case copy.f32.n128")));
  EXPECT_EQ((*this)({"bless", "--cost"}).exit_code, 1); // without a reason
  EXPECT_EQ((*this)({"bless", "--cost", "--why", "unaligned rows"}).exit_code, 0);
  EXPECT_EQ((*this)({"gate", "--cost"}).exit_code, 0);
}

// More requests of the same kind: what another compiler may make of the same kernel.
TEST_F(CostCommands, AnotherCompilerMayCountOtherRequests) {
  ASSERT_EQ((*this)({"bless", "--cost"}).exit_code, 0);
  count::Site& site = launch_.sites[0];
  for (std::uint64_t* count : {&site.requests, &site.lanes, &site.sectors, &site.least_sectors})
    *count *= 2;
  EXPECT_EQ((*this)({"gate", "--cost"}).exit_code, 1);
  counter_id_ = "g++-13";
  EXPECT_EQ((*this)({"gate", "--cost"}).exit_code, 0);
}

TEST_F(CostCommands, RowsThatNothingCountsAreOrphans) {
  ASSERT_EQ((*this)({"bless", "--cost"}).exit_code, 0);
  shapes_ = {"n64", "n256"};
  const Outcome outcome = (*this)({"gate", "--cost"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("orphan"), HasSubstr("copy.f32.n256")));
  EXPECT_EQ((*this)({"gate", "--cost", "--shape", "n64"}).exit_code, 0); // a part of the rows
  EXPECT_EQ((*this)({"bless", "--cost", "--remove-orphans"}).exit_code, 0);
  EXPECT_EQ((*this)({"gate", "--cost"}).exit_code, 0);
}

TEST_F(CostCommands, EveryVariantNeedsTwoShapes) {
  shapes_ = {"n64"};
  ASSERT_EQ((*this)({"bless", "--cost"}).exit_code, 0);
  const Outcome outcome = (*this)({"gate", "--cost"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("copy f16 slow: it has costs for one shape only"));
}

TEST_F(CostCommands, WrongResultsAreNotCounted) {
  wrong_ = "element 5 is 1, not 2";
  const Outcome outcome = (*this)({"bless", "--cost"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("copy.f32.n64 plain real: INVALID: element 5 is 1, not 2"));
}

TEST_F(CostCommands, Profile) {
  const Outcome outcome = (*this)({"profile", "--cost", "--variant", "plain", "--dtype", "f32"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("copy.f32.n64 plain"), HasSubstr("kernel copy"),
                                 HasSubstr("copy.cu:12"), Not(HasSubstr("slow"))));
  EXPECT_EQ((*this)({"profile", "--cost", "--variant", "lib"}).exit_code, 1);
}

TEST_F(CostCommands, WithoutTheCountingProgram) {
  const Outcome outcome = (*this)({"gate", "--cost"}, false);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("kernelgrade-cost"));
  EXPECT_THAT((*this)({"list"}, false).out, Not(HasSubstr("slow")));
}

} // namespace
} // namespace kg::cli
