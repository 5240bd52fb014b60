// printf in kernels: see device_printf.hpp. Every argument is packed at its natural alignment (4 or 8 bytes), floats
// as doubles, and the conversion says which it is.
#include "cpu/runtime/execution/device_printf.hpp"

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace cucore::cpu::runtime {

namespace {

class Arguments {
 public:
  explicit Arguments(const void* packed) : next_(static_cast<const std::byte*>(packed)) {}

  template <class T>
  T take() {
    const auto address = reinterpret_cast<std::uintptr_t>(next_);
    next_ += (sizeof(T) - address % sizeof(T)) % sizeof(T);
    T value;
    std::memcpy(&value, next_, sizeof value);
    next_ += sizeof value;
    ++count_;
    return value;
  }
  std::int32_t count() const { return count_; }

 private:
  const std::byte* next_;
  std::int32_t count_ = 0;
};

template <class T>
void append(std::string& out, const std::string& conversion, T value) {
  char text[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int length = std::snprintf(text, sizeof text, conversion.c_str(), value);
  if (length < 0) return;
  if (static_cast<std::size_t>(length) < sizeof text) {
    out.append(text, static_cast<std::size_t>(length));
    return;
  }
  std::string longer(static_cast<std::size_t>(length) + 1, '\0');
  std::snprintf(longer.data(), longer.size(), conversion.c_str(), value);
#pragma GCC diagnostic pop
  out.append(longer, 0, static_cast<std::size_t>(length));
}

/// One conversion, from its '%'. Returns the characters it took; 0 if it is none, to be copied as it stands.
std::size_t convert(std::string_view format, Arguments& arguments, std::string& out) {
  std::string spec = "%";
  std::size_t at = 1;
  const auto take_digits_or_star = [&] {
    if (at < format.size() && format[at] == '*') {
      spec += std::to_string(arguments.take<std::int32_t>());
      ++at;
      return;
    }
    while (at < format.size() && format[at] >= '0' && format[at] <= '9') spec += format[at++];
  };
  while (at < format.size() && std::string_view("-+ #0").find(format[at]) != std::string_view::npos)
    spec += format[at++];
  take_digits_or_star();
  if (at < format.size() && format[at] == '.') {
    spec += format[at++];
    take_digits_or_star();
  }
  bool is_long = false;
  bool is_short = false;
  for (; at < format.size() && std::string_view("hljztLq").find(format[at]) != std::string_view::npos; ++at) {
    if (format[at] == 'h')
      is_short = true;
    else
      is_long = true;
  }
  if (at >= format.size()) return 0;
  const char conversion = format[at++];
  const char* const size = is_long ? "ll" : is_short ? "h" : "";
  switch (conversion) {
    case '%':
      out += '%';
      return at;
    case 'd':
    case 'i':
      if (is_long)
        append(out, spec + size + conversion, static_cast<long long>(arguments.take<std::int64_t>()));
      else
        append(out, spec + size + conversion, arguments.take<std::int32_t>());
      return at;
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      if (is_long)
        append(out, spec + size + conversion, static_cast<unsigned long long>(arguments.take<std::uint64_t>()));
      else
        append(out, spec + size + conversion, arguments.take<std::uint32_t>());
      return at;
    case 'c':
      append(out, spec + 'c', arguments.take<std::int32_t>());
      return at;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      append(out, spec + conversion, arguments.take<double>());
      return at;
    case 'p':
      append(out, spec + 'p', reinterpret_cast<void*>(arguments.take<std::uint64_t>()));
      return at;
    case 's': {
      const auto* const text = reinterpret_cast<const char*>(arguments.take<std::uint64_t>());
      append(out, spec + 's', text ? text : "(null)");
      return at;
    }
    default:
      return 0;  // %n and unknown ones are printed as they stand
  }
}

}  // namespace

std::int32_t device_printf(PrintfBuffer& buffer, const char* format, const void* arguments) {
  if (!format) return -1;
  Arguments packed(arguments);
  std::string out;
  for (std::string_view rest = format; !rest.empty();) {
    const std::size_t percent = rest.find('%');
    out += rest.substr(0, percent);
    if (percent == std::string_view::npos) break;
    rest.remove_prefix(percent);
    std::size_t used = convert(rest, packed, out);
    if (used == 0) {
      out += '%';
      used = 1;
    }
    rest.remove_prefix(used);
  }
  const std::int32_t count = packed.count();
  buffer.append(std::move(out));
  return count;
}

}  // namespace cucore::cpu::runtime
