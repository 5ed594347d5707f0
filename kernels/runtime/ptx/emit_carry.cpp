// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of several words (PTX ISA, "Extended-Precision Integer Arithmetic Instructions"). The
// condition code is one variable of the function.
#include "runtime/ptx/emitter.h"

#include <fmt/format.h>

namespace kg::ptx_run {

// {add,sub}.cc, {addc,subc}{.cc}, mad.{lo,hi}.cc and madc.{lo,hi}{.cc}, of 32 and 64 bits.
bool Emitter::carrying() {
  const std::string& family = now_->parts[0];
  const bool takes = is_one_of(family, {"addc", "subc", "madc"});
  if (!takes && !(is_one_of(family, {"add", "sub", "mad"}) && has("cc"))) return false;
  const std::string type = this->type();
  if (!is_one_of(type, {"u32", "s32", "u64", "s64"})) return false;
  only({"lo", "hi", "cc"});
  carries_ = true;
  const std::string word = type.ends_with("64") ? "u64" : "u32";
  const bool multiplies = family.starts_with("mad");
  std::string first = in(1, word);
  if (multiplies)
    first = has("hi") ? fmt::format("high_product({}, {})", in(1, type), in(2, type))
                      : fmt::format("({} * {})", first, in(2, word));
  result(word, fmt::format("{}_with_carry<{}>({}, {}, {}, {})",
                           family.starts_with("sub") ? "difference" : "sum", word, first,
                           in(multiplies ? 3 : 2, word), takes ? "carry" : "false",
                           has("cc") ? "&carry" : "nullptr"));
  return true;
}

} // namespace kg::ptx_run
