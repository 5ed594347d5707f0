// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Symbols: __device__ and __constant__ variables.
#include "cuda/source/state.h"

#include <cstring>

namespace kg::foreign {
namespace {

void demand_in_symbol(std::size_t size, std::size_t bytes, std::size_t offset) {
  demand(offset <= size && bytes <= size - offset, cudaErrorInvalidValue,
         std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
             " do not fit the symbol of " + std::to_string(size) + " bytes");
}

// For the checkers. Ordinary host memory is not accessed in stream order.
void note_copy(cudaStream_t stream, const void* symbol, host::Touch how, const void* other,
               std::size_t bytes, bool waits) {
  if (!host::observer) return;
  {
    const StreamWork work(stream, "cudaMemcpy of a symbol");
    host::observer->work_touches(symbol, bytes, how);
    if (range_of(other).bytes != 0)
      host::observer->work_touches(
          other, bytes, how == host::Touch::read ? host::Touch::write : host::Touch::read);
  }
  if (waits) note_wait(stream);
}

} // namespace

cudaError_t copy_to_symbol(const void* symbol, std::size_t size, const void* from,
                           std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                           cudaStream_t stream, bool waits) {
  return call("cudaMemcpyToSymbol", [&] {
    demand(kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
               kind == cudaMemcpyDefault,
           cudaErrorInvalidMemcpyDirection, "the target is on the device");
    demand_in_symbol(size, bytes, offset);
    // `symbol` is const, because a kernel sees constant memory as const.
    void* const to = static_cast<char*>(const_cast<void*>(symbol)) + offset;
    std::memcpy(to, from, bytes);
    note_copy(stream, to, host::Touch::write, from, bytes, waits);
  });
}

cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t size, std::size_t bytes,
                             std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream,
                             bool waits) {
  return call("cudaMemcpyFromSymbol", [&] {
    demand(kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
               kind == cudaMemcpyDefault,
           cudaErrorInvalidMemcpyDirection, "the source is on the device");
    demand_in_symbol(size, bytes, offset);
    const void* const from = static_cast<const char*>(symbol) + offset;
    std::memcpy(to, from, bytes);
    note_copy(stream, from, host::Touch::read, to, bytes, waits || range_of(to).bytes == 0);
  });
}

cudaError_t symbol_address(void** address, const void* symbol, std::size_t bytes) {
  return call("cudaGetSymbolAddress", [&] {
    demand(address != nullptr, cudaErrorInvalidValue, "the pointer to the pointer is null");
    *address = const_cast<void*>(symbol);
    note_symbol(symbol, bytes);
  });
}

} // namespace kg::foreign
