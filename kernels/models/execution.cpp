// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/execution.h"

#include "models/element.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/preconditions.h"

#include <cstring>
#include <string>
#include <utility>

namespace kg::models {

namespace {

// Some systems silently back oversubscribed device memory with host memory or a disk, and timings
// then measure the backing store.
void require_room(std::int64_t bytes) {
  const std::size_t room = device_free_bytes();
  require(static_cast<std::size_t>(bytes) <= room,
          "the model needs " + std::to_string(bytes) + " bytes of device memory, and " +
              std::to_string(room) +
              " are free: it would oversubscribe it; make its batch, sequence or images smaller");
}

} // namespace

Execution::Execution(Tape tape, Stream& stream)
    : tape_(std::move(tape)), stream_(stream), lifetimes_(tape_.lifetimes()),
      placement_(place(lifetimes_)), held_before_(allocated_bytes()) {
  require_room(placement_.bytes);
  reset_peak_allocated_bytes();
  arena_ = Allocation(static_cast<std::size_t>(placement_.bytes));
  for (const auto& prepare : tape_.preparations()) prepare(now());
  stream_.synchronize();
}

Run Execution::now() const {
  return {{static_cast<std::byte*>(arena_.data()), placement_.offsets}, stream_, updates_};
}

void Execution::run(Phase phase) {
  if (phase == Phase::update) ++updates_;
  for (std::size_t i = 0; i < tape_.steps().size(); ++i) {
    const Step& step = tape_.steps()[i];
    if (step.phase != phase) continue;
    if (poison_) poison_born(static_cast<std::int64_t>(i));
    step.run(now());
    if (poison_) poison_dead(static_cast<std::int64_t>(i));
  }
}

std::vector<double> Execution::run_timed(Phase phase) {
  if (phase == Phase::update) ++updates_;
  std::vector<Event> events;
  events.emplace_back().record(stream_);
  for (const Step& step : tape_.steps()) {
    if (step.phase != phase) continue;
    step.run(now());
    events.emplace_back().record(stream_);
  }
  events.back().synchronize();
  std::vector<double> times;
  for (std::size_t i = 1; i < events.size(); ++i)
    times.push_back(elapsed_ns(events[i - 1], events[i]));
  return times;
}

std::vector<Step> Execution::steps(Phase phase) const {
  std::vector<Step> chosen;
  for (const Step& step : tape_.steps())
    if (step.phase == phase) chosen.push_back(step);
  return chosen;
}

void Execution::poison_born(std::int64_t step) const {
  for (std::size_t id = 0; id < lifetimes_.size(); ++id) {
    const Tensor tensor = tape_.tensor(id);
    if (tape_.planned(tensor) && lifetimes_[id].first == step)
      poison(now().at.at(tensor), static_cast<std::size_t>(tensor.bytes()), stream_);
  }
}

void Execution::poison_dead(std::int64_t step) const {
  for (std::size_t id = 0; id < lifetimes_.size(); ++id) {
    const Tensor tensor = tape_.tensor(id);
    if (!tape_.kept(tensor) && lifetimes_[id].last == step)
      poison(now().at.at(tensor), static_cast<std::size_t>(tensor.bytes()), stream_);
  }
}

void Execution::copy_in(Tensor tensor, std::int64_t first, std::span<const std::byte> bytes) {
  require(tape_.kept(tensor), tape_.name(tensor) + ": its memory is not its own; write inputs");
  const auto each = static_cast<std::int64_t>(size_of(tensor.dtype));
  const std::int64_t begin = first * tensor.cols * each;
  require(begin >= 0 && begin + std::ssize(bytes) <= tensor.bytes(),
          tape_.name(tensor) + ": " + std::to_string(std::ssize(bytes) / each) +
              " values from row " + std::to_string(first) + " on for " +
              std::to_string(tensor.rows) + " rows of " + std::to_string(tensor.cols));
  copy_to_device(now().at.as<std::byte>(tensor) + begin, bytes.data(), bytes.size(), stream_);
}

std::vector<std::byte> Execution::copy_out(Tensor tensor) const {
  require(tape_.kept(tensor), tape_.name(tensor) +
                                  ": others have its memory when all has run; ask for it by "
                                  "Tape::keep");
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.bytes()));
  copy_to_host(bytes.data(), now().at.at(tensor), bytes.size(), stream_);
  return bytes;
}

void Execution::write(Tensor tensor, std::span<const float> values) {
  require(std::ssize(values) == tensor.size(), tape_.name(tensor) + ": as many values as elements");
  write_rows(tensor, 0, values);
}
void Execution::write(Tensor tensor, std::span<const std::int32_t> values) {
  require(std::ssize(values) == tensor.size() && tensor.dtype == Dtype::i32,
          tape_.name(tensor) + ": as many values as elements, which are integers");
  copy_in(tensor, 0, std::as_bytes(values));
}
void Execution::write_rows(Tensor tensor, std::int64_t first, std::span<const float> values) {
  copy_in(tensor, first, encoded(values, tensor.dtype));
  const Tensor master = tape_.master_of(tensor);
  if (master.exists()) copy_in(master, first, std::as_bytes(values));
}
std::vector<float> Execution::read(Tensor tensor) const {
  return decoded(copy_out(tensor), tensor.dtype);
}
std::vector<std::int32_t> Execution::read_integers(Tensor tensor) const {
  require(tensor.dtype == Dtype::i32, tape_.name(tensor) + ": its elements are not integers");
  const std::vector<std::byte> bytes = copy_out(tensor);
  std::vector<std::int32_t> values(static_cast<std::size_t>(tensor.size()));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

MemoryUse Execution::memory() const {
  MemoryUse use;
  use.predicted = placement_.bytes;
  use.measured = static_cast<std::int64_t>(peak_allocated_bytes() - held_before_) -
                 static_cast<std::int64_t>(2 * kGuardBytes);
  use.most_live = placement_.most_live;
  for (const Lifetime& each : lifetimes_)
    use.unshared += div_up(each.bytes, kAlignment) * kAlignment;
  return use;
}

void Execution::check_memory() const {
  const MemoryUse use = memory();
  require(use.measured == use.predicted,
          "the model held " + std::to_string(use.measured) + " bytes of device memory, and " +
              std::to_string(use.predicted) + " were planned; an operation allocates by itself");
  arena_.check_guards();
}

} // namespace kg::models
