// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for the CUDA runtime library: tests of the cuda backend link it instead of cudart, so
// that every call's arguments, order, error path and clean-up can be checked without a GPU.
//
// It is the worst runtime that the documentation allows. Asynchronous work runs only when something
// waits for it, and host memory is read and written only then; streams do not order each other;
// fresh memory holds garbage; a call that may not be captured invalidates the capture; a kernel
// runs once, as the host function it is, with the arguments it was launched with.
#pragma once

#include "runtime/error.h"

#include <cuda_runtime_api.h>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace kg::recording {

// Forgets all calls, faults, handles and memory. One device: number 0, like an sm_90 part, 1 MiB of
// memory.
void reset();

// The calls since the last reset or clear_calls, in order: "cudaMemsetAsync(memory0+4096, 0xff,
// 100, stream1)", with " = memory0" for what a call made and " -> cudaErrorX" for what it failed
// with. Handles are numbered by kind in the order of their creation; the null stream is "default",
// memory that is not the device's is "host". Left out: cudaGetLastError and
// cudaGetErrorName/String.
std::vector<std::string> calls();
void clear_calls();

// What is still allocated or created, and calls that break the rules (double frees, unknown
// handles, bad ranges).
std::vector<std::string> leaks();
std::vector<std::string> misuses();

// The nth call from now of `function` (1 is the next) fails with `error` and has no effect, except
// that what releases a handle does release it.
void fail_call(const std::string& function, cudaError_t error, int nth = 1);
// A sticky error, as after a kernel's bad access: every call fails with it from now on.
void break_device(cudaError_t error);
// The thread's last error, without clearing it.
cudaError_t last_error();

// What the device-related calls answer. Changes hold until reset.
struct Machine {
  int driver_version = CUDART_VERSION;
  int device_count = 1;
  int device = 0; // the current one
  std::size_t memory_bytes = 1 << 20;
  cudaDeviceProp properties{};
};
Machine& machine();

// Kernels are known to the runtime by registration, as nvcc arranges it.
using BoundKernel = std::function<void()>;
void register_kernel(const void* kernel, const std::string& mangled_name,
                     std::function<BoundKernel(void** arguments)> bind);

template <class... Parameters>
void register_kernel(void (*kernel)(Parameters...), const std::string& mangled_name) {
  auto bind = [kernel](void** arguments) -> BoundKernel {
    return [&]<std::size_t... I>(std::index_sequence<I...>)->BoundKernel {
      std::tuple<Parameters...> values(*static_cast<Parameters*>(arguments[I])...);
      return [kernel, values] { std::apply(kernel, values); };
    }
    (std::index_sequence_for<Parameters...>{});
  };
  register_kernel(reinterpret_cast<const void*>(kernel), mangled_name, bind);
}

// Each asynchronous operation takes this long on the stand-in's clock; recording an event takes
// nothing.
inline constexpr double kOperationNs = 250000;

// What `action` throws as kg::Error; "no error" when it returns.
inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Base of tests: a fresh runtime for each, which must end clean.
class RecordingTest : public ::testing::Test {
 protected:
  void SetUp() override { reset(); }
  void TearDown() override {
    EXPECT_EQ(leaks(), std::vector<std::string>{});
    EXPECT_EQ(misuses(), std::vector<std::string>{});
    EXPECT_EQ(last_error(), cudaSuccess) << "a failure was left for the next caller to find";
  }
};

} // namespace kg::recording
