// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Cubins and fatbins of a tiny kernel, compiled at build time where there is nvcc.
#include "perf/code/identity/cubin.h"
#include "perf/code/identity/elf.h"
#include "perf/code/identity/row_identity.h"
#include "runtime/error.h"
#include "runtime/ptx/fatbin.h"
#include "tests/unit/perf/code/identity/file.h"

#include <gtest/gtest.h>

namespace kg::identity {
namespace {

using test::contents_of;

class DeviceCode : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(test::made("tiny.o")))
      GTEST_SKIP() << "nvcc not found, which compiles device code";
  }

  static std::map<std::string, std::string> code(const std::string& object, int major, int minor) {
    return device_code(contents_of(object), object, major, minor);
  }
};

TEST_F(DeviceCode, ACubinSaysWhatItsKernelTakes) {
  const std::string cubin = contents_of("tiny.sm_90a.cubin");
  const std::vector<CubinKernel> kernels = read_cubin(cubin, "tiny.cubin");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].symbol, "_ZN2kg4tiny5scaleEPf");
  EXPECT_EQ(kernels[0].name, "kg::tiny::scale");
  EXPECT_EQ(kernels[0].max_threads, 128);
  EXPECT_GT(kernels[0].registers, 0);
  EXPECT_EQ(kernels[0].hash.size(), 32u);
}

TEST_F(DeviceCode, AFatbinHoldsTheCubinsThatTheCompilerMakes) {
  const std::string object = contents_of("tiny.o");
  const Elf elf(object, "tiny.o");
  ASSERT_NE(elf.find(".nv_fatbin"), nullptr);
  const auto entries = read_fatbin(elf.find(".nv_fatbin")->contents, "tiny.o");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].arch_name(), "sm_80");
  EXPECT_EQ(entries[1].arch_name(), "sm_90a");
  for (const FatbinEntry& entry : entries) {
    const std::string name = "tiny." + entry.arch_name() + ".cubin";
    const std::string cubin = contents_of(name);
    EXPECT_EQ(read_cubin(entry.cubin(), "embedded").at(0).hash, read_cubin(cubin, name).at(0).hash);
    EXPECT_THROW(entry.ptx(), Error);
  }
}

TEST_F(DeviceCode, ItIsThatOfTheGpu) {
  const auto ampere = code("tiny.o", 8, 0), hopper = code("tiny.o", 9, 0);
  ASSERT_EQ(ampere.size(), 1u);
  ASSERT_TRUE(ampere.contains("kg::tiny::scale"));
  EXPECT_NE(ampere, hopper);
  EXPECT_EQ(code("tiny.o", 8, 6), ampere) << "8.6 runs the code of 8.0";
  EXPECT_TRUE(code("tiny.o", 7, 5).empty()) << "no machine code";
  EXPECT_TRUE(code("tiny.o", 10, 0).empty());
}

TEST_F(DeviceCode, LineInformationIsNoneOfItAndAConstantIs) {
  EXPECT_EQ(code("tiny_lineinfo.o", 9, 0), code("tiny.o", 9, 0));
  EXPECT_NE(code("tiny_changed.o", 9, 0), code("tiny.o", 9, 0));
}

TEST_F(DeviceCode, CompressedCodeIsAnErrorWithTheMend) {
  try {
    code("tiny_compressed.o", 9, 0);
    FAIL() << "compressed code was read";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--no-compress"), std::string::npos) << error.what();
  }
}

TEST_F(DeviceCode, BrokenContainersAreErrors) {
  const std::string object = contents_of("tiny.o");
  const std::string section(Elf(object, "tiny.o").find(".nv_fatbin")->contents);
  for (const std::size_t size : {std::size_t{3}, std::size_t{40}, section.size() - 1})
    EXPECT_THROW(read_fatbin(std::string_view(section).substr(0, size), "x"), Error) << size;
  std::string wrong = section;
  wrong[0] = 1;
  EXPECT_THROW(read_fatbin(wrong, "x"), Error);
  EXPECT_TRUE(read_fatbin("", "x").empty());
}

TEST(RowIdentity, IsOfTheCodeAndEachLaunch) {
  const auto code = [](const std::string& kernel) { return "code of " + kernel; };
  const LaunchRecord first{nullptr, "scale", {4}, {128}, {1}, 0, false};
  const std::string one = row_identity({first}, code);
  EXPECT_EQ(one.size(), 32u);
  EXPECT_EQ(row_identity({first}, code), one);
  EXPECT_NE(row_identity({first, first}, code), one) << "the number of launches";
  std::vector<LaunchRecord> others(7, first);
  others[0].kernel_name = "shift";
  others[1].grid = {1, 4};
  others[2].block = {64};
  others[3].cluster = {2};
  others[4].shared_bytes = 16;
  others[5].cooperative = true;
  others[6].grid = {5};
  for (const LaunchRecord& other : others) EXPECT_NE(row_identity({other}, code), one);
  EXPECT_NE(row_identity({first}, [](const std::string&) { return "other code"; }), one);
}

TEST(RowIdentity, IsEmptyWhereSomethingIsNotKnown) {
  const auto unknown = [](const std::string&) { return std::string(); };
  EXPECT_EQ(row_identity({}, [](const std::string&) { return "code"; }), "");
  EXPECT_EQ(row_identity({LaunchRecord{}}, unknown), "");
}

} // namespace
} // namespace kg::identity
