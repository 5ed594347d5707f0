// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/nvdisasm.h"

#include "perf/code/sass/analysis.h"
#include "runtime/atomic_file.h"
#include "runtime/environment.h"
#include "runtime/error.h"
#include "runtime/ptx/fatbin.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <optional>

namespace kg::sass {
namespace {

using testing::HasSubstr;

class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    if (const char* const old = std::getenv(name)) old_ = old;
    setenv(name, value, 1);
  }
  ~Setting() {
    if (old_)
      setenv(name_, old_->c_str(), 1);
    else
      unsetenv(name_);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

template <class Run>
std::string message(const Run& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Nvdisasm, TheVariableNamesIt) {
  const Setting named("KERNELGRADE_NVDISASM", "/bin/true");
  EXPECT_EQ(find_nvdisasm(), "/bin/true");
}

TEST(Nvdisasm, NoneIsAsIfThereWereNone) {
  const Setting named("KERNELGRADE_NVDISASM", "none");
  EXPECT_EQ(find_nvdisasm(), "");
}

TEST(Nvdisasm, AVariableThatNamesNoProgramIsAnError) {
  const Setting named("KERNELGRADE_NVDISASM", "/nowhere/nvdisasm");
  EXPECT_THAT(message(find_nvdisasm),
              AllOf(HasSubstr("/nowhere/nvdisasm"), HasSubstr("set it to")));
}

TEST(Nvdisasm, WhereThereIsNoneTheFixIsNamed) {
  EXPECT_THAT(nvdisasm_missing(), AllOf(HasSubstr("pip install nvidia-cuda-nvdisasm"),
                                        HasSubstr("KERNELGRADE_NVDISASM")));
}

TEST(Nvdisasm, AProgramThatFailsIsAnError) {
  EXPECT_THAT(message([] { disassemble("/bin/false", "", "a.fatbin"); }),
              AllOf(HasSubstr("a.fatbin"), HasSubstr("with exit code 1")));
}

// The committed text against what the tools here make of the same source.
TEST(Nvdisasm, ReadsWhatNvccMakesHere) {
  const std::filesystem::path program = find_nvdisasm();
  const std::string fatbin = std::string(KERNELGRADE_TEST_FILES) + "/kernels.fatbin";
  const bool nvcc = std::filesystem::exists(fatbin);
  if (program.empty() || !nvcc) {
    const std::string why = nvcc ? nvdisasm_missing() : "nvcc not found, which compiles kernels";
    if (is_set("KERNELGRADE_STRICT")) FAIL() << why;
    GTEST_SKIP() << why;
  }
  const std::string contents = read_file(fatbin).value();
  for (const FatbinEntry& entry : read_fatbin(contents, fatbin)) {
    if (entry.kind != FatbinEntry::Kind::elf) continue;
    const auto found = analyse(read_listing(disassemble(program, entry.cubin(), fatbin), fatbin));
    ASSERT_EQ(found.size(), 3u);
    for (const Analysis& one : found) {
      EXPECT_TRUE(one.unknown.empty()) << one.symbol;
      EXPECT_THAT(one.main_part().line, HasSubstr("kernels.cu:"));
    }
  }
}

} // namespace
} // namespace kg::sass
