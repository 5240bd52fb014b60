// Pages of cells, and what was published at words: see launch_races.hpp.
#include "cpu/runtime/checker/launch_races.hpp"

#include <atomic>

namespace cucore::cpu::runtime {

namespace {

std::atomic<std::uint64_t> next_launch_serial{1};

}  // namespace

LaunchRaces::LaunchRaces() : serial_(next_launch_serial.fetch_add(1)) {}

LaunchRaces::Page& LaunchRaces::page_at(std::uint64_t address) {
  struct Last {
    std::uint64_t serial = 0;
    std::uint64_t number = 0;
    Page* page = nullptr;
  };
  thread_local Last last;
  const std::uint64_t number = address / page_bytes;
  if (last.serial == serial_ && last.number == number) return *last.page;
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Page>& page = pages_[number];
  if (!page) page = std::make_unique<Page>();
  last = {serial_, number, page.get()};
  return *page;
}

void LaunchRaces::publish(std::uint64_t word, const View& view) {
  const std::lock_guard lock(mutex_);
  Published& published = published_[word];
  published.view.join(view);
  ++published.times;
}

bool LaunchRaces::find_published(std::uint64_t word, std::uint64_t* known, View* view) {
  const std::lock_guard lock(mutex_);
  const auto found = published_.find(word);
  if (found == published_.end() || found->second.times == *known) return false;
  *known = found->second.times;
  *view = found->second.view;
  return true;
}

}  // namespace cucore::cpu::runtime
