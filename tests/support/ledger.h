// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run of a correctness program really compared, for each variant of an operation. A variant
// that no test reached must not look like one that passed: a whole run fails where a required kind
// of evidence is missing, and names it.
//
// The entries are properties of the tests that made them, so they are in GoogleTest's reports, too.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/dtype.h"

namespace kg::test {

enum class Evidence {
  exact,   // results that every legal order gives, compared bit for bit
  oracle,  // results within their bounds of the fp64 oracle
  vendor,  // element by element beside a vendor; or declared to have none
  hygiene, // inputs, guard bands and gaps unchanged by a run into poisoned outputs
  special, // NaN or infinities expected, and found where they belong
  empty,   // a problem without elements
  repeats, // the same bits in every run and thread order
};
std::string_view name(Evidence evidence);

// One implementation of an operation for one type; the names of the case ids.
struct VariantId {
  std::string op;
  std::string dtype;
  std::string variant;
  auto operator<=>(const VariantId&) const = default;
};

class Ledger {
 public:
  void require(const VariantId& id, Evidence evidence) { required_[id].insert(evidence); }
  void add(const VariantId& id, Evidence evidence) { seen_[id].insert(evidence); }

  // A line for each required entry that is not there, and for each operation and type that was
  // compared though nothing is required of it: its test forgot require_evidence.
  std::vector<std::string> missing() const;

 private:
  bool has(const VariantId& id, Evidence evidence) const;

  std::map<VariantId, std::set<Evidence>> required_;
  std::map<VariantId, std::set<Evidence>> seen_;
};

// Enters it for the running test; outside of a test nothing happens.
void record(const VariantId& id, Evidence evidence);
void require_evidence(const VariantId& id, std::initializer_list<Evidence> evidence);

// Of each of an operation's kVariants; the fixture's SetUp calls it.
template <class Variants>
void require_evidence(std::string_view op, Dtype dtype, const Variants& variants,
                      std::initializer_list<Evidence> evidence) {
  for (const auto variant : variants)
    require_evidence({std::string(op), std::string(name(dtype)), std::string(name(variant))},
                     evidence);
}

// What an operation with rounding errors needs, and one whose results have one right value: there
// each exact comparison is one with the oracle.
inline constexpr std::initializer_list<Evidence> kRoundedOperation = {
    Evidence::exact,   Evidence::oracle, Evidence::vendor, Evidence::hygiene,
    Evidence::special, Evidence::empty,  Evidence::repeats};
inline constexpr std::initializer_list<Evidence> kExactOperation = {
    Evidence::exact,   Evidence::vendor, Evidence::hygiene,
    Evidence::special, Evidence::empty,  Evidence::repeats};

// The same of a type that has neither NaN nor infinity.
inline constexpr std::initializer_list<Evidence> kExactIntegerOperation = {
    Evidence::exact, Evidence::vendor, Evidence::hygiene, Evidence::empty, Evidence::repeats};

inline std::initializer_list<Evidence> exact_evidence(Dtype dtype) {
  return is_integer(dtype) ? kExactIntegerOperation : kExactOperation;
}

// A case that no vendor has says so, in the output and as an entry for all variants, and rests on
// the oracle. `what` names the case within the operation.
void report_no_vendor(std::string_view op, Dtype dtype, std::string_view what = "");

// The entries of all tests of this run.
Ledger ledger_of(const testing::UnitTest& run);

} // namespace kg::test
