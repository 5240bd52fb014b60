// Times by name: see trace_summary.hpp.
#include "cli/trace_summary.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

#include "cli/output.hpp"

namespace cucore::cli {
namespace {

using Totals = std::map<std::string, TraceTotal>;

double number_in(const TraceEvent& event, const char* argument) {
  const std::string* const text = event.argument(argument);
  return text == nullptr ? 0 : std::strtod(text->c_str(), nullptr);
}

void add(Totals& totals, const TraceEvent& event, double length) {
  TraceTotal& total = totals[event.name];
  total.name = event.name;
  total.least = total.calls == 0 ? length : std::min(total.least, length);
  total.most = std::max(total.most, length);
  total.total += length;
  ++total.calls;
  if (event.category != "device" && event.category != "compile") return;
  total.bytes += number_in(event, "size");
  total.occupancy_percent += number_in(event, "occupancy_percent");
  if (const std::string* const form = event.argument("form")) total.forms.insert(*form);
}

/// Pairs the beginnings and ends of ranges: "B" and "E" nest on their thread, "b" and "e" have the same id.
class Ranges {
 public:
  void read(const TraceEvent& event, Totals& totals) {
    const auto thread = std::pair(event.process, event.thread);
    if (event.phase == 'B') stacks_[thread].push_back(event);
    if (event.phase == 'b') started_[{event.process, event.category, event.id}] = event;
    if (event.phase == 'E' && !stacks_[thread].empty()) {
      add(totals, stacks_[thread].back(), event.at - stacks_[thread].back().at);
      stacks_[thread].pop_back();
    }
    const auto begin = started_.find({event.process, event.category, event.id});
    if (event.phase == 'e' && begin != started_.end()) {
      add(totals, begin->second, event.at - begin->second.at);
      started_.erase(begin);
    }
  }

 private:
  std::map<std::pair<double, double>, std::vector<TraceEvent>> stacks_;
  std::map<std::tuple<double, std::string, std::string>, TraceEvent> started_;
};

std::vector<TraceTotal> sorted(Totals totals) {
  std::vector<TraceTotal> all;
  for (auto& [name, total] : totals) {
    total.occupancy_percent /= static_cast<double>(total.calls);
    all.push_back(std::move(total));
  }
  std::sort(all.begin(), all.end(), [](const TraceTotal& a, const TraceTotal& b) { return a.total > b.total; });
  return all;
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[200];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

double sum_of(const std::vector<TraceTotal>& totals) {
  double sum = 0;
  for (const TraceTotal& each : totals) sum += each.total;
  return sum;
}

/// A kernel's name with its types may be long.
std::string shortened(const std::string& name) {
  constexpr std::size_t most = 44;
  return name.size() <= most ? name : name.substr(0, most - 3) + "...";
}

std::string table(const char* title, const std::vector<TraceTotal>& totals) {
  if (totals.empty()) return {};
  const bool has_bytes = std::any_of(totals.begin(), totals.end(), [](const TraceTotal& t) { return t.bytes > 0; });
  const bool are_kernels =
      std::any_of(totals.begin(), totals.end(), [](const TraceTotal& t) { return t.occupancy_percent > 0; });
  std::string text = formatted("%-44s %8s %11s %10s %10s %10s %6s", title, "calls", "total ms", "mean us", "least us",
                               "most us", "share");
  text += std::string(has_bytes ? "          bytes    GB/s" : "") + (are_kernels ? "  occupancy  form" : "") + "\n";
  const double sum = sum_of(totals);
  for (const TraceTotal& each : totals) {
    text += formatted("%-44s %8zu %11.3f %10.3f %10.3f %10.3f %5.1f%%", shortened(each.name).c_str(), each.calls,
                      each.total / 1e3, each.mean(), each.least, each.most, sum > 0 ? each.total / sum * 100 : 0);
    if (has_bytes) text += formatted("%15.0f %7.2f", each.bytes, each.total > 0 ? each.bytes / each.total / 1e3 : 0);
    if (are_kernels) text += formatted("  %8.0f%%  %s", each.occupancy_percent, joined(each.forms).c_str());
    while (text.back() == ' ') text.pop_back();
    text += '\n';
  }
  return text + '\n';
}

std::string as_json(const std::vector<TraceTotal>& totals) {
  std::vector<std::string> all;
  for (const TraceTotal& each : totals) {
    JsonObject json;
    json.text("name", each.name).number("calls", each.calls).raw("total_us", formatted("%.3f", each.total));
    json.raw("mean_us", formatted("%.3f", each.mean())).raw("least_us", formatted("%.3f", each.least));
    json.raw("most_us", formatted("%.3f", each.most));
    if (each.bytes > 0) json.raw("bytes", formatted("%.0f", each.bytes));
    if (each.occupancy_percent > 0) json.raw("occupancy_percent", formatted("%.1f", each.occupancy_percent));
    if (!each.forms.empty()) json.text("form", joined(each.forms));
    all.push_back(json.str());
  }
  return json_array(all);
}

}  // namespace

TraceSummary summary_of(const std::vector<TraceEvent>& events) {
  Totals kernels, copies, other, compiles, calls, ranges;
  Ranges pairs;
  double first = 0, last = 0;
  bool has_any = false;
  for (const TraceEvent& event : events) {
    if (event.phase == 'M') continue;
    first = has_any ? std::min(first, event.at) : event.at;
    last = std::max(last, event.at + event.duration);
    has_any = true;
    pairs.read(event, ranges);
    if (event.phase != 'X') continue;
    const bool is_device = event.category == "device";
    if (is_device && event.argument("kernel") != nullptr) {
      add(kernels, event, event.duration);
    } else if (is_device && event.name.starts_with("Mem") && event.argument("size") != nullptr) {
      add(copies, event, event.duration);
    } else if (is_device) {
      add(other, event, event.duration);
    } else if (event.category == "compile") {
      add(compiles, event, event.duration);
    } else {
      add(calls, event, event.duration);
    }
  }
  return {.length = has_any ? last - first : 0,
          .kernels = sorted(std::move(kernels)),
          .copies = sorted(std::move(copies)),
          .other_work = sorted(std::move(other)),
          .compiles = sorted(std::move(compiles)),
          .calls = sorted(std::move(calls)),
          .ranges = sorted(std::move(ranges))};
}

std::string in_words(const TraceSummary& summary) {
  return formatted("%.3f ms from the first event to the last\n\n", summary.length / 1e3) +
         table("kernels", summary.kernels) + table("copies and fills", summary.copies) +
         table("other work of streams", summary.other_work) + table("compiles", summary.compiles) +
         table("calls", summary.calls) + table("ranges", summary.ranges);
}

std::string as_json(const TraceSummary& summary) {
  return JsonObject()
      .raw("length_us", formatted("%.3f", summary.length))
      .raw("kernels", as_json(summary.kernels))
      .raw("copies", as_json(summary.copies))
      .raw("other_work", as_json(summary.other_work))
      .raw("compiles", as_json(summary.compiles))
      .raw("calls", as_json(summary.calls))
      .raw("ranges", as_json(summary.ranges))
      .str();
}

}  // namespace cucore::cli
