// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/check/report.h"
#include "perf/format/sinks.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace kg::program {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

// RFC 3986: characters that are not unreserved become %xx, except a path's slashes.
std::string uri_path(const std::string& path) {
  std::string uri;
  for (const unsigned char c : path) {
    const bool plain = std::isalnum(c) != 0 || std::string_view("-._~/").find(
                                                   static_cast<char>(c)) != std::string_view::npos;
    uri += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return uri;
}

Json location_of(const Place& place, const fs::path& root) {
  const fs::path file = fs::weakly_canonical(fs::absolute(place.file));
  const fs::path relative = file.lexically_relative(root);
  Json artifact = {{"uri", "file://" + uri_path(file.string())}};
  if (!relative.empty() && *relative.begin() != "..")
    artifact = {{"uri", uri_path(relative.string())}, {"uriBaseId", "SRCROOT"}};
  return {{"physicalLocation",
           {{"artifactLocation", artifact}, {"region", {{"startLine", std::max(place.line, 1)}}}}}};
}

std::string description_of(const std::string& rule) {
  static const std::map<std::string, std::string> kKnown = {
      {"proxy", "A bulk copy of what an ordinary store wrote, without a proxy fence"},
      {"barrier", "A phase of an mbarrier that ends while its bulk copies are in flight"},
      {"race", "Two accesses, one of them a write, that nothing orders"},
      {"out-of-bounds", "An access outside of every buffer, variable and array"},
      {"misaligned", "An access at an address that is not a multiple of its size"},
      {"freed", "An access to memory that is freed"},
      {"uninitialised", "A read of memory that nothing has written"},
      {"read-only", "A load through the read-only cache of what the same launch wrote"},
      {"arithmetic", "Overflow of signed integers, a shift beyond the width, a division by zero"},
      {"deadlock", "No thread of a block can continue"},
      {"divergent-barrier", "Threads of a block wait in different barriers"},
      {"mask", "A collective of a warp whose mask is wrong"},
      {"assertion", "An assertion of a kernel that fails"},
      {"launch-refused", "A launch that was refused, and whose error nobody asked for"},
      {"leak", "Device memory that is never freed"},
      {"unread", "Device memory that a kernel writes and nothing reads"}};
  const auto known = kKnown.find(rule);
  return known == kKnown.end() ? "A kernel's fault" : known->second;
}

} // namespace

std::string sarif_of(const Verdict& verdict, const fs::path& root) {
  std::map<std::string, std::size_t> rules; // to their list index
  Json described = Json::array(), results = Json::array();
  for (const Finding& finding : verdict.findings()) {
    const auto [rule, is_new] = rules.try_emplace(finding.rule, rules.size());
    if (is_new)
      described.push_back(
          {{"id", finding.rule},
           {"shortDescription", {{"text", description_of(finding.rule)}}},
           {"defaultConfiguration", {{"level", finding.fails ? "error" : "note"}}}});
    Json result = {{"ruleId", finding.rule},
                   {"ruleIndex", rule->second},
                   {"level", finding.fails ? "error" : "note"},
                   {"message", {{"text", judge::printable(finding.text)}}},
                   {"locations", Json::array()}};
    for (const Place& place : finding.places) {
      const bool first = result["locations"].empty();
      Json location = location_of(place, root);
      if (!first) location["message"] = {{"text", "the other access"}};
      result[first ? "locations" : "relatedLocations"].push_back(location);
    }
    results.push_back(result);
  }
  Json invocation = {{"executionSuccessful", verdict.failure().empty()}};
  if (const std::string failure = verdict.failure(); !failure.empty())
    invocation["toolExecutionNotifications"] = {
        {{"level", "error"}, {"message", {{"text", failure}}}}};
  const Json run = {
      {"tool",
       {{"driver",
         {{"name", "Kernelgrade"}, {"version", KERNELGRADE_VERSION}, {"rules", described}}}}},
      {"invocations", {invocation}},
      {"originalUriBaseIds", {{"SRCROOT", {{"uri", "file://" + uri_path((root / "").string())}}}}},
      {"results", results}};
  const Json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                    {"version", "2.1.0"},
                    {"runs", {run}}};
  return judge::for_json(log, 2) + "\n";
}

} // namespace kg::program
