// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/check/stream_order.h"

#include <algorithm>

namespace kg::check {

StreamClock& StreamOrder::clock_of(const host::WorkStream& stream) {
  Stream& here = streams_[stream.number];
  here.kind = stream.kind;
  here.clock.learn(host_);
  if (stream.kind == host::StreamKind::legacy) {
    for (const auto& [number, other] : streams_)
      if (other.kind == host::StreamKind::blocking) here.clock.learn(other.clock);
  } else if (stream.kind == host::StreamKind::blocking) {
    const auto legacy = streams_.find(0);
    if (legacy != streams_.end()) here.clock.learn(legacy->second.clock);
  }
  return here.clock;
}

StreamWorkPointer StreamOrder::add(const host::Work& work) {
  clock_of(work.stream).learn(work.stream.number, ++count_);
  streams_[work.stream.number].last = count_;
  return std::make_shared<StreamWork>(StreamWork{work.stream.number, count_, work.function, nullptr,
                                                 work.call_site, work.in_graph});
}

void StreamOrder::host_waits_for_all() {
  floor_ = count_;
  host_ = {};
  streams_.clear();
}

bool StreamOrder::settled() const {
  return std::all_of(streams_.begin(), streams_.end(), [this](const auto& entry) {
    const auto& [number, stream] = entry;
    return host_knows({number, stream.last, nullptr, nullptr, 0, false});
  });
}

} // namespace kg::check
