// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels compiled at run time are watched like all others.
#include "runtime/jit.h"
#include "runtime/temporary_folder.h"
#include "tests/unit/kernels/runtime/host/check/finding.h"

namespace kg::test {
namespace {

const char* const kText = "extern \"C\" __global__ void shift(float* data) {\n"
                          "  const int i = static_cast<int>(threadIdx.x);\n"
                          "  data[i] = data[i + KG_STEP];\n"
                          "}\n";

auto shifted_by(const char* step, const std::string& cache) {
  jit::Toolchain toolchain = jit::toolchain();
  toolchain.cache = cache;
  return jit::compile<float*>({"shift.cuh", kText, "shift", {{"KG_STEP", step}}}, toolchain);
}

TEST(JitFaults, AreFoundAndNamed) {
  const TemporaryFolder cache;
  Stream stream;
  const auto data = DeviceBuffer<float>::from_host(std::vector<float>(64, 1.f), stream);
  const auto right = shifted_by("0", cache.path());
  EXPECT_THAT(finding(right.kernel, {1, 64}, data.data()), IsEmpty());
  // A report before makes the lines of what was loaded known, and this library comes later.
  const auto behind = shifted_by("64", cache.path());
  EXPECT_THAT(finding(behind.kernel, {1, 64}, data.data()),
              AllOf(StartsWith("[out-of-bounds] kernel shift"), HasSubstr("reads 4 bytes at"),
                    HasSubstr("shift.cuh:3")));
  const auto race = shifted_by("1", cache.path());
  EXPECT_THAT(finding(race.kernel, {1, 63}, data.data()),
              AllOf(StartsWith("[race] kernel shift"), HasSubstr("shift.cuh:3")));
}

} // namespace
} // namespace kg::test
