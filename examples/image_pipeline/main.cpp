// The main job, in C++ with the public headers only: compile CUDA C++ templates at run time, keep the result in the
// program cache, write it to a file, let a second process load it lazily, launch it, time it with events and check it.
//
// Usage: image_pipeline_cpp [--output FOLDER]     FOLDER holds input.ppm, which the Python example writes.
// Exit status 1 on any mismatch. (`--worker FOLDER` is how it starts its second process.)
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "cucore/cucore.hpp"
#include "examples/image_pipeline/netpbm_png.hpp"
#include "examples/image_pipeline/reference.hpp"

namespace {

constexpr int tile = 32;
constexpr int repeats = 5;

const std::vector<std::string> names = {
    "blur_rows<float, 6, 32>",
    "blur_rows<uchar4, 6, 32>",
    "blur_columns<float, 6>",
    "blur_columns<uchar4, 6>",
    "sobel<float>",
    "statistics<uchar4>",
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path.string() + ": cannot read");
  return {std::istreambuf_iterator<char>(file), {}};
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// A fresh cache object and Program each time, as two runs of a program would have.
cucore::ObjectCode compile(const std::filesystem::path& cache_folder, double& milliseconds) {
  const std::string source = read_file(std::filesystem::path(IMAGE_PIPELINE_SOURCE_DIR) / "kernels.cu");
  const auto start = std::chrono::steady_clock::now();
  cucore::ProgramCache cache({.path = cache_folder});
  const cucore::Program program(source, "c++",
                                {.name = "kernels.cu", .arch = "sm_" + cucore::Device(0).arch(), .std = "c++17"});
  cucore::ObjectCode code = program.compile("cubin", names, {.cache = &cache});
  milliseconds = milliseconds_since(start);
  return code;
}

/// Device copies of host arrays, through page-locked memory.
class Arrays {
 public:
  Arrays(const cucore::Device& device, const cucore::Stream& stream) : device_(device), stream_(stream) {}

  template <class T>
  cucore::Buffer upload(std::span<const T> values) {
    const cucore::Buffer staging = pinned_->allocate(values.size_bytes(), stream_);
    std::memcpy(reinterpret_cast<void*>(staging.handle()), values.data(), values.size_bytes());
    cucore::Buffer buffer = device_.allocate(values.size_bytes(), stream_);
    buffer.copy_from(staging, stream_);
    stream_.sync();
    return buffer;
  }

  template <class T>
  std::vector<T> download(const cucore::Buffer& buffer) {
    const cucore::Buffer staging = pinned_->allocate(buffer.size(), stream_);
    buffer.copy_to(staging, stream_);
    stream_.sync();
    std::vector<T> values(buffer.size() / sizeof(T));
    std::memcpy(values.data(), reinterpret_cast<const void*>(staging.handle()), buffer.size());
    return values;
  }

 private:
  cucore::Device device_;
  const cucore::Stream& stream_;
  std::shared_ptr<cucore::MemoryResource> pinned_ = cucore::LegacyPinnedMemoryResource::create();
};

bool report(const char* name, double difference, double allowed) {
  const bool ok = difference <= allowed;
  std::printf("  %-24s%10s   largest difference %.2g, allowed %.2g\n", name, ok ? "ok" : "MISMATCH", difference,
              allowed);
  return ok;
}

/// The second process: code from a file, everything else from the photograph.
int work(const std::filesystem::path& folder) {
  const auto code = cucore::ObjectCode::deserialize(read_file(folder / "code.cucore"));
  const pictures::Rgb photo = pictures::read_ppm(folder / "input.ppm");
  const int width = photo.width;
  const int height = photo.height;
  const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  std::vector<std::uint8_t> rgba(pixels * 4, 255);
  std::vector<float> gray(pixels);
  reference::Image exact_rgba{width, height, 4, std::vector<double>(pixels * 4, 255)};
  reference::Image exact_gray{width, height, 1, std::vector<double>(pixels)};
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t c = 0; c < 3; ++c) exact_rgba.values[4 * i + c] = rgba[4 * i + c] = photo.bytes[3 * i + c];
    gray[i] =
        static_cast<float>(reference::luminance(photo.bytes[3 * i], photo.bytes[3 * i + 1], photo.bytes[3 * i + 2]));
    exact_gray.values[i] = static_cast<double>(gray[i]);
  }

  const cucore::Device device(0);
  device.set_current();
  const cucore::Stream stream = device.create_stream();
  const auto load_start = std::chrono::steady_clock::now();
  const cucore::Kernel sobel = code.get_kernel("sobel<float>");  // the first use loads the module
  const double load_ms = milliseconds_since(load_start);
  std::printf("C++: %s, %dx%d photograph\n  %-24s%10.2f ms\n", device.name().c_str(), width, height,
              "load in process 2", load_ms);

  Arrays arrays(device, stream);
  const auto timed = [&](const char* name, std::size_t moved, const cucore::LaunchConfig& config,
                         const cucore::Kernel& kernel, const auto&... args) {
    cucore::launch(stream, config, kernel, args...);  // the first launch is not timed: it may compile
    const cucore::Event start = device.create_event({.timing_enabled = true});
    const cucore::Event end = device.create_event({.timing_enabled = true});
    start.record(stream);
    for (int i = 0; i < repeats; ++i) cucore::launch(stream, config, kernel, args...);
    stream.record(end);
    end.sync();
    const double ms = static_cast<double>(end.elapsed_time(start)) / repeats;
    std::printf("  %-24s%10.3f ms %9.2f GB/s\n", name, ms, static_cast<double>(moved) / ms / 1e6);
  };

  const cucore::Dim3 grid{static_cast<unsigned>((width + tile - 1) / tile), static_cast<unsigned>((height + 7) / 8)};
  const cucore::LaunchConfig plain{.grid = grid, .block = {tile, 8}};
  const auto tiled = [&](std::size_t sum_bytes) {
    return cucore::LaunchConfig{
        .grid = grid, .block = {tile, 8}, .shmem_size = 8 * (tile + 2 * reference::radius) * sum_bytes};
  };
  const auto weights_values = reference::weights();
  const cucore::Buffer weights = arrays.upload(std::span<const float>(weights_values));

  const cucore::Buffer gray_in = arrays.upload(std::span<const float>(gray));
  const cucore::Buffer gray_middle = device.allocate(gray_in.size(), stream);
  const cucore::Buffer gray_out = device.allocate(gray_in.size(), stream);
  const cucore::Buffer edges = device.allocate(gray_in.size(), stream);
  timed("blur rows float", 2 * gray_in.size(), tiled(4), code.get_kernel("blur_rows<float, 6, 32>"), gray_middle,
        gray_in, weights, width, height);
  timed("blur columns float", 2 * gray_in.size(), plain, code.get_kernel("blur_columns<float, 6>"), gray_out,
        gray_middle, weights, width, height);
  timed("sobel float", 2 * gray_in.size(), plain, sobel, edges, gray_out, width, height);

  const cucore::Buffer rgba_in = arrays.upload(std::span<const std::uint8_t>(rgba));
  const cucore::Buffer rgba_middle = device.allocate(rgba_in.size(), stream);
  const cucore::Buffer rgba_out = device.allocate(rgba_in.size(), stream);
  timed("blur rows uchar4", 2 * rgba_in.size(), tiled(16), code.get_kernel("blur_rows<uchar4, 6, 32>"), rgba_middle,
        rgba_in, weights, width, height);
  timed("blur columns uchar4", 2 * rgba_in.size(), plain, code.get_kernel("blur_columns<uchar4, 6>"), rgba_out,
        rgba_middle, weights, width, height);

  const cucore::Buffer sum = device.allocate(sizeof(double), stream);
  const cucore::Buffer bins = device.allocate(256 * sizeof(unsigned), stream);
  const cucore::Kernel statistics = code.get_kernel("statistics<uchar4>");
  const cucore::LaunchConfig wide{.grid = {32}, .block = {256}};
  const int count = static_cast<int>(pixels);
  sum.fill(std::uint8_t{0}, stream);
  bins.fill(std::uint8_t{0}, stream);
  timed("statistics uchar4", rgba_in.size(), wide, statistics, sum, bins, rgba_in, count);
  sum.fill(std::uint8_t{0}, stream);  // the timed launches added up: once more, from zero
  bins.fill(std::uint8_t{0}, stream);
  cucore::launch(stream, wide, statistics, sum, bins, rgba_in, count);

  const auto blurred_gray = arrays.download<float>(gray_out);
  const auto blurred_rgba = arrays.download<std::uint8_t>(rgba_out);
  const auto edge_values = arrays.download<float>(edges);
  const double mean = arrays.download<double>(sum)[0] / static_cast<double>(pixels);
  const auto bin_values = arrays.download<unsigned>(bins);

  reference::Image seen_gray{width, height, 1, {blurred_gray.begin(), blurred_gray.end()}};
  double exact_mean = 0;
  std::vector<int> exact_bins(256);
  for (std::size_t i = 0; i < pixels; ++i) {
    const double value = reference::luminance(photo.bytes[3 * i], photo.bytes[3 * i + 1], photo.bytes[3 * i + 2]);
    exact_mean += value / static_cast<double>(pixels);
    ++exact_bins[static_cast<std::size_t>(54 * photo.bytes[3 * i] + 183 * photo.bytes[3 * i + 1] +
                                          19 * photo.bytes[3 * i + 2]) /
                 256];
  }
  double moved_pixels = 0;
  for (std::size_t i = 0; i < 256; ++i) moved_pixels += std::abs(static_cast<double>(bin_values[i]) - exact_bins[i]);

  bool ok = report("blur float", largest_difference(reference::blur(exact_gray), blurred_gray), 2e-4);
  ok &= report("blur uchar4", largest_difference(reference::blur(exact_rgba), blurred_rgba), 1.0);
  ok &= report("sobel", largest_difference(reference::sobel(seen_gray), edge_values), 2e-3);
  ok &= report("mean", std::abs(mean - exact_mean), 1e-3);
  ok &= report("histogram", moved_pixels, 0);

  pictures::Rgb picture{3 * width, height, std::vector<std::uint8_t>(pixels * 9)};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < 3 * width; ++x) {
      const std::size_t from =
          static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x % width);
      for (std::size_t c = 0; c < 3; ++c) {
        const auto edge = static_cast<std::uint8_t>(std::min(edge_values[from] / 4, 255.0f));
        picture
            .bytes[(static_cast<std::size_t>(y) * static_cast<std::size_t>(3 * width) + static_cast<std::size_t>(x)) *
                       3 +
                   c] = x < width       ? photo.bytes[3 * from + c]
                        : x < 2 * width ? blurred_rgba[4 * from + c]
                                        : edge;
      }
    }
  }
  pictures::PngWriter::write(folder / "cpp.png", picture);
  std::printf("  picture: %s\n", (folder / "cpp.png").c_str());
  return ok ? 0 : 1;
}

/// The first process: compiles twice (cold, then from the cache), writes the code, and starts the second.
int orchestrate(const char* self, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::filesystem::remove_all(folder / "cache-cpp");
  double cold_ms = 0;
  double cached_ms = 0;
  compile(folder / "cache-cpp", cold_ms);
  const cucore::ObjectCode code = compile(folder / "cache-cpp", cached_ms);
  std::ofstream(folder / "code.cucore", std::ios::binary) << code.serialize();
  std::printf("C++: %zu bytes of code\n  %-24s%10.2f ms\n  %-24s%10.2f ms\n", code.code().size(), "compile, cold",
              cold_ms, "compile, from cache", cached_ms);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", self, "--worker", folder.c_str(), nullptr);
    std::perror("exec");
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) throw std::runtime_error("cannot run the second process");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::filesystem::path folder = "build/demo";
  bool worker = false;
  for (int i = 1; i + 1 < argc; i += 2) {
    worker = std::strcmp(argv[i], "--worker") == 0;
    folder = argv[i + 1];
  }
  try {
    return worker ? work(folder) : orchestrate(argv[0], folder);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "image_pipeline: %s\n", error.what());
    return 1;
  }
}
