// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The variant that has files of its own, as attention_backward.cu calls it: the problem is valid,
// has results, and is supported.
#pragma once

#include "ops/attention_backward/gradient.h"
#include "runtime/stream.h"

#include <cstddef>
#include <cstdint>

namespace kg::attention_backward {

template <class T> // f16, bf16
void run_flash(const Arguments<T>& arguments, Stream& stream);
// Of its three kernels the second and the third one.
template <class T>
void run_flash_keys(const Arguments<T>& arguments, Stream& stream);
template <class T>
void run_flash_queries(const Arguments<T>& arguments, Stream& stream);

// Bytes of shared memory that flash needs for heads of this depth.
std::size_t flash_shared_bytes(std::int64_t depth, std::int64_t value_depth);

} // namespace kg::attention_backward
