// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/check/undefined_fill.h"

#include "runtime/event_file.h"
#include "runtime/host/sparse_memory.h"
#include "runtime/memory.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <string_view>

namespace kg::check {
namespace {

// 64-bit FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/.
constexpr std::uint64_t kBasis = 14695981039346656037u, kPrime = 1099511628211u;

template <class Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

} // namespace

UndefinedFill::UndefinedFill() : copies_(kBasis) {
  const char* const value = std::getenv("KERNELGRADE_UNDEFINED_FILL");
  const std::string_view text = value ? value : "";
  const std::size_t colon = text.find(':');
  // Without a reader of its events nobody would report the loads.
  on_ = std::getenv("KERNELGRADE_EVENTS") && parse(text.substr(0, colon), byte_) &&
        (colon == text.npos || parse(text.substr(colon + 1), only_));
}

bool UndefinedFill::load(Span memory, Site instruction) {
  const auto [number, is_new] = loads_.try_emplace(instruction, loads_.size() + 1);
  const bool chosen = only_ == 0 || only_ == number->second;
  std::memset(reinterpret_cast<void*>(memory.begin), chosen ? byte_ : kPoisonByte, memory.bytes);
  return is_new;
}

// Continues a hash with the bytes of a range.
std::uint64_t UndefinedFill::hash(std::uint64_t hash, Span range, Shadow& shadow) const {
  const auto add = [&](std::uintptr_t at, std::uintptr_t end, Time state) {
    for (; at < end; ++at) {
      const unsigned char byte = *reinterpret_cast<const unsigned char*>(at);
      const bool unwritten = state == kUninitialised && (byte == kPoisonByte || byte == byte_);
      hash = (hash ^ (unwritten ? 0 : byte)) * kPrime;
    }
  };
  shadow.for_each_state(range.begin, range.bytes, add);
  return hash;
}

void UndefinedFill::copied_to_host(Span memory, Shadow& shadow) {
  if (on_) copies_ = hash(copies_, memory, shadow);
}

void UndefinedFill::ended(Span buffer, Shadow& shadow) {
  if (!on_) return;
  if (buffer.bytes >= host::kSparseBytes)
    sparse_ = true;
  else
    buffers_ += hash(kBasis, buffer, shadow);
}

void UndefinedFill::write_results() const {
  if (on_ && !sparse_) write_event(kResultsEvent, fmt::format("{:016x}", copies_ + buffers_));
}

} // namespace kg::check
