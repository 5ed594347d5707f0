// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/console.h"

#include <algorithm>

namespace kg::cli {

AsciiOnly::AsciiOnly(std::ostream& stream) : stream_(stream), below_(stream.rdbuf(this)) {}
AsciiOnly::~AsciiOnly() { stream_.rdbuf(below_); }

int AsciiOnly::overflow(int c) {
  constexpr int kLatinLead = 0xc2, kPlusMinus = 0xb1; // "±" in UTF-8
  if (c == traits_type::eof()) return traits_type::not_eof(c);
  const auto put = [this](char byte) { return below_->sputc(byte); };
  if (c < 0x80) return put(static_cast<char>(c));
  if (c >= 0xc0) { // the first byte of a character; what it is, the next one says
    lead_ = c;
    return c;
  }
  const int lead = lead_;
  lead_ = 0;
  if (lead == kLatinLead && c == kPlusMinus) {
    put('+');
    return put('-');
  }
  return lead == 0 ? c : put('?'); // once per character
}

int AsciiOnly::sync() { return below_->pubsync(); }

void Progress::show(const std::string& line) {
  if (!shown_ || (line.empty() && width_ == 0)) return;
  // Blanks wipe out what is longer: not every terminal knows an escape sequence for it.
  world_.err << '\r' << line << std::string(width_ - std::min(width_, line.size()), ' ');
  if (line.empty()) world_.err << '\r';
  world_.err << std::flush;
  width_ = line.size();
}

} // namespace kg::cli
