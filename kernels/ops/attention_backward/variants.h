// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Entry points of variant flash. attention_backward.cu calls them with a valid, supported problem
// that has results.
#pragma once

#include "ops/attention_backward/gradient.h"
#include "runtime/stream.h"

#include <cstddef>
#include <cstdint>

namespace kg::attention_backward {

template <class T> // f16, bf16
void run_flash(const Arguments<T>& arguments, Stream& stream);
// The second and third of its three kernels.
template <class T>
void run_flash_keys(const Arguments<T>& arguments, Stream& stream);
template <class T>
void run_flash_queries(const Arguments<T>& arguments, Stream& stream);

// Bytes of dynamic shared memory per block of flash.
std::size_t flash_shared_bytes(std::int64_t depth, std::int64_t value_depth);

} // namespace kg::attention_backward
