// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/gather.h"

#include "libraries/cuda/thrust.h"
#include "libraries/thrust_walks.h"

namespace kg::vendor {
namespace thrust_cuda {
namespace {

void gather(Dtype dtype, const void* table, const void* index, std::size_t index_bytes, void* y,
            const GatherShape& shape, Stream& stream) {
  translate("gather",
            [&] { walks::gather(on(stream), dtype, table, index, index_bytes, y, shape); });
}

} // namespace
} // namespace thrust_cuda

const Table<GatherVariant> gather_table = {{"thrust", always, thrust_cuda::gather}};

} // namespace kg::vendor
