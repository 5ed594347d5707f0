// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the costs of a program's launches at exit to the file that KERNELGRADE_COUNTS names. Part
// of the counting libcudart and of programs run by `kernelgrade check --costs`.
#include "runtime/atomic_file.h"
#include "runtime/host/count/counter.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace {

using Json = nlohmann::json;
using namespace kg::count;

Json json(const Site& site) {
  constexpr const char* kAccesses[] = {"load", "store", "atomic"};
  return {{"line", site.line},
          {"memory", site.memory == Memory::global ? "global" : "shared"},
          {"access", kAccesses[static_cast<int>(site.access)]},
          {"width", site.width},
          {"accesses", site.accesses},
          {"requests", site.requests},
          {"lanes", site.lanes},
          {"sectors", site.sectors},
          {"least_sectors", site.least_sectors},
          {"wavefronts", site.wavefronts},
          {"least_wavefronts", site.least_wavefronts},
          {"wavefronts_8", site.wavefronts_8},
          {"wavefronts_16", site.wavefronts_16},
          {"l1_passes", site.l1_passes},
          {"addresses", site.addresses},
          {"most_lanes", site.most_lanes}};
}

Json json(const Launch& launch) {
  Json sites = Json::array();
  for (const Site& site : launch.sites) sites.push_back(json(site));
  Json json = {{"kernel", launch.kernel},
               {"grid", launch.grid},
               {"block", launch.block},
               {"shared_bytes", launch.shared_bytes},
               {"unique_read", launch.unique_read},
               {"unique_written", launch.unique_written},
               {"block_read", launch.block_read},
               {"round_trips", launch.round_trips},
               {"barriers", launch.barriers_at},
               {"collectives", launch.collectives},
               {"sites", sites}};
  if (!launch.wgmma.empty()) json["wgmma"] = launch.wgmma;
  if (launch.bulk_loaded + launch.bulk_stored > 0)
    json["bulk"] = {{"loaded_bytes", launch.bulk_loaded},
                    {"stored_bytes", launch.bulk_stored},
                    {"most_in_flight_bytes", launch.bulk_in_flight}};
  return json;
}

// Constructed after the counter, which its constructor uses, and so destroyed before it.
const struct Writer {
  Writer() {
    take_launches();
    count_merged();
  }
  ~Writer() {
    const char* const file = std::getenv("KERNELGRADE_COUNTS");
    if (file == nullptr) return;
    Json launches = Json::array();
    for (const Launch& launch : take_launches()) launches.push_back(json(launch));
    kg::write_file(file, Json({{"schema", 3}, {"launches", launches}}).dump(1) + "\n");
  }
} writer;

} // namespace
