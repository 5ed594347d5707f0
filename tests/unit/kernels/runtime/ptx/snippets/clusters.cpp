// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX ISA, "Parallel Synchronization and Communication Instructions: barrier.cluster", "Data
// Movement and Conversion Instructions: mapa, getctarank, st.async, red.async", and accesses to
// `.shared::cluster`. Two blocks of a warp each are a cluster: a lane gets the word of the same
// lane in the other block.
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <algorithm>

namespace kg::test::snippets {
namespace {

// What a snippet has in the place of the usual instructions. %r1 is the mbarrier in front of the
// words, %r3 the lane's place among these, %r4 the rank of the other block, and %d1 the generic
// address of the lane's word there.
struct Parts {
  std::string initial = "0";                       // what the lane's place holds at first
  std::string store = "st.shared.b32 [%r3], %i0;"; // of the lane's word
  std::string arrive = "barrier.cluster.arrive.aligned;";
  std::string wait = "barrier.cluster.wait.aligned;";
  std::string load = "ld.b32 %o0, [%d1];";
};

// Before the last barrier a block must not end, since its memory is read.
std::string body_of(const Parts& parts) {
  return "mov.u32 %r1, tile; shl.b32 %r2, %lane, 2; add.s32 %r3, %r1, %r2; add.s32 %r3, %r3, 16; "
         "mov.u32 %r4, %cluster_ctarank; xor.b32 %r4, %r4, 1; cvt.u64.u32 %d0, %r3; "
         "cvta.shared.u64 %d0, %d0; mapa.u64 %d1, %d0, %r4; setp.eq.u32 %p0, %lane, 0; "
         "mov.u32 %r5, " +
         parts.initial +
         "; st.shared.b32 [%r3], %r5; @%p0 mbarrier.init.shared.b64 [%r1], 32; "
         "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; " +
         parts.store + " " + parts.arrive + " " + parts.wait + " " + parts.load +
         " barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
}

using Result = Word (*)(Word own, Word other, unsigned rank, unsigned lane);
Word others_word(Word, Word other, unsigned, unsigned) { return other; }

void add(Table& table, const std::string& form, const Parts& parts, Result result = others_word,
         const std::string& type = "u32") {
  Snippet made;
  made.form = form;
  made.body = body_of(parts);
  made.inputs = {"u32"};
  made.outputs = {type};
  made.shared_bytes = 16 + 4 * kLanes;
  made.target = 90;
  made.cluster = 2;
  made.oracle = [result](const Word* in, Wanted* out) {
    for (unsigned i = 0; i < 2 * kLanes; ++i)
      out[i].bits = result(in[i], in[(i + kLanes) % (2 * kLanes)], i / kLanes, i % kLanes);
  };
  table.push_back(std::move(made));
}

void add_barriers(Table& table) {
  const std::string start = "barrier.cluster.arrive";
  for (const std::string how : {"", ".aligned", ".release", ".release.aligned"})
    add(table, start + how, {.arrive = start + how + ";"});
  for (const std::string how : {".relaxed", ".relaxed.aligned"})
    add(table, start + how, {.arrive = "fence.acq_rel.cluster; " + start + how + ";"});
  for (const std::string how : {"", ".aligned", ".acquire", ".acquire.aligned"})
    add(table, "barrier.cluster.wait" + how, {.wait = "barrier.cluster.wait" + how + ";"});
}

// From the lane's own place to the other's, as an address in the window or a generic one.
void add_addresses(Table& table) {
  const std::string window = "mapa.shared::cluster.u32 %r5, %r3, %r4; ";
  const auto loaded = [](const std::string& more) {
    return Parts{.load = more + " ld.shared::cluster.b32 %o0, [%r5];"};
  };
  add(table, "mapa.u64", {});
  add(table, "mapa.shared::cluster.u32", loaded(window));
  add(table, "mapa.shared::cluster.u64",
      {.load = "cvt.u64.u32 %d2, %r3; mapa.shared::cluster.u64 %d2, %d2, %r4; "
               "ld.shared::cluster.b32 %o0, [%d2];"});
  add(table, "cvta.to.shared::cluster.u64",
      loaded("cvta.to.shared::cluster.u64 %d2, %d1; cvt.u32.u64 %r5, %d2;"));
  add(table, "cvta.shared::cluster.u64",
      {.load =
           window + "cvt.u64.u32 %d2, %r5; cvta.shared::cluster.u64 %d2, %d2; ld.b32 %o0, [%d2];"});
  const Result rank = [](Word, Word, unsigned own, unsigned) { return Word{own ^ 1}; };
  add(table, "getctarank.u64", {.load = "getctarank.u64 %o0, %d1;"}, rank);
  add(table, "getctarank.shared::cluster.u32",
      {.load = window + "getctarank.shared::cluster.u32 %o0, %r5;"}, rank);
  add(
      table, "isspacep.shared::cluster", {.load = "isspacep.shared::cluster %o0, %d1;"},
      [](Word, Word, unsigned, unsigned) { return Word{1}; }, "pred");
}

void add_accesses(Table& table) {
  const std::string window = "mapa.shared::cluster.u32 %r5, %r3, %r4; ";
  const std::string own = "ld.shared.b32 %o0, [%r3];"; // what the other block put there
  for (const std::string type : {"b32", "u32"}) {
    const std::string ld = "ld.shared::cluster." + type, st = "st.shared::cluster." + type;
    add(table, ld, {.load = window + ld + " %o0, [%r5];"});
    add(table, st, {.store = window + st + " [%r5], %i0;", .load = own});
  }
  add(table, "ld.shared::cluster.f32", {.load = window + "ld.shared::cluster.f32 %o0, [%r5];"},
      others_word, "f32");
  add(table, "st.shared::cluster.f32",
      {.store = window + "{ .reg .f32 f; mov.b32 f, %i0; st.shared::cluster.f32 [%r5], f; }",
       .load = own});
  // The lane's place holds 0 at first.
  add(table, "atom.shared::cluster.add.u32",
      {.store = window + "atom.shared::cluster.add.u32 %r6, [%r5], %i0;", .load = own});
  add(table, "red.shared::cluster.add.u32",
      {.store = window + "red.shared::cluster.add.u32 [%r5], %i0;", .load = own});
}

// The other block's mbarrier waits for 32 arrivals, each of which follows a word.
void add_arrivals(Table& table) {
  const std::string remote = "mapa.shared::cluster.u32 %r5, %r3, %r4; "
                             "mapa.shared::cluster.u32 %r6, %r1, %r4; ";
  const std::string word = "st.shared::cluster.b32 [%r5], %i0; ";
  const Parts waits{.arrive = "",
                    .wait = "WAITS: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, "
                            "[%r1], 0; @!%p1 bra WAITS;",
                    .load = "ld.shared.b32 %o0, [%r3];"};
  const auto add_store = [&](const std::string& form, const std::string& store) {
    Parts parts = waits;
    parts.store = remote + store;
    add(table, form, parts);
  };
  const std::string arrive = "mbarrier.arrive.release.cluster.shared::cluster.b64";
  add_store(arrive, word + arrive + " _, [%r6];");
  // Without a scope it orders the threads of its own block alone.
  const std::string arrive_in_block = "mbarrier.arrive.shared::cluster.b64";
  add_store(arrive_in_block, word + "fence.acq_rel.cluster; " + arrive_in_block + " _, [%r6];");
  add_store("mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64",
            word + arrive + " _, [%r6];");
  const std::string expecting = "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64";
  const std::string async = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes";
  add_store(expecting, expecting + " _, [%r6], 4; " + async + ".b32 [%r5], %i0, [%r6];");
  add_store(async + ".b32", expecting + " _, [%r6], 4; " + async + ".b32 [%r5], %i0, [%r6];");
  // Even lanes bring the word of the next one as well.
  for (const std::string pair : {".v2.b32", ".v2.f32"})
    add_store(async + pair, "shfl.sync.down.b32 %r2, %i0, 1, 31, -1; and.b32 %r7, %lane, 1; "
                            "setp.eq.u32 %p2, %r7, 0; @%p2 " +
                                expecting + " _, [%r6], 8; @!%p2 " + arrive + " _, [%r6]; @%p2 " +
                                async + pair + " [%r5], {%i0, %r2}, [%r6];");
}

std::uint32_t low(Word word) { return static_cast<std::uint32_t>(word); }

// Each lane reduces its word into that of the other block, which holds kInitial, by red.async.
void add_reductions(Table& table) {
  static constexpr std::uint32_t kInitial = 1000;
  const auto add_one = [&](const std::string& op, Result result) {
    const std::string form =
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." + op;
    add(table, form,
        {.initial = std::to_string(kInitial),
         .store = "mapa.shared::cluster.u32 %r5, %r3, %r4; mapa.shared::cluster.u32 %r6, %r1, %r4; "
                  "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r6], 4; " +
                  form + " [%r5], %i0, [%r6];",
         .arrive = "",
         .wait = "WAITS: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r1], 0; "
                 "@!%p1 bra WAITS;",
         .load = "ld.shared.b32 %o0, [%r3];"},
        result);
  };
  const Result sum = [](Word, Word by, unsigned, unsigned) { return Word{kInitial + low(by)}; };
  add_one("add.u32", sum);
  add_one("add.s32", sum);
  add_one("min.u32",
          [](Word, Word by, unsigned, unsigned) { return Word{std::min(kInitial, low(by))}; });
  add_one("max.u32",
          [](Word, Word by, unsigned, unsigned) { return Word{std::max(kInitial, low(by))}; });
  add_one("min.s32", [](Word, Word by, unsigned, unsigned) {
    return Word{low(by) >> 31 != 0 ? low(by) : std::min(kInitial, low(by))};
  });
  add_one("max.s32", [](Word, Word by, unsigned, unsigned) {
    return Word{low(by) >> 31 != 0 ? kInitial : std::max(kInitial, low(by))};
  });
  add_one("inc.u32", [](Word, Word by, unsigned, unsigned) {
    return Word{kInitial >= low(by) ? 0 : kInitial + 1};
  });
  add_one("dec.u32", [](Word, Word by, unsigned, unsigned) {
    return Word{kInitial > low(by) ? low(by) : kInitial - 1};
  });
  add_one("and.b32", [](Word, Word by, unsigned, unsigned) { return Word{kInitial & low(by)}; });
  add_one("or.b32", [](Word, Word by, unsigned, unsigned) { return Word{kInitial | low(by)}; });
  add_one("xor.b32", [](Word, Word by, unsigned, unsigned) { return Word{kInitial ^ low(by)}; });
}

} // namespace

void add_clusters(Table& table) {
  add_barriers(table);
  add_addresses(table);
  add_accesses(table);
  add_arrivals(table);
  add_reductions(table);
}

} // namespace kg::test::snippets
