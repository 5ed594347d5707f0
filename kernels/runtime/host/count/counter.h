// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The counters: a kernel's requests to a GPU's memory, counted while it runs on the executor.
// Kernels are compiled as for the checkers, and the counters replace the checkers in a program.
//
// A GPU executes an instruction for all lanes of a warp that reach it together; here lanes run one
// after the other. Two lanes count as together if both execute the instruction for the k-th time
// since they last met in a barrier or a collective of the warp. So the counts do not depend on the
// thread order. If lanes diverge and take the branches in different iterations of a loop, more
// lanes count as together than on a GPU.
#pragma once

#include "runtime/host/block.h"
#include "runtime/host/count/address_space.h"
#include "runtime/host/count/bulk_flight.h"
#include "runtime/host/count/counts.h"
#include "runtime/host/count/sectors.h"
#include "runtime/host/observer.h"
#include "runtime/host/warpgroup_observer.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kg::count {

// Launches run one at a time, and their blocks one after the other.
class Counter final : public host::Observer, public host::WarpgroupObserver {
 public:
  Counter();
  ~Counter() override;

  // Called before each access of instrumented code. Does nothing outside kernels.
  template <Access access>
  void accessed(std::uintptr_t address, std::size_t bytes, const void* instruction) {
    if (!host::current_block) return;
    const AddressSpace::Kind kind = addresses_.of(address);
    if (kind == AddressSpace::Kind::neither) return;
    const Memory memory = kind == AddressSpace::Kind::global ? Memory::global : Memory::shared;
    note_round_trip(access, memory);
    enter(address, bytes, access, memory, instruction);
  }

  std::vector<Launch> take_launches();

  // ptxas merges separate accesses to shared memory in PTX into wider ones.
  void count_merged() { merged_ = true; }

  void allocated(void* block, std::size_t block_bytes, std::size_t bytes) override;
  bool freed(void* block) override;
  void launch_began(const host::LaunchContext& launch) override;
  void launch_ended(const host::LaunchContext& launch, const std::exception_ptr& failure) override;
  void block_began(host::Block& block) override;
  void block_ended(host::Block& block) override;
  void block_synchronised(host::Block& block, Location where) override;
  void warp_met(host::Block& block, unsigned warp, unsigned lanes, const char* name) override;
  void barrier_completed(const void* object) override;
  void barrier_arrived(const void* object) override;
  void barrier_arrived_relaxed(const void* object) override;
  void barrier_passed(const void* object) override;
  void async_copy_issued(void* to, const void* from, std::size_t bytes, std::size_t source_bytes,
                         Location where) override;
  void bulk_load_reads(const void* from, std::size_t bytes, Location where) override;
  void bulk_load_issued(void* to, std::size_t bytes, const void* barrier, Location where) override;
  void bulk_send_issued(const void* from, std::size_t bytes, const void* barrier,
                        Location where) override;
  void bulk_store_issued(const void* from, std::size_t bytes, Location where) override;
  void bulk_store_writes(void* to, std::size_t bytes, Location where) override;
  void bulk_reduction_updates(void* to, std::size_t bytes, Location where) override;
  void warpgroup_multiplies(const host::WarpgroupProduct& product) override;

 private:
  template <Access kAccess>
  void copied(const void* memory, std::size_t bytes, Location where);
  // An instruction that accesses one kind of memory with one width.
  struct Instruction {
    std::size_t index; // among those of the launch
    const void* address;
    Site counts;
  };

  // Upper half: the number of the last meeting of all lanes of the block or warp. Lower half: how
  // often the lane has since met some of the others. Lanes with equal histories may be at the same
  // place: two halves of a warp that each shuffle among themselves continue together.
  using History = std::uint64_t;

  // The requests of an instruction by one warp that may still gain lanes.
  struct Open {
    History history = 0;
    std::uint32_t first = 0; // execution count of requests[0]
    std::uint32_t full = 0;  // number of requests that have all lanes and are counted
    std::vector<Request> requests;
  };
  struct Executions {
    History history = 0;
    std::uint32_t count = 0; // since `history`
  };
  struct InstructionInBlock {
    Instruction* instruction;
    std::array<Executions, host::kMaxThreads> executions;
    std::array<std::vector<Open>, host::kMaxWarps> open;
  };
  // Per thread: completed round trips, and whether loads are in flight.
  struct RoundTrips {
    std::uint32_t ended = 0;
    bool waiting = false;
    void end() {
      ended += waiting;
      waiting = false;
    }
  };
  struct BlockState {
    std::array<History, host::kMaxThreads> history{};
    History meetings = 0;
    std::vector<std::unique_ptr<InstructionInBlock>> instructions;      // by Instruction::index
    std::array<std::vector<InstructionInBlock*>, host::kMaxWarps> open; // with open requests
    const void* os_thread = nullptr;       // the owner of the known shared variables
    std::vector<std::uintptr_t> variables; // their addresses
    std::uintptr_t shared = 0;             // start of a running block's memory; else 0
    std::array<RoundTrips, host::kMaxThreads> round_trips{};
    BulkFlight flight;
  };

  static BlockState& state_of(host::Block& block) {
    return *static_cast<BlockState*>(block.observed);
  }
  void enter(std::uintptr_t address, std::size_t bytes, Access access, Memory memory,
             const void* instruction);
  void enter(std::uintptr_t address, Instruction& instruction);
  static void note_round_trip(Access access, Memory memory);
  Instruction& instruction_of(const void* address, unsigned width, Access access, Memory memory);
  static InstructionInBlock& in_block(Instruction& instruction, BlockState& state);
  static Open& open_of(InstructionInBlock& instruction, unsigned warp, History history,
                       BlockState& state);
  void close(BlockState& state, unsigned warp);
  static History next_meeting(BlockState& state) { return ++state.meetings << 32; }
  void count(Instruction& instruction, const Request& request);
  void count_passes(Site& site, const Request& request) const;
  Request take_of_one_block(Request& rest) const;
  void add_shared_variables(BlockState& state);
  void remove_shared_variables(BlockState& state);
  Launch result(const host::LaunchContext& launch);

  AddressSpace addresses_;
  bool merged_ = false;
  bool copying_ = false;   // stored data comes straight from global memory
  bool clustered_ = false; // whether this launch has clusters
  Launch counted_;
  SectorSet read_;
  SectorSet written_;
  SectorSet block_read_;                 // of the running block
  std::deque<Instruction> instructions_; // a deque: addresses must stay valid
  std::unordered_map<std::uint64_t, Instruction*> by_key_;
  std::unordered_map<const Location*, std::uint64_t> barriers_;
  std::array<std::pair<std::uint64_t, Instruction*>, 1024> recent_{};
  std::unordered_map<host::Block*, std::unique_ptr<BlockState>> blocks_;
  std::vector<Launch> launches_;
  std::mutex launching_;
};

// The program's only counter: compiler-inserted calls carry no context.
extern Counter* the_counter;
void count_merged(); // Counter::count_merged, callable from constructors before main

} // namespace kg::count
