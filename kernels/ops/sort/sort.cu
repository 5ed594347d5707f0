// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts whole arrays: by comparing each key with all others, by the passes of onesweep.h, or by
// counting.cu.
#include "ops/sort/sort.h"

#include "ops/sort/arrays.h"
#include "ops/sort/counting.h"
#include "ops/sort/keys.h"
#include "ops/sort/onesweep.h"
#include "primitives/look_back.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <type_traits>

namespace kg::sort {

// One thread per key.
template <class Keys>
__global__ void __launch_bounds__(kThreads)
    naive(Keys order, Word<Keys> mask, const Word<Keys>* keys, Word<Keys>* sorted_keys,
          const std::int32_t* values, std::int32_t* sorted_values, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  const Word<Keys> own = keys[i];
  std::int64_t before = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const Word<Keys> other = keys[j];
    if (comes_before(order, mask, other, j, own, i)) ++before;
  }
  sorted_keys[before] = own;
  if (values != nullptr) {
    const std::int32_t value = values[i];
    sorted_values[before] = value;
  }
}

namespace {

// The workspace: digit counts of all passes, then each pass's words, then intermediate arrays.
struct Layout {
  int passes;
  std::int64_t tiles, words;          // per pass
  std::int64_t cleared, keys, values; // in bytes, multiples of 16

  Layout(std::int64_t n, std::size_t key_bytes, bool pairs, const Order& order)
      : passes(passes_of(order)), tiles(div_up(n, tile_of(key_bytes, pairs))),
        words(1 + tiles * kDigits), cleared(div_up(passes * (kDigits + words) * 4, 16) * 16),
        keys(passes == 1 ? 0 : div_up(n * static_cast<std::int64_t>(key_bytes), 16) * 16),
        values(passes == 1 || !pairs ? 0 : div_up(n * 4, 16) * 16) {}
  std::size_t bytes() const { return static_cast<std::size_t>(cleared + keys + values); }
};

template <bool kPairs, class Keys, class W = Word<Keys>>
void sweep(Keys keys, Pass<W> pass, const Order& order, void* workspace, Stream& stream) {
  const Layout layout(pass.n, sizeof(W), kPairs, order);
  auto* const counts = static_cast<unsigned*>(workspace);
  unsigned* const words = counts + layout.passes * kDigits;
  auto* const other_keys = reinterpret_cast<W*>(counts + layout.cleared / 4);
  auto* const other_values =
      reinterpret_cast<std::int32_t*>(counts + (layout.cleared + layout.keys) / 4);
  launch(clear_words<unsigned>,
         {.grid = static_cast<unsigned>(div_up(layout.cleared / 4, kClearThreads)),
          .block = kClearThreads,
          .stream = &stream},
         counts, layout.cleared / 4);
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * kResident;
  launch(
      count_digits<Keys>,
      {.grid = static_cast<unsigned>(std::min(div_up(pass.n, tile_of(sizeof(W), false)), resident)),
       .block = kThreads,
       .stream = &stream},
      keys, pass.keys, counts, pass.n, order.begin_bit, mask_of<W>(order), layout.passes);
  const Pass<W> outputs = pass;
  for (int i = 0; i < layout.passes; ++i) {
    const bool ends = (layout.passes - i) % 2 == 1; // writes to the outputs, as the last pass must
    const int shift = order.begin_bit + i * kDigitBits;
    pass.digit = {shift, (1u << std::min(kDigitBits, order.end_bit - shift)) - 1};
    pass.sorted_keys = ends ? outputs.sorted_keys : other_keys;
    pass.sorted_values = ends ? outputs.sorted_values : other_values;
    pass.counts = counts + i * kDigits;
    pass.words = words + i * layout.words;
    launch(onesweep<Keys, kPairs>,
           {.grid = static_cast<unsigned>(layout.tiles), .block = kThreads, .stream = &stream},
           keys, pass);
    pass.keys = pass.sorted_keys;
    pass.values = pass.sorted_values;
  }
}

template <class Keys>
void count(Keys keys, const Pass<Word<Keys>>& pass, void* workspace, Stream& stream) {
  if constexpr (std::is_same_v<Keys, HalfKeys>)
    sort_by_counting(keys, pass.keys, pass.sorted_keys, pass.n, workspace, stream);
}

constexpr std::int64_t kCountedFrom = 1 << 22; // keys; modelled: 5 launches instead of 4

} // namespace

bool supports(Variant variant, std::size_t key_bytes, bool pairs, const Order& order) {
  if (variant != Variant::counting) return true;
  const bool all_bits = order.begin_bit == 0 && (order.end_bit == 0 || order.end_bit == 16);
  return key_bytes == 2 && !pairs && all_bits;
}

Variant resolved(Variant variant, std::int64_t n, std::size_t key_bytes, bool pairs,
                 const Order& order) {
  if (variant != Variant::automatic) return variant;
  const bool counted = n >= kCountedFrom && supports(Variant::counting, key_bytes, pairs, order);
  return counted ? Variant::counting : Variant::onesweep;
}

std::size_t workspace_bytes(std::int64_t n, std::size_t key_bytes, bool pairs, const Order& order,
                            Variant variant) {
  const Order whole = checked_order(order, key_bytes);
  variant = resolved(variant, n, key_bytes, pairs, whole);
  if (n == 0 || variant == Variant::naive) return 0;
  return variant == Variant::counting ? counting_bytes()
                                      : Layout(n, key_bytes, pairs, whole).bytes();
}

template <class T>
Variant run(const Arrays<T>& arrays, std::int64_t n, const Order& order, void* workspace,
            Variant variant, Stream& stream) {
  require_arrays(arrays, n);
  const Order whole = checked_order(order, sizeof(T));
  const bool pairs = arrays.values != nullptr;
  variant = resolved(variant, n, sizeof(T), pairs, whole);
  require(supports(variant, sizeof(T), pairs, whole), [] {
    return "sort: variant is counting, which takes keys of 16 bits without values, by all bits; "
           "pass automatic or onesweep";
  });
  if (n == 0) return variant;
  require_workspace(workspace, workspace_bytes(n, sizeof(T), pairs, whole, variant));
  with_keys<T>(order.descending, [&]<class Keys>(Keys keys) {
    using W = Word<Keys>;
    const Pass<W> pass{.keys = reinterpret_cast<const W*>(arrays.keys),
                       .sorted_keys = reinterpret_cast<W*>(arrays.sorted_keys),
                       .values = arrays.values,
                       .sorted_values = arrays.sorted_values,
                       .n = static_cast<int>(n)};
    if (variant == Variant::naive)
      launch(naive<Keys>,
             {.grid = static_cast<unsigned>(div_up(n, kThreads)),
              .block = kThreads,
              .stream = &stream},
             keys, mask_of<W>(whole), pass.keys, pass.sorted_keys, pass.values, pass.sorted_values,
             n);
    else if (variant == Variant::counting)
      count(keys, pass, workspace, stream);
    else if (pairs)
      sweep<true>(keys, pass, whole, workspace, stream);
    else
      sweep<false>(keys, pass, whole, workspace, stream);
  });
  return variant;
}

Work work(std::int64_t n, std::size_t key_bytes, bool pairs, std::int64_t segments) {
  const double bytes =
      static_cast<double>(n) * static_cast<double>(key_bytes + (pairs ? sizeof(std::int32_t) : 0));
  const double offsets = segments > 0 ? 4.0 * static_cast<double>(segments + 1) : 0;
  return {.bytes = 2 * bytes + offsets, .written = bytes, .flops = 0};
}

template Variant run(const Arrays<float>&, std::int64_t, const Order&, void*, Variant, Stream&);
template Variant run(const Arrays<f16>&, std::int64_t, const Order&, void*, Variant, Stream&);
template Variant run(const Arrays<bf16>&, std::int64_t, const Order&, void*, Variant, Stream&);
template Variant run(const Arrays<std::int32_t>&, std::int64_t, const Order&, void*, Variant,
                     Stream&);
template Variant run(const Arrays<std::uint32_t>&, std::int64_t, const Order&, void*, Variant,
                     Stream&);
template Variant run(const Arrays<std::int64_t>&, std::int64_t, const Order&, void*, Variant,
                     Stream&);

} // namespace kg::sort
