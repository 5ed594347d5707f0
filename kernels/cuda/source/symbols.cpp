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

} // namespace

cudaError_t copy_to_symbol(const void* symbol, std::size_t size, const void* from,
                           std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return call("cudaMemcpyToSymbol", [&] {
    demand(kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
               kind == cudaMemcpyDefault,
           cudaErrorInvalidMemcpyDirection, "the target is on the device");
    demand_in_symbol(size, bytes, offset);
    // const: the kernel's view of constant memory.
    std::memcpy(static_cast<char*>(const_cast<void*>(symbol)) + offset, from, bytes);
  });
}

cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t size, std::size_t bytes,
                             std::size_t offset, cudaMemcpyKind kind) {
  return call("cudaMemcpyFromSymbol", [&] {
    demand(kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
               kind == cudaMemcpyDefault,
           cudaErrorInvalidMemcpyDirection, "the source is on the device");
    demand_in_symbol(size, bytes, offset);
    std::memcpy(to, static_cast<const char*>(symbol) + offset, bytes);
    note_wait_for_all();
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
