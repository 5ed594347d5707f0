// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/console.h"

#include "perf/format/sinks.h"

#include <algorithm>
#include <fmt/format.h>

namespace kg::cli {

AsciiOnly::AsciiOnly(std::ostream& stream) : stream_(stream), below_(stream.rdbuf(this)) {}
AsciiOnly::~AsciiOnly() { stream_.rdbuf(below_); }

int AsciiOnly::overflow(int c) {
  constexpr int kLatinLead = 0xc2, kPlusMinus = 0xb1; // "±" in UTF-8
  if (c == traits_type::eof()) return traits_type::not_eof(c);
  const auto put = [this](char byte) { return below_->sputc(byte); };
  if (c < 0x80) return put(static_cast<char>(c));
  if (c >= 0xc0) { // a character's first byte; the next one identifies it
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

Printable::Printable(std::ostream& stream) : stream_(stream), below_(stream.rdbuf(this)) {}
Printable::~Printable() {
  sync();
  stream_.rdbuf(below_);
}

bool Printable::flushed() {
  sync();
  return !failed_;
}

std::streambuf* Printable::below(const std::ostream& stream) {
  const auto* const printable = dynamic_cast<const Printable*>(stream.rdbuf());
  return printable ? printable->below_ : stream.rdbuf();
}

int Printable::overflow(int c) {
  if (c == traits_type::eof()) return traits_type::not_eof(c);
  line_ += traits_type::to_char_type(c);
  if (c == '\n') write_line();
  return failed_ ? traits_type::eof() : c;
}

int Printable::sync() {
  write_line();
  if (below_->pubsync() != 0) failed_ = true;
  return failed_ ? -1 : 0;
}

void Printable::write_line() {
  std::string text = judge::printable(line_.substr(0, kMostLine));
  if (line_.size() > kMostLine)
    text += fmt::format(" ... ({} more bytes)\n", line_.size() - kMostLine);
  line_.clear();
  const auto size = static_cast<std::streamsize>(text.size());
  if (below_->sputn(text.data(), size) != size) failed_ = true;
}

void Progress::show(const std::string& line) {
  if (!shown_ || (line.empty() && width_ == 0)) return;
  std::ostream terminal(Printable::below(world_.err)); // '\r' must reach it
  // Overwrites longer lines with blanks: not every terminal supports an escape sequence for this.
  const std::string shown = judge::for_console(line);
  terminal << '\r' << shown << std::string(width_ - std::min(width_, shown.size()), ' ');
  if (line.empty()) terminal << '\r';
  terminal << std::flush;
  width_ = shown.size();
}

} // namespace kg::cli
