// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/ledger.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

namespace kg::test {

namespace {

constexpr std::array kAll = {Evidence::exact,   Evidence::oracle,  Evidence::vendor,
                             Evidence::hygiene, Evidence::special, Evidence::empty,
                             Evidence::repeats};
constexpr std::string_view kSeen = "ledger.seen";
constexpr std::string_view kRequired = "ledger.required";
constexpr std::string_view kAnyVariant = "any";

std::string_view explain(Evidence evidence) {
  switch (evidence) {
  case Evidence::exact: return "no exact comparison: give it a fill whose results have one value";
  case Evidence::oracle: return "no comparison with the oracle within bounds";
  case Evidence::vendor: return "not beside a vendor: call compare_with_vendor or report_no_vendor";
  case Evidence::hygiene: return "no run whose inputs, guards and gaps were checked (Hygiene)";
  case Evidence::special: return "no case that expects NaN or an infinity";
  case Evidence::empty: return "no run of an empty problem (Hygiene)";
  case Evidence::repeats: return "no repeated runs (same_bits_every_time)";
  }
  return "";
}

std::string key(std::string_view kind, const VariantId& id, Evidence evidence) {
  return fmt::format("{}/{}/{}/{}/{}", kind, id.op, id.dtype, id.variant, name(evidence));
}

struct Entry {
  bool required;
  VariantId id;
  Evidence evidence;
};

// The entry encoded in a property's key; none for other properties.
std::optional<Entry> parse(std::string_view key) {
  std::vector<std::string> parts(1);
  for (const char c : key) {
    if (c == '/')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  constexpr std::size_t kParts = 5;
  if (parts.size() != kParts || (parts[0] != kSeen && parts[0] != kRequired)) return std::nullopt;
  const auto* const evidence =
      std::find_if(kAll.begin(), kAll.end(), [&](Evidence e) { return name(e) == parts.back(); });
  if (evidence == kAll.end()) return std::nullopt;
  return Entry{parts[0] == kRequired, {parts[1], parts[2], parts[3]}, *evidence};
}

void enter(std::string_view kind, const VariantId& id, Evidence evidence) {
  if (testing::UnitTest::GetInstance()->current_test_info() != nullptr)
    testing::Test::RecordProperty(key(kind, id, evidence), "yes");
}

} // namespace

std::string_view name(Evidence evidence) {
  switch (evidence) {
  case Evidence::exact: return "exact";
  case Evidence::oracle: return "oracle";
  case Evidence::vendor: return "vendor";
  case Evidence::hygiene: return "hygiene";
  case Evidence::special: return "special";
  case Evidence::empty: return "empty";
  case Evidence::repeats: return "repeats";
  }
  return "";
}

bool Ledger::has(const VariantId& id, Evidence evidence) const {
  const auto entry = seen_.find(id);
  return entry != seen_.end() && entry->second.count(evidence) > 0;
}

std::vector<std::string> Ledger::missing() const {
  std::vector<std::string> lines;
  for (const auto& [id, evidence] : required_)
    for (const Evidence one : evidence)
      if (!has(id, one) && !has({id.op, id.dtype, std::string(kAnyVariant)}, one))
        lines.push_back(
            fmt::format("{}.{}, variant {}: {}", id.op, id.dtype, id.variant, explain(one)));
  std::set<std::pair<std::string, std::string>> judged;
  for (const auto& [id, evidence] : required_) judged.insert({id.op, id.dtype});
  std::set<std::pair<std::string, std::string>> unjudged;
  for (const auto& [id, evidence] : seen_)
    if (judged.count({id.op, id.dtype}) == 0) unjudged.insert({id.op, id.dtype});
  for (const auto& [op, dtype] : unjudged)
    lines.push_back(fmt::format(
        "{}.{}: compared, but no coverage is required: call require_evidence in the fixture's "
        "SetUp",
        op, dtype));
  return lines;
}

void record(const VariantId& id, Evidence evidence) { enter(kSeen, id, evidence); }

void require_evidence(const VariantId& id, std::initializer_list<Evidence> evidence) {
  for (const Evidence one : evidence) enter(kRequired, id, one);
}

void report_no_vendor(std::string_view op, Dtype dtype, std::string_view what) {
  const std::string operation = what.empty() ? std::string(op) : fmt::format("{} {}", op, what);
  fmt::print("{} {}: no vendor here, the oracle stands alone\n", operation, name(dtype));
  testing::Test::RecordProperty("no_vendor", fmt::format("{} {}", operation, name(dtype)));
  record({std::string(op), std::string(name(dtype)), std::string(kAnyVariant)}, Evidence::vendor);
}

Ledger ledger_of(const testing::UnitTest& run) {
  Ledger ledger;
  for (int s = 0; s < run.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *run.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const testing::TestResult& result = *suite.GetTestInfo(t)->result();
      for (int p = 0; p < result.test_property_count(); ++p) {
        const std::optional<Entry> entry = parse(result.GetTestProperty(p).key());
        if (!entry) continue;
        if (entry->required)
          ledger.require(entry->id, entry->evidence);
        else
          ledger.add(entry->id, entry->evidence);
      }
    }
  }
  return ledger;
}

} // namespace kg::test
