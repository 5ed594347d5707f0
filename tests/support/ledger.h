// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Records what a run of a correctness program compared for each variant of an operation. A variant
// that no test reached must not look like a variant that passed: a complete run fails if a required
// kind of evidence is missing, and names it.
//
// Entries are properties of the tests that made them, so GoogleTest's reports contain them.
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
  exact,   // results that are the same in every legal order, compared bit for bit
  oracle,  // results within their bounds around the fp64 oracle
  vendor,  // compared with a vendor element by element, or declared to have no vendor
  hygiene, // inputs, guard bands and gaps unchanged by a run into poisoned outputs
  special, // NaN or infinities expected, and found at the correct elements
  empty,   // a problem without elements
  repeats, // the same bits in every run and thread order
};
std::string_view name(Evidence evidence);

// One implementation of an operation for one type, with the names used in case ids.
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

  // A line for each missing required entry, and for each operation and type that was compared
  // without any requirement: its test forgot require_evidence.
  std::vector<std::string> missing() const;

 private:
  bool has(const VariantId& id, Evidence evidence) const;

  std::map<VariantId, std::set<Evidence>> required_;
  std::map<VariantId, std::set<Evidence>> seen_;
};

// Records an entry for the running test; no effect outside a test.
void record(const VariantId& id, Evidence evidence);
void require_evidence(const VariantId& id, std::initializer_list<Evidence> evidence);

// For each of an operation's kVariants; called by the fixture's SetUp.
template <class Variants>
void require_evidence(std::string_view op, Dtype dtype, const Variants& variants,
                      std::initializer_list<Evidence> evidence) {
  for (const auto variant : variants)
    require_evidence({std::string(op), std::string(name(dtype)), std::string(name(variant))},
                     evidence);
}

// The evidence required of an operation with rounding errors, and of one whose results have a
// single correct value: there each exact comparison is a comparison with the oracle.
inline constexpr std::initializer_list<Evidence> kRoundedOperation = {
    Evidence::exact,   Evidence::oracle, Evidence::vendor, Evidence::hygiene,
    Evidence::special, Evidence::empty,  Evidence::repeats};
inline constexpr std::initializer_list<Evidence> kExactOperation = {
    Evidence::exact,   Evidence::vendor, Evidence::hygiene,
    Evidence::special, Evidence::empty,  Evidence::repeats};

// The same for types without NaN and infinity.
inline constexpr std::initializer_list<Evidence> kExactIntegerOperation = {
    Evidence::exact, Evidence::vendor, Evidence::hygiene, Evidence::empty, Evidence::repeats};

inline std::initializer_list<Evidence> exact_evidence(Dtype dtype) {
  return is_integer(dtype) ? kExactIntegerOperation : kExactOperation;
}

// Declares that no vendor has this case, in the output and as an entry for all variants; only the
// oracle checks it. `what` names the case within the operation.
void report_no_vendor(std::string_view op, Dtype dtype, std::string_view what = "");

// The entries of all tests of this run.
Ledger ledger_of(const testing::UnitTest& run);

} // namespace kg::test
