// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The counters on kernels whose costs are known on paper; the comments are the paper. The same
// figures must come from every order of threads and from every compilation of the kernels
// (CMakeLists.txt).
#include "runtime/buffer.h"
#include "runtime/host/count/counts.h"
#include "runtime/launch.h"
#include "runtime/schedule.h"
#include "tests/counters/kernels.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

namespace kg::test {
namespace {

using count::Access;
using count::Launch;
using count::Memory;
using count::Site;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;

template <class... Parameters, class... Arguments>
Launch counted(void (*kernel)(Parameters...), const LaunchConfig& config,
               Arguments&&... arguments) {
  count::take_launches();
  launch(kernel, config, std::forward<Arguments>(arguments)...);
  std::vector<Launch> launches = count::take_launches();
  EXPECT_EQ(launches.size(), 1u);
  return launches.empty() ? Launch{} : std::move(launches.front());
}

// All lines of one kind together; their widths must be equal.
Site total(const Launch& launch, Memory memory, Access access) {
  Site sum;
  for (const Site& site : launch.sites) {
    if (site.memory != memory || site.access != access) continue;
    EXPECT_TRUE(sum.width == 0 || sum.width == site.width) << site.line;
    sum.line = site.line;
    sum.width = site.width;
    sum.requests += site.requests;
    sum.lanes += site.lanes;
    sum.sectors += site.sectors;
    sum.least_sectors += site.least_sectors;
    sum.wavefronts += site.wavefronts;
    sum.least_wavefronts += site.least_wavefronts;
    sum.addresses += site.addresses;
    sum.most_lanes = std::max(sum.most_lanes, site.most_lanes);
  }
  return sum;
}

std::string text(const Launch& launch) {
  std::string result = launch.kernel;
  const auto add = [&](auto... values) { ((result += " " + std::to_string(values)), ...); };
  add(launch.unique_read, launch.unique_written, launch.barriers, launch.barrier_phases);
  for (const auto& [name, count] : launch.collectives) result += name + std::to_string(count);
  for (const Site& s : launch.sites) {
    result += "\n" + s.line;
    add(static_cast<int>(s.memory), static_cast<int>(s.access), s.width, s.requests, s.lanes,
        s.sectors, s.least_sectors, s.wavefronts, s.least_wavefronts, s.addresses, s.most_lanes);
  }
  return result;
}

class Counters : public testing::TestWithParam<ThreadOrder> {
 protected:
  template <class T>
  DeviceBuffer<T> buffer(std::size_t size) {
    return DeviceBuffer<T>::from_host(std::vector<T>(size), stream_);
  }

 private:
  Stream stream_;
  ScopedSchedule scope_{{.order = GetParam(), .seed = 7}};
};

std::string order_name(const testing::TestParamInfo<ThreadOrder>& info) {
  const std::string name = to_string(Schedule{.order = info.param});
  return name.substr(0, name.find(':'));
}
INSTANTIATE_TEST_SUITE_P(, Counters,
                         testing::Values(ThreadOrder::forward, ThreadOrder::reverse,
                                         ThreadOrder::random),
                         order_name);

// 64 threads are 2 requests. 32 floats in a row are 128 bytes, 4 sectors; one in each sector, 32.
TEST_P(Counters, StridedLoads) {
  const auto x = buffer<float>(64 * 8);
  const auto y = buffer<float>(64);
  const struct {
    int stride;
    unsigned sectors, least; // of both requests
  } kCases[] = {{0, 2, 2}, {1, 8, 8}, {2, 16, 8}, {8, 64, 8}};
  for (const auto& [stride, sectors, least] : kCases) {
    const Launch launch =
        counted(copy_strided, {.grid = 1, .block = 64}, x.data(), y.data(), stride);
    const Site load = total(launch, Memory::global, Access::load);
    EXPECT_EQ(load.requests, 2u);
    EXPECT_EQ(load.lanes, 64u);
    EXPECT_EQ(load.sectors, sectors) << "stride " << stride;
    EXPECT_EQ(load.least_sectors, least) << "stride " << stride;
    const Site store = total(launch, Memory::global, Access::store);
    EXPECT_EQ(store.requests, 2u);
    EXPECT_EQ(store.sectors, 8u);
    EXPECT_EQ(launch.unique_read, stride == 0 ? 1 : sectors);
    EXPECT_EQ(launch.unique_written, 8u);
    EXPECT_THAT(load.line, HasSubstr("kernels.cu:"));
    EXPECT_THAT(launch.kernel, HasSubstr("copy_strided"));
  }
}

// Bytes 4 to 131 lie in 5 sectors, though 4 could hold them; the next request shares one of them.
TEST_P(Counters, MisalignedLoads) {
  const auto x = buffer<float>(65);
  const auto y = buffer<float>(64);
  const Launch launch = counted(copy_strided, {.grid = 1, .block = 64}, x.data() + 1, y.data(), 1);
  const Site load = total(launch, Memory::global, Access::load);
  EXPECT_EQ(load.sectors, 10u);
  EXPECT_EQ(load.least_sectors, 8u);
  EXPECT_EQ(launch.unique_read, 9u);
}

// 32 lanes of 16 bytes: 512 bytes, 16 sectors.
TEST_P(Counters, WideLoads) {
  const auto x = buffer<float4>(64);
  const auto y = buffer<float4>(64);
  const Launch launch = counted(copy_quads, {.grid = 2, .block = 32}, x.data(), y.data());
  for (const Access access : {Access::load, Access::store}) {
    const Site site = total(launch, Memory::global, access);
    EXPECT_EQ(site.width, 16u);
    EXPECT_EQ(site.requests, 2u);
    EXPECT_EQ(site.sectors, 32u);
    EXPECT_EQ(site.least_sectors, 32u);
  }
}

// 12 bytes move as three accesses of 4, each of which touches all 12 sectors of a warp's triples.
TEST_P(Counters, Triples) {
  const auto x = buffer<Triple>(32);
  const auto y = buffer<Triple>(32);
  const Launch launch = counted(copy_triples, {.grid = 1, .block = 32}, x.data(), y.data());
  for (const Access access : {Access::load, Access::store}) {
    const Site site = total(launch, Memory::global, access);
    EXPECT_EQ(site.width, 4u);
    EXPECT_EQ(site.requests, 3u);
    EXPECT_EQ(site.sectors, 36u);
    EXPECT_EQ(site.least_sectors, 12u);
  }
  EXPECT_EQ(launch.unique_read, 12u);
}

TEST_P(Counters, VolatileBroadcast) {
  const auto x = buffer<float>(1);
  const auto y = buffer<float>(32);
  const Launch launch = counted(broadcast, {.grid = 1, .block = 32}, x.data(), y.data());
  const Site load = total(launch, Memory::global, Access::load);
  EXPECT_EQ(load.requests, 1u);
  EXPECT_EQ(load.sectors, 1u);
  EXPECT_EQ(load.least_sectors, 1u);
}

// 40 of 64 threads: a whole warp, and 8 lanes of the next, whose 32 bytes are 1 sector.
TEST_P(Counters, LanesThatExit) {
  const auto x = buffer<float>(64);
  const auto y = buffer<float>(64);
  const Launch launch = counted(copy_guarded, {.grid = 1, .block = 64}, x.data(), y.data(), 40);
  const Site load = total(launch, Memory::global, Access::load);
  EXPECT_EQ(load.requests, 2u);
  EXPECT_EQ(load.lanes, 40u);
  EXPECT_EQ(load.sectors, 5u);
}

// Column reads of a tile of 32 words a row hit one bank 32 times; of 33 words a row, 32 banks.
TEST_P(Counters, TilesWithAndWithoutPadding) {
  const auto x = buffer<float>(1024);
  const auto y = buffer<float>(1024);
  const LaunchConfig config{.grid = 1, .block = dim3(32, 32)};
  const Launch unpadded = counted(transpose_unpadded, config, x.data(), y.data());
  const Launch padded = counted(transpose_padded, config, x.data(), y.data());
  EXPECT_EQ(total(unpadded, Memory::shared, Access::load).requests, 32u);
  EXPECT_EQ(total(unpadded, Memory::shared, Access::load).least_wavefronts, 32u);
  EXPECT_EQ(total(unpadded, Memory::shared, Access::load).wavefronts, 32u * 32);
  EXPECT_EQ(total(unpadded, Memory::shared, Access::store).wavefronts, 32u);
  EXPECT_EQ(total(padded, Memory::shared, Access::load).wavefronts, 32u);
  EXPECT_EQ(total(padded, Memory::shared, Access::store).wavefronts, 32u);
}

// 8 bytes: half-warps of 16 x 2 words fill the banks once. Every other one: words 4 i and 4 i + 1,
// which meet in a bank after 8 lanes, so two passes per half.
TEST_P(Counters, SharedDoubles) {
  const auto y = buffer<double>(32);
  const auto load = [&](int stride) {
    return total(counted(shared_doubles, {.grid = 1, .block = 32}, y.data(), stride),
                 Memory::shared, Access::load);
  };
  EXPECT_EQ(load(1).width, 8u);
  EXPECT_EQ(load(1).wavefronts, 2u);
  EXPECT_EQ(load(1).least_wavefronts, 2u);
  EXPECT_EQ(load(2).wavefronts, 4u);
  EXPECT_EQ(load(0).wavefronts, 2u);
}

// 16 bytes: quarters of 8 x 4 words fill the banks once. Every other one: words 8 i to 8 i + 3,
// which meet after 4 lanes, so two passes per quarter.
TEST_P(Counters, SharedQuads) {
  const auto y = buffer<float4>(32);
  const auto load = [&](int stride) {
    return total(counted(shared_quads, {.grid = 1, .block = 32}, y.data(), stride), Memory::shared,
                 Access::load);
  };
  EXPECT_EQ(load(1).width, 16u);
  EXPECT_EQ(load(1).wavefronts, 4u);
  EXPECT_EQ(load(1).least_wavefronts, 4u);
  EXPECT_EQ(load(2).wavefronts, 8u);
}

// One warp. A request for each operand and one for the result, as wide as their type: no access is
// lost because a call makes it.
TEST_P(Counters, ClassesInCalls) {
  const auto pairs = buffer<__half2>(32);
  const auto halves = buffer<f16>(32);
  const auto bfloats = buffer<bf16>(32);
  const auto floats = buffer<float>(128);
  const auto quads = buffer<float4>(32);
  const LaunchConfig warp{.grid = 1, .block = 32};
  const auto expect = [](const Launch& launch, Access access, unsigned width, unsigned requests) {
    const Site site = total(launch, Memory::global, access);
    EXPECT_EQ(site.width, width) << launch.kernel;
    EXPECT_EQ(site.requests, requests) << launch.kernel;
    EXPECT_EQ(site.lanes, 32 * requests) << launch.kernel;
    EXPECT_EQ(site.sectors, width * requests) << launch.kernel;
  };
  const auto expect_copy = [&](const Launch& launch, unsigned width) {
    expect(launch, Access::load, width, 1);
    expect(launch, Access::store, width, 1);
  };
  const Launch sum = counted(add_pairs, warp, pairs.data(), pairs.data(), pairs.data());
  expect(sum, Access::load, 4, 2);
  expect(sum, Access::store, 4, 1);
  expect_copy(counted(shuffle_halves, warp, halves.data(), halves.data()), 2);
  const Launch quad = counted(make_quads, warp, floats.data(), quads.data());
  expect(quad, Access::load, 4, 4);
  expect(quad, Access::store, 16, 1);
  expect_copy(counted(scale_halves, warp, bfloats.data(), bfloats.data()), 2);
  const Launch atomic = counted(add_halves, warp, halves.data(), halves.data());
  expect(atomic, Access::load, 2, 1);
  expect(atomic, Access::atomic, 2, 1);
}

// Each branch is a request of 16 lanes; every other float of 128 bytes still touches 4 sectors.
TEST_P(Counters, Branches) {
  const auto x = buffer<float>(32);
  const auto y = buffer<float>(32);
  const Launch launch =
      counted(branches, {.grid = 1, .block = 32}, x.data(), x.data(), y.data(), y.data());
  for (const Access access : {Access::load, Access::store}) {
    const Site site = total(launch, Memory::global, access);
    EXPECT_EQ(site.requests, 2u);
    EXPECT_EQ(site.lanes, 32u);
    EXPECT_EQ(site.sectors, 8u);
    EXPECT_EQ(site.least_sectors, 4u);
  }
}

// Round k (0 to 30) has the lanes above k: 31 + 30 + ... + 1 = 496, each round one address.
TEST_P(Counters, LoopsOfDifferentLength) {
  const auto x = buffer<float>(32);
  const auto y = buffer<float>(32);
  const Launch launch = counted(triangle, {.grid = 1, .block = 32}, x.data(), y.data());
  const Site load = total(launch, Memory::global, Access::load);
  EXPECT_EQ(load.requests, 31u);
  EXPECT_EQ(load.lanes, 496u);
  EXPECT_EQ(load.sectors, 31u);
}

// 64 threads on 4 bins: 8 lanes of each warp on each. A float's addition is one atomic, as an int's
// is. In shared memory lanes on one word share a pass.
TEST_P(Counters, AtomicContention) {
  const auto bins = buffer<float>(32);
  const auto sum = buffer<int>(1);
  for (const int count : {1, 4, 32}) {
    const auto bin_count = static_cast<unsigned>(count);
    const Launch launch =
        counted(histogram, {.grid = 1, .block = 64}, bins.data(), sum.data(), count);
    for (const Memory memory : {Memory::global, Memory::shared}) {
      const Site atomic = total(launch, memory, Access::atomic);
      EXPECT_EQ(atomic.requests, 2u);
      EXPECT_EQ(atomic.lanes, 64u);
      EXPECT_EQ(atomic.addresses, 2 * bin_count);
      EXPECT_EQ(atomic.most_lanes, 32 / bin_count);
    }
    EXPECT_EQ(total(launch, Memory::shared, Access::atomic).wavefronts, 2u);
    EXPECT_EQ(launch.unique_read, (bin_count + 7) / 8);
    EXPECT_EQ(launch.unique_written, (bin_count + 7) / 8 + 1); // and the total
  }
}

// Per block 3 barriers; per warp 5 shuffles and a ballot; 3 blocks of 2 warps.
TEST_P(Counters, BarriersAndCollectives) {
  const auto x = buffer<float>(3 * 64);
  const Launch launch = counted(meetings, {.grid = 3, .block = 64}, x.data());
  EXPECT_EQ(launch.barriers, 9u);
  EXPECT_THAT(launch.barriers_at, SizeIs(3));
  for (const auto& [line, count] : launch.barriers_at) {
    EXPECT_THAT(line, HasSubstr("kernels.cu:"));
    EXPECT_EQ(count, 3u);
  }
  EXPECT_THAT(launch.collectives,
              ElementsAre(Pair("__ballot_sync", 6), Pair("__shfl_xor_sync", 30)));
  EXPECT_EQ(total(launch, Memory::global, Access::load).requests, 6u);
}

// Lanes that have not executed an instruction as often as others are together with them again after
// they have met: per warp one address in each round.
TEST_P(Counters, MeetingsRealign) {
  const auto x = buffer<float>(64);
  const auto y = buffer<float>(64);
  for (const bool barrier : {false, true}) {
    const Launch launch = counted(rounds, {.grid = 1, .block = 64}, x.data(), y.data(), barrier);
    const Site load = total(launch, Memory::global, Access::load);
    EXPECT_EQ(load.requests, 4u);
    EXPECT_EQ(load.lanes, 96u);
    EXPECT_EQ(load.sectors, 4u);
    EXPECT_EQ(launch.barriers, barrier ? 2u : 0u);
  }
}

// Halves that shuffle among themselves still store together: 4 rounds are 4 requests.
TEST_P(Counters, HalfWarpsStayTogether) {
  const auto x = buffer<float>(32);
  const auto y = buffer<float>(32);
  const Launch launch = counted(half_warps, {.grid = 1, .block = 32}, x.data(), y.data());
  EXPECT_THAT(launch.collectives, ElementsAre(Pair("__shfl_xor_sync", 8)));
  EXPECT_EQ(total(launch, Memory::global, Access::store).requests, 4u);
  EXPECT_EQ(total(launch, Memory::global, Access::store).lanes, 128u);
}

// A shuffle of one half does not split what both halves read before it.
TEST_P(Counters, OneHalfShuffles) {
  const auto x = buffer<float>(64);
  const auto y = buffer<float>(32);
  const Launch launch = counted(one_half_shuffles, {.grid = 1, .block = 32}, x.data(), y.data());
  const Site load = total(launch, Memory::global, Access::load);
  EXPECT_EQ(load.requests, 2u);
  EXPECT_EQ(load.lanes, 48u);
}

// 8 rows of 4 x 16 bytes. Rows 64 bytes apart: column reads meet in a bank every second row, 4
// passes per quarter-warp. 80 bytes apart: rows begin 20 words apart, and 8 of them fill the banks
// once; but then two neighbouring rows, which a quarter-warp writes, overlap in 4 banks.
TEST_P(Counters, AsynchronousCopies) {
  const auto x = buffer<float4>(32);
  const auto y = buffer<float4>(32);
  const struct {
    int pitch;
    unsigned written, read; // passes
  } kCases[] = {{4, 4, 16}, {5, 8, 4}};
  for (const auto& [pitch, written, read] : kCases) {
    const Launch launch =
        counted(copy_async, {.grid = 1, .block = 32, .shared_bytes = 8 * 5 * sizeof(float4)},
                x.data(), y.data(), pitch);
    const Site source = total(launch, Memory::global, Access::load);
    EXPECT_EQ(source.width, 16u);
    EXPECT_EQ(source.requests, 1u);
    EXPECT_EQ(source.sectors, 16u);
    EXPECT_EQ(total(launch, Memory::shared, Access::store).wavefronts, written);
    EXPECT_EQ(total(launch, Memory::shared, Access::load).wavefronts, read);
    EXPECT_EQ(total(launch, Memory::shared, Access::load).least_wavefronts, 4u);
  }
}

// 8 rows of 16 bytes are one pass where they lie in different quarters of the banks: next to each
// other, or 144 bytes apart. 32 bytes apart two share a quarter; 128 apart all do. Two warps, six
// matrices each.
TEST_P(Counters, MatrixInstructions) {
  const auto y = buffer<float>(64);
  const struct {
    int pitch;
    unsigned passes; // per matrix
  } kCases[] = {{8, 1}, {72, 1}, {16, 2}, {64, 8}};
  for (const auto& [pitch, passes] : kCases) {
    const Launch launch = counted(
        multiply_matrices, {.grid = 1, .block = 64, .shared_bytes = 32 * 72 * 2}, y.data(), pitch);
    const Site load = total(launch, Memory::shared, Access::load);
    EXPECT_EQ(load.width, 16u);
    EXPECT_EQ(load.requests, 4u);
    EXPECT_EQ(load.lanes, 2u * (32 + 16));
    EXPECT_EQ(load.wavefronts, 2 * 6 * passes);
    EXPECT_EQ(load.least_wavefronts, 2u * 6);
    EXPECT_THAT(load.line, HasSubstr("kernels.cu:"));
    EXPECT_THAT(launch.collectives, ElementsAre(Pair("ldmatrix", 2), Pair("ldmatrix_trans", 2),
                                                Pair("mma_m16n8k16<bf16>", 2)));
  }
}

TEST_P(Counters, EveryRunCountsTheSame) {
  const auto x = buffer<float>(1024);
  const auto y = buffer<float>(1024);
  const LaunchConfig config{.grid = 1, .block = dim3(32, 32)};
  const std::string first = text(counted(transpose_padded, config, x.data(), y.data()));
  EXPECT_EQ(text(counted(transpose_padded, config, x.data(), y.data())), first);
  const ScopedSchedule forward({.order = ThreadOrder::forward});
  EXPECT_EQ(text(counted(transpose_padded, config, x.data(), y.data())), first);
}

// A launch that fails is not counted, and leaves the next one's counts alone.
TEST_P(Counters, FailedLaunch) {
  const auto x = buffer<float>(64);
  const auto y = buffer<float>(64);
  count::take_launches();
  EXPECT_THROW(launch(copy_guarded, {.grid = 1, .block = 2048}, x.data(), y.data(), 64), Error);
  EXPECT_THROW(launch(copy_async, {.grid = 1, .block = 32, .shared_bytes = 512},
                      reinterpret_cast<const float4*>(x.data() + 1),
                      reinterpret_cast<float4*>(y.data()), 4),
               Error); // a misaligned source
  EXPECT_TRUE(count::take_launches().empty());
  const Launch next = counted(copy_strided, {.grid = 1, .block = 64}, x.data(), y.data(), 1);
  EXPECT_EQ(total(next, Memory::global, Access::load).requests, 2u);
  EXPECT_EQ(total(next, Memory::shared, Access::store).requests, 0u);
}

} // namespace
} // namespace kg::test
