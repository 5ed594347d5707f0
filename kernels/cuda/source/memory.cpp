// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/state.h"
#include "runtime/host/observer.h"

#include <algorithm>
#include <cstring>

namespace kg::foreign {
namespace {

struct Memory {
  Allocation allocation;
  cudaMemoryType type;
  bool ordered; // by a stream: from cudaMallocAsync
};

// By address. Never destroyed: memory that the program did not free must count as a leak.
struct Memories {
  std::mutex mutex;
  std::map<std::uintptr_t, Memory> allocated;
  std::map<std::uintptr_t, std::size_t> symbols;    // bytes
  std::map<std::uintptr_t, std::size_t> registered; // bytes, of the host
};

Memories& memories() {
  static auto& instance = *new Memories;
  return instance;
}

std::uintptr_t number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

void allocate(void** pointer, std::size_t bytes, cudaMemoryType type, bool ordered = false) {
  demand(pointer != nullptr, cudaErrorInvalidValue, "the pointer to the pointer is null");
  *pointer = nullptr;
  if (bytes == 0) return;
  try {
    Allocation allocation(bytes);
    // The checkers do not see direct writes by the host, so all bytes count as written.
    if (type != cudaMemoryTypeDevice) {
      fill_bytes(allocation.data(), 0, bytes, stream_of(nullptr));
      if (host::observer) host::observer->shared_with_host(allocation.data(), bytes);
    }
    *pointer = allocation.data();
    std::lock_guard lock(memories().mutex);
    memories().allocated.insert_or_assign(number(*pointer),
                                          Memory{std::move(allocation), type, ordered});
  } catch (const Error& error) {
    throw Refusal(cudaErrorMemoryAllocation, error.what());
  }
}

void demand_no_capture(cudaStream_t stream) {
  demand(!host::queue_of(stream_of(stream)).capturing(), cudaErrorStreamCaptureUnsupported,
         "memory is not allocated or freed in a capture; do it before or after");
}

Memory release(void* pointer, bool host, const char* function) {
  std::lock_guard lock(memories().mutex);
  const auto i = memories().allocated.find(number(pointer));
  const bool fits = i != memories().allocated.end() &&
                    (i->second.type == cudaMemoryTypeHost && !i->second.ordered) == host;
  if (!fits && host::observer) host::observer->freed_wrongly(pointer, function);
  demand(fits, cudaErrorInvalidValue,
         words("the pointer", pointer) + " was not allocated by " +
             (host ? "cudaMallocHost or cudaHostAlloc" : "cudaMalloc") +
             ", or has been freed already");
  Memory freed = std::move(i->second);
  memories().allocated.erase(i);
  return freed;
}

// Reports an access to the range to the checkers.
void note_touch(const void* memory, std::size_t bytes, host::Touch touch) {
  if (host::observer && memory && bytes != 0) host::observer->work_touches(memory, bytes, touch);
}

} // namespace

std::string words(const char* which, const void* pointer) {
  char text[96];
  std::snprintf(text, sizeof text, "%s %p", which, pointer);
  return text;
}

Range range_of(const void* pointer) {
  std::lock_guard lock(memories().mutex);
  const std::uintptr_t address = number(pointer);
  auto& allocated = memories().allocated;
  if (auto i = allocated.upper_bound(address); i != allocated.begin()) {
    --i;
    if (address <= i->first + i->second.allocation.bytes())
      return {i->first, i->second.allocation.bytes(), i->second.type};
  }
  const auto inside = [&](const std::map<std::uintptr_t, std::size_t>& ranges,
                          cudaMemoryType type) -> Range {
    auto i = ranges.upper_bound(address);
    if (i == ranges.begin() || address > (--i)->first + i->second) return {};
    return {i->first, i->second, type};
  };
  const Range symbol = inside(memories().symbols, cudaMemoryTypeDevice);
  return symbol.bytes != 0 ? symbol : inside(memories().registered, cudaMemoryTypeHost);
}

void note_symbol(const void* symbol, std::size_t bytes) {
  std::lock_guard lock(memories().mutex);
  memories().symbols[number(symbol)] = bytes;
}

void free_all_memory() {
  std::lock_guard lock(memories().mutex);
  memories().allocated.clear();
  memories().registered.clear();
}

cudaError_t allocate_in_order(void** pointer, std::size_t bytes, cudaMemoryType type,
                              cudaStream_t stream) {
  return call("cudaMallocAsync", [&] {
    demand_no_capture(stream);
    const StreamWork work(stream, "cudaMallocAsync");
    allocate(pointer, bytes, type, true);
    if (type == cudaMemoryTypeDevice) note_touch(*pointer, bytes, host::Touch::allocate);
  });
}

} // namespace kg::foreign

using namespace kg::foreign;

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return call("cudaMalloc", [&] { allocate(pointer, bytes, cudaMemoryTypeDevice); });
}
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  return allocate_in_order(pointer, bytes, cudaMemoryTypeDevice, stream);
}
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return call("cudaMallocPitch", [&] {
    demand(pitch != nullptr, cudaErrorInvalidValue, "the pointer to the pitch is null");
    constexpr std::size_t kAlignment = 512; // as current GPUs choose
    *pitch = (width + kAlignment - 1) / kAlignment * kAlignment;
    allocate(pointer, *pitch * height, cudaMemoryTypeDevice);
  });
}
cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) {
  return call("cudaMallocManaged", [&] { allocate(pointer, bytes, cudaMemoryTypeManaged); });
}
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes, unsigned) {
  return call("cudaMallocHost", [&] { allocate(pointer, bytes, cudaMemoryTypeHost); });
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  return call("cudaHostAlloc", [&] { allocate(pointer, bytes, cudaMemoryTypeHost); });
}
cudaError_t cudaFree(void* pointer) {
  return call("cudaFree", [&] {
    if (!pointer) return;
    const Memory freed = release(pointer, false, "cudaFree");
    if (!freed.ordered) {
      note_wait_for_all(); // as CUDA does
    } else if (kg::host::observer) {
      kg::host::observer->host_frees(pointer, freed.allocation.bytes());
    }
  });
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call("cudaFreeAsync", [&] {
    demand_no_capture(stream);
    if (!pointer) return;
    const StreamWork work(stream, "cudaFreeAsync");
    const Memory freed = release(pointer, false, "cudaFreeAsync");
    note_touch(pointer, freed.allocation.bytes(), kg::host::Touch::free);
  });
}
cudaError_t cudaFreeHost(void* pointer) {
  return call("cudaFreeHost", [&] {
    if (!pointer) return;
    const Memory freed = release(pointer, true, "cudaFreeHost");
    note_wait_for_all();
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return call("cudaHostGetDevicePointer", [&] {
    demand(range_of(host).type == cudaMemoryTypeHost, cudaErrorInvalidValue,
           words("the pointer", host) + " does not come from cudaMallocHost or cudaHostAlloc");
    *device = host;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return call("cudaHostGetFlags", [&] {
    demand(range_of(host).type == cudaMemoryTypeHost, cudaErrorInvalidValue,
           words("the pointer", host) + " does not come from cudaMallocHost or cudaHostAlloc");
    *flags = cudaHostAllocMapped; // all of this memory is mapped
  });
}
cudaError_t cudaHostRegister(void* host, std::size_t bytes, unsigned) {
  return call("cudaHostRegister", [&] {
    demand(host != nullptr && bytes != 0, cudaErrorInvalidValue, "nothing to register");
    demand(!kg::host::observer || kg::host::observer->holds_to_cuda(), cudaErrorNotSupported,
           "the counters do not see memory that is the host's own; use cudaMallocHost");
    demand(range_of(host).type == cudaMemoryTypeUnregistered, cudaErrorHostMemoryAlreadyRegistered,
           words("the pointer", host));
    std::lock_guard lock(memories().mutex);
    memories().registered[number(host)] = bytes;
    if (kg::host::observer) kg::host::observer->shared_with_host(host, bytes);
  });
}
cudaError_t cudaHostUnregister(void* host) {
  return call("cudaHostUnregister", [&] {
    std::lock_guard lock(memories().mutex);
    demand(memories().registered.erase(number(host)) == 1, cudaErrorHostMemoryNotRegistered,
           words("the pointer", host));
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call("cudaPointerGetAttributes", [&] {
    const cudaMemoryType type = range_of(pointer).type;
    void* const address = const_cast<void*>(pointer);
    *attributes = {type, 0, type == cudaMemoryTypeUnregistered ? nullptr : address,
                   type == cudaMemoryTypeDevice ? nullptr : address};
  });
}
