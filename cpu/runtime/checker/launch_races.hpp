// What the blocks of one launch share of what is known of races: the last accesses of global memory, and what releases
// there made known. Locked, since blocks run on several OS threads. races.hpp has the rules.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "cpu/runtime/checker/race_views.hpp"

namespace cucore::cpu::runtime {

/// Of one word of 4 bytes: the last write, and two of the reads that nothing orders.
struct RaceCell {
  RaceEntry writer;
  RaceEntry readers[2];
};

class LaunchRaces {
 public:
  LaunchRaces();

  struct Page {
    std::mutex mutex;
    RaceCell cells[1024];
  };
  Page& page_at(std::uint64_t address);
  static constexpr std::uint64_t page_bytes = 4096;

  void publish(std::uint64_t word, const View& view);
  /// What was published at the word since its `known`-th publication, if anything: sets both.
  bool find_published(std::uint64_t word, std::uint64_t* known, View* view);

 private:
  const std::uint64_t serial_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  struct Published {
    View view;
    std::uint64_t times = 0;
  };
  std::unordered_map<std::uint64_t, Published> published_;
};

}  // namespace cucore::cpu::runtime
