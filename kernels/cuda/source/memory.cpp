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
};

// By address. Never destroyed: what a program did not free is a leak, not to be tidied up.
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

bool on_device(const Range& region) {
  return region.type == cudaMemoryTypeDevice || region.type == cudaMemoryTypeManaged;
}

std::string words(const char* which, const void* pointer) {
  char text[96];
  std::snprintf(text, sizeof text, "%s %p", which, pointer);
  return text;
}

void demand_inside(const Range& region, const char* which, const void* pointer, std::size_t bytes) {
  if (region.type == cudaMemoryTypeUnregistered) return;
  const std::size_t left = region.begin + region.bytes - number(pointer);
  demand(bytes <= left, cudaErrorInvalidValue,
         words(which, pointer) + " has " + std::to_string(left) + " bytes left of " +
             std::to_string(region.bytes) + ", and " + std::to_string(bytes) + " are asked for");
}

void demand_device(const Range& region, const char* which, const void* pointer) {
  demand(on_device(region) || region.type == cudaMemoryTypeHost, cudaErrorInvalidValue,
         words(which, pointer) + " is not memory of the device: it does not come from cudaMalloc");
}

void demand_host(const Range& region, const char* which, const void* pointer) {
  demand(region.type != cudaMemoryTypeDevice, cudaErrorInvalidValue,
         words(which, pointer) + " is memory of the device; the copy's direction says host");
}

void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, Stream& stream) {
  if (bytes == 0) return;
  demand(to && from, cudaErrorInvalidValue, "a pointer is null");
  const Range target = range_of(to);
  const Range source = range_of(from);
  bool to_device = on_device(target);
  bool from_device = on_device(source);
  switch (kind) {
  case cudaMemcpyDefault: break;
  case cudaMemcpyHostToHost:
  case cudaMemcpyHostToDevice:
  case cudaMemcpyDeviceToHost:
  case cudaMemcpyDeviceToDevice:
    to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    to_device ? demand_device(target, "the target", to) : demand_host(target, "the target", to);
    from_device ? demand_device(source, "the source", from)
                : demand_host(source, "the source", from);
    break;
  default: throw Refusal(cudaErrorInvalidMemcpyDirection, "kind " + std::to_string(kind));
  }
  demand_inside(target, "the target", to, bytes);
  demand_inside(source, "the source", from, bytes);
  if (to_device && from_device) {
    copy_on_device(to, from, bytes, stream);
  } else if (to_device) {
    copy_to_device(to, from, bytes, stream);
  } else if (from_device) {
    if (host::observer) host::observer->copied_to_host(from, bytes);
    copy_to_host(to, from, bytes, stream);
  } else {
    std::memmove(to, from, bytes);
  }
}

void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
               std::size_t width, std::size_t height, cudaMemcpyKind kind, Stream& stream) {
  demand(width <= to_pitch && width <= from_pitch, cudaErrorInvalidPitchValue,
         "rows of " + std::to_string(width) + " bytes need pitches of at least that, not " +
             std::to_string(to_pitch) + " and " + std::to_string(from_pitch));
  for (std::size_t row = 0; row < height; ++row) {
    copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch,
         width, kind, stream);
  }
}

// An asynchronous copy, whose memory of the host is not the host's until something waits for it.
void copy_later(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                Stream& stream) {
  copy(to, from, bytes, kind, stream);
  if (!host::observer || bytes == 0) return;
  const auto is_shared = [](const void* memory) {
    const cudaMemoryType type = range_of(memory).type;
    return type == cudaMemoryTypeHost || type == cudaMemoryTypeManaged;
  };
  if (is_shared(to)) host::observer->async_host_copy(to, bytes, true);
  if (is_shared(from)) host::observer->async_host_copy(from, bytes, false);
}

// Of a capture, what is asked for is looked at when the graph runs.
void on_queue(Stream& stream, std::function<void(Stream&)> work) {
  host::Queue& queue = host::queue_of(stream);
  if (queue.capturing()) {
    queue.record([work = std::move(work)] { work(stream_of(nullptr)); });
  } else {
    work(stream);
  }
}

void set(void* to, int value, std::size_t bytes, Stream& stream) {
  if (bytes == 0) return;
  const Range region = range_of(to);
  demand_device(region, "the target", to);
  demand_inside(region, "the target", to, bytes);
  fill_bytes(to, static_cast<unsigned char>(value), bytes, stream);
}

void allocate(void** pointer, std::size_t bytes, cudaMemoryType type, bool shared = true) {
  demand(pointer != nullptr, cudaErrorInvalidValue, "the pointer to the pointer is null");
  *pointer = nullptr;
  if (bytes == 0) return;
  try {
    Allocation allocation(bytes);
    // What the host writes there directly is not seen by the checkers: all of it counts as written.
    if (type != cudaMemoryTypeDevice) {
      fill_bytes(allocation.data(), 0, bytes, stream_of(nullptr));
      if (shared && host::observer) host::observer->shared_with_host(allocation.data(), bytes);
    }
    *pointer = allocation.data();
    std::lock_guard lock(memories().mutex);
    memories().allocated.insert_or_assign(number(*pointer), Memory{std::move(allocation), type});
  } catch (const Error& error) {
    throw Refusal(cudaErrorMemoryAllocation, error.what());
  }
}

void demand_no_capture(cudaStream_t stream) {
  demand(!host::queue_of(stream_of(stream)).capturing(), cudaErrorStreamCaptureUnsupported,
         "memory is not allocated or freed in a capture; do it before or after");
}

void release(void* pointer, bool host) {
  if (!pointer) return;
  std::lock_guard lock(memories().mutex);
  const auto i = memories().allocated.find(number(pointer));
  demand(i != memories().allocated.end() && (i->second.type == cudaMemoryTypeHost) == host,
         cudaErrorInvalidValue,
         words("the pointer", pointer) + " was not allocated by " +
             (host ? "cudaMallocHost or cudaHostAlloc" : "cudaMalloc") +
             ", or has been freed already");
  Allocation freed = std::move(i->second.allocation);
  memories().allocated.erase(i);
}

} // namespace

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

void note_written(const void* data, std::size_t bytes) {
  if (host::observer && bytes != 0) host::observer->written(const_cast<void*>(data), bytes);
}

void demand_on_device(const void* pointer, std::size_t bytes, const char* which) {
  const Range region = range_of(pointer);
  demand_device(region, which, pointer);
  demand_inside(region, which, pointer, bytes);
}

void demand_managed(const void* pointer, std::size_t bytes) {
  const Range region = range_of(pointer);
  demand(region.type == cudaMemoryTypeManaged, cudaErrorInvalidValue,
         words("the pointer", pointer) + " does not come from cudaMallocManaged");
  demand_inside(region, "the pointer", pointer, bytes);
}

cudaError_t allocate_for_thrust(void** pointer, std::size_t bytes) {
  return call("Thrust's allocation",
              [&] { allocate(pointer, bytes, cudaMemoryTypeManaged, false); });
}

} // namespace kg::foreign

using namespace kg::foreign;
using kg::Stream;

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return call("cudaMalloc", [&] { allocate(pointer, bytes, cudaMemoryTypeDevice); });
}
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  return call("cudaMallocAsync", [&] {
    demand_no_capture(stream);
    allocate(pointer, bytes, cudaMemoryTypeDevice);
  });
}
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return call("cudaMallocPitch", [&] {
    demand(pitch != nullptr, cudaErrorInvalidValue, "the pointer to the pitch is null");
    constexpr std::size_t kAlignment = 512; // what GPUs choose today
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
    release(pointer, false);
    note_wait_for_all(); // as CUDA does
  });
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call("cudaFreeAsync", [&] {
    demand_no_capture(stream);
    release(pointer, false);
  });
}
cudaError_t cudaFreeHost(void* pointer) {
  return call("cudaFreeHost", [&] {
    release(pointer, true);
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
    *flags = cudaHostAllocMapped; // as all of it is
  });
}
cudaError_t cudaHostRegister(void* host, std::size_t bytes, unsigned) {
  return call("cudaHostRegister", [&] {
    demand(host != nullptr && bytes != 0, cudaErrorInvalidValue, "nothing to register");
    demand(
        !kg::host::observer, cudaErrorNotSupported,
        "the checkers and counters do not see memory that is the host's own; use cudaMallocHost");
    demand(range_of(host).type == cudaMemoryTypeUnregistered, cudaErrorHostMemoryAlreadyRegistered,
           words("the pointer", host));
    std::lock_guard lock(memories().mutex);
    memories().registered[number(host)] = bytes;
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

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call("cudaMemcpy", [&] {
    copy(to, from, bytes, kind, stream_of(nullptr));
    note_wait_for_all();
  });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call("cudaMemcpyAsync", [&] {
    note_work(stream);
    on_queue(stream_of(stream), [=](Stream& queue) { copy_later(to, from, bytes, kind, queue); });
  });
}
cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                                cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  const cudaError_t result =
      cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
  note_wait_for_all();
  return result;
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return call("cudaMemcpy2D", [&] {
    on_queue(stream_of(stream), [=](Stream& queue) {
      copy_rows(to, to_pitch, from, from_pitch, width, height, kind, queue);
    });
  });
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  const cudaError_t result = cudaMemcpy3DAsync(parameters, nullptr);
  note_wait_for_all();
  return result;
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return call("cudaMemcpy3D", [&] {
    demand(parameters != nullptr, cudaErrorInvalidValue, "the pointer to the parameters is null");
    demand(!parameters->srcArray && !parameters->dstArray, cudaErrorNotSupported,
           "arrays serve textures only: use cudaPitchedPtr");
    on_queue(stream_of(stream), [p = *parameters](Stream& queue) {
      const auto at = [](const cudaPitchedPtr& in, const cudaPos& from, std::size_t slice) {
        return static_cast<char*>(in.ptr) + ((from.z + slice) * in.ysize + from.y) * in.pitch +
               from.x;
      };
      for (std::size_t z = 0; z < p.extent.depth; ++z) {
        copy_rows(at(p.dstPtr, p.dstPos, z), p.dstPtr.pitch, at(p.srcPtr, p.srcPos, z),
                  p.srcPtr.pitch, p.extent.width, p.extent.height, p.kind, queue);
      }
    });
  });
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return call("cudaMemset", [&] { set(to, value, bytes, stream_of(nullptr)); });
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return call("cudaMemsetAsync", [&] { set(to, value, bytes, stream_of(stream)); });
}
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return call("cudaMemset2D", [&] {
    demand(width <= pitch, cudaErrorInvalidPitchValue, "the rows are wider than the pitch");
    for (std::size_t row = 0; row < height; ++row)
      set(static_cast<char*>(to) + row * pitch, value, width, stream_of(nullptr));
  });
}
