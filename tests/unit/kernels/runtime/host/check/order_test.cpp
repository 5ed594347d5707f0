// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the race checker keeps of who knows of whom is compressed (floors, clocks that threads
// share). Here the same synchronisations, by chance, also go to a model that is not: of each
// thread, up to when it knows of each other one.
#include "runtime/host/check/order.h"

#include <gtest/gtest.h>
#include <random>

namespace kg::check {
namespace {

constexpr unsigned kBlocks = 2;
constexpr unsigned kThreads = 64; // of a block
constexpr unsigned kAll = kBlocks * kThreads;

using Known = std::array<Time, kAll>; // of each thread's accesses, up to when

void learn(Known& known, const Known& other) {
  for (unsigned i = 0; i < kAll; ++i) known[i] = std::max(known[i], other[i]);
}

struct Object {
  SyncObject kept;
  Known gathered{}, completed{}, block_gathered{};
  unsigned block = 0;
};

class Threads {
 public:
  explicit Threads(unsigned seed) : random_(seed) {
    for (unsigned b = 0; b < kBlocks; ++b) orders_[b].begin(b << 10, now_ - 1, now_ + 1);
    first_ = now_ += 2;
  }

  void step() {
    const unsigned thread = below(kAll);
    const unsigned block = thread / kThreads;
    Object& object = objects_[below(2)];
    switch (below(10)) {
    case 0: return below(4) == 0 ? block_meets(block) : warp_meets(thread);
    case 1: return warp_meets(thread);
    case 2: return arrive(thread, object);
    case 3: return complete(object);
    case 4: return pass(thread, object);
    case 5: return fence(thread);
    case 6: return release_fenced(thread, object);
    case 7: return acquire_atomic(thread, object);
    default: return all_meet(object);
    }
  }

  // Whether `thread` knows of each access that `other` may have made, as the model has it.
  void check(unsigned thread, unsigned other) const {
    const auto order = [&](Time time) {
      return of(thread).before({time, who(other), 0}, thread % kThreads);
    };
    const Time known = thread == other ? now_ : known_[thread][other];
    for (Time time = first_; time <= now_; ++time)
      ASSERT_EQ(order(time), time <= known)
          << "thread " << thread << ", what " << other << " did at " << time << " of " << now_;
  }
  void check_some() {
    for (int i = 0; i < 8; ++i) check(below(kAll), below(kAll));
  }

 private:
  static Who who(unsigned thread) { return thread / kThreads << 10 | thread % kThreads; }
  const BlockOrder& of(unsigned thread) const { return orders_[thread / kThreads]; }
  BlockOrder& of(unsigned thread) { return orders_[thread / kThreads]; }
  unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }

  void meet(const std::vector<unsigned>& threads) {
    Known together{};
    for (const unsigned thread : threads) learn(together, known_[thread]);
    for (const unsigned thread : threads) together[thread] = now_;
    for (const unsigned thread : threads) known_[thread] = together;
    ++now_;
  }
  void block_meets(unsigned block) {
    orders_[block].block_synchronised(now_);
    std::vector<unsigned> all(kThreads);
    Known fenced{};
    for (unsigned i = 0; i < kThreads; ++i) {
      all[i] = block * kThreads + i;
      learn(fenced, fenced_[all[i]]);
    }
    for (const unsigned thread : all) fenced_[thread] = fenced;
    meet(all);
  }
  void warp_meets(unsigned thread) {
    const auto some = static_cast<unsigned>(random_());
    const unsigned lanes = below(2) == 0 ? ~0u : some | 1u << thread % 32;
    of(thread).warp_synchronised(thread % kThreads / 32, lanes, lanes == ~0u, now_);
    std::vector<unsigned> threads;
    for (unsigned lane = 0; lane < 32; ++lane)
      if (lanes >> lane & 1) threads.push_back(thread / 32 * 32 + lane);
    meet(threads);
  }

  Known released(unsigned thread) const {
    Known known = known_[thread];
    known[thread] = now_;
    return known;
  }
  void arrive(unsigned thread, Object& object) {
    of(thread).release(thread % kThreads, object.kept, now_);
    learn(object.gathered, released(thread));
    ++now_;
  }
  static void complete(Object& object) {
    object.kept.completed = std::make_shared<Clock>(object.kept.gathered.clock);
    object.completed = object.gathered;
  }
  void pass(unsigned thread, const Object& object) {
    of(thread).acquire(thread % kThreads, object.kept.completed);
    learn(known_[thread], object.completed);
  }
  void fence(unsigned thread) {
    const bool block_scope = below(2) == 0;
    of(thread).fence(thread % kThreads, block_scope, now_);
    (block_scope ? block_fenced_ : fenced_)[thread] = released(thread);
    ++now_;
  }
  void release_fenced(unsigned thread, Object& object) {
    of(thread).release_fenced(thread % kThreads, object.kept);
    learn(object.gathered, fenced_[thread]);
    if (block_fenced_[thread][thread] == 0) return; // there was none
    if (object.block != thread / kThreads) object.block_gathered = {};
    object.block = thread / kThreads;
    learn(object.block_gathered, block_fenced_[thread]);
  }
  void acquire_atomic(unsigned thread, const Object& object) {
    of(thread).acquire_atomic(thread % kThreads, object.kept);
    learn(known_[thread], object.gathered);
    if (object.block == thread / kThreads) learn(known_[thread], object.block_gathered);
  }
  // As at the barrier of a cluster; some tell and learn more between their arrival and their wait.
  void all_meet(Object& object) {
    Object& other = objects_[&object == &objects_[0]];
    for (unsigned thread = 0; thread < kAll; ++thread) {
      arrive(thread, object);
      switch (below(16)) {
      case 0: arrive(thread, other); break;
      case 1: complete(other); break;
      case 2: pass(thread, other); break;
      default: break;
      }
    }
    complete(object);
    for (unsigned thread = 0; thread < kAll; ++thread) pass(thread, object);
  }

  std::mt19937 random_;
  Time now_ = kFirstMoment;
  Time first_ = 0;
  std::array<BlockOrder, kBlocks> orders_;
  std::array<Object, 2> objects_;
  std::array<Known, kAll> known_{}, fenced_{}, block_fenced_{};
};

TEST(Order, IsWhatEachThreadKnowsOfEachOther) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Threads threads(seed);
    for (int step = 0; step < 60 && !testing::Test::HasFatalFailure(); ++step) {
      threads.step();
      threads.check_some();
    }
    for (unsigned thread = 0; thread < kAll && !testing::Test::HasFatalFailure(); thread += 5)
      for (unsigned other = 0; other < kAll; other += 3) threads.check(thread, other);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
  }
}

// fence.mbarrier_init and a relaxed arrival release what the thread initialized, and nothing else.
TEST(Order, RelaxedArrivalsReleaseFencedInitializations) {
  constexpr Who kOther = 1 << 10;
  BlockOrder initializing, waiting;
  initializing.begin(0, 1, 2);
  waiting.begin(kOther, 1, 3);
  const Access init{4, 0, 0}, later{6, 0, 0};
  SyncObject barrier;
  const auto meet = [&] {
    initializing.release_fenced(0, barrier);
    waiting.acquire(5, std::make_shared<Clock>(barrier.gathered.clock));
  };
  meet();
  EXPECT_FALSE(waiting.knows_init(init, 5));
  initializing.fence_inits(0, 5);
  EXPECT_FALSE(waiting.knows_init(init, 5));
  meet();
  EXPECT_TRUE(waiting.knows_init(init, 5));
  EXPECT_FALSE(waiting.knows_init(init, 6));
  EXPECT_FALSE(waiting.knows_init(later, 5));
  EXPECT_FALSE(waiting.before(init, 5));
}

} // namespace
} // namespace kg::check
