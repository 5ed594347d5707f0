// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Hints for managed memory. They have no effect, because host and device share one memory.
#include "cuda/source/state.h"

using namespace kg::foreign;

namespace {

void demand_place(int device) {
  if (device != cudaCpuDeviceId) demand_device(device);
}
void demand_place(cudaMemLocation location) {
  if (location.type == cudaMemLocationTypeDevice) demand_device(location.id);
  demand(location.type != cudaMemLocationTypeInvalid, cudaErrorInvalidValue,
         "the location's type is invalid");
}

template <class Place>
cudaError_t prefetch(const void* pointer, std::size_t bytes, Place place, cudaStream_t stream) {
  return call("cudaMemPrefetchAsync", [&] {
    demand_managed(pointer, bytes);
    demand_place(place);
    stream_of(stream);
  });
}

// Only some kinds of advice use the location.
template <class Place>
cudaError_t advise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, Place place) {
  return call("cudaMemAdvise", [&] {
    demand_managed(pointer, bytes);
    demand(advice >= cudaMemAdviseSetReadMostly && advice <= cudaMemAdviseUnsetAccessedBy,
           cudaErrorInvalidValue, "advice " + std::to_string(advice));
    if (advice == cudaMemAdviseSetPreferredLocation || advice == cudaMemAdviseSetAccessedBy)
      demand_place(place);
  });
}

} // namespace

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location,
                                 unsigned, cudaStream_t stream) {
  return prefetch(pointer, bytes, location, stream);
}
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device,
                                 cudaStream_t stream) {
  return prefetch(pointer, bytes, device, stream);
}
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return advise(pointer, bytes, advice, location);
}
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                          int device) {
  return advise(pointer, bytes, advice, device);
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t bytes,
                                     unsigned) {
  return call("cudaStreamAttachMemAsync", [&] {
    stream_of(stream);
    demand_managed(pointer, bytes);
  });
}
