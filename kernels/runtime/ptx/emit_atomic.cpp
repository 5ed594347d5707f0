// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Atomic updates, and the loads and stores that other threads may see (PTX ISA, "Parallel
// Synchronization and Communication Instructions: atom, red", "Memory Consistency Model"). All are
// sequentially consistent, which is stronger than most of them require.
#include "runtime/ptx/emitter.h"

#include <fmt/format.h>

namespace kg::ptx_run {
namespace {

// The integer type that an update uses for a value.
std::string word_of(std::string_view type) { return fmt::format("u{}", 8 * size_of(type)); }

} // namespace

bool Emitter::is_strong() const {
  return has("volatile") || has("relaxed") || has("acquire") || has("release") || has("mmio");
}

// Includes loads that bypass the L1 cache: __ldcg, CUB's grid barrier.
bool Emitter::is_polled() const { return is_strong() || has("cg") || has("cv"); }

// The loaded value, after the load has been recorded.
std::string Emitter::looked(const std::string& type, const std::string& loaded,
                            const std::string& from) {
  return fmt::format("looked<{}>({}, {}, {})", type, loaded, from, where());
}

// A fence provides the ordering of a release, because the checkers ask for a fence.
void Emitter::order_before() {
  if (has("release") || has("acq_rel")) line(fmt::format("fence({});", has("cta")));
}

// A load from memory that other threads may write. A load that only bypasses the L1 cache is
// treated as volatile.
std::string Emitter::strong_load(const std::string& type, const std::string& from) {
  if (now_->parts[1] == "volatile" || !is_strong())
    return fmt::format("*const_cast<const volatile {0}*>(&memory<{0}>({1}))", type, from);
  const std::string word = is_float(type) ? word_of(type) : type;
  const std::string loaded =
      fmt::format("__atomic_load_n(&memory<{}>({}), __ATOMIC_SEQ_CST)", word, from);
  return is_float(type) ? fmt::format("as_{}({})", type, loaded) : loaded;
}

std::string Emitter::strong_store(const std::string& type, const std::string& to,
                                  const std::string& value) {
  if (now_->parts[1] == "volatile")
    return fmt::format("*const_cast<volatile {0}*>(&memory<{0}>({1})) = {2}; changed();", type, to,
                       value);
  const std::string word = is_float(type) ? word_of(type) : type;
  return fmt::format("__atomic_store_n(&memory<{}>({}), {}, __ATOMIC_SEQ_CST); changed();", word,
                     to, is_float(type) ? fmt::format("bits_of({})", value) : value);
}

// atom.add.u32 d, [a], b and red.add.u32 [a], b; red.async also completes its bytes at an mbarrier,
// at once, because no program may rely on a delay. Each update is a compare-and-swap loop.
bool Emitter::atomic() {
  const std::string& family = now_->parts[0];
  if (family != "atom" && family != "red") return false;
  only({"relaxed",     "acquire",
        "release",     "acq_rel",
        "cta",         "cluster",
        "gpu",         "sys",
        "global",      "shared",
        "shared::cta", "shared::cluster",
        "async",       "mbarrier::complete_tx::bytes",
        "noftz",       "add",
        "min",         "max",
        "inc",         "dec",
        "and",         "or",
        "xor",         "exch",
        "cas"});
  std::string what;
  for (const char* known : {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"})
    if (has(known)) what = known;
  if (what.empty()) refuse("this update is not executed");
  order_before();
  const std::string type = this->type(), value_type = cpp_type(type), word = word_of(type);
  const std::size_t target = family == "atom" ? 1 : 0;
  const std::string id = std::to_string(temporaries_++);
  std::string text = fmt::format("{{ {0}* const p{1} = &memory<{0}>({2}); ", word, id,
                                 address(operand(target), shared_space()));
  const bool packed = type == "f16x2" || type == "bf16x2" || type == "f16" || type == "bf16";
  const std::string operand_type = packed ? "b" + std::to_string(8 * size_of(type)) : type;
  text += fmt::format("const {} b{} = {}; ", packed ? word : value_type, id,
                      in(target + 1, operand_type));
  std::string after;
  if (what == "cas") {
    after = fmt::format("before{0} == static_cast<{1}>(b{0}) ? static_cast<{1}>({2}) : before{0}",
                        id, word, in(target + 2, operand_type));
  } else if (what == "exch") {
    after = fmt::format("static_cast<{}>(b{})", word, id);
  } else if (packed) {
    if (what != "add") refuse("of halves only sums are executed");
    after = fmt::format("add_{}(before{}, b{})", type, id, id);
  } else if (what == "add" && type == "f32" && has("global")) {
    after = fmt::format("add_flushed(before{0}, b{0})", id);
  } else {
    after = fmt::format("update_{}<{}>(before{}, b{})", what, value_type, id, id);
  }
  text += fmt::format(
      "{0} before{1} = __atomic_load_n(p{1}, __ATOMIC_SEQ_CST); for (;;) {{ const "
      "{0} after = {2}; if (!__atomic_compare_exchange_n(p{1}, &before{1}, after, "
      "false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) continue; updated(before{1}, after, p{1}, {3}); "
      "break; }}",
      word, id, after, where());
  if (has("async"))
    text += fmt::format(" mbarrier_complete(reinterpret_cast<u64*>({}), {}, {});",
                        address(operand(2), shared_space()), size_of(type), where());
  // Programs wait for locks with these two.
  if (what == "cas" || what == "exch") text += fmt::format(" yield(\"atom\", {});", where());
  if (family == "atom")
    text += " " + write(operand(0), fmt::format("b{}", 8 * size_of(type)), "before" + id);
  line(text + " }");
  return true;
}

} // namespace kg::ptx_run
