// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/reduce_by_key.h"

#include "libraries/cuda/thrust.h"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>

namespace kg::vendor {
namespace cub_device {
namespace {

struct SumOfTwo {
  template <class A>
  __host__ __device__ A operator()(A a, A b) const {
    return a + b;
  }
};
struct LesserOfTwo {
  template <class A>
  __host__ __device__ A operator()(A a, A b) const {
    return a < b || a != a ? a : b;
  }
};
struct GreaterOfTwo {
  template <class A>
  __host__ __device__ A operator()(A a, A b) const {
    return a > b || a != a ? a : b;
  }
};

template <class Key, class V>
void reduce_runs(const reduce_by_key::Problem& problem, const reduce_by_key::Arrays& arrays,
                 Stream& stream) {
  cudaStream_t raw_stream = cuda::native(stream);
  const auto* keys = static_cast<const Key*>(arrays.keys);
  const auto* values = static_cast<const V*>(arrays.values);
  auto* const unique = static_cast<Key*>(arrays.unique);
  auto* const results = static_cast<V*>(arrays.results);
  const auto with = [&](auto combine) {
    with_storage(stream, [&](void* storage, std::size_t& bytes) {
      KG_CHECK(cub::DeviceReduce::ReduceByKey(storage, bytes, keys, unique, values, results,
                                              arrays.count, combine, problem.n, raw_stream));
    });
  };
  switch (problem.op) {
  case reduce_by_key::Op::sum: return with(SumOfTwo{});
  case reduce_by_key::Op::min: return with(LesserOfTwo{});
  case reduce_by_key::Op::max: return with(GreaterOfTwo{});
  case reduce_by_key::Op::first: break;
  }
  with_storage(stream, [&](void* storage, std::size_t& bytes) {
    KG_CHECK(cub::DeviceSelect::UniqueByKey(storage, bytes, keys, values, unique, results,
                                            arrays.count, problem.n, raw_stream));
  });
}

template <class Key>
void with_values(const reduce_by_key::Problem& problem, const reduce_by_key::Arrays& arrays,
                 Stream& stream) {
  using reduce_by_key::Op;
  if (problem.dtype == Dtype::f32) return reduce_runs<Key, float>(problem, arrays, stream);
  if (problem.op == Op::sum) return reduce_runs<Key, unsigned>(problem, arrays, stream); // wraps
  reduce_runs<Key, std::int32_t>(problem, arrays, stream);
}

void reduce_by_key(const reduce_by_key::Problem& problem, const reduce_by_key::Arrays& arrays,
                   Stream& stream) {
  if (problem.key_bytes == 4) return with_values<std::int32_t>(problem, arrays, stream);
  with_values<std::int64_t>(problem, arrays, stream);
}

} // namespace
} // namespace cub_device

const Table<ReduceByKeyVariant> reduce_by_key_table = {{"cub", always, cub_device::reduce_by_key}};

} // namespace kg::vendor
