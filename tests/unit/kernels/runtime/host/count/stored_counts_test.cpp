// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/cost/stored_counts.h"

#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace kg::cost {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::vector<count::Launch> loaded(const std::string& more) {
  const TemporaryFolder folder;
  write_file(folder.path() / "counts.json",
             R"({"schema": 3, "launches": [{"kernel": "k", "grid": [1, 1, 1], "block": [384, 1, 1],
                 "shared_bytes": 0, "unique_read": 1, "unique_written": 1, "block_read": 1,
                 "round_trips": 0, "barriers": {}, "collectives": {}, "sites": [])" +
                 more + "}]}");
  return load_counts(folder.path() / "counts.json");
}

TEST(StoredCounts, ProductsAndBulkCopiesWhereThereAreAny) {
  const auto with = loaded(R"(, "wgmma": {"m64n256k16<bf16>": 12}, "bulk": {"loaded_bytes": 4096,
                              "stored_bytes": 1024, "most_in_flight_bytes": 2048})");
  ASSERT_EQ(with.size(), 1u);
  EXPECT_THAT(with[0].wgmma, ElementsAre(Pair("m64n256k16<bf16>", 12u)));
  EXPECT_EQ(with[0].bulk_loaded, 4096u);
  EXPECT_EQ(with[0].bulk_stored, 1024u);
  EXPECT_EQ(with[0].bulk_in_flight, 2048u);
  const auto without = loaded("");
  ASSERT_EQ(without.size(), 1u);
  EXPECT_THAT(without[0].wgmma, IsEmpty());
  EXPECT_EQ(without[0].bulk_loaded, 0u);
  EXPECT_THROW(loaded(R"(, "bulk": {"loaded_bytes": 4096})"), Error);
}

} // namespace
} // namespace kg::cost
