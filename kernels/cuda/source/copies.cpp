// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills, and checks of the memory that they access.
#include "cuda/source/state.h"
#include "runtime/host/observer.h"

#include <cstring>

namespace kg::foreign {
namespace {

bool on_device(const Range& region) {
  return region.type == cudaMemoryTypeDevice || region.type == cudaMemoryTypeManaged;
}

void demand_inside(const Range& region, const char* which, const void* pointer, std::size_t bytes) {
  if (region.type == cudaMemoryTypeUnregistered) return;
  const std::size_t left = region.begin + region.bytes - reinterpret_cast<std::uintptr_t>(pointer);
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

// Whether memory is pinned or managed: a copy accesses such memory in the order of its stream.
bool is_shared(const void* memory) {
  const cudaMemoryType type = range_of(memory).type;
  return type == cudaMemoryTypeHost || type == cudaMemoryTypeManaged;
}
void note_shared(const void* to, const void* from, std::size_t bytes) {
  if (!host::observer || bytes == 0) return;
  if (is_shared(to)) host::observer->work_touches(to, bytes, host::Touch::write);
  if (is_shared(from)) host::observer->work_touches(from, bytes, host::Touch::read);
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
  note_shared(to, from, bytes);
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

// When the call returns, a copy to ordinary host memory has completed. With `waits`, so has every
// copy except those between device buffers (CUDA Runtime API, "API synchronization behavior").
void note_copy(const void* to, const void* from, cudaStream_t stream, bool waits) {
  if (!host::observer || host::queue_of(stream_of(stream)).capturing()) return;
  const bool of_device =
      range_of(to).type == cudaMemoryTypeDevice && range_of(from).type == cudaMemoryTypeDevice;
  if (range_of(to).type == cudaMemoryTypeUnregistered || (waits && !of_device)) note_wait(stream);
}

// During a capture, the work and its checks are deferred until the graph runs.
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

} // namespace

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

} // namespace kg::foreign

using namespace kg::foreign;
using kg::Stream;

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call("cudaMemcpy", [&] {
    {
      const StreamWork work(nullptr, "cudaMemcpy");
      copy(to, from, bytes, kind, stream_of(nullptr));
    }
    note_copy(to, from, nullptr, true);
  });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call("cudaMemcpyAsync", [&] {
    {
      const StreamWork work(stream, "cudaMemcpyAsync");
      on_queue(stream_of(stream), [=](Stream& queue) { copy(to, from, bytes, kind, queue); });
    }
    note_copy(to, from, stream, false);
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
  note_copy(to, from, nullptr, true);
  return result;
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return call("cudaMemcpy2D", [&] {
    {
      const StreamWork work(stream, "cudaMemcpy2DAsync");
      on_queue(stream_of(stream), [=](Stream& queue) {
        copy_rows(to, to_pitch, from, from_pitch, width, height, kind, queue);
      });
    }
    note_copy(to, from, stream, false);
  });
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  const cudaError_t result = cudaMemcpy3DAsync(parameters, nullptr);
  if (parameters) note_copy(parameters->dstPtr.ptr, parameters->srcPtr.ptr, nullptr, true);
  return result;
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return call("cudaMemcpy3D", [&] {
    demand(parameters != nullptr, cudaErrorInvalidValue, "the pointer to the parameters is null");
    demand(!parameters->srcArray && !parameters->dstArray, cudaErrorNotSupported,
           "arrays serve textures only: use cudaPitchedPtr");
    const StreamWork work(stream, "cudaMemcpy3DAsync");
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
  return call("cudaMemset", [&] {
    {
      const StreamWork work(nullptr, "cudaMemset");
      set(to, value, bytes, stream_of(nullptr));
    }
    if (kg::host::observer && is_shared(to)) note_wait(nullptr);
  });
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return call("cudaMemsetAsync", [&] {
    const StreamWork work(stream, "cudaMemsetAsync");
    set(to, value, bytes, stream_of(stream));
  });
}
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return call("cudaMemset2D", [&] {
    demand(width <= pitch, cudaErrorInvalidPitchValue, "the rows are wider than the pitch");
    const StreamWork work(nullptr, "cudaMemset2D");
    for (std::size_t row = 0; row < height; ++row)
      set(static_cast<char*>(to) + row * pitch, value, width, stream_of(nullptr));
  });
}
