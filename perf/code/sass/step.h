// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// An instruction as the scheduler of a multiprocessor sees it: what it takes, and when what it
// holds is free again.
#pragma once

#include "perf/code/sass/control.h"
#include "perf/code/sass/listing.h"
#include "perf/code/sass/pipes.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace kg::sass {

// What a warp waits for that does not issue.
enum class Waits {
  loaded,   // data from memory or L2
  copied,   // a group of copies to shared memory (cp.async)
  shared,   // data from shared or local memory
  shuffled, // other lanes
  special,  // the special functions' unit
  constant, // constants, and registers of the multiprocessor
  operands, // an access still reads registers that are to be overwritten
  barrier,  // the block's other warps
  stall,    // a result of fixed latency: the compiler's stall count
  pipe,     // its pipe is busy
  queue,    // the queue in front of its unit is full
  turn,     // another warp issues
  finish,   // the block's last warp: of kernels without a main loop
  products  // a group of a warpgroup's products (wgmma)
};
inline constexpr int kWaits = static_cast<int>(Waits::products) + 1;

std::string_view name(Waits waits);

struct Step {
  enum class Kind {
    plain,
    load,     // from memory or L2: its data come when they do
    copy,     // the same to shared memory
    store,    // to memory
    sync,     // waits for the block's other warps
    close,    // LDGDEPBAR: a counter is held until the warp's copies have arrived
    groups,   // DEPBAR.LE: waits until a counter is small
    product,  // HGMMA and its like: queued, and done some time
    products, // WARPGROUP.DEPBAR.LE: waits until few groups of them are under way
    nothing   // never executed: issued, and that is all
  };
  Kind kind = Kind::plain;
  std::size_t at = 0; // instruction of the code
  Control control;
  Pipe pipe = Pipe::control;
  bool queued = false;        // handed to a queue, as accesses and special functions are
  double clocks = 0;          // of a scheduler's part of the pipe
  double multiplies = 0;      // of these, at the matrix unit's rate
  double transfer = 0;        // of what the schedulers share: shared memory and L1
  double bytes = 0;           // of a warp, that memory moves
  bool again = false;         // a load of what the pass before loaded, too: from L2
  double operands = 0;        // clocks until they are read, when the unit takes it
  double result = 0;          // clocks until it is written, of all but loads
  Waits waits = Waits::stall; // what those who need the result wait for
  int counter = 0, left = 0;  // of `groups` and `products`
  bool closes = false;        // a `product` that is the last of its group
};

// `rereads`: positions of the path whose loads have the same address in each pass. Of accesses with
// opposite guards the widest are executed: the whole pack, and not its elements one by one. Empty
// where an instruction lacks its control code, or the model knows nothing of it: barriers of a
// cluster, and bulk copies with their barriers. Beside a warpgroup's products these are taken to
// have come in time: how many bytes they bring is in no machine code.
std::vector<Step> steps_of(const std::vector<Instruction>& path, const Rates& rates,
                           const std::vector<bool>& rereads);

} // namespace kg::sass
