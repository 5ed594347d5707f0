// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/argmax.h"

#include "libraries/cuda/thrust.h"
#include "runtime/memory.h"

#include <thrust/extrema.h>

namespace kg::vendor {
namespace thrust_cuda {
namespace {

struct Less {
  template <class T>
  __device__ bool operator()(T a, T b) const {
    return widen(a) < widen(b);
  }
};

// A whole tensor (thrust::max_element, which returns the first of equal maxima). Waits for the
// stream and allocates.
template <class T>
void all(const ArgmaxProblem& problem, const void* x, std::int32_t* out, Stream& stream) {
  const auto policy = thrust::cuda::par.on(cuda::native(stream));
  const auto* first = static_cast<const T*>(x);
  std::int32_t index = 0;
  translate("max_element", [&] {
    index = static_cast<std::int32_t>(
        thrust::max_element(policy, first, first + problem.axis, Less{}) - first);
  });
  copy_to_device(out, &index, sizeof index, stream);
}

bool argmax_supported(const ArgmaxProblem& problem) {
  return is_float(problem.dtype) && problem.outer == 1 && problem.inner == 1;
}

void argmax(const ArgmaxProblem& problem, const void* x, std::int32_t* out, Stream& stream) {
  with_float(problem.dtype, [&](auto element) { all<decltype(element)>(problem, x, out, stream); });
}

} // namespace
} // namespace thrust_cuda

const Table<ArgmaxVariant> argmax_table = {
    {"thrust", thrust_cuda::argmax_supported, thrust_cuda::argmax}};

} // namespace kg::vendor
