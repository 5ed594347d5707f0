// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/gather.h"

#include "libraries/host/thrust.h"
#include "libraries/thrust_walks.h"

namespace kg::vendor {
namespace thrust_host {
namespace {

void gather(Dtype dtype, const void* table, const void* index, std::size_t index_bytes, void* y,
            const GatherShape& shape, Stream&) {
  walks::gather(thrust::device, dtype, table, index, index_bytes, y, shape);
}

} // namespace
} // namespace thrust_host

const Table<GatherVariant> gather_table = {{"thrust", always, thrust_host::gather}};

} // namespace kg::vendor
