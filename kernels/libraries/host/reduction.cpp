// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/reduction.h"

#include "libraries/host/onednn_reduction.h"
#include "libraries/host/thrust.h"
#include "libraries/thrust_walks.h"

#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/tabulate.h>

#include <limits>

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;

algorithm reduction_algorithm(reduction::Op op) {
  switch (op) {
  case reduction::Op::sum: return algorithm::reduction_sum;
  case reduction::Op::mean: return algorithm::reduction_mean;
  case reduction::Op::max: return algorithm::reduction_max;
  case reduction::Op::min: return algorithm::reduction_min;
  }
  return algorithm::undef;
}

memory::desc tensor(memory::data_type type, std::int64_t outer, std::int64_t axis,
                    std::int64_t inner) {
  return {{outer, axis, inner}, type, memory::format_tag::abc};
}

bool reduction_supported(const ReductionProblem& problem) {
  return offers(type_of(problem.dtype), [&](memory::data_type type) {
    make_reduction(reduction_algorithm(problem.op), tensor(type, kProbe, kProbe, kProbe),
                   tensor(type, kProbe, 1, kProbe));
  });
}

void reduction(const ReductionProblem& problem, const void* x, void* out, Stream&) {
  translate("reduction", [&] {
    const memory::data_type type = type_of(problem.dtype).value();
    const memory::desc from = tensor(type, problem.outer, problem.axis, problem.inner);
    const memory::desc to = tensor(type, problem.outer, 1, problem.inner);
    execute(make_reduction(reduction_algorithm(problem.op), from, to),
            {{DNNL_ARG_SRC, wrap(from, x)}, {DNNL_ARG_DST, wrap(to, out)}});
  });
}

} // namespace
} // namespace onednn

namespace thrust_host {
namespace {

// One thread computes one result.
template <class T, class Combine>
struct OneResult {
  const T* x;
  std::int64_t axis, inner;
  T identity, divisor;
  Combine combine;

  T operator()(std::int64_t result) const {
    const T* first = x + result / inner * axis * inner + result % inner;
    const auto element = walks::elements(first, walks::AlongColumns{axis, inner});
    return thrust::reduce(thrust::seq, element, element + axis, identity, combine) / divisor;
  }
};

template <class T, class Combine>
void reduce(const ReductionProblem& problem, const void* x, void* out, T identity, Combine combine,
            T divisor) {
  const auto* from = static_cast<const T*>(x);
  auto* to = static_cast<T*>(out);
  if (problem.results() == 1)
    *to = thrust::reduce(thrust::device, from, from + problem.axis, identity, combine) / divisor;
  else
    thrust::tabulate(
        thrust::device, to, to + problem.results(),
        OneResult<T, Combine>{from, problem.axis, problem.inner, identity, divisor, combine});
}

bool reduction_supported(const ReductionProblem& problem) {
  return problem.dtype == Dtype::f32 ||
         (problem.dtype == Dtype::i32 && problem.op == reduction::Op::sum);
}

void reduction(const ReductionProblem& problem, const void* x, void* out, Stream&) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (problem.dtype == Dtype::i32) // modulo 2^32
    return reduce(problem, x, out, 0U, thrust::plus<unsigned>(), 1U);
  switch (problem.op) {
  case reduction::Op::sum: return reduce(problem, x, out, 0.0F, thrust::plus<float>(), 1.0F);
  case reduction::Op::mean:
    return reduce(problem, x, out, 0.0F, thrust::plus<float>(), static_cast<float>(problem.axis));
  case reduction::Op::max:
    return reduce(problem, x, out, -kInfinity, thrust::maximum<float>(), 1.0F);
  case reduction::Op::min:
    return reduce(problem, x, out, kInfinity, thrust::minimum<float>(), 1.0F);
  }
}

} // namespace
} // namespace thrust_host

const Table<ReductionVariant> reduction_table = {
    {"onednn", onednn::reduction_supported, onednn::reduction},
    {"thrust", thrust_host::reduction_supported, thrust_host::reduction},
};

} // namespace kg::vendor
