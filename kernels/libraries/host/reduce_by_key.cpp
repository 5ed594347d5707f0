// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/reduce_by_key.h"

#include "libraries/host/thrust.h"

#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/unique.h>

namespace kg::vendor {
namespace thrust_host {
namespace {

template <class Key, class V>
void reduce_runs(const reduce_by_key::Problem& problem, const reduce_by_key::Arrays& arrays) {
  const auto* keys = static_cast<const Key*>(arrays.keys);
  const auto* values = static_cast<const V*>(arrays.values);
  auto* const unique = static_cast<Key*>(arrays.unique);
  auto* const results = static_cast<V*>(arrays.results);
  const auto with = [&](auto combine) {
    return thrust::reduce_by_key(thrust::device, keys, keys + problem.n, values, unique, results,
                                 thrust::equal_to<Key>(), combine)
        .first;
  };
  Key* end = unique;
  switch (problem.op) {
  case reduce_by_key::Op::sum: end = with(thrust::plus<V>()); break;
  case reduce_by_key::Op::min: end = with(thrust::minimum<V>()); break;
  case reduce_by_key::Op::max: end = with(thrust::maximum<V>()); break;
  case reduce_by_key::Op::first:
    end =
        thrust::unique_by_key_copy(thrust::device, keys, keys + problem.n, values, unique, results)
            .first;
    break;
  }
  *arrays.count = static_cast<std::int32_t>(end - unique);
}

template <class Key>
void with_values(const reduce_by_key::Problem& problem, const reduce_by_key::Arrays& arrays) {
  using reduce_by_key::Op;
  if (problem.dtype == Dtype::f32) return reduce_runs<Key, float>(problem, arrays);
  if (problem.op == Op::sum) return reduce_runs<Key, unsigned>(problem, arrays); // modulo 2^32
  reduce_runs<Key, std::int32_t>(problem, arrays);
}

void reduce_by_key(const reduce_by_key::Problem& problem, const reduce_by_key::Arrays& arrays,
                   Stream&) {
  if (problem.key_bytes == 4) return with_values<std::int32_t>(problem, arrays);
  with_values<std::int64_t>(problem, arrays);
}

} // namespace
} // namespace thrust_host

const Table<ReduceByKeyVariant> reduce_by_key_table = {
    {"thrust", always, thrust_host::reduce_by_key}};

} // namespace kg::vendor
