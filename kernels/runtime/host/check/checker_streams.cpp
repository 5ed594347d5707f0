// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Work of streams: accesses to the same bytes in two streams, or in two nodes of a graph, must be
// ordered.
#include "runtime/host/check/checker.h"
#include "runtime/host/check/launch_touches.h"

#include <fmt/format.h>

namespace kg::check {
namespace {

std::uintptr_t begin_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// The current work of this OS thread.
struct Current {
  StreamWorkPointer work;
  StreamClock before; // what happens before it
  int depth = 0;      // nesting depth
};
thread_local Current current;

const StreamClock& clock_at(const host::Moment& moment) {
  return *static_cast<const StreamClock*>(moment.get());
}

std::string verb(TouchKind kind) {
  switch (kind) {
  case TouchKind::read: return "reads";
  case TouchKind::atomic: return "accesses atomically";
  case TouchKind::write: return "writes";
  case TouchKind::allocate: return "allocates";
  case TouchKind::free: return "frees";
  }
  return "";
}

std::string stream_name(const StreamWork& work) {
  if (work.in_graph) return "a node of a graph";
  if (work.stream == 0) return "the default stream";
  return work.stream >= host::kHiddenStreams ? "a thread's default stream"
                                             : fmt::format("stream {}", work.stream);
}

std::string actor(const StreamWork& work) {
  if (work.kernel) return "kernel " + kernel_name(work.kernel);
  return work.function ? work.function : "a node";
}

// " at k.cu:7 (stream 1, launched at k.cu:27)"
std::string place(const StreamWork& work, Site site) {
  const Site at = site ? site : work.call;
  const bool called = site && work.call && site != work.call;
  return fmt::format("{} ({}{})", at ? " at " + source_line(at) : "", stream_name(work),
                     called ? fmt::format(", {} at {}", work.in_graph ? "made" : "launched",
                                          source_line(work.call))
                            : "");
}

} // namespace

bool Checker::in_work() { return current.depth != 0; }

std::uint32_t Checker::call_site(Location known) {
  const auto alone = between_launches();
  return known.line != 0 ? site_of(&remembered(known)) : calling_site();
}

void Checker::stream_created() {
  const auto alone = between_launches();
  if (!has_streams_.exchange(true)) enter_pending_launches();
}

void Checker::work_begins(const host::Work& work) {
  if (current.depth++ != 0) {
    if (!current.work->function && !current.work->kernel) current.work->function = work.function;
    return;
  }
  if (work.stream.number != 0) stream_created(); // a per-thread default stream is never created
  const auto alone = between_launches();
  current.before = stream_order_.clock_of(work.stream);
  current.work = stream_order_.add(work);
  work_pends_ = true;
}

void Checker::work_ends() {
  if (--current.depth == 0) current = {};
}

void Checker::work_tells_host() {
  if (!current.work) return;
  const auto alone = between_launches();
  current.before.learn(current.work->stream, current.work->number);
  stream_order_.host_waits(current.before);
}

void Checker::work_touches(const void* memory, std::size_t bytes, host::Touch touch) {
  constexpr TouchKind kKinds[] = {TouchKind::read, TouchKind::write, TouchKind::allocate,
                                  TouchKind::free};
  if (!current.work || bytes == 0 || host::current_block) return;
  const auto alone = between_launches();
  const std::uintptr_t begin = begin_of(memory);
  enter_touches({{begin, begin + bytes, kKinds[static_cast<int>(touch)], 0}});
}

host::Moment Checker::recorded(const host::WorkStream& stream) {
  const auto alone = between_launches();
  return std::make_shared<StreamClock>(stream_order_.clock_of(stream));
}

void Checker::stream_waits(const host::WorkStream& stream, const host::Moment& moment) {
  const auto alone = between_launches();
  StreamClock& clock = stream_order_.clock_of(stream);
  if (moment) clock.learn(clock_at(moment));
}

void Checker::host_waits(const host::WorkStream& stream) {
  const auto alone = between_launches();
  stream_order_.host_waits(stream_order_.clock_of(stream));
  settle();
}

void Checker::host_waits(const host::Moment& moment) {
  if (!moment) return; // never recorded
  const auto alone = between_launches();
  stream_order_.host_waits(clock_at(moment));
  settle();
}

void Checker::host_waits_for_all() {
  if (host::current_block) return; // a kernel frees heap memory
  const auto alone = between_launches();
  stream_order_.host_waits_for_all();
  settle();
}

// Removes entries that everyone knows.
void Checker::settle() {
  std::erase_if(pending_launches_, [this](const PendingLaunch& launch) {
    return stream_order_.host_knows(*launch.work);
  });
  if (!stream_order_.settled()) return;
  stream_order_.host_waits_for_all();
  work_log_.clear();
  released_.clear();
  pending_launches_.clear();
  work_pends_ = false;
}

StreamWorkPointer Checker::launch_at(Time time) const {
  if (time < kFirstMoment) return nullptr;
  const auto next = std::upper_bound(
      pending_launches_.begin(), pending_launches_.end(), time,
      [](Time moment, const PendingLaunch& launch) { return moment < launch.from; });
  return next == pending_launches_.begin() || time > std::prev(next)->to ? nullptr
                                                                         : std::prev(next)->work;
}

// Records the writes of launches made before a second stream existed.
void Checker::enter_pending_launches() {
  if (pending_launches_.empty()) return;
  const auto known = [](const StreamWork&) { return true; };
  shadow_.for_each([&](const Page& page) {
    if (page.space != Space::global || !page.has_cells()) return;
    const std::uintptr_t bytes = std::uintptr_t{1} << page.shift;
    std::uintptr_t at = page.number << kPageBits;
    for (std::size_t i = 0; i < page.cell_count(); ++i, at += bytes) {
      const Cell& cell = page.cells[i];
      const StreamWorkPointer launch = launch_at(cell.written);
      if (!launch || !is_kernel_code(cell.write_site)) continue;
      const TouchKind kind = cell.writer & kAtomic ? TouchKind::atomic : TouchKind::write;
      work_log_.enter({at, at + bytes, kind, cell.write_site}, launch, known, {});
    }
  });
}

// Called while the launch has exclusive use of the shadow.
void Checker::launch_touched(const host::LaunchContext& launch) {
  if (!current.work) return;
  if (!current.work->kernel) current.work->kernel = launch.kernel;
  const Time from = launch_floor_ + 1;
  pending_launches_.push_back({from, now_, current.work});
  if (!has_streams_) return;
  LaunchTouches touches(
      [this](Site site) { return is_kernel_code(site) && !is_common_code(site); });
  touches.add(reads_.close());
  for (const std::uintptr_t page : judged_pages_)
    if (const Page* const found = shadow_.find(page)) touches.add(*found, from, read_enough_);
  const std::vector<Touched> touched = touches.take();
  // Acquires other launches' releases to variables that this launch has accessed atomically.
  for (const Touched& access : touched) {
    if (access.kind != TouchKind::atomic) continue;
    for (auto at = released_.lower_bound(access.begin);
         at != released_.end() && at->first < access.end; ++at)
      current.before.learn(*at->second);
  }
  current.before.learn(current.work->stream, current.work->number);
  const auto mine = std::make_shared<StreamClock>(current.before);
  stream_order_.learn(*current.work, current.before);
  for (const auto& [address, object] : objects_) released_[address] = mine;
  enter_touches(touched);
}

void Checker::enter_touches(const std::vector<Touched>& touches) {
  std::map<std::tuple<WorkNumber, TouchKind, TouchKind>, StreamRace> races;
  const auto known = [](const StreamWork& work) {
    return the_checker().stream_order_.knows(current.before, work);
  };
  for (const Touched& touch : touches)
    work_log_.enter(touch, current.work, known,
                    [&](const Touched& part, const WorkLog::Entry& earlier) {
                      StreamRace& race = races[{earlier.work->number, earlier.kind, part.kind}];
                      if (race.bytes == 0) race = {earlier, part};
                      race.bytes += part.end - part.begin;
                    });
  for (const auto& [key, race] : races) stream_race(race);
}

void Checker::stream_race(const StreamRace& race) {
  const StreamWork& first = *race.earlier.work;
  const StreamWork& second = *current.work;
  const Site site = race.access.site;
  if (!stream_found_.emplace(race.earlier.site, site, first.call, second.call).second) return;
  const bool frees = race.access.kind == TouchKind::free;
  const std::string hint =
      first.in_graph && second.in_graph
          ? "add an edge from the first node to the second (cudaGraphAddDependencies); in a "
            "capture, record an event and wait for it"
          : fmt::format("record an event behind the first (cudaEventRecord), and let {} wait for "
                        "it (cudaStreamWaitEvent){}",
                        second.in_graph ? "the graph's stream" : stream_name(second),
                        frees ? " before it frees the memory" : "");
  host_finding(fmt::format("[{}] {} {} {} byte{}{}: {}, which {} {}{}; nothing orders the two\n"
                           "  hint: {}",
                           frees ? "freed" : "race", actor(second), verb(race.access.kind),
                           race.bytes, race.bytes == 1 ? "" : "s", place(second, site),
                           global_memory(race.access.begin), actor(first), verb(race.earlier.kind),
                           place(first, race.earlier.site), hint));
}

void Checker::host_frees(const void* memory, std::size_t bytes) {
  if (host::current_block || bytes == 0) return;
  const auto alone = between_launches();
  const std::uintptr_t begin = begin_of(memory);
  std::string other;
  work_log_.find(
      {begin, begin + bytes, TouchKind::free, 0},
      [this](const StreamWork& work) { return stream_order_.host_knows(work); },
      [&](const Touched&, const WorkLog::Entry& earlier) {
        other = fmt::format("{} {}{}", actor(*earlier.work), verb(earlier.kind),
                            place(*earlier.work, earlier.site));
      });
  const Site site = other.empty() ? 0 : calling_site();
  if (other.empty() || !is_new_of_host(site, begin)) return;
  host_finding(fmt::format("[freed] cudaFree{} frees a buffer of {} bytes, which {}; nothing has "
                           "waited for it\n"
                           "  hint: cudaFree does not wait for memory of cudaMallocAsync; wait "
                           "first (cudaStreamSynchronize), or use cudaFreeAsync in that stream",
                           site ? " at " + source_line(site) : "", bytes, other));
}

} // namespace kg::check
