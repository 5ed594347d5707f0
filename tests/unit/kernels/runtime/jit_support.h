// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of kernels compiled at run time share.
#pragma once

#include "runtime/backend.h"
#include "runtime/jit.h"
#include "runtime/temporary_folder.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <optional>
#include <string>

namespace kg::jit {

// An environment variable for one scope; without a value it is not set there.
class Variable {
 public:
  Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) {
    if (value)
      setenv(name_, value->c_str(), 1);
    else
      unsetenv(name_);
  }

  const char* name_;
  std::optional<std::string> before_;
};

// y += a x for the first KG_COUNT elements.
inline Source axpy(int count) {
  return {"axpy.cuh",
          "#include \"runtime/device_code.h\"\n"
          "extern \"C\" __global__ void axpy(float a, const float* x, float* y) {\n"
          "  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);\n"
          "  if (i < KG_COUNT) y[i] = fmaf(a, x[i], y[i]);\n"
          "}\n",
          "axpy",
          {{"KG_COUNT", std::to_string(count)}}};
}

// An architecture that needs no device.
inline const char* some_architecture() { return backend == Backend::cuda ? "sm_80" : "this one"; }

// The message of the Error that `action` throws; empty when it throws none.
template <class Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

// A cache of its own.
class Jit : public testing::Test {
 protected:
  std::string cache() const { return cache_.path().string(); }

 private:
  TemporaryFolder cache_;
  Variable variable_{"KERNELGRADE_JIT_CACHE", cache_.path().string()};
};

} // namespace kg::jit
