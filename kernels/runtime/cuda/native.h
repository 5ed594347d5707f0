// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The runtime's opaque handles as the CUDA types that libraries take, e.g. cublasSetStream(handle,
// cuda::native(stream)).
#pragma once

#include "runtime/error.h"
#include "runtime/stream.h"

#include <cuda_runtime_api.h>

namespace kg::cuda {

// Rejects a moved-from Stream: CUDA takes a null handle for the default stream.
inline cudaStream_t native(const Stream& stream) {
  require(stream.handle() != nullptr, "this Stream was moved from; use its new owner");
  return static_cast<cudaStream_t>(stream.handle());
}
inline cudaEvent_t native(const Event& event) {
  require(event.handle() != nullptr, "this Event was moved from; use its new owner");
  return static_cast<cudaEvent_t>(event.handle());
}

} // namespace kg::cuda
