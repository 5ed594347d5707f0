// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/pace.h"

#include "perf/code/sass/multiprocessor.h"
#include "perf/code/sass/rereads.h"
#include "perf/code/timing_model/model.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace kg::sass {
namespace {

// Work of one warp per iteration, in the unit of the part's share: bytes, or cycles of a pipe.
struct Work {
  double bytes = 0; // from and to memory
  double clocks = 0;
};

Work work_of(const std::vector<Step>& steps, Pipe pipe) {
  Work work;
  for (const Step& step : steps) {
    if (!step.again) work.bytes += step.bytes;
    if (step.pipe == pipe) work.clocks += pipe == Pipe::tensor ? step.multiplies : step.clocks;
  }
  return work;
}

// One multiprocessor's bytes per cycle by bytes in flight, with all multiprocessors equally busy.
class Source {
 public:
  // L2 for GEMMs, whose blocks read the same data; otherwise memory.
  Source(const model::Gpu& gpu, bool from_l2)
      : gpu_(gpu), from_l2_(from_l2), per_clock_(1 / (gpu.sms * gpu.clock_hz)) {}

  double most() const {
    return (from_l2_ ? gpu_.l2_bytes_per_s : gpu_.copy_bytes_per_s) * per_clock_;
  }
  double at(double under_way) const {
    return from_l2_ ? std::min(most(), under_way / (gpu_.l2_latency_s * gpu_.clock_hz))
                    : gpu_.loads_at(under_way) * per_clock_;
  }

 private:
  const model::Gpu& gpu_;
  bool from_l2_;
  double per_clock_;
};

// Finds the number of bytes in flight at which latency and bandwidth are consistent. Few bytes mean
// a short latency, and the multiprocessor requests more. If it requests all of its bandwidth, the
// loads queue.
Simulated settled(const std::vector<Step>& steps, const Source& source, const Residents& residents,
                  double bytes, Memory& memory, Pipe watched) {
  double less = 256, more = 1 << 18; // bytes in flight: a few, and more than fit into registers
  constexpr int kHalvings = 8;
  Simulated found;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = std::sqrt(less * more);
    memory.latency = middle / source.at(middle);
    found = simulate(steps, memory, residents, watched);
    (bytes / found.clocks <= source.at(middle) ? more : less) = middle;
  }
  return found;
}

int warps_of(const Kernel& kernel) {
  return std::max(1, static_cast<int>((kernel.threads + model::kLanes - 1) / model::kLanes));
}

// The block's warps that execute the main part. With setmaxnreg some warpgroups give registers to
// the multiplying ones. As few give as the block's registers allow.
int warps_at_work(const Kernel& kernel) {
  constexpr int kWarpgroup = 4;
  const int all = warps_of(kernel), groups = all / kWarpgroup;
  const int least = kernel.analysis.least_registers, most = kernel.analysis.most_registers;
  if (least == 0 || most == 0 || kernel.analysis.main_part().products.empty()) return all;
  for (int give = 1; give < groups; ++give)
    if ((groups - give) * most + give * least <= groups * kernel.registers)
      return (groups - give) * kWarpgroup;
  return all;
}

std::vector<Idle> idle_of(const Simulated& run, const std::vector<Instruction>& path) {
  std::vector<Idle> all;
  for (const auto& [stand, share] : run.idle) {
    const Instruction &one = path[stand.step], &from = path[stand.behind];
    const Idle made{one.line,  one.kernel_line, one.opcode, std::string(name(stand.waits)),
                    from.line, from.opcode,     100 * share};
    const auto same = std::find_if(all.begin(), all.end(), [&](const Idle& other) {
      return std::tie(other.line, other.kernel_line, other.opcode, other.waits, other.from_line,
                      other.from_opcode) == std::tie(made.line, made.kernel_line, made.opcode,
                                                     made.waits, made.from_line, made.from_opcode);
    });
    if (same == all.end())
      all.push_back(made);
    else
      same->share_pct += made.share_pct;
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Idle& a, const Idle& b) { return a.share_pct > b.share_pct; });
  return all;
}

} // namespace

Pace pace_of(const Kernel& kernel, const LimitShare& limit_share, const model::Gpu& gpu) {
  Pace pace;
  const bool loop = kernel.analysis.main_part().depth > 0;
  const std::vector<Instruction>& path = kernel.analysis.pass;
  const std::vector<Step> steps =
      steps_of(path, rates_of(gpu), loop ? rereads_of(path) : std::vector<bool>());
  if (limit_share.of.empty() || steps.empty() || kernel.warps == 0) return pace;
  const bool streams = limit_share.of == "copy";
  const bool products = kernel.analysis.main_part().matrix > 0;
  const Pipe pipe = products ? Pipe::tensor : Pipe::fma;

  Residents residents;
  residents.blocks = std::max(1, kernel.warps / warps_of(kernel));
  residents.warps = warps_at_work(kernel);
  residents.restart = !loop;
  const double warps = residents.blocks * residents.warps;
  const Work work = work_of(steps, pipe);
  const Source source(gpu, !streams);
  Memory memory;
  memory.l2_latency = gpu.l2_latency_s * gpu.clock_hz;
  memory.port = gpu.port_bytes_per_s / gpu.clock_hz;
  memory.latency = 1 / source.at(1);
  if (residents.blocks > 1) // evenly spaced, as blocks are in steady state
    residents.apart =
        simulate(steps, memory, {1, residents.warps, !loop, 0}).clocks / residents.blocks;
  const Simulated found = settled(steps, source, residents, work.bytes * warps, memory,
                                  products ? Pipe::tensor : Pipe::control);
  pace.clocks = std::max(found.clocks, work.bytes * warps / source.most());
  pace.share_pct = 100 * warps *
                   (streams ? work.bytes / source.most() : work.clocks / model::kSchedulers) /
                   pace.clocks;
  pace.latency = memory.latency;
  pace.idle = idle_of(found, path);
  for (const Idle& one : pace.idle) pace.idle_pct += one.share_pct;
  return pace;
}

} // namespace kg::sass
