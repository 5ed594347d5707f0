// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/flow.h"

#include "perf/code/sass/pipes.h"
#include "perf/code/sass/registers.h"
#include "runtime/error.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace kg::sass {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

bool is_branch(const Instruction& one) {
  return one.opcode == "BRA" || one.opcode == "BRX" || one.opcode == "JMP" ||
         one.opcode == "BRXU" || one.opcode == "BSYNC";
}

// Without a guard, execution ends here.
bool is_end(const Instruction& one) {
  return one.opcode == "EXIT" || one.opcode == "RET" || one.opcode == "KILL";
}

bool is_guarded(const Instruction& one) { return !one.guard.empty() && one.guard != "PT"; }

// Labels in operands: "`(.L_x_5)".
std::vector<std::string> labels_in(const Instruction& one) {
  std::vector<std::string> labels;
  for (const std::string& operand : one.operands)
    if (operand.starts_with("`(")) labels.push_back(operand.substr(2, operand.size() - 3));
  return labels;
}

std::size_t target(const Function& function, const std::string& label) {
  const auto at = function.labels.find(label);
  if (at == function.labels.end())
    throw Error(fmt::format("{}: a branch to {}, which its disassembly lacks; disassemble the "
                            "whole cubin again",
                            function.symbol, label));
  return at->second;
}

// The instructions that may follow instruction `at`; none after the last one.
std::vector<std::size_t> successors(const Function& function, std::size_t at,
                                    const std::map<std::string, std::string>& reconvergence) {
  const Instruction& one = function.code[at];
  std::vector<std::size_t> found;
  bool falls_through = !is_end(one) || is_guarded(one);
  if (one.opcode == "BSYNC") {
    const auto meets =
        one.operands.empty() ? reconvergence.end() : reconvergence.find(one.operands.front());
    if (meets != reconvergence.end()) {
      found.push_back(target(function, meets->second));
      falls_through = is_guarded(one);
    }
  } else if (is_branch(one)) {
    for (const std::string& label : labels_in(one)) found.push_back(target(function, label));
    // Some threads take `BRA P1, label` and `BRA.DIV UR4, label`.
    const bool by_operand = !one.operands.empty() && !one.operands.front().starts_with("`(");
    falls_through = is_guarded(one) || (one.opcode == "BRA" && by_operand);
  }
  if (falls_through) found.push_back(at + 1);
  std::erase_if(found, [&](std::size_t to) { return to >= function.code.size(); });
  return found;
}

std::vector<Block> blocks_of(const Function& function) {
  const std::size_t size = function.code.size();
  std::vector<std::vector<std::size_t>> next(size);
  std::set<std::size_t> leaders = {0};
  for (const auto& [label, at] : function.labels)
    if (at < size) leaders.insert(at);
  std::map<std::string, std::string> reconvergence; // label by barrier register, in code order
  for (std::size_t at = 0; at < size; ++at) {
    const Instruction& one = function.code[at];
    if (one.opcode == "BSSY")
      for (const std::string& label : labels_in(one)) reconvergence[one.operands.front()] = label;
    next[at] = successors(function, at, reconvergence);
    const bool ends = is_branch(one) || (is_end(one) && !is_guarded(one));
    if (!ends) continue;
    leaders.insert(at + 1);
    leaders.insert(next[at].begin(), next[at].end());
  }
  std::vector<Block> blocks;
  std::map<std::size_t, std::size_t> block_at;
  for (auto leader = leaders.begin(); leader != leaders.end() && *leader < size; ++leader) {
    block_at[*leader] = blocks.size();
    const auto following = std::next(leader);
    blocks.push_back({*leader, following == leaders.end() ? size : std::min(*following, size), {}});
  }
  for (Block& block : blocks)
    for (const std::size_t to : next[block.end - 1])
      if (const auto at = block_at.find(to); at != block_at.end()) block.next.push_back(at->second);
  return blocks;
}

// Reachable blocks in reverse postorder: each after its predecessors, except for back edges.
std::vector<std::size_t> reverse_postorder(const std::vector<Block>& blocks) {
  std::vector<std::size_t> order;
  if (blocks.empty()) return order;
  std::vector<bool> seen(blocks.size());
  std::vector<std::pair<std::size_t, std::size_t>> open = {{0, 0}};
  seen[0] = true;
  while (!open.empty()) {
    auto& [block, edge] = open.back();
    if (edge == blocks[block].next.size()) {
      order.push_back(block);
      open.pop_back();
      continue;
    }
    const std::size_t to = blocks[block].next[edge++];
    if (!seen[to]) {
      seen[to] = true;
      open.emplace_back(to, 0);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

// Immediate dominators: Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm", 2001.
// kNone for unreachable blocks.
class Dominators {
 public:
  explicit Dominators(const std::vector<Block>& blocks)
      : order_(reverse_postorder(blocks)), rank_(blocks.size(), kNone),
        nearest_(blocks.size(), kNone) {
    std::vector<std::vector<std::size_t>> before(blocks.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      rank_[order_[i]] = i;
      for (const std::size_t to : blocks[order_[i]].next) before[to].push_back(order_[i]);
    }
    if (order_.empty()) return;
    nearest_[0] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::size_t block : order_) {
        if (block == 0) continue;
        std::size_t found = kNone;
        for (const std::size_t from : before[block])
          if (nearest_[from] != kNone) found = found == kNone ? from : common(found, from);
        changed |= nearest_[block] != found;
        nearest_[block] = found;
      }
    }
  }

  const std::vector<std::size_t>& order() const { return order_; }
  std::size_t rank(std::size_t block) const { return rank_[block]; }

  bool dominates(std::size_t above, std::size_t block) const {
    if (rank_[above] == kNone || rank_[block] == kNone) return false;
    while (rank_[block] > rank_[above]) block = nearest_[block];
    return block == above;
  }

 private:
  std::size_t common(std::size_t a, std::size_t b) const {
    while (a != b) {
      while (rank_[a] > rank_[b]) a = nearest_[a];
      while (rank_[b] > rank_[a]) b = nearest_[b];
    }
    return a;
  }

  std::vector<std::size_t> order_, rank_, nearest_;
};

// Natural loops: a header, and the blocks that reach a back edge to it without passing the header.
std::vector<Region> loops_of(const std::vector<Block>& blocks, const Dominators& dominators) {
  std::vector<std::vector<std::size_t>> before(blocks.size());
  for (const std::size_t block : dominators.order())
    for (const std::size_t to : blocks[block].next) before[to].push_back(block);
  std::map<std::size_t, std::set<std::size_t>> bodies; // by header
  for (const std::size_t latch : dominators.order()) {
    for (const std::size_t header : blocks[latch].next) {
      if (!dominators.dominates(header, latch)) continue;
      std::set<std::size_t>& body = bodies[header];
      body.insert(header);
      std::vector<std::size_t> open = {latch};
      while (!open.empty()) {
        const std::size_t block = open.back();
        open.pop_back();
        if (body.insert(block).second)
          open.insert(open.end(), before[block].begin(), before[block].end());
      }
    }
  }
  std::vector<Region> loops;
  for (const auto& [header, body] : bodies) {
    Region loop{header, {body.begin(), body.end()}, 0, true};
    for (const auto& [other, around] : bodies) {
      if (around.count(header) != 0) ++loop.depth; // includes itself
      if (other != header && body.count(other) != 0) loop.innermost = false;
    }
    loops.push_back(std::move(loop));
  }
  return loops;
}

enum Class { kGlobalLoad, kGlobalStore, kSharedLoad, kSharedStore, kClasses };

// kClasses for instructions that do not access global or shared memory.
Class class_of(const Instruction& one) {
  const Space space = space_of(one);
  if (space == Space::global || space == Space::generic)
    return is_load(one) ? kGlobalLoad : kGlobalStore;
  if (space == Space::shared) return is_load(one) ? kSharedLoad : kSharedStore;
  return kClasses;
}

// The score of a path. First what it moves by the widest accesses of each class, plus matrix
// instructions; then whether narrower accesses are worth their instructions.
struct Score {
  double widest = 0, narrower = 0;
  bool better_than(const Score& other) const {
    return widest != other.widest ? widest > other.widest : narrower > other.narrower;
  }
  void operator+=(const Score& other) {
    widest += other.widest;
    narrower += other.narrower;
  }
};

class Scores {
 public:
  Scores(const Function& function, const Flow& flow, const Region& region) : function_(function) {
    for (const std::size_t block : region.blocks)
      for (std::size_t at = flow.blocks[block].begin; at < flow.blocks[block].end; ++at)
        if (const Class kind = class_of(function.code[at]); kind != kClasses)
          widest_[kind] = std::max(widest_[kind], bytes_moved(function.code[at]));
    // An access of half the width is worth 32 instructions.
    constexpr double kWorth = 128;
    for (const Class kind : {kGlobalLoad, kGlobalStore, kSharedLoad, kSharedStore})
      per_instruction_ = std::max(per_instruction_, square(kind, widest_[kind]) / kWorth);
  }

  Score of(const Block& block) const {
    Score score;
    for (std::size_t at = block.begin; at < block.end; ++at) {
      const Instruction& one = function_.code[at];
      score += moved_by(one);
      score.narrower -= per_instruction_ * static_cast<double>(1 + one.called);
    }
    return score;
  }

  Score moved_by(const Instruction& one) const {
    constexpr double kMatrix = 256;
    Score score;
    const Class kind = class_of(one);
    const int bytes = kind == kClasses ? 0 : bytes_moved(one);
    if (pipe_of(one) == Pipe::tensor) score.widest = kMatrix;
    if (kind == kClasses) return score;
    (bytes == widest_[kind] ? score.widest : score.narrower) = square(kind, bytes);
    return score;
  }

 private:
  // A vector counts more than its separate elements. Shared memory decides among equals.
  static double square(Class kind, double bytes) {
    return (kind <= kGlobalStore ? 16 : 1) * bytes * bytes;
  }

  const Function& function_;
  std::array<int, kClasses> widest_ = {}; // bytes
  double per_instruction_ = 1e-3;
};

std::string opposite(const std::string& guard) {
  return guard.starts_with('!') ? guard.substr(1) : "!" + guard;
}

// Predicated accesses before the branch that ends `block` which are not executed on the path to
// `next`. nvcc hoists the load of a vector out of a branch, and threads that take the scalar path
// have not executed it.
Score not_moved(const Function& function, const Scores& scores, const Block& block,
                const Block& next) {
  const Instruction& branch = function.code[block.end - 1];
  const std::vector<std::string> labels = labels_in(branch);
  if (branch.opcode != "BRA" || !is_guarded(branch) || labels.size() != 1) return {};
  const bool taken = target(function, labels[0]) == next.begin;
  const std::string never = taken ? opposite(branch.guard) : branch.guard;
  const std::string predicate = never.substr(never.starts_with('!') ? 1 : 0);
  Score moved;
  for (std::size_t at = block.end - 1; at-- > 0;) {
    const Instruction& one = function.code[at];
    const std::vector<std::string> written = registers_of(one).predicates;
    if (std::find(written.begin(), written.end(), predicate) != written.end()) break;
    if (one.guard == never) moved += scores.moved_by(one);
  }
  return moved;
}

} // namespace

Flow flow_of(const Function& function) {
  Flow flow{blocks_of(function), {}};
  const Dominators dominators(flow.blocks);
  Region whole;
  whole.blocks = dominators.order();
  std::sort(whole.blocks.begin(), whole.blocks.end());
  std::vector<Region> loops = loops_of(flow.blocks, dominators);
  whole.innermost = loops.empty();
  flow.regions.push_back(std::move(whole));
  flow.regions.insert(flow.regions.end(), loops.begin(), loops.end());
  return flow;
}

std::vector<std::size_t> main_path(const Function& function, const Flow& flow,
                                   const Region& region) {
  const Dominators dominators(flow.blocks);
  const Scores scores(function, flow, region);
  struct Best {
    Score score;
    std::size_t next = kNone;
    bool ends = false; // the path ends where the region ends
  };
  std::map<std::size_t, Best> best;
  const auto inside = [&](std::size_t block) {
    return std::binary_search(region.blocks.begin(), region.blocks.end(), block);
  };
  const auto& order = dominators.order();
  for (auto block = order.rbegin(); block != order.rend(); ++block) {
    if (!inside(*block)) continue;
    const auto& next = flow.blocks[*block].next;
    // A function ends where no block follows; a loop's iteration where it jumps back to the header.
    const bool ends = region.depth == 0
                          ? next.empty()
                          : std::find(next.begin(), next.end(), region.entry) != next.end();
    std::optional<Best> chosen;
    if (ends) chosen = Best{{}, kNone, true};
    for (const std::size_t to : next) {
      if (!inside(to) || dominators.rank(to) <= dominators.rank(*block)) continue; // back edge
      Best after{best.at(to).score, to, best.at(to).ends};
      const Score never = not_moved(function, scores, flow.blocks[*block], flow.blocks[to]);
      after.score += {-never.widest, -never.narrower};
      if (!chosen ||
          (after.ends != chosen->ends ? after.ends : after.score.better_than(chosen->score)))
        chosen = after;
    }
    Best found = chosen.value_or(Best());
    found.score += scores.of(flow.blocks[*block]);
    best[*block] = found;
  }
  std::vector<std::size_t> path;
  for (std::size_t block = region.entry; block != kNone; block = best.at(block).next)
    for (std::size_t at = flow.blocks[block].begin; at < flow.blocks[block].end; ++at)
      path.push_back(at);
  return path;
}

} // namespace kg::sass
