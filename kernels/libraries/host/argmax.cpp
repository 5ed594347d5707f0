// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/argmax.h"

#include "libraries/host/thrust.h"
#include "libraries/thrust_walks.h"

#include <thrust/extrema.h>
#include <thrust/tabulate.h>

namespace kg::vendor {
namespace thrust_host {
namespace {

// thrust::max_element returns the first of equal maxima.
struct OneArgmax {
  const float* x;
  std::int64_t axis, inner;
  std::int32_t operator()(std::int64_t result) const {
    const float* first = x + result / inner * axis * inner + result % inner;
    const auto element = walks::elements(first, walks::AlongColumns{axis, inner});
    return static_cast<std::int32_t>(thrust::max_element(thrust::seq, element, element + axis) -
                                     element);
  }
};

bool argmax_supported(const ArgmaxProblem& problem) { return problem.dtype == Dtype::f32; }

void argmax(const ArgmaxProblem& problem, const void* x, std::int32_t* out, Stream&) {
  const auto* from = static_cast<const float*>(x);
  if (problem.results() == 1)
    *out = static_cast<std::int32_t>(
        thrust::max_element(thrust::device, from, from + problem.axis) - from);
  else
    thrust::tabulate(thrust::device, out, out + problem.results(),
                     OneArgmax{from, problem.axis, problem.inner});
}

} // namespace
} // namespace thrust_host

const Table<ArgmaxVariant> argmax_table = {
    {"thrust", thrust_host::argmax_supported, thrust_host::argmax}};

} // namespace kg::vendor
