// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading what ncu wrote, and laying counts beside it. The files are written by hand after the
// documentation of ncu's raw page.
#include "perf/code/ncu/agreement.h"
#include "perf/code/ncu/ncu.h"
#include "runtime/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::hardware {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

constexpr const char* kFile = R"csv(==PROF== Connected to process 12
==PROF== Disconnected from process 12
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum"
"","","","","","","","","","","","request","sector","sector"
"0","12","kernelgrade","gpu","void kg::copy::<unnamed>::naive<float>(long, const T1 *)","1","7","(256, 1, 1)","(64, 2, 1)","0","9.0","1,024","4,096","n/a"
"1","12","kernelgrade","gpu","naive(int)","1","7","(32, 4, 1)","(1, 1, 1)","0","9.0","8","16","16"
)csv";

TEST(Ncu, ReadsLaunchesAndTheirMetrics) {
  const std::vector<Launch> launches = parse_ncu(kFile, "softmax.csv");
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_THAT(launches[0].grid, ElementsAre(64, 2, 1));
  EXPECT_THAT(launches[0].block, ElementsAre(256, 1, 1));
  EXPECT_THAT(launches[0].metrics,
              UnorderedElementsAre(Pair("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1024),
                                   Pair("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 4096)));
  EXPECT_EQ(launches[1].kernel, "naive(int)");
}

TEST(Ncu, FaultsNameTheLine) {
  EXPECT_THAT([] { parse_ncu("==PROF== nothing\n", "x.csv"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("x.csv"), HasSubstr("no table"))));
  const std::string file = kFile;
  EXPECT_THAT(
      [&] { parse_ncu(file + "\"2\",\"12\"\n", "x.csv"); },
      ThrowsMessage<Error>(AllOf(HasSubstr("x.csv:7: 2 fields"), HasSubstr("interrupted"))));
  std::string other = file;
  other.replace(other.find("(32, 4, 1)"), 10, "32 threads");
  EXPECT_THAT([&] { parse_ncu(other, "x.csv"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("x.csv:6"), HasSubstr("'32 threads'"))));
  std::string unnamed = file;
  unnamed.replace(unnamed.find("Kernel Name"), 11, "Kernel");
  EXPECT_THAT([&] { parse_ncu(unnamed, "x.csv"); },
              ThrowsMessage<Error>(HasSubstr("no column 'Kernel Name'")));
}

TEST(Ncu, KernelsAreKnownByTheirOwnName) {
  EXPECT_EQ(own_name("void kg::softmax::(anonymous namespace)::block<float, 4>(long)"), "block");
  EXPECT_EQ(own_name("void kg::copy::<unnamed>::naive<T1>(long, T1 *)"), "naive");
  EXPECT_EQ(own_name("naive(int)"), "naive");
  EXPECT_EQ(own_name("naive"), "naive");
}

count::Site site(count::Memory memory, count::Access access, std::uint64_t requests,
                 std::uint64_t sectors, std::uint64_t wavefronts) {
  count::Site made;
  made.memory = memory;
  made.access = access;
  made.requests = requests;
  made.sectors = sectors;
  made.direct_wavefronts = made.least_direct_wavefronts = wavefronts;
  return made;
}

count::Launch counted() {
  using count::Access;
  using count::Memory;
  count::Launch launch;
  launch.kernel = "kg::copy::naive<float>";
  launch.grid = {64, 2, 1};
  launch.block = {256, 1, 1};
  launch.sites = {
      site(Memory::global, Access::load, 10, 40, 0), site(Memory::global, Access::load, 1, 5, 0),
      site(Memory::global, Access::store, 7, 30, 0), site(Memory::shared, Access::load, 3, 0, 6),
      site(Memory::shared, Access::store, 3, 0, 3)};
  launch.sites.back().direct_wavefronts = 5;
  launch.sites.back().wavefronts = 50; // with what copies bring
  launch.barriers = 128;
  launch.collectives = {{"__shfl_xor_sync", 100}, {"__ballot_sync", 7}};
  return launch;
}

Launch measured(std::map<std::string, double> metrics) {
  return {"void kg::copy::naive<float>(long)", {64, 2, 1}, {256, 1, 1}, std::move(metrics)};
}

TEST(Hardware, QuantitiesAreSumsOverTheirLines) {
  const std::vector<Launch> launches = {
      measured({{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 11},
                {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 40},
                {"l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", 5},
                {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 8},
                {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 30},
                {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 1300},
                {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 4}})};
  std::map<std::string, std::pair<double, double>> found;
  for (const Compared& compared : compare({counted()}, launches)) {
    EXPECT_EQ(compared.kernel, "naive");
    found[compared.quantity] = {compared.counted, compared.measured};
  }
  EXPECT_THAT(found, UnorderedElementsAre(
                         Pair("load requests", Pair(11, 11)), Pair("load sectors", Pair(45, 45)),
                         Pair("store requests", Pair(7, 8)), Pair("store sectors", Pair(30, 30)),
                         Pair("shared wavefronts", Pair(9 + 100 + 128 + 64 * 2 * 8, 1296)),
                         Pair("bank conflicts", Pair(2, 4))));
}

TEST(Hardware, WhatWasNotAskedForIsLeftOut) {
  const std::vector<Launch> launches = {
      measured({{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 30}})};
  const auto found = compare({counted()}, launches);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].quantity, "store sectors");
  EXPECT_EQ(found[0].ratio(), 1);
}

TEST(Hardware, OtherLaunchesAreNotCompared) {
  const std::vector<Launch> one = {measured({})};
  std::vector<Launch> other = one;
  EXPECT_THAT(
      [&] {
        compare({counted(), counted()}, one);
      },
      ThrowsMessage<Error>(HasSubstr("2 launches here and 1 on the hardware")));
  other[0].grid = {132, 1, 1};
  EXPECT_THAT([&] { compare({counted()}, other); },
              ThrowsMessage<Error>(AllOf(HasSubstr("(64, 2, 1) blocks"),
                                         HasSubstr("(132, 1, 1) blocks of (256, 1, 1)"))));
  other[0] = one[0];
  other[0].kernel = "vectorized(int)";
  EXPECT_THAT([&] { compare({counted()}, other); },
              ThrowsMessage<Error>(HasSubstr("vectorized of")));
}

} // namespace
} // namespace kg::hardware
