// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The pipeline primitives (CUDA C++ Programming Guide, "Pipeline Primitives Interface") of CUDA's
// cuda_pipeline.h: asynchronous copies of one thread, see async_copy.h.
#pragma once

#include "runtime/host/async_copy.h"

#include <cstdint>

using __mbarrier_t = std::uint64_t;

// Copies `bytes` (4, 8 or 16, both addresses aligned to that size), with the last `zeros` bytes set
// to zero instead.
inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes,
                                    std::size_t zeros = 0,
                                    kg::Location where = kg::Location::here()) {
  kg::host::async_copy(to, from, bytes, bytes - zeros, "__pipeline_memcpy_async", where);
}
inline void __pipeline_commit(kg::Location where = kg::Location::here()) {
  kg::host::async_commit("__pipeline_commit", where);
}
// Waits until at most the latest `pending` groups of the thread are in flight.
inline void __pipeline_wait_prior(std::size_t pending, kg::Location where = kg::Location::here()) {
  kg::host::async_wait_group(pending, "__pipeline_wait_prior", where);
}
inline void __pipeline_arrive_on(__mbarrier_t* barrier, kg::Location where = kg::Location::here()) {
  kg::host::async_arrive(barrier, false, "__pipeline_arrive_on", where);
}
