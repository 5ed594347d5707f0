// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/handles.h"
#include "runtime/host/observer.h"
#include "runtime/host/queue.h"

#include <algorithm>
#include <atomic>

namespace kg::foreign {
namespace {

Handles<CUstream_st>& streams() {
  static Handles<CUstream_st> instance;
  return instance;
}
Handles<CUevent_st>& events() {
  static Handles<CUevent_st> instance;
  return instance;
}

std::atomic<bool> per_thread_default = false; // the meaning of a null stream

CUevent_st& event_of(cudaEvent_t event) { return events().get(event, "event"); }

} // namespace

Stream& stream_of(cudaStream_t handle) {
  static Stream standard;
  if (!handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread) return standard;
  return streams().get(handle, "stream").stream;
}

host::WorkStream hidden_stream(host::StreamKind kind) {
  static std::atomic<std::uint64_t> next = host::kHiddenStreams;
  return {next++, kind};
}
const host::WorkStream& work_stream(cudaStream_t handle) {
  static const host::WorkStream legacy = {0, host::StreamKind::legacy};
  if (handle == cudaStreamPerThread || (!handle && per_thread_default)) {
    static thread_local const host::WorkStream of_thread =
        hidden_stream(host::StreamKind::blocking);
    return of_thread;
  }
  return !handle || handle == cudaStreamLegacy ? legacy : streams().get(handle, "stream").work;
}
bool use_per_thread_default_stream() { return per_thread_default = true; }

void note_wait(cudaStream_t stream) {
  if (host::observer) host::observer->host_waits(work_stream(stream));
}
void note_wait_for_all() {
  if (host::observer) host::observer->host_waits_for_all();
}

cudaError_t on_stream(cudaStream_t stream, const char* name, std::function<void()> work) {
  return call(name, [&] {
    const StreamWork noted(stream, name);
    host::queue_of(stream_of(stream)).run(std::move(work));
  });
}

cudaError_t call_on_host(cudaStream_t stream, const char* name, std::function<void()> function) {
  return on_stream(stream, name, [function = std::move(function)] {
    // Before the call, because the function may notify another host thread in any way.
    if (host::observer) host::observer->work_tells_host();
    function();
  });
}

std::vector<cudaStream_t> all_streams() { return streams().all(); }

void destroy_streams() {
  streams().clear();
  events().clear();
}

} // namespace kg::foreign

using namespace kg::foreign;
namespace host = kg::host;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call("cudaStreamCreate", [&] {
    demand(stream != nullptr, cudaErrorInvalidValue, "the pointer to the stream is null");
    const auto kind =
        flags & cudaStreamNonBlocking ? host::StreamKind::non_blocking : host::StreamKind::blocking;
    static std::atomic<std::uint64_t> count = 0;
    *stream = streams().add(
        std::unique_ptr<CUstream_st>(new CUstream_st{.stream = {}, .work = {++count, kind}}));
    if (host::observer) host::observer->stream_created();
  });
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  const cudaError_t created = cudaStreamCreateWithFlags(stream, flags);
  if (created == cudaSuccess)
    (*stream)->priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  return created;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call("cudaStreamDestroy", [&] { streams().remove(stream, "stream"); });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call("cudaStreamSynchronize", [&] {
    stream_of(stream).synchronize();
    note_wait(stream);
  });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call("cudaStreamQuery", [&] { note_wait(stream); });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return call("cudaStreamWaitEvent", [&] {
    host::Queue& queue = host::queue_of(stream_of(stream));
    const CUevent_st& awaited = event_of(event);
    // An event recorded in a capture makes the stream join the capture.
    if (const auto capture = awaited.capture.lock(); !capture) {
      if (host::observer) host::observer->stream_waits(work_stream(stream), awaited.moment);
    } else if (queue.capture() == capture) {
      queue.wait_for(awaited.nodes);
    } else if (!queue.capturing()) {
      demand(stream != nullptr && stream != cudaStreamLegacy, cudaErrorStreamCaptureUnsupported,
             "the default stream cannot be captured");
      queue.begin_capture(capture, awaited.nodes);
    }
  });
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned) {
  return call_on_host(stream, "cudaStreamAddCallback",
                      [=] { callback(stream, cudaSuccess, data); });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call("cudaStreamGetPriority", [&] {
    stream_of(stream);
    const bool is_default =
        stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
    *priority = is_default ? kLeastPriority : stream->priority;
  });
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return call("cudaStreamGetFlags", [&] {
    stream_of(stream);
    *flags = work_stream(stream).kind == host::StreamKind::non_blocking ? cudaStreamNonBlocking
                                                                        : cudaStreamDefault;
  });
}
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value) {
  return call("cudaStreamSetAttribute", [&] {
    stream_of(stream);
    demand(value != nullptr, cudaErrorInvalidValue, "the pointer to the value is null");
    demand(attribute == cudaStreamAttributeAccessPolicyWindow ||
               attribute == cudaStreamAttributePriority,
           cudaErrorInvalidValue, "attribute " + std::to_string(attribute)); // hints
  });
}
cudaError_t cudaCtxResetPersistingL2Cache() { return fault(); }
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return call_on_host(stream, "cudaLaunchHostFunc", [=] { function(data); });
}

cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return call("cudaEventCreate", [&] {
    demand(event != nullptr, cudaErrorInvalidValue, "the pointer to the event is null");
    *event = events().add(std::make_unique<CUevent_st>());
    (*event)->timed = (flags & cudaEventDisableTiming) == 0;
  });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return cudaEventCreate(event, flags);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call("cudaEventDestroy", [&] { events().remove(event, "event"); });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call("cudaEventRecord", [&] {
    event_of(event).event.record(stream_of(stream));
    const host::Queue& queue = host::queue_of(stream_of(stream));
    event->capture = queue.capture();
    event->nodes = queue.last();
    event->recorded = !queue.capturing();
    if (event->recorded && host::observer)
      event->moment = host::observer->recorded(work_stream(stream));
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call("cudaEventSynchronize", [&] {
    event_of(event).event.synchronize();
    if (host::observer) host::observer->host_waits(event->moment);
  });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call("cudaEventQuery", [&] {
    event_of(event);
    if (host::observer) host::observer->host_waits(event->moment);
  });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  return call("cudaEventElapsedTime", [&] {
    const CUevent_st& first = event_of(start);
    const CUevent_st& second = event_of(stop);
    demand(first.recorded && second.recorded, cudaErrorInvalidResourceHandle,
           "an event has not been recorded");
    demand(first.timed && second.timed, cudaErrorInvalidResourceHandle,
           "an event was created with cudaEventDisableTiming");
    if (host::observer) { // success implies that both are complete
      host::observer->host_waits(first.moment);
      host::observer->host_waits(second.moment);
    }
    *milliseconds = static_cast<float>(kg::elapsed_ns(first.event, second.event) * 1e-6);
  });
}
