// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's checks. A failed check throws c10::Error.
#pragma once

#include <cuda_runtime.h>

#include <sstream>
#include <stdexcept>
#include <string>

namespace c10 {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  const char* what_without_backtrace() const { return what(); }
};

} // namespace c10

namespace kg::torch {

// Throws c10::Error with the arguments as text, or with the condition if there are none.
template <class... Words>
[[noreturn]] void refuse(const char* condition, const char* file, int line, const Words&... words) {
  std::ostringstream text;
  if constexpr (sizeof...(words) == 0) text << "expected " << condition;
  (text << ... << words) << " (" << file << ':' << line << ')';
  throw c10::Error(text.str());
}

inline void check_cuda(cudaError_t error, const char* call, const char* file, int line) {
  if (error != cudaSuccess)
    refuse(call, file, line, "CUDA error: ", cudaGetErrorString(error), " of ", call);
}

} // namespace kg::torch

#define TORCH_CHECK(condition, ...)                                                                \
  ((condition) ? void()                                                                            \
               : ::kg::torch::refuse(#condition, __FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__))
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b))
#define TORCH_CHECK_NE(a, b) TORCH_CHECK((a) != (b))
#define TORCH_CHECK_LT(a, b) TORCH_CHECK((a) < (b))
#define TORCH_CHECK_LE(a, b) TORCH_CHECK((a) <= (b))
#define TORCH_CHECK_GT(a, b) TORCH_CHECK((a) > (b))
#define TORCH_CHECK_GE(a, b) TORCH_CHECK((a) >= (b))
#define TORCH_INTERNAL_ASSERT TORCH_CHECK
#define AT_ASSERT TORCH_CHECK
#define AT_ASSERTM TORCH_CHECK
#define AT_ERROR(...) TORCH_CHECK(false __VA_OPT__(, ) __VA_ARGS__)
#define C10_CUDA_CHECK(call) ::kg::torch::check_cuda((call), #call, __FILE__, __LINE__)
#define AT_CUDA_CHECK C10_CUDA_CHECK
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
