// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies of boxes of tensors, from the source and from what nvcc made of it: bytes against a
// plain loop, and what is said of each mutant.
#include "tests/unit/kernels/runtime/bulk/move_boxes.h"

#include "tests/unit/kernels/runtime/bulk/box_oracle.h"
#include "tests/unit/kernels/runtime/bulk/forms.h"

#include <algorithm>

namespace kg::bulk {
namespace {

using executor::error_of;
using executor::under_every_order;
using host::Swizzle;
using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr Swizzle kSwizzles[] = {Swizzle::none, Swizzle::bytes32, Swizzle::bytes64,
                                 Swizzle::bytes128};

class MoveBoxes : public Forms {
 protected:
  struct Outcome {
    std::vector<unsigned short> out; // of a load: the box; of a store: the tensor
    std::string message;
  };
  // A tensor in device memory that holds 1, 2, 3, ...
  struct Tensor {
    Stream stream;
    std::vector<unsigned short> values = std::vector<unsigned short>(kTensorBytes / 2);
    DeviceBuffer<unsigned short> memory{kTensorBytes / 2};
    Tensor() {
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<unsigned short>(i + 1);
      memory = DeviceBuffer<unsigned short>::from_host(values, stream);
      stream.synchronize();
    }
  };
  static Origin origin(const Coordinates& first) {
    return {{first[0], first[1], first[2], first[3], first[4]}};
  }
  static Outcome load(Tensor& tensor, const host::TiledTensor& t, const Coordinates& first,
                      BoxMutant mutant = BoxMutant::none) {
    DeviceBuffer<unsigned short> out(kMostBoxElements);
    Outcome outcome;
    outcome.message = error_of([&] {
      launch(load_box, {.grid = 1, .block = kBoxThreads, .stream = &tensor.stream}, encode(t),
             static_cast<int>(t.rank), origin(first), static_cast<unsigned>(t.box_bytes()),
             out.data(), mutant);
      tensor.stream.synchronize();
    });
    if (outcome.message.empty()) outcome.out = out.to_host(tensor.stream);
    return outcome;
  }
  static Outcome store(Tensor& tensor, const host::TiledTensor& t, const Coordinates& first,
                       BoxMutant mutant = BoxMutant::none) {
    Outcome outcome;
    outcome.message = error_of([&] {
      launch(store_box, {.grid = 1, .block = kBoxThreads, .stream = &tensor.stream}, encode(t),
             static_cast<int>(t.rank), origin(first), mutant);
      tensor.stream.synchronize();
    });
    if (outcome.message.empty()) outcome.out = tensor.memory.to_host(tensor.stream);
    return outcome;
  }
  // What the orders of threads say of a mutant that moves a swizzled box of rank 3.
  template <class Move>
  static std::string found(const Move& move, BoxMutant mutant) {
    std::string all;
    under_every_order([&] {
      Tensor tensor;
      const auto t = small_tensor(tensor.memory.data(), 3, Swizzle::bytes128);
      all += move(tensor, t, {-3, 1, 1}, mutant).message + "\n";
    });
    return all;
  }
};
KG_IN_BOTH_FORMS(MoveBoxes);

TEST_P(MoveBoxes, LoadsOfEachRankAndSwizzle) {
  under_every_order([] {
    Tensor tensor;
    for (unsigned rank = 1; rank <= 5; ++rank)
      for (const Swizzle swizzle : kSwizzles)
        for (const Coordinates& first : kOrigins) {
          host::TiledTensor t = small_tensor(tensor.memory.data(), rank, swizzle);
          for (const bool strided : {false, true}) {
            if (strided) t.element_stride = {1, 2, 2, 1, 2};
            const Outcome outcome = load(tensor, t, first);
            ASSERT_EQ(outcome.message, "");
            ASSERT_EQ(outcome.out, loaded_box(t, first, tensor.values.data(), kMostBoxElements))
                << rank << ' ' << static_cast<int>(swizzle) << ' ' << first[0];
          }
        }
  });
}

TEST_P(MoveBoxes, OutsideOfATensorIsNaNWhereTheMapSaysSo) {
  Tensor tensor;
  host::TiledTensor t = small_tensor(tensor.memory.data(), 2, Swizzle::bytes64);
  t.type = host::TensorType::bf16;
  t.fills_with_nan = true;
  const Outcome outcome = load(tensor, t, {45, 5});
  ASSERT_EQ(outcome.message, "");
  EXPECT_EQ(outcome.out, loaded_box(t, {45, 5}, tensor.values.data(), kMostBoxElements));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), 0xFFFF), 32 * 4 - 5 * 2);
}

TEST_P(MoveBoxes, LoadsOfTf32RoundToNearestEven) {
  struct Bits {
    std::uint32_t given, loaded;
  };
  constexpr Bits kBits[] = {{0x3F801000, 0x3F800000}, // a tie: down to even
                            {0x3F803000, 0x3F804000}, // a tie: up to even
                            {0xBF801001, 0xBF802000}, // above a tie
                            {0x3F800FFF, 0x3F800000}, // below a tie
                            {0x3FFFF000, 0x40000000}, // carries into the exponent
                            {0x00001001, 0x00002000}, // subnormal
                            {0x7F800000, 0x7F800000}, {0x7FC00001, 0x7FC00001}};
  Tensor tensor;
  for (std::size_t i = 0; i < std::size(kBits); ++i)
    std::memcpy(&tensor.values[2 * i], &kBits[i].given, sizeof kBits[i].given);
  tensor.memory = DeviceBuffer<unsigned short>::from_host(tensor.values, tensor.stream);
  host::TiledTensor t;
  t.type = host::TensorType::tf32;
  t.base = tensor.memory.data();
  t.extent[0] = t.box[0] = std::size(kBits);
  const Outcome outcome = load(tensor, t, {});
  ASSERT_EQ(outcome.message, "");
  for (std::size_t i = 0; i < std::size(kBits); ++i) {
    std::uint32_t loaded = 0;
    std::memcpy(&loaded, &outcome.out[2 * i], sizeof loaded);
    EXPECT_EQ(loaded, kBits[i].loaded) << i;
  }
}

TEST_P(MoveBoxes, StoresOfEachRankAndSwizzle) {
  under_every_order([] {
    for (unsigned rank = 1; rank <= 5; ++rank)
      for (const Swizzle swizzle : kSwizzles)
        for (const Coordinates& first : kOrigins) {
          Tensor tensor;
          const host::TiledTensor t = small_tensor(tensor.memory.data(), rank, swizzle);
          std::vector<unsigned short> expected = tensor.values;
          for_each_element(t, first, [&](unsigned place, std::int64_t byte, bool inside) {
            if (inside) expected[byte / 2] = static_cast<unsigned short>(place + 1);
          });
          const Outcome outcome = store(tensor, t, first);
          ASSERT_EQ(outcome.message, "");
          ASSERT_EQ(outcome.out, expected)
              << rank << ' ' << static_cast<int>(swizzle) << ' ' << first[0];
        }
  });
}

TEST_P(MoveBoxes, MisuseIsRefused) {
  const auto loads = [](BoxMutant mutant) { return found(&load, mutant); };
  EXPECT_THAT(loads(BoxMutant::shared_misaligned),
              AllOf(HasSubstr("move_boxes.cu:"),
                    HasSubstr("the destination is 16 bytes behind a multiple of 128")));
  EXPECT_THAT(loads(BoxMutant::rank_of_another),
              HasSubstr("with 4 coordinates of a tensor of rank 3; name 3"));
  EXPECT_THAT(
      loads(BoxMutant::bytes_too_many),
      ContainsRegex("16 bytes, of 1040 expected at .*move_boxes.cu:[0-9]+; expect_tx must"));
  EXPECT_THAT(loads(BoxMutant::bytes_too_few),
              ContainsRegex("16 bytes more have come than the 1008 expected at .*move_boxes.cu"));
}

TEST_P(MoveBoxes, AMapIsWhatEncodeHasMade) {
  Tensor tensor;
  const auto message = error_of([&] {
    launch(store_box, {.grid = 1, .block = kBoxThreads, .stream = &tensor.stream}, TensorMap{}, 1,
           Origin{}, BoxMutant::none);
    tensor.stream.synchronize();
  });
  EXPECT_THAT(message, AllOf(HasSubstr("the address is not that of a tensor map"),
                             HasSubstr("move_boxes.cu:")));
}

#if KG_CHECKED

TEST_P(MoveBoxes, FindingsNameBothSites) {
  const auto both = [](const char* first, const char* second) {
    return AllOf(HasSubstr(first), HasSubstr(second),
                 ContainsRegex("move_boxes.cu:[0-9]+.*move_boxes.cu:[0-9]+"));
  };
  EXPECT_THAT(found(&load, BoxMutant::phase_not_awaited),
              both("[race]", "wait for the phase of the mbarrier at which the bulk copy"));
  EXPECT_THAT(found(&load, BoxMutant::stage_reused), both("[race]", "writes 1024 bytes"));
  EXPECT_THAT(found(&load, BoxMutant::bytes_of_one_of_two),
              both("[barrier]", "while the bulk copy of 1024 bytes"));
  EXPECT_THAT(found(&store, BoxMutant::fence_missing),
              both("[proxy]", "put fence.proxy.async.shared::cta"));
  EXPECT_THAT(found(&store, BoxMutant::stage_overwritten),
              both("[race]", "wait_group.read by the thread that issued it"));
}

#endif

} // namespace
} // namespace kg::bulk
