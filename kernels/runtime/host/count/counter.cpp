// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/count/counter.h"

#include "runtime/host/check/shared_variables.h"
#include "runtime/host/check/source_line.h"
#include "runtime/host/virtual_device.h"
#include "runtime/memory.h"
#include "runtime/ptx/library.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace kg::count {
namespace {

std::uintptr_t number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// All lanes that the warp started with: which of them have exited depends on the thread order.
std::uint32_t lanes_of(const host::Block& block, unsigned warp) {
  const unsigned lanes = std::min(block.thread_count() - warp * kLanes, kLanes);
  return ~0u >> (kLanes - lanes);
}

std::array<unsigned, 3> extents(dim3 d) { return {d.x, d.y, d.z}; }

// Aligns each lane's address down to a multiple of `bytes`.
Request widened(Request request, std::uintptr_t bytes) {
  for (std::uint32_t rest = request.lanes; rest != 0; rest &= rest - 1)
    request.address[std::countr_zero(rest)] &= ~(bytes - 1);
  return request;
}

// Constructed before main, so that no allocation is missed, or by an even earlier call from another
// constructor.
Counter& instance() {
  static Counter counter;
  return counter;
}

} // namespace

Counter* the_counter = &instance();

// Calls instance(), because the pointer may not be set yet.
std::vector<Launch> take_launches() { return instance().take_launches(); }
void count_merged() { instance().count_merged(); }

Counter::Counter() {
  for (const check::DataSegment& segment : check::data_segments())
    if (segment.writable) addresses_.add(segment.begin, segment.bytes, Memory::global);
  host::observer = this;
  host::warpgroup_observer = this;
}

Counter::~Counter() {
  host::observer = nullptr;
  host::warpgroup_observer = nullptr;
}

std::vector<Launch> Counter::take_launches() {
  const std::lock_guard lock(launching_);
  return std::exchange(launches_, {});
}

void Counter::allocated(void* block, std::size_t, std::size_t bytes) {
  const std::lock_guard lock(launching_);
  addresses_.add(number(block) + kGuardBytes, bytes, Memory::global);
}
bool Counter::freed(void* block) {
  const std::lock_guard lock(launching_);
  addresses_.remove(number(block) + kGuardBytes);
  return false;
}

void Counter::launch_began(const host::LaunchContext&) { launching_.lock(); }

void Counter::launch_ended(const host::LaunchContext& launch, const std::exception_ptr& failure) {
  if (!failure) launches_.push_back(result(launch));
  counted_ = {};
  read_.clear();
  written_.clear();
  for (const auto& [block, state] : blocks_) {
    addresses_.remove(state->shared); // not ended
    remove_shared_variables(*state);
  }
  blocks_.clear();
  recent_.fill({});
  by_key_.clear();
  instructions_.clear();
  barriers_.clear();
  launching_.unlock();
}

void Counter::block_began(host::Block& block) {
  auto& state = blocks_[&block];
  if (!state) state = std::make_unique<BlockState>();
  state->shared = number(block.shared_memory());
  addresses_.add(state->shared, host::kMostSharedBytes, Memory::shared);
  if (state->os_thread != &threadIdx) add_shared_variables(*state);
  state->os_thread = &threadIdx;
  state->history.fill(next_meeting(*state));
  block.observed = state.get();
  clustered_ = block.groups().cluster != nullptr;
}

void Counter::add_shared_variables(BlockState& state) {
  for (const check::SharedModule& module : check::shared_modules()) {
    for (const check::SharedVariable& variable : module.variables) {
      if (variable.guard) continue;
      state.variables.push_back(module.begin + variable.offset);
      addresses_.add(state.variables.back(), variable.bytes, Memory::shared);
    }
  }
}

void Counter::remove_shared_variables(BlockState& state) {
  for (const std::uintptr_t begin : state.variables) addresses_.remove(begin);
  state.variables.clear();
  state.os_thread = nullptr;
}

void Counter::block_ended(host::Block& block) {
  BlockState& state = state_of(block);
  for (unsigned warp = 0; warp < host::kMaxWarps; ++warp) close(state, warp);
  std::uint32_t most = 0;
  for (RoundTrips& trips : state.round_trips) {
    trips.end();
    most = std::max(most, trips.ended);
  }
  counted_.round_trips += most;
  counted_.bulk_in_flight = std::max(counted_.bulk_in_flight, state.flight.take_most());
  counted_.block_read += block_read_.size();
  block_read_.clear();
  state.round_trips.fill({});
  // A cluster's memory is unmapped before the launch ends, and may be reused for stacks.
  addresses_.remove(std::exchange(state.shared, 0));
  // So may the variables of a cooperative launch's block, whose OS thread ends.
  if (block.groups().grid) remove_shared_variables(state);
  block.observed = nullptr;
}

void Counter::block_synchronised(host::Block& block, Location where) {
  BlockState& state = state_of(block);
  for (unsigned warp = 0; warp < host::kMaxWarps; ++warp) close(state, warp);
  state.history.fill(next_meeting(state));
  state.flight.met();
  ++counted_.barriers;
  ++barriers_[&check::remembered(where)];
}

void Counter::warp_met(host::Block& block, unsigned warp, unsigned lanes, const char* name) {
  BlockState& state = state_of(block);
  History* const history = &state.history[warp * kLanes];
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1)
    state.round_trips[warp * kLanes + static_cast<unsigned>(std::countr_zero(rest))].end();
  if (lanes == lanes_of(block, warp)) {
    close(state, warp);
    std::fill_n(history, kLanes, next_meeting(state));
  } else {
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) ++history[std::countr_zero(rest)];
  }
  ++counted_.collectives[name];
}

// A load of shared memory neither waits for data of global memory nor needs any.
void Counter::note_round_trip(Access access, Memory memory) {
  host::Block& block = *host::current_block;
  RoundTrips& trips = state_of(block).round_trips[block.thread_rank()];
  if (access != Access::load)
    trips.end();
  else if (memory == Memory::global)
    trips.waiting = true;
}

void Counter::barrier_completed(const void*) { ++counted_.barrier_phases; }

// Sizes that no single instruction moves count as several of the widest instructions that fit.
void Counter::enter(std::uintptr_t address, std::size_t bytes, Access access, Memory memory,
                    const void* instruction) {
  if (bytes == 0) return; // an empty copy
  const std::size_t width = std::min<std::size_t>(bytes & -bytes, 16);
  Instruction& known = instruction_of(instruction, static_cast<unsigned>(width), access, memory);
  for (const std::uintptr_t end = address + bytes; address != end; address += width)
    enter(address, known);
}

Counter::Instruction& Counter::instruction_of(const void* address, unsigned width, Access access,
                                              Memory memory) {
  const std::uint64_t key = std::uint64_t{number(address)} << 6 |
                            static_cast<std::uint64_t>(std::countr_zero(width)) << 3 |
                            static_cast<std::uint64_t>(access) << 1 |
                            static_cast<std::uint64_t>(memory);
  auto& recent = recent_[(key ^ key >> 10) % recent_.size()];
  if (recent.second && recent.first == key) return *recent.second;
  Instruction*& known = by_key_[key];
  if (!known) {
    known = &instructions_.emplace_back(Instruction{instructions_.size(), address, {}});
    known->counts.memory = memory;
    known->counts.access = access;
    known->counts.width = width;
  }
  recent = {key, known};
  return *known;
}

Counter::InstructionInBlock& Counter::in_block(Instruction& instruction, BlockState& state) {
  if (state.instructions.size() <= instruction.index)
    state.instructions.resize(instruction.index + 1);
  auto& here = state.instructions[instruction.index];
  if (!here) {
    here = std::make_unique<InstructionInBlock>();
    here->instruction = &instruction;
  }
  return *here;
}

Counter::Open& Counter::open_of(InstructionInBlock& instruction, unsigned warp, History history,
                                BlockState& state) {
  std::vector<Open>& all = instruction.open[warp];
  for (auto open = all.rbegin(); open != all.rend(); ++open) // the latest is the most likely
    if (open->history == history) return *open;
  if (all.empty() || all.front().history != 0) {
    if (all.empty()) state.open[warp].push_back(&instruction);
    all.emplace_back();
    all.back().history = history;
    return all.back();
  }
  state.open[warp].push_back(&instruction);
  all.front().history = history; // a closed entry, reused for its memory
  return all.front();
}

void Counter::enter(std::uintptr_t address, Instruction& instruction) {
  host::Block& block = *host::current_block;
  BlockState& state = state_of(block);
  const unsigned thread = block.thread_rank();
  const unsigned lane = thread % kLanes;
  InstructionInBlock& here = in_block(instruction, state);
  Executions& executions = here.executions[thread];
  const History history = state.history[thread];
  if (executions.history != history) executions = {history, 0};
  Open& open = open_of(here, thread / kLanes, history, state);
  const std::size_t at = executions.count++ - open.first;
  if (at == open.requests.size()) open.requests.emplace_back();
  Request& request = open.requests[at];
  request.address[lane] = address;
  request.lanes |= 1u << lane;
  request.copied |= std::uint32_t{copying_} << lane;
  if (request.lanes != ~0u) return;
  count(instruction, request);
  if (++open.full != open.requests.size()) return;
  open.first += open.full;
  open.full = 0;
  open.requests.clear();
}

// The lanes of the warp have met or exited: lanes that have not joined a request by now never will.
void Counter::close(BlockState& state, unsigned warp) {
  for (InstructionInBlock* here : state.open[warp]) {
    std::vector<Open>& all = here->open[warp];
    for (Open& open : all) {
      for (const Request& request : open.requests)
        if (request.lanes != ~0u) count(*here->instruction, request);
    }
    all.resize(1);
    all.front().requests.clear();
    all.front().history = 0;
    all.front().first = all.front().full = 0;
  }
  state.open[warp].clear();
}

// For the shared memory of one block.
void Counter::count_passes(Site& site, const Request& request) const {
  const Wavefronts passes = wavefronts(request, site.width);
  site.wavefronts += passes.count;
  site.least_wavefronts += passes.least;
  Request direct = request;
  direct.lanes &= ~request.copied;
  const Wavefronts of_direct = request.copied == 0 ? passes : wavefronts(direct, site.width);
  site.direct_wavefronts += of_direct.count;
  site.least_direct_wavefronts += of_direct.least;
  if (!merged_) return;
  site.wavefronts_8 += wavefronts(widened(request, 8), std::max(8u, site.width)).count;
  site.wavefronts_16 += wavefronts(widened(request, 16), 16).count;
}

// Takes the lanes that access the same block's shared memory as the first lane; `rest` keeps the
// others. Blocks of a cluster access each other's memory, and each block has its own banks.
Request Counter::take_of_one_block(Request& rest) const {
  Request taken = rest;
  if (clustered_) {
    const auto is_in = [](std::uintptr_t address, const BlockState& state) {
      return address - state.shared < host::kMostSharedBytes;
    };
    const std::uintptr_t first = rest.address[std::countr_zero(rest.lanes)];
    for (const auto& [block, state] : blocks_) {
      if (!is_in(first, *state)) continue;
      for (std::uint32_t lanes = rest.lanes; lanes != 0; lanes &= lanes - 1)
        if (!is_in(rest.address[std::countr_zero(lanes)], *state)) taken.lanes &= ~(lanes & -lanes);
    }
  }
  rest.lanes &= ~taken.lanes;
  return taken;
}

void Counter::count(Instruction& instruction, const Request& request) {
  Site& site = instruction.counts;
  ++site.requests;
  site.lanes += static_cast<unsigned>(std::popcount(request.lanes));
  if (site.memory == Memory::shared) {
    Request rest = request;
    while (rest.lanes != 0) count_passes(site, take_of_one_block(rest));
    if (site.access != Access::atomic) return;
  }
  std::uintptr_t buffer[kLanes];
  const auto addresses = sorted_addresses(request, buffer);
  if (site.access == Access::atomic) {
    std::uint64_t lanes = 0; // on the current address
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      lanes = i > 0 && addresses[i] == addresses[i - 1] ? lanes + 1 : 1;
      site.addresses += lanes == 1;
      site.most_lanes = std::max(site.most_lanes, lanes);
    }
  }
  if (site.memory == Memory::shared) return;
  std::uintptr_t last = ~std::uintptr_t{0};
  for (const std::uintptr_t address : addresses) {
    for (std::uintptr_t sector = address >> kSectorBits;
         sector <= (address + site.width - 1) >> kSectorBits; ++sector) {
      if (last != ~std::uintptr_t{0} && sector <= last) continue;
      last = sector;
      ++site.sectors;
      if (site.access != Access::store) read_.insert(sector);
      if (site.access == Access::load) block_read_.insert(sector);
      if (site.access != Access::load) written_.insert(sector);
    }
  }
  site.least_sectors += least_sectors(addresses, site.width);
  site.l1_passes += site.access == Access::load ? l1_passes(request, addresses, site.width)
                                                : wavefronts(request, site.width).least;
}

Launch Counter::result(const host::LaunchContext& launch) {
  counted_.kernel = check::kernel_name(launch.kernel);
  counted_.grid = extents(launch.grid);
  counted_.block = extents(launch.block);
  counted_.shared_bytes = launch.shared_bytes - ptx_run::static_shared(launch.kernel).bytes;
  counted_.unique_read = read_.size();
  counted_.unique_written = written_.size();
  using Key = std::tuple<std::string, Memory, Access, unsigned>;
  std::map<Key, Site> sites; // merges the instructions of a line
  for (const Instruction& instruction : instructions_) {
    const Site& counts = instruction.counts;
    const std::string line = check::source_line(check::site_of(instruction.address));
    Site& site = sites[{line, counts.memory, counts.access, counts.width}];
    site.line = line;
    site.memory = counts.memory;
    site.access = counts.access;
    site.width = counts.width;
    ++site.accesses;
    site.requests += counts.requests;
    site.lanes += counts.lanes;
    site.sectors += counts.sectors;
    site.least_sectors += counts.least_sectors;
    site.wavefronts += counts.wavefronts;
    site.least_wavefronts += counts.least_wavefronts;
    site.direct_wavefronts += counts.direct_wavefronts;
    site.least_direct_wavefronts += counts.least_direct_wavefronts;
    site.wavefronts_8 += counts.wavefronts_8;
    site.wavefronts_16 += counts.wavefronts_16;
    site.l1_passes += counts.l1_passes;
    site.addresses += counts.addresses;
    site.most_lanes = std::max(site.most_lanes, counts.most_lanes);
  }
  for (auto& [key, site] : sites) counted_.sites.push_back(std::move(site));
  for (const auto& [where, count] : barriers_)
    counted_.barriers_at[check::source_line(check::site_of(where))] += count;
  return std::move(counted_);
}

} // namespace kg::count
