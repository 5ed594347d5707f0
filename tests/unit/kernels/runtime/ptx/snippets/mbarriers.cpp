// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier". A block of the
// table is one warp, whose lanes hand over words through shared memory: the mbarrier lies in front
// of them.
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

namespace kg::test::snippets {
namespace {

// What a snippet has in the place of the usual instructions.
struct Parts {
  std::string init = "mbarrier.init.shared.b64 [%r1], 32;";
  std::string arrive = "mbarrier.arrive.shared.b64 %d0, [%r1];";
  std::string wait = "mbarrier.test_wait.shared.b64 %p1, [%r1], %d0;";
  std::string after = "";                             // both phases
  std::string store = "st.shared.b32 [%r3+16], %i0;"; // of the lane's word
};

// Twice, in the phases 0 and 1 (%r6): each lane stores its word, arrives, waits, and reads the word
// of the lane opposite; then the warp meets, so that nobody stores before all have read. The second
// result says whether the first phase had ended before anyone arrived.
std::string body_of(const Parts& parts) {
  std::string body = "mov.u32 %r1, tile; mov.u32 %r6, 0; shl.b32 %r2, %lane, 2; "
                     "add.s32 %r3, %r1, %r2; xor.b32 %r2, %r2, 124; add.s32 %r4, %r1, %r2; "
                     "setp.eq.s32 %p0, %lane, 0; @%p0 " +
                     parts.init +
                     " bar.warp.sync -1; mbarrier.test_wait.parity.shared.b64 %o1, [%r1], 0; "
                     "bar.warp.sync -1; ";
  for (const std::string label : {"FIRST", "SECOND"})
    body += parts.store + " " + parts.arrive + " " + label + ": " + parts.wait + " @!%p1 bra " +
            label + "; ld.shared.b32 %o0, [%r4+16]; bar.warp.sync -1; xor.b32 %r6, %r6, 1; ";
  return body + parts.after;
}

void add(Table& table, const std::string& form, const Parts& parts, int target = 80) {
  table.push_back(of_warp(form, {"u32"}, {"u32", "pred"}, body_of(parts),
                          [](const auto& in, unsigned lane, std::size_t output) -> Word {
                            return output == 0 ? in(31 - lane, 0) : 0;
                          }));
  table.back().shared_bytes = 16 + 4 * kLanes;
  table.back().target = target;
}

} // namespace

void add_mbarriers(Table& table) {
  const std::string generic = "{ .reg .b64 a; cvt.u64.u32 a, %r1; cvta.shared.u64 a, a; ";
  add(table, "mbarrier.init.shared.b64", {});
  add(table, "mbarrier.init.shared::cta.b64", {.init = "mbarrier.init.shared::cta.b64 [%r1], 32;"});
  // Whoever makes another mbarrier of the word invalidates it first.
  add(table, "mbarrier.inval.shared.b64",
      {.after = "bar.warp.sync -1; @%p0 mbarrier.inval.shared.b64 [%r1]; "
                "@%p0 mbarrier.init.shared.b64 [%r1], 1; bar.warp.sync -1; "
                "mbarrier.test_wait.parity.shared.b64 %o1, [%r1], 0;"});
  for (const std::string form : {"mbarrier.arrive.shared.b64", "mbarrier.arrive.shared::cta.b64",
                                 "mbarrier.arrive.release.cta.shared::cta.b64"})
    add(table, form, {.arrive = form + " %d0, [%r1];"},
        form.find("release") == std::string::npos ? 80 : 90);
  add(table, "mbarrier.arrive.b64", {.arrive = generic + "mbarrier.arrive.b64 %d0, [a]; }"});
  // A count of 33, of which lane 0 brings two.
  add(table, "mbarrier.arrive.noComplete.shared.b64",
      {.init = "mbarrier.init.shared.b64 [%r1], 33;",
       .arrive = "@%p0 mbarrier.arrive.noComplete.shared.b64 %d1, [%r1], 1; "
                 "mbarrier.arrive.shared.b64 %d0, [%r1];"});
  // Of 64 arrivals 32 are dropped in the first phase: the second waits for the others.
  add(table, "mbarrier.arrive_drop.shared.b64",
      {.init = "mbarrier.init.shared.b64 [%r1], 64;",
       .arrive = "setp.eq.s32 %p2, %r6, 0; "
                 "@%p2 mbarrier.arrive_drop.shared.b64 %d0, [%r1]; "
                 "mbarrier.arrive.shared.b64 %d0, [%r1];"});
  // Each lane says that 4 bytes are to come, and that they have.
  add(table, "mbarrier.arrive.expect_tx.shared::cta.b64",
      {.arrive = "mbarrier.arrive.expect_tx.shared::cta.b64 %d0, [%r1], 4; "
                 "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 4;"},
      90);
  for (const std::string what : {"expect_tx", "complete_tx"})
    add(table, "mbarrier." + what + ".relaxed.cta.shared::cta.b64",
        {.arrive = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 8; "
                   "mbarrier.arrive.shared.b64 %d0, [%r1]; "
                   "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 8;"},
        90);
  for (const std::string space : {"shared", "shared::cta"})
    for (const std::string how : {"test_wait", "try_wait"}) {
      const int target = how == "try_wait" ? 90 : 80;
      const std::string rest = "." + space + ".b64", form = "mbarrier." + how;
      add(table, form + rest, {.wait = form + rest + " %p1, [%r1], %d0;"}, target);
      add(table, form + ".parity" + rest, {.wait = form + ".parity" + rest + " %p1, [%r1], %r6;"},
          target);
    }
  // The lane's word comes by an asynchronous copy, on which the mbarrier waits: as one of the
  // arrivals that it counts, or besides them.
  const std::string copy = "cp.async.ca.shared.global [%r3+16], [%in], 4;";
  add(table, "cp.async.mbarrier.arrive.noinc.shared.b64",
      {.init = "mbarrier.init.shared.b64 [%r1], 64;",
       .arrive = "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1]; "
                 "mbarrier.arrive.shared.b64 %d0, [%r1];",
       .store = copy});
  add(table, "cp.async.mbarrier.arrive.shared.b64",
      {.arrive =
           "cp.async.mbarrier.arrive.shared.b64 [%r1]; mbarrier.arrive.shared.b64 %d0, [%r1];",
       .store = copy});
}

} // namespace kg::test::snippets
