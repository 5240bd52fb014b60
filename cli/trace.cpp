// `cucore trace view|summary FILE`: what CUCORE_TRACE has written, as a page to look at, and as times by name.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/trace_events.hpp"
#include "cli/trace_page.hpp"
#include "cli/trace_summary.hpp"

namespace cucore::cli {
namespace {

namespace fs = std::filesystem;

int run_view(const CLI::App& command) {
  const auto file = value_of<std::string>(command, "FILE");
  const auto output = value_of<std::string>(command, "--output", fs::path(file).replace_extension(".html").string());
  if (output == file) {
    std::fprintf(stderr, "cucore trace view: %s is the timeline itself; name the page by --output\n", file.c_str());
    return 2;
  }
  const std::string page = trace_page(read_trace(file), fs::path(file).filename().string());
  if (output == "-") {
    std::fwrite(page.data(), 1, page.size(), stdout);
    return 0;
  }
  std::ofstream written(output, std::ios::binary);
  written << page;
  if (!written.flush()) {
    std::fprintf(stderr, "cucore trace view: %s cannot be written\n", output.c_str());
    return 1;
  }
  std::printf("%s\n", output.c_str());
  return 0;
}

int run_summary(const CLI::App& command) {
  const TraceSummary summary = summary_of(read_trace(value_of<std::string>(command, "FILE")));
  std::fputs((wants_json(command) ? as_json(summary) + "\n" : in_words(summary)).c_str(), stdout);
  return 0;
}

}  // namespace

void add_trace(CLI::App& tool, int& status) {
  CLI::App& trace = *tool.add_subcommand("trace", "Look at a timeline that CUCORE_TRACE or 'cucore run --trace' wrote");
  CLI::App& view = add_command(trace, status, "view", "Make one page of HTML of it, which needs no network", run_view);
  CLI::App& summary =
      add_command(trace, status, "summary", "Print how often and how long each kernel, copy and call ran", run_summary);
  for (CLI::App* const each : {&view, &summary}) add_value(*each, "FILE", "the timeline")->required()->type_name("");
  add_value(view, "-o,--output", "where the page goes, '-' for standard output; FILE with .html if nothing is said")
      ->type_name("PAGE");
  add_json(summary);
}

}  // namespace cucore::cli
