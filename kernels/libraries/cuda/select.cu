// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/select.h"

#include "libraries/cuda/thrust.h"
#include "primitives/words.h"

#include <cub/device/device_select.cuh>

namespace kg::vendor {
namespace cub_device {
namespace {

void select(const SelectProblem& problem, const void* x, const std::int8_t* flags, void* y,
            std::int32_t* count, Stream& stream) {
  cudaStream_t raw_stream = cuda::native(stream);
  with_word("kg::vendor::select", size_of(problem.dtype), [&](auto word) {
    const auto* from = static_cast<const decltype(word)*>(x);
    auto* to = static_cast<decltype(word)*>(y);
    with_storage(stream, [&](void* storage, std::size_t& bytes) {
      if (problem.flagged)
        KG_CHECK(cub::DeviceSelect::Flagged(storage, bytes, from, flags, to, count, problem.n,
                                            raw_stream));
      else
        KG_CHECK(cub::DeviceSelect::Unique(storage, bytes, from, to, count, problem.n, raw_stream));
    });
  });
}

} // namespace
} // namespace cub_device

const Table<SelectVariant> select_table = {{"cub", always, cub_device::select}};

} // namespace kg::vendor
