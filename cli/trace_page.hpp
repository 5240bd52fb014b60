// A timeline as one page of HTML with all that it needs in it: trace_page.html, with the events in the place of a mark.
#pragma once

#include <string>
#include <vector>

#include "cli/trace_events.hpp"

namespace cucore::cli {

/// `title`: what the page is about, such as the file's name.
std::string trace_page(const std::vector<TraceEvent>& events, const std::string& title);

/// The page's text, from trace_page.html.
extern const char* const trace_page_text;

}  // namespace cucore::cli
