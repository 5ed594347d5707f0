// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Control flow, barriers, and warp-level operations (PTX ISA, "Control Flow Instructions",
// "Parallel Synchronization and Communication Instructions", "Warp Level Matrix Instructions").
#include "runtime/ptx/emitter.h"

#include <fmt/format.h>

namespace kg::ptx_run {
namespace {

// All threads of the block take part in a barrier that gives no thread count.
constexpr const char* kThreads = "(::blockDim.x * ::blockDim.y * ::blockDim.z)";

} // namespace

bool Emitter::control() {
  const std::string& family = now_->parts[0];
  if (family == "ret" || family == "exit") {
    line("return;");
  } else if (family == "trap" || family == "brkpt") { // no debugger is there to resume a breakpoint
    line(fmt::format("trap({});", where()));
  } else if (family == "nanosleep") {
    line(fmt::format("yield(\"nanosleep\", {});", where()));
  } else if (family == "setmaxnreg") {
    only({"inc", "dec", "sync", "aligned"});
    if (entry_.has_register_count)
      line(fmt::format("set_registers({}, {}, {});", in(0, "u32"), has("inc"), where()));
  } else if (family == "griddepcontrol") { // grids run one after another
    only_parts({"griddepcontrol", "wait", "launch_dependents"});
  } else if (family == "membar" || family == "fence") {
    if (has("proxy") || has("mbarrier_init"))
      proxy_fence();
    else
      line(fmt::format("fence({});", has("cta") ? "true" : "false"));
  } else if (family == "bar" || family == "barrier") {
    if (has("warp")) {
      line(fmt::format("warp_barrier({}, {});", in(0, "u32"), where()));
    } else if (has("red")) { // d, id, threads, predicate
      const std::size_t last = now_->operands.size() - 1;
      const char kind = has("popc") ? 'c' : has("and") ? 'a' : 'o';
      const std::string value =
          last == 2 && operand(1).text == "0"
              ? fmt::format("barrier_vote('{}', {}, {})", kind, predicate(operand(last)), where())
              : fmt::format("named_barrier_vote('{}', {}, {}, {}, {})", kind, in(1, "u32"),
                            last == 3 ? in(2, "u32") : kThreads, predicate(operand(last)), where());
      result(kind == 'c' ? "u32" : "pred", kind == 'c' ? value : value + " != 0");
    } else if (has("sync") || has("arrive")) {
      if (now_->operands.size() == 1 && operand(0).text == "0")
        line(fmt::format("barrier({});", where()));
      else
        line(fmt::format("named_barrier({}, {}, {}, {});", in(0, "u32"),
                         now_->operands.size() > 1 ? in(1, "u32") : kThreads,
                         has("sync") ? "true" : "false", where()));
    } else {
      return false;
    }
  } else {
    return false;
  }
  return true;
}

bool Emitter::warp() {
  const std::string& family = now_->parts[0];
  if (family == "shfl") {
    only({"sync", "up", "down", "bfly", "idx"});
    const char* mode = has("up")     ? "up"
                       : has("down") ? "down"
                       : has("bfly") ? "butterfly"
                                     : "index";
    const bool pair = operand(0).kind == Operand::Kind::pair;
    const Operand& to = pair ? operand(0).parts[0] : operand(0);
    const std::string origin = origin_of(to.text);
    const std::string own = origin.empty() ? "" : origin_of(operand(1).text); // what it offers
    for (unsigned i = 2; i < 5; ++i) use_undefined(operand(i).text, "chooses a lane by");
    const std::string inside = fmt::format("in{}", temporaries_++);
    const std::string value = fmt::format("shuffle(Shuffle::{}, {}, {}, {}, {}, &{}, {}{})", mode,
                                          in(1, "b32"), in(2, "u32"), in(3, "u32"), in(4, "u32"),
                                          inside, where(), origin.empty() ? "" : ", &o");
    const std::string moved = inside + "v";
    line(fmt::format("{{ bool {}; {}const u32 {} = {}; {} {} {}}}", inside,
                     origin.empty() ? "" : "u32 o = " + (own.empty() ? "0" : own) + "; ", moved,
                     value, write(to, "b32", moved),
                     pair ? write(operand(0).parts[1], "pred", inside) : "",
                     origin.empty() ? "" : origin + " = o; "));
  } else if (family == "vote") {
    const std::string mask = in(2, "u32");
    if (has("ballot"))
      result("b32", fmt::format("ballot({}, {}, {})", mask, predicate(operand(1)), where()));
    else if (has("any"))
      result("pred", fmt::format("ballot({}, {}, {}) != 0", mask, predicate(operand(1)), where()));
    else if (has("all"))
      result("pred",
             fmt::format("ballot({}, !({}), {}) == 0", mask, predicate(operand(1)), where()));
    else if (has("uni"))
      result("pred", fmt::format("all_alike({0}, ballot({0}, {1}, {2}))", mask,
                                 predicate(operand(1)), where()));
    else
      refuse("this vote is not executed");
  } else if (family == "elect") { // d|p, mask; d may be _
    only_parts({"elect", "sync"});
    const std::string lane = fmt::format("elected{}", temporaries_++);
    line(fmt::format("{{ const u32 {} = elected_lane({}, {}); {} {} }}", lane, in(1, "u32"),
                     where(), write(operand(0).parts[0], "b32", lane),
                     write(operand(0).parts[1], "pred", lane + " == lane()")));
  } else if (family == "activemask") {
    result("b32", fmt::format("active_lanes({})", where()));
  } else if (family == "match" && has("any")) {
    result("b32", fmt::format("match_any({}, {}, {})", in(2, "u32"), in(1, type()), where()));
  } else if (family == "redux") {
    const std::string what = now_->parts[2];
    result("b32", fmt::format("reduce(\"{}\", {}, {}, {}, {})", what, type() == "s32", in(2, "u32"),
                              in(1, "b32"), where()));
  } else {
    return false;
  }
  return true;
}

bool Emitter::matrices() {
  const std::string& family = now_->parts[0];
  const auto array = [&](const Operand& operand, const std::string& type) {
    std::string list;
    if (operand.kind != Operand::Kind::vector) refuse("registers in braces are expected");
    for (const Operand& part : operand.parts) list += (list.empty() ? "" : ", ") + read(part, type);
    return list;
  };
  if (family == "ldmatrix") {
    only({"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta"});
    const std::size_t count = operand(0).parts.size();
    std::string text = fmt::format(
        "{{ u32 f[{0}]; const u8* const row = {1}; v4u32 mine{{}}; if (names_row(row, {0}, {2})) "
        "mine = memory<v4u32>(row); distribute(f, &mine, {0}, {3}, {2});",
        count, address(operand(1), "shared"), where(), has("trans") ? "true" : "false");
    for (std::size_t i = 0; i < count; ++i)
      text += " " + write(operand(0).parts[i], "b32", fmt::format("f[{}]", i));
    line(text + " }");
    return true;
  }
  if (family == "stmatrix") {
    only({"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta"});
    line(fmt::format(
        "{{ const u32 f[] = {{{0}}}; u8* const row = {1}; v4u32 mine; collect(&mine, f, "
        "{2}, {3}, {4}); if (names_row(row, {2}, {4})) memory<v4u32>(row) = mine; }}",
        array(operand(1), "b32"), address(operand(0), "shared"), operand(1).parts.size(),
        has("trans"), where()));
    return true;
  }
  if (family != "mma") return false;
  only({"sync", "aligned", "m16n8k32", "m16n8k16", "m16n8k8", "row", "col", "f32", "f16", "bf16",
        "tf32", "s32", "s8"});
  const std::string kind = now_->parts[now_->parts.size() - 3];
  const std::string sum = kind == "s8" ? "s32" : "f32";
  if (type() != sum || now_->parts[now_->parts.size() - 4] != sum)
    refuse("it adds in another type than " + sum);
  const std::string depth = has("m16n8k32") ? "k32" : has("m16n8k16") ? "k16" : "k8";
  if ((kind == "s8") != (depth == "k32")) refuse("this shape is not executed");
  if (kind == "bf16" && depth == "k8") refuse("this shape is not needed so far");
  if (kind == "tf32" && depth == "k16") refuse("this shape is not executed");
  std::string text = fmt::format("{{ {} s[4] = {{{}}}; const u32 a[] = {{{}}}; const u32 b[] = "
                                 "{{{}}}; mma_{}_{}(s, a, b, {});",
                                 sum, array(operand(3), sum), array(operand(1), "b32"),
                                 array(operand(2), "b32"), kind, depth, where());
  for (std::size_t i = 0; i < 4; ++i)
    text += " " + write(operand(0).parts[i], sum, fmt::format("s[{}]", i));
  line(text + " }");
  return true;
}

} // namespace kg::ptx_run
