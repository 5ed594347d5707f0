// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies within kernels: reads and writes by the asynchronous proxy, and their times.
#include "runtime/host/check/access_check.h"
#include "runtime/host/check/cells.h"
#include "runtime/host/check/checker.h"
#include "runtime/host/mbarrier_notes.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kg::check {

// Sets the write time of cells that a bulk copy has written or is writing to `time`.
void Checker::settle_writes(std::uintptr_t address, std::size_t bytes, Time time) {
  for_each_cell(address, bytes, [&](Page& page, std::size_t cell) {
    if (page.cells[cell].written >= kInFlight) page.cells[cell].written = time;
  });
}

// From now on, a bulk copy of the running thread reads the range.
void Checker::begin_reading(std::uintptr_t address, std::size_t bytes, const Access& reader) {
  for_each_cell(address, bytes, [&](Page& page, std::size_t cell) {
    Cell& last = page.cells[cell];
    History& history = page.history[cell];
    if (last.reads == 0) history.others[0] = history.others[1] = {};
    // Replaces the ordinary read under which the copy was checked.
    const auto judged = [&](const Access& other) {
      return other.time < kInFlight && other.who == reader.who && other.site == reader.site;
    };
    const bool second = judged(history.others[1]) || history.others[0].time == kInFlight;
    Access& place = history.others[second && !judged(history.others[0])];
    place = {kInFlight, reader.who, reader.site};
    last.reads = kReading;
  });
}

void Checker::end_reading(std::uintptr_t address, std::size_t bytes, Who who, Time time) {
  for_each_cell(address, bytes, [&](Page& page, std::size_t cell) {
    Cell& last = page.cells[cell];
    if (last.reads != kReading) return;
    Time latest = 0;
    bool goes_on = false; // another read is still in flight
    for (Access& other : page.history[cell].others) {
      if (other.time == kInFlight && (other.who & ~kWrite) == who) other.time = time;
      goes_on |= other.time == kInFlight;
      latest = std::max(latest, other.time);
    }
    last.reads = goes_on ? kReading : 2 * latest;
  });
}

void Checker::mbarrier_initialised(const void* barrier, Location where) {
  const Aside aside(aside_);
  host::Block& block = *host::current_block;
  BlockState& state = state_of(block);
  objects_of(barrier, state)[address_of(barrier)].initialised = {
      now_, state.order.block() | block.thread_rank(), site_of(&remembered(where))};
}

void Checker::proxy_fenced(host::Block& block, host::Proxy covered) {
  const Aside aside(aside_);
  BlockState& state = state_of(block);
  judge_from_now_on(state);
  if (covered == host::Proxy::mbarrier_init) state.order.fence_inits(block.thread_rank(), now_);
  proxy_fences_.add(covered, block.thread_rank(), state.order, now_++);
}

// Checks whether a bulk copy issued now may read data from ordinary stores of this launch.
void Checker::check_proxy(std::uintptr_t address, std::size_t bytes, const Passage& passage) {
  const Aside aside(aside_);
  const BlockOrder& order = passage.state.order;
  Access last{};
  for_each_cell(address, bytes, [&](Page& page, std::size_t cell) {
    const Access write{page.cells[cell].written, page.cells[cell].writer,
                       page.cells[cell].write_site};
    const bool global = page.space == Space::global;
    const Time before = global ? launch_floor_ : order.started();
    if (write.time <= before || write.time >= kInFlight) return;
    if (write.time == last.time && write.who == last.who) return;
    last = write;
    const host::Proxy kind = global ? host::Proxy::global : host::Proxy::shared;
    if (!order.before(write, passage.thread)) return; // a race
    if (proxy_fences_.cover(kind, write, passage.thread, order)) return;
    const Site site = site_of(passage.instruction);
    if (!findings_.is_new(Fault::proxy, site, write.site)) return;
    findings_.add(
        Fault::proxy, site, write.site,
        fmt::format(
            "{}: {}, which {} wrote at {} by an ordinary store, without a proxy fence in "
            "between\n  hint: put fence.proxy.async.{} (kg::ptx::fence_proxy_async_{}()) "
            "behind {}, before the barrier that hands it over",
            accesses(warpgroup_notes_.sites.contains(site) ? "reads by wgmma" : "copies in bulk",
                     passage),
            variable(page.address_of(cell), passage.owner, passage.block.launch()),
            other_thread(write.who, passage), source_line(write.site),
            global ? "global" : "shared::cta", global ? "global" : "shared",
            source_line(write.site)));
  });
}

// A copy completes at the mbarrier by the asynchronous proxy, which must see its initialization.
void Checker::check_initialised(const SyncObject& barrier, const Passage& passage) {
  const Aside aside(aside_);
  const Access& init = barrier.initialised;
  const BlockOrder& order = passage.state.order;
  if (init.time == 0 || order.knows_init(init, passage.thread)) return;
  const Site site = site_of(passage.instruction);
  const bool ordered = order.before(init, passage.thread);
  if (ordered && (proxy_fences_.cover(host::Proxy::mbarrier_init, init, passage.thread, order) ||
                  proxy_fences_.cover(host::Proxy::shared, init, passage.thread, order)))
    return;
  const Fault fault = ordered ? Fault::proxy : Fault::race;
  if (!findings_.is_new(fault, site, init.site)) return;
  findings_.add(
      fault, site, init.site,
      fmt::format("{}, to complete at the mbarrier that {} initialized at {}{}",
                  accesses("copies in bulk", passage), other_thread(init.who, passage),
                  source_line(init.site),
                  ordered
                      ? ", without a fence in between\n  hint: put fence.mbarrier_init "
                        "(kg::ptx::fence_mbarrier_init()) behind mbarrier.init, before the barrier"
                      : "; nothing orders the two\n  hint: put __syncthreads() between the two"));
}

SyncObject& Checker::numbered(const void* barrier, host::Block& block, Location where) {
  SyncObject& object = objects_of(barrier, state_of(block))[address_of(barrier)];
  if (object.number != 0) return object;
  object.number = ++numbers_;
  if (object.number >= kMostNumbers)
    block.trap("the checkers follow bulk copies at no more mbarriers in one launch; launch fewer "
               "clusters or blocks of a cooperative grid at once",
               where);
  return object;
}

void Checker::bulk_load_reads(const void* from, std::size_t bytes, Location where) {
  bulk_reads(from, bytes, &remembered(where));
}

// An operation issued now reads the range by the asynchronous proxy.
void Checker::bulk_reads(const void* from, std::size_t bytes, const Location* site) {
  host::Block& block = *host::current_block;
  BlockState& state = state_of(block);
  judge_from_now_on(state);
  ++now_;
  access<Kind::read>(address_of(from), bytes, 1, site);
  settle_undefined_load();
  check_proxy(address_of(from), bytes,
              {block, state, state, nullptr, address_of(from), bytes, site, block.thread_rank()});
}

// No thread may access the destination until the copy has landed.
void Checker::bulk_writes(void* to, const Location* site, const BulkWrite& copy) {
  access<Kind::write>(address_of(to), copy.bytes, 1, site);
  pending_.bytes = 0; // the data has not been written yet
  bulk_writes_[address_of(to)] = copy;
  set_write_time(address_of(to), copy.bytes, kInFlight);
  ++now_;
}

void Checker::bulk_load_issued(void* to, std::size_t bytes, const void* barrier, Location where) {
  host::Block& block = *host::current_block;
  BlockState& state = state_of(block);
  const Location* const site = &remembered(where);
  judge_from_now_on(state);
  state.uses_mbarrier = true;
  ++now_;
  const SyncObject& object = numbered(barrier, block, where);
  check_initialised(
      object, {block, state, state, nullptr, address_of(to), bytes, site, block.thread_rank()});
  bulk_writes(to, site,
              {bytes, site_of(site), block_of(address_of(to), block), barrier, object.phases, true,
               warpgroup_notes_.swizzle});
}

// The time of what completes at the mbarrier in its open phase.
Time Checker::landed_at(const void* barrier) {
  const SyncObject& object =
      objects_of(barrier, state_of(*host::current_block))[address_of(barrier)];
  return landed(object.number, object.phases);
}

void Checker::bulk_load_landed(void* to, const void* barrier) {
  const Aside aside(aside_);
  const auto copy = bulk_writes_.find(address_of(to));
  if (copy == bulk_writes_.end()) return;
  copy->second.in_flight = false;
  settle_writes(address_of(to), copy->second.bytes, landed_at(barrier));
  ++now_;
}

void Checker::bulk_store_issued(const void* from, std::size_t bytes, Location where) {
  host::Block& block = *host::current_block;
  const Location* const site = &remembered(where);
  bulk_reads(from, bytes, site);
  const Who who = state_of(block).order.block() | block.thread_rank();
  bulk_reads_[address_of(from)] = {bytes, who, &block};
  storing_from_[who] = address_of(from);
  begin_reading(address_of(from), bytes, {now_, who, site_of(site)});
  ++now_;
}

void Checker::bulk_store_writes(void* to, std::size_t bytes, Location where) {
  host::Block& block = *host::current_block;
  const Location* const site = &remembered(where);
  const Who who = state_of(block).order.block() | block.thread_rank();
  const LastStore store{bytes, site_of(site), storing_from_[who], who};
  if (std::exchange(last_stores_[address_of(to)], store).is_of_same_warp(store)) return;
  bulk_writes(to, site, {bytes, site_of(site), &block, nullptr, 0, true, {}});
}

void Checker::bulk_store_read(const void* from, std::size_t bytes) {
  const Aside aside(aside_);
  host::Block& block = *host::current_block;
  const Who who = state_of(block).order.block() | block.thread_rank();
  end_reading(address_of(from), bytes, who, now_++);
  bulk_reads_.erase(address_of(from));
}

void Checker::bulk_store_written(void* to, std::size_t bytes) {
  const Aside aside(aside_);
  settle_writes(address_of(to), bytes, now_++);
  bulk_writes_.erase(address_of(to));
}

// Further atomic updates do not conflict with those of the copy; any other access does, until the
// copy has been waited for. As in the executor's atomic functions, a read precedes the update.
void Checker::bulk_reduction_updates(void* to, std::size_t bytes, Location where) {
  host::Block& block = *host::current_block;
  const Location* const site = &remembered(where);
  ++now_;
  access<Kind::atomic_read>(address_of(to), bytes, 1, site);
  settle_undefined_load();
  access<Kind::atomic_write>(address_of(to), bytes, 1, site);
  const Who who = state_of(block).order.block() | block.thread_rank() | kAtomic;
  bulk_updates_.insert({address_of(to), {bytes, who, &block}});
  set_write_time(address_of(to), bytes, kInFlight);
  ++now_;
}

void Checker::bulk_reduction_updated(void* to, std::size_t bytes) {
  const Aside aside(aside_);
  host::Block& block = *host::current_block;
  updated(address_of(to), bytes, state_of(block).order.block() | block.thread_rank() | kAtomic,
          now_);
}

void Checker::updated(std::uintptr_t address, std::size_t bytes, Who who, Time time) {
  const auto [begin, end] = bulk_updates_.equal_range(address);
  const auto mine = std::find_if(begin, end, [&](const auto& update) {
    return update.second.who == who && update.second.bytes == bytes;
  });
  if (mine == end) return;
  bulk_updates_.erase(mine);
  end_updating(address, bytes, who, time);
}

// The source is read as by a bulk store, until the bytes are complete at the mbarrier.
void Checker::bulk_send_issued(const void* from, std::size_t bytes, const void* barrier,
                               Location where) {
  bulk_store_issued(from, bytes, where);
  host::Block& block = *host::current_block;
  BlockState& state = state_of(block);
  state.uses_mbarrier = true;
  check_initialised(numbered(barrier, block, where),
                    {block, state, state, nullptr, address_of(from), bytes, &remembered(where),
                     block.thread_rank()});
}

void Checker::bulk_send_read(const void* from, std::size_t bytes, unsigned sender,
                             const void* barrier) {
  const Aside aside(aside_);
  const Who who = state_of(*host::current_block).order.block() | sender;
  end_reading(address_of(from), bytes, who, landed_at(barrier));
  bulk_reads_.erase(address_of(from));
  sent_[address_of(from)] = {bytes, host::current_block};
}

void Checker::bulk_send_updated(void* to, std::size_t bytes, unsigned sender, const void* barrier) {
  const Aside aside(aside_);
  const Who who = state_of(*host::current_block).order.block() | sender | kAtomic;
  updated(address_of(to), bytes, who, landed_at(barrier));
  sent_[address_of(to)] = {bytes, block_of(address_of(to), *host::current_block)};
}

// Accesses of the range by the asynchronous proxy have ended by now.
void Checker::settle_accesses(std::uintptr_t address, std::size_t bytes) {
  for_each_cell(address, bytes, [&](Page& page, std::size_t cell) {
    Cell& last = page.cells[cell];
    if (last.written >= kInFlight) last.written = now_;
    for (Access& other : page.history[cell].others)
      if (other.time >= kInFlight) other.time = now_;
    if (last.reads != 0) last.reads = std::min(last.reads, 2 * now_);
  });
}

// A thread's updates of a range end with the last of them.
void Checker::end_updating(std::uintptr_t address, std::size_t bytes, Who who, Time time) {
  const auto [begin, end] = bulk_updates_.equal_range(address);
  if (std::any_of(begin, end, [&](const auto& update) { return update.second.who == who; })) return;
  for_each_cell(address, bytes, [&](Page& page, std::size_t cell) {
    Cell& last = page.cells[cell];
    if (last.written == kInFlight && last.writer == who) last.written = time;
  });
  end_reading(address, bytes, who, time); // earlier updates are in the history, like reads
  ++now_;
}

void Checker::bulk_store_not_awaited(std::size_t bytes, unsigned thread, Location where) {
  const Aside aside(aside_);
  const Site site = site_of(&remembered(where));
  if (!findings_.is_new(Fault::barrier, site, 0)) return;
  findings_.add(
      Fault::barrier, site, 0,
      fmt::format("kernel {}, block ({},{},{}): ended while its bulk copy of {} bytes from shared "
                  "memory, at {}, is in flight\n  hint: let the thread that issued it (number {}) "
                  "commit it and wait for the group, at least by .read",
                  kernel_name(host::current_block->launch().kernel), blockIdx.x, blockIdx.y,
                  blockIdx.z, bytes, source_line(site), thread));
}

// A phase of an mbarrier has ended: none of the copies issued for it is in flight.
void Checker::phase_ended(const void* barrier, SyncObject& object) {
  ++object.phases;
  if (object.number == 0) return;
  if (object.phases >= kMostPhases)
    host::current_block->trap("the checkers follow no more phases of one mbarrier in one launch; "
                              "launch less work at once",
                              Location::here());
  object.gathered.clock.learn(Clock::phase_key(object.number), object.phases);
  for (const auto& [to, copy] : bulk_writes_) {
    if (!copy.in_flight || copy.barrier != barrier || copy.phase + 1 != object.phases) continue;
    if (!findings_.is_new(Fault::barrier, copy.site, 0)) continue;
    const auto note = host::note_of(static_cast<const std::uint64_t*>(barrier));
    const Location expected = note ? note->expected : Location{};
    findings_.add(
        Fault::barrier, copy.site, 0,
        fmt::format(
            "kernel {}, block ({},{},{}): phase {} of an mbarrier ended while the bulk copy "
            "of {} bytes at {} is in flight{}\n  hint: let expect_tx name the bytes of all "
            "copies of the phase, before the last arrival",
            kernel_name(host::current_block->launch().kernel), blockIdx.x, blockIdx.y, blockIdx.z,
            object.phases - 1, copy.bytes, source_line(copy.site),
            expected.line == 0 ? ": no expect_tx was for it"
                               : fmt::format("; {} bytes were expected, last at {}:{}",
                                             note->expected_bytes, expected.file, expected.line)));
  }
}

// Drops the copies of this block, or of all (null): their memory may be reused by other blocks.
void Checker::forget_bulk_copies(const host::Block* block) {
  std::erase_if(bulk_writes_, [&](const auto& copy) {
    if (block && copy.second.block != block) return false;
    settle_writes(copy.first, copy.second.bytes, now_);
    return true;
  });
  std::erase_if(bulk_reads_, [&](const auto& copy) {
    if (block && copy.second.block != block) return false;
    end_reading(copy.first, copy.second.bytes, copy.second.who, now_);
    return true;
  });
  std::erase_if(sent_, [&](const auto& range) {
    if (block && range.second.block != block) return false;
    settle_accesses(range.first, range.second.bytes);
    return true;
  });
  while (true) { // the updates of a thread end with the last of them
    const auto update =
        std::find_if(bulk_updates_.begin(), bulk_updates_.end(),
                     [&](const auto& each) { return !block || each.second.block == block; });
    if (update == bulk_updates_.end()) break;
    const auto [address, ended] = *update;
    bulk_updates_.erase(update);
    end_updating(address, ended.bytes, ended.who, now_);
  }
  if (!block) {
    last_stores_.clear();
    storing_from_.clear();
  }
  forget_warpgroup_reads(block);
}

} // namespace kg::check
