// A timeline as a page: see trace_page.hpp.
#include "cli/trace_page.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "cli/output.hpp"
#include "cli/trace_summary.hpp"

namespace cucore::cli {
namespace {

constexpr const char* place_of_data = "{/* the events */}";

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

/// Numbers texts, each of which then stands in the page once.
class Texts {
 public:
  std::string index_of(const std::string& text) {
    const auto [found, is_new] = numbers_.try_emplace(text, all_.size());
    if (is_new) all_.push_back(json_text(text));
    return std::to_string(found->second);
  }
  std::string json() const { return json_array(all_); }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> all_;
};

using Thread = std::pair<double, double>;

/// A row of the page: threads of the program first, then streams, by number.
struct Row {
  std::string group, name;
  std::vector<std::string> slices;  ///< [name, category, begin, length, arguments]
};

struct Rows {
  std::map<Thread, Row> rows;
  std::map<double, std::string> groups;
};

std::string arguments_of(const TraceEvent& event) {
  std::string text;
  for (const auto& [name, value] : event.arguments) text += (text.empty() ? "" : "\n") + name + ": " + value;
  return text;
}

void name_rows(const std::vector<TraceEvent>& events, Rows& all) {
  for (const TraceEvent& event : events) {
    const std::string* const name = event.argument("name");
    if (event.phase != 'M' || name == nullptr) continue;
    if (event.name == "process_name") all.groups[event.process] = *name;
    if (event.name == "thread_name") all.rows[{event.process, event.thread}].name = *name;
  }
}

double first_of(const std::vector<TraceEvent>& events) {
  double first = -1;
  for (const TraceEvent& event : events)
    if (event.phase != 'M' && (first < 0 || event.at < first)) first = event.at;
  return std::max(first, 0.0);
}

/// Slices of a row, and marks, which have no length. Ranges that are pushed and popped become slices; those with an id
/// get rows of their own, since they may lie across each other.
class Slices {
 public:
  Slices(Rows& rows, double first) : rows_(rows), first_(first) {}

  void read(const TraceEvent& event) {
    const Thread thread{event.process, event.thread};
    if (event.phase == 'X' || event.phase == 'i') add(thread, event, event.duration);
    if (event.phase == 'B') open_[thread].push_back(event);
    if (event.phase == 'E' && !open_[thread].empty()) {
      add(thread, open_[thread].back(), event.at - open_[thread].back().at);
      open_[thread].pop_back();
    }
    if (event.phase == 'b') started_[event.category + event.id] = event;
    const auto begin = event.phase == 'e' ? started_.find(event.category + event.id) : started_.end();
    if (begin == started_.end()) return;
    add({event.process, free_row(event.process, begin->second.at, event.at)}, begin->second,
        event.at - begin->second.at);
    started_.erase(begin);
  }

  /// What had not ended ends with the trace.
  void finish(double last) {
    for (auto& [thread, events] : open_)
      for (const TraceEvent& event : events) add(thread, event, last - event.at);
    for (auto& [id, event] : started_)
      add({event.process, free_row(event.process, event.at, last)}, event, last - event.at);
  }

  std::string texts() const { return texts_.json(); }

 private:
  void add(const Thread& thread, const TraceEvent& event, double length) {
    rows_.rows[thread].slices.push_back(
        "[" + texts_.index_of(event.name) + "," + texts_.index_of(event.category) + "," + number(event.at - first_) +
        "," + (event.phase == 'i' ? "-1" : number(length)) + "," + texts_.index_of(arguments_of(event)) + "]");
  }

  double free_row(double process, double begin, double end) {
    constexpr double first_range_row = 2e9;
    for (double row = first_range_row;; ++row) {
      double& taken = taken_until_[{process, row}];
      if (taken > begin) continue;
      taken = end;
      rows_.rows[{process, row}].name = "ranges";
      return row;
    }
  }

  Rows& rows_;
  double first_;
  Texts texts_;
  std::map<Thread, std::vector<TraceEvent>> open_;
  std::map<std::string, TraceEvent> started_;
  std::map<Thread, double> taken_until_;
};

/// "thread 12".
std::string in_words(const char* what, double identifier) {
  return what + (" " + std::to_string(static_cast<long long>(identifier)));
}

/// Nothing in `text` can end the script that it stands in.
std::string safe_in_a_script(std::string text) {
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at))
    text.replace(at, 1, "\\u003c");
  return text;
}

}  // namespace

std::string trace_page(const std::vector<TraceEvent>& events, const std::string& title) {
  Rows all;
  name_rows(events, all);
  const double first = first_of(events);
  Slices slices(all, first);
  double last = first;
  for (const TraceEvent& event : events) {
    slices.read(event);
    if (event.phase != 'M') last = std::max(last, event.at + event.duration);
  }
  slices.finish(last);
  std::vector<std::string> rows;
  for (const auto& [thread, row] : all.rows) {
    if (row.slices.empty()) continue;
    const auto group = all.groups.find(thread.first);
    rows.push_back(JsonObject()
                       .text("group", group == all.groups.end() ? in_words("process", thread.first) : group->second)
                       .text("name", row.name.empty() ? in_words("thread", thread.second) : row.name)
                       .raw("slices", json_array(row.slices))
                       .str());
  }
  const std::string data = JsonObject()
                               .text("title", title)
                               .raw("length", number(last - first))
                               .raw("texts", slices.texts())
                               .raw("rows", json_array(rows))
                               .raw("summary", as_json(summary_of(events)))
                               .str();
  std::string page = trace_page_text;
  const std::size_t at = page.find(place_of_data);
  return page.replace(at, std::string(place_of_data).size(), safe_in_a_script(data));
}

}  // namespace cucore::cli
