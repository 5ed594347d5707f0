// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels compiled at run time: that they run, what is refused and with which words, and what the
// environment chooses.
#include "tests/unit/kernels/runtime/jit_support.h"

#include "runtime/atomic_file.h"
#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/launch.h"

#include <filesystem>
#include <gmock/gmock.h>

namespace kg::jit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Those that launch need a device.
class JitRun : public Jit {
 protected:
  void SetUp() override {
    if (const std::string reason = device_unavailable_reason(); !reason.empty())
      GTEST_SKIP() << reason;
  }

  // What 2 * (1, 2, ... 8) becomes, added to zeros.
  std::vector<float> run(const Compiled<float, const float*, float*>& axpy) {
    Stream stream;
    const std::vector<float> counted = {1, 2, 3, 4, 5, 6, 7, 8};
    const auto x = DeviceBuffer<float>::from_host(counted, stream);
    auto y = DeviceBuffer<float>::from_host(std::vector<float>(8, 0.f), stream);
    launch(axpy.kernel, {.grid = 2, .block = 4, .stream = &stream}, 2.f, x.data(), y.data());
    stream.synchronize();
    y.check_guards();
    return y.to_host(stream);
  }

  Compiled<float, const float*, float*> compiled(int count) {
    return compile<float, const float*, float*>(axpy(count), toolchain());
  }
};

const std::vector<float> kOfThree = {2, 4, 6, 0, 0, 0, 0, 0};
const std::vector<float> kOfFive = {2, 4, 6, 8, 10, 0, 0, 0};

TEST_F(JitRun, AKernelRunsWithItsConstant) {
  const auto three = compiled(3);
  EXPECT_FALSE(three.from_cache);
  EXPECT_GT(three.compile_us, 0);
  EXPECT_EQ(run(three), kOfThree);

  // Another constant is another kernel, and the first stays what it is; from the disk, too.
  const auto five = compiled(5);
  EXPECT_FALSE(five.from_cache);
  EXPECT_EQ(run(five), kOfFive);
  EXPECT_EQ(run(three), kOfThree);
  const auto again = compiled(3);
  EXPECT_TRUE(again.from_cache);
  EXPECT_EQ(again.compile_us, three.compile_us);
  const LaunchRecorder recorder;
  EXPECT_EQ(run(again), kOfThree);
  EXPECT_EQ(run(five), kOfFive);
  ASSERT_EQ(recorder.launches().size(), 2u);
  EXPECT_EQ(recorder.launches()[0].kernel_name, "axpy");

  Source misspelt = axpy(3);
  misspelt.kernel = "axpby";
  EXPECT_THAT(
      error_of([&] { compile<float, const float*, float*>(misspelt, toolchain()); }),
      AllOf(HasSubstr("jit_test.cpp:"), HasSubstr("axpby: "), HasSubstr("has no such kernel")));
}

TEST_F(JitRun, SharedMemoryIsDynamic) {
  const Source source = {"turn.cuh",
                         "extern \"C\" __global__ void turn(int* data) {\n"
                         "  int* const shared = kg::dynamic_shared<int>();\n"
                         "  shared[threadIdx.x] = data[threadIdx.x];\n"
                         "  __syncthreads();\n"
                         "  data[threadIdx.x] = shared[KG_THREADS - 1 - threadIdx.x];\n"
                         "}\n",
                         "turn",
                         {{"KG_THREADS", "64"}}};
  const auto turn = compile<int*>(source, toolchain());
  std::vector<int> values(64);
  for (int i = 0; i < 64; ++i) values[static_cast<std::size_t>(i)] = i;
  Stream stream;
  auto data = DeviceBuffer<int>::from_host(values, stream);
  launch(turn.kernel, {.grid = 1, .block = 64, .shared_bytes = 64 * sizeof(int), .stream = &stream},
         data.data());
  stream.synchronize();
  EXPECT_EQ(data.to_host(stream), std::vector<int>(values.rbegin(), values.rend()));
}

TEST_F(Jit, AGpusMachineCodeNeedsNoGpu) {
  if (backend == Backend::host) GTEST_SKIP() << "the tests above compile on the host";
  const Source source = {"half.cuh",
                         "extern \"C\" __global__ void add_up(const float* x, KG_T* y) {\n"
                         "  KG_UNROLL\n"
                         "  for (int i = 0; i < 4; ++i)\n"
                         "    y[i] = kg::from_float<KG_T>(x[i] + kg::to_float(y[i]));\n"
                         "}\n",
                         "add_up",
                         {{"KG_T", "kg::bf16"}}};
  const MachineCode code = machine_code(source, toolchain("sm_90"));
  EXPECT_EQ(code.bytes.substr(0, 4), "\177ELF");
  EXPECT_FALSE(code.from_cache);
  const MachineCode again = machine_code(source, toolchain("sm_90"));
  EXPECT_TRUE(again.from_cache);
  EXPECT_EQ(again.bytes, code.bytes);
  EXPECT_FALSE(machine_code(source, toolchain("sm_80")).from_cache);
}

TEST_F(Jit, AWrongSourceIsRefusedInTheCompilersWords) {
  Source source = axpy(3);
  source.name = "wrong.cuh";
  source.text += "int wrong = undeclared;\n";
  const int line = __LINE__ + 1;
  const auto compile_it = [&] { machine_code(source, toolchain(some_architecture())); };
  EXPECT_THAT(error_of(compile_it),
              AllOf(HasSubstr("jit_test.cpp:" + std::to_string(line) +
                              ": axpy (wrong.cuh) does "
                              "not compile"),
                    HasSubstr(backend == Backend::cuda ? "wrong.cuh(6): error" : "wrong.cuh:6:"),
                    HasSubstr("undeclared")));
  // A failure is not kept as if it were a kernel.
  EXPECT_TRUE(std::filesystem::is_empty(cache()));
}

TEST_F(Jit, SharedVariablesAreRefusedOnTheHost) {
  if (backend == Backend::cuda) GTEST_SKIP() << "a GPU has no trouble with them";
  Source source = axpy(3);
  source.text += "extern \"C\" __global__ void other() { __shared__ float tile[32]; }\n";
  EXPECT_THAT(error_of([&] { machine_code(source, toolchain(some_architecture())); }),
              HasSubstr("takes shared memory from kg::dynamic_shared"));
}

TEST_F(Jit, NoOptionMakesArithmeticFast) {
  for (const std::string& flag : toolchain(some_architecture()).flags) {
    EXPECT_EQ(flag.find("fast-math"), std::string::npos) << flag;
    EXPECT_EQ(flag.find("fast_math"), std::string::npos) << flag;
  }
}

TEST(JitToolchain, TheCacheFollowsTheEnvironment) {
  const Variable home("HOME", "/home/me");
  const Variable all("XDG_CACHE_HOME", "/caches");
  const Variable own("KERNELGRADE_JIT_CACHE", "/mine");
  EXPECT_EQ(toolchain(some_architecture()).cache, "/mine");
  const Variable no_own("KERNELGRADE_JIT_CACHE", std::nullopt);
  EXPECT_EQ(toolchain(some_architecture()).cache, "/caches/kernelgrade");
  const Variable no_all("XDG_CACHE_HOME", std::nullopt);
  EXPECT_EQ(toolchain(some_architecture()).cache, "/home/me/.cache/kernelgrade");
  const Variable no_home("HOME", std::nullopt);
  EXPECT_THAT(error_of([] { toolchain(some_architecture()); }),
              HasSubstr("set KERNELGRADE_JIT_CACHE"));
}

TEST_F(Jit, ACompilerThatIsNotThere) {
  if (backend == Backend::cuda) GTEST_SKIP() << "NVRTC is linked";
  const Variable compiler("KERNELGRADE_JIT_CXX", "/nowhere/c++");
  EXPECT_THAT(error_of([] { toolchain(some_architecture()); }),
              AllOf(HasSubstr("/nowhere/c++ does not run"), HasSubstr("set KERNELGRADE_JIT_CXX")));
}

TEST_F(Jit, HeadersThatAreNotThere) {
  const Variable include("KERNELGRADE_JIT_INCLUDE", "/nowhere");
  EXPECT_THAT(error_of([] { toolchain(some_architecture()); }),
              AllOf(HasSubstr("/nowhere: "), HasSubstr("set KERNELGRADE_JIT_INCLUDE")));
}

TEST(JitHeaders, TheirContentsAndTheirNamesCount) {
  const TemporaryFolder folder;
  const std::string include = folder.path();
  write_file(include + "/runtime/device_code.h", "one");
  const std::string before = detail::hash_headers(include);
  write_file(include + "/runtime/device_code.h", "two");
  const std::string changed = detail::hash_headers(include);
  EXPECT_NE(changed, before);
  write_file(include + "/primitives/pack.h", "");
  const std::string more = detail::hash_headers(include);
  EXPECT_NE(more, changed);
  std::filesystem::rename(include + "/primitives/pack.h", include + "/primitives/row.h");
  EXPECT_NE(detail::hash_headers(include), more);
  std::filesystem::remove(include + "/primitives/row.h");
  write_file(include + "/instructions/mma.h", "");
  EXPECT_NE(detail::hash_headers(include), changed);
  std::filesystem::remove(include + "/instructions/mma.h");
  EXPECT_EQ(detail::hash_headers(include), changed);
}

} // namespace
} // namespace kg::jit
