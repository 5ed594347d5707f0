// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/handles.h"
#include "runtime/host/observer.h"
#include "runtime/host/queue.h"

namespace kg::foreign {
namespace {

// A function that a stream calls in its turn, and that may look at all that came before. It may
// tell any thread of the host, too, that what came before is done.
void call_on_host(cudaStream_t stream, const std::function<void()>& function) {
  note_wait(stream);
  if (host::observer) host::observer->host_function(true);
  function();
  if (host::observer) host::observer->host_function(false);
}

Handles<CUstream_st>& streams() {
  static Handles<CUstream_st> instance;
  return instance;
}
Handles<CUevent_st>& events() {
  static Handles<CUevent_st> instance;
  return instance;
}
CUevent_st& event_of(cudaEvent_t event) { return events().get(event, "event"); }

} // namespace

Stream& stream_of(cudaStream_t handle) {
  static Stream standard;
  if (!handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread) return standard;
  return streams().get(handle, "stream").stream;
}

void note_work(cudaStream_t stream) {
  if (host::observer) host::observer->work_begins(&stream_of(stream));
}
void note_wait(cudaStream_t stream) {
  const Stream* const standard = &stream_of(nullptr);
  const Stream* const given = &stream_of(stream);
  // The default stream has waited for the others.
  if (host::observer) host::observer->host_waited(given == standard ? nullptr : given, standard);
}
void note_wait_for_all() {
  if (host::observer) host::observer->host_waited(nullptr, nullptr);
}

cudaError_t on_stream(cudaStream_t stream, std::function<void()> work) {
  return call("work on a stream", [&] { host::queue_of(stream_of(stream)).run(std::move(work)); });
}

std::vector<cudaStream_t> all_streams() { return streams().all(); }

void destroy_streams() {
  streams().clear();
  events().clear();
}

} // namespace kg::foreign

using namespace kg::foreign;
namespace host = kg::host;

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return call("cudaStreamCreate", [&] {
    demand(stream != nullptr, cudaErrorInvalidValue, "the pointer to the stream is null");
    *stream = streams().add(std::make_unique<CUstream_st>());
  });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return cudaStreamCreate(stream);
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
    if (host::observer) host::observer->stream_waited();
    // An event of a capture takes the stream into it.
    if (const auto capture = event_of(event).capture.lock(); capture && !queue.capturing()) {
      demand(stream != nullptr && stream != cudaStreamLegacy, cudaErrorStreamCaptureUnsupported,
             "the default stream cannot be captured");
      queue.begin_capture(capture);
    }
  });
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned) {
  return call("cudaStreamAddCallback", [&] {
    host::queue_of(stream_of(stream)).run([=] {
      call_on_host(stream, [=] { callback(stream, cudaSuccess, data); });
    });
  });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call("cudaStreamGetPriority", [&] {
    stream_of(stream);
    *priority = 0;
  });
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return call("cudaStreamGetFlags", [&] {
    stream_of(stream);
    *flags = stream ? cudaStreamNonBlocking : cudaStreamDefault;
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
  return call("cudaLaunchHostFunc", [&] {
    host::queue_of(stream_of(stream)).run([=] { call_on_host(stream, [=] { function(data); }); });
  });
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
    event->capture = host::queue_of(stream_of(stream)).capture();
    event->recorded = event->capture.expired();
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call("cudaEventSynchronize", [&] {
    event_of(event).event.synchronize();
    note_wait_for_all();
  });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call("cudaEventQuery", [&] {
    event_of(event);
    note_wait_for_all();
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
    *milliseconds = static_cast<float>(kg::elapsed_ns(first.event, second.event) * 1e-6);
  });
}
