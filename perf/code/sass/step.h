// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// An instruction as the scheduler sees it: the resources that it occupies, and when it releases
// them.
#pragma once

#include "perf/code/sass/control.h"
#include "perf/code/sass/listing.h"
#include "perf/code/sass/pipes.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace kg::sass {

// Why a warp does not issue.
enum class Waits {
  loaded,   // data from memory or L2
  copied,   // a group of copies to shared memory (cp.async)
  shared,   // data from shared or local memory
  shuffled, // other lanes
  special,  // special function unit
  constant, // constants and special registers
  operands, // an access still reads registers that are to be overwritten
  barrier,  // the block's other warps
  stall,    // a result of fixed latency: the compiler's stall count
  pipe,     // its pipe is busy
  queue,    // the queue before its unit is full
  turn,     // another warp issues
  finish,   // the block's last warp; kernels without a main loop
  products  // a group of wgmma instructions
};
inline constexpr int kWaits = static_cast<int>(Waits::products) + 1;

std::string_view name(Waits waits);

struct Step {
  enum class Kind {
    plain,
    load,     // from memory or L2; completes when its data arrive
    copy,     // the same to shared memory
    store,    // to memory
    sync,     // waits for the block's other warps
    close,    // LDGDEPBAR: holds a counter until the warp's copies have arrived
    groups,   // DEPBAR.LE: waits until a counter is small
    product,  // HGMMA and similar: queued, completes later
    products, // WARPGROUP.DEPBAR.LE: waits until few groups are in flight
    nothing   // never executed: only issued
  };
  Kind kind = Kind::plain;
  std::size_t at = 0; // index of the instruction in the code
  Control control;
  Pipe pipe = Pipe::control;
  bool queued = false;        // enters a queue, like accesses and special functions
  double clocks = 0;          // of a scheduler's share of the pipe
  double multiplies = 0;      // part of `clocks` at the Tensor Core's rate
  double transfer = 0;        // cycles of units shared by the schedulers: shared memory and L1
  double bytes = 0;           // per warp, moved by memory
  bool again = false;         // a load of data that the previous iteration loaded too: from L2
  double operands = 0;        // cycles until they are read, if the unit accepts it
  double result = 0;          // cycles until it is written, except loads
  Waits waits = Waits::stall; // the stall reason of instructions that need the result
  int counter = 0, left = 0;  // for `groups` and `products`
  bool closes = false;        // a `product` that ends its group
};

// `rereads`: positions of the path whose loads have the same address in each iteration. Of accesses
// with opposite guards the wider one is executed: the vector, not the single elements. Empty if an
// instruction lacks its control code or is not modelled: cluster barriers, and bulk copies with
// their barriers. Beside wgmma these are assumed to arrive in time, since machine code does not
// contain their sizes.
std::vector<Step> steps_of(const std::vector<Instruction>& path, const Rates& rates,
                           const std::vector<bool>& rereads);

} // namespace kg::sass
