// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The happens-before relation between work in streams and actions of the host, by vector clocks
// (order.h does the same for threads). The rules are CUDA's. Work follows earlier work of its
// stream, and everything the host knew when it enqueued the work. The legacy default stream waits
// for all blocking streams, and they wait for it. Waiting for an event acquires what its last
// record covered, or nothing if the event was never recorded. The host's threads count as one.
#pragma once

#include "runtime/host/check/access.h"
#include "runtime/host/observer.h"

#include <cstdint>
#include <map>
#include <memory>

namespace kg::check {

using WorkNumber = std::uint64_t; // in enqueue order

// One launch, copy or other work of a stream.
struct StreamWork {
  std::uint64_t stream;
  WorkNumber number;
  const char* function; // null: a kernel launch
  const void* kernel;
  Site call;
  bool in_graph;
};
using StreamWorkPointer = std::shared_ptr<StreamWork>;

// For each stream, the last work known to be done.
class StreamClock {
 public:
  bool knows(const StreamWork& work) const {
    const auto found = known_.find(work.stream);
    return found != known_.end() && work.number <= found->second;
  }
  void learn(std::uint64_t stream, WorkNumber number) {
    WorkNumber& known = known_[stream];
    if (known < number) known = number;
  }
  void learn(const StreamClock& other) {
    for (const auto& [stream, number] : other.known_) learn(stream, number);
  }

 private:
  std::map<std::uint64_t, WorkNumber> known_;
};

class StreamOrder {
 public:
  // What happens before the next work of a stream.
  StreamClock& clock_of(const host::WorkStream& stream);
  // Adds the next work of a stream.
  StreamWorkPointer add(const host::Work& work);
  // Acquires data that other work has left in memory for this work.
  void learn(const StreamWork& work, const StreamClock& clock) {
    streams_[work.stream].clock.learn(clock);
  }
  void host_waits(const StreamClock& clock) { host_.learn(clock); }
  void host_waits_for_all();

  bool host_knows(const StreamWork& work) const {
    return work.number <= floor_ || host_.knows(work);
  }
  bool knows(const StreamClock& clock, const StreamWork& work) const {
    return work.number <= floor_ || clock.knows(work);
  }
  // Whether the host knows all work to be done.
  bool settled() const;

 private:
  struct Stream {
    host::StreamKind kind = host::StreamKind::legacy;
    StreamClock clock; // covers its work so far and all that this work waited for
    WorkNumber last = 0;
  };

  WorkNumber count_ = 0;
  WorkNumber floor_ = 0; // known to everyone
  StreamClock host_;
  std::map<std::uint64_t, Stream> streams_; // includes destroyed streams, whose work continues
};

} // namespace kg::check
