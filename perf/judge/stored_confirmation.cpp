// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/stored_confirmation.h"

#include "perf/format/json_reader.h"
#include "perf/format/sinks.h"

#include <nlohmann/json.hpp>

namespace kg::judge {
namespace {

using nlohmann::json;

constexpr const char* kTag = "confirmation";

Confirmation found_in(JsonObject object) {
  Confirmation found;
  found.verdict = object.known("verdict", named(object.text("verdict"), Verdict::skipped),
                               "a verdict of the gate");
  found.ratio = object.positive("ratio");
  found.ratio_interval = {object.from_zero("ratio_lo"), object.from_zero("ratio_hi")};
  found.detectable_pct = object.from_zero("detectable_pct");
  found.pairs = object.whole_number("pairs");
  found.reason = object.text("reason");
  object.done();
  return found;
}

} // namespace

void store(const RowConfirmation& confirmation, Measured& row) {
  json stored = {{"reference", confirmation.reference},
                 {"unavailable", confirmation.unavailable},
                 {"tags_a", confirmation.tags_a},
                 {"tags_b", confirmation.tags_b}};
  if (const auto& found = confirmation.found)
    stored["found"] = {{"verdict", name(found->verdict)},
                       {"ratio", found->ratio},
                       {"ratio_lo", found->ratio_interval.low},
                       {"ratio_hi", found->ratio_interval.high},
                       {"detectable_pct", found->detectable_pct},
                       {"pairs", found->pairs},
                       {"reason", found->reason}};
  row.tags[kTag] = for_json(stored);
}

std::optional<RowConfirmation> stored_confirmation(const Measured& row) {
  const auto tag = row.tags.find(kTag);
  // Merging joins different texts, which are then not JSON.
  if (tag == row.tags.end() || !json::accept(tag->second)) return std::nullopt;
  const std::string place = text(row.key) + ": tag " + kTag;
  const json parsed = parse_json(tag->second, place);
  JsonObject object(parsed, place);
  RowConfirmation confirmation;
  confirmation.reference = object.text("reference");
  confirmation.unavailable = object.text("unavailable");
  confirmation.tags_a = object.texts("tags_a");
  confirmation.tags_b = object.texts("tags_b");
  if (object.has("found")) confirmation.found = found_in(object.object("found"));
  object.done();
  return confirmation;
}

Confirmations stored_confirmations(const Results& run) {
  Confirmations all;
  for (const Measured& row : run.rows)
    if (auto confirmation = stored_confirmation(row))
      all.emplace(row.key, std::move(*confirmation));
  return all;
}

} // namespace kg::judge
