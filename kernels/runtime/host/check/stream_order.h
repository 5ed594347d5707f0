// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which work of streams happens before which, and before what the host does, by vector clocks
// (order.h has those of threads). The rules are CUDA's: work follows what its stream did before and
// what the host knew when it asked for the work. The legacy default stream first waits for all
// blocking streams, which then wait for it. A wait for an event takes what its last record covered,
// and nothing if it was never recorded. The host's threads count as one.
#pragma once

#include "runtime/host/check/access.h"
#include "runtime/host/observer.h"

#include <cstdint>
#include <map>
#include <memory>

namespace kg::check {

using WorkNumber = std::uint64_t; // in the order in which the program asked for work

// One launch, copy or other work of a stream.
struct StreamWork {
  std::uint64_t stream;
  WorkNumber number;
  const char* function; // null: a kernel's launch
  const void* kernel;
  Site call;
  bool in_graph;
};
using StreamWorkPointer = std::shared_ptr<StreamWork>;

// Of each stream, up to which of its work something is known to be done.
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
  // What comes before the work that a stream would do now.
  StreamClock& clock_of(const host::WorkStream& stream);
  // Enters such work.
  StreamWorkPointer add(const host::Work& work);
  // Work has found in memory what other work left there for it.
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
  // Whether the host knows of all work.
  bool settled() const;

 private:
  struct Stream {
    host::StreamKind kind = host::StreamKind::legacy;
    StreamClock clock; // what its work so far and what that waited for cover
    WorkNumber last = 0;
  };

  WorkNumber count_ = 0;
  WorkNumber floor_ = 0; // what everybody knows
  StreamClock host_;
  std::map<std::uint64_t, Stream> streams_; // destroyed ones, too: their work goes on
};

} // namespace kg::check
