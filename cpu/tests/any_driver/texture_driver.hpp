// What the tests of textures and surfaces share: arrays filled and read back by copies, objects that are released at
// the end, and kernels of texture_kernels.cu that look somewhere.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <utility>

#include "cpu/tests/api/driver.hpp"

struct Float4 {
  float x = 0, y = 0, z = 0, w = 0;
  bool operator==(const Float4&) const = default;
};
struct Uint4 {
  std::uint32_t x = 0, y = 0, z = 0, w = 0;
  bool operator==(const Uint4&) const = default;
};
struct Int4 {
  std::int32_t x = 0, y = 0, z = 0, w = 0;
  bool operator==(const Int4&) const = default;
};
inline void PrintTo(const Float4& v, std::ostream* out) { *out << v.x << ' ' << v.y << ' ' << v.z << ' ' << v.w; }
inline void PrintTo(const Uint4& v, std::ostream* out) { *out << v.x << ' ' << v.y << ' ' << v.z << ' ' << v.w; }
inline void PrintTo(const Int4& v, std::ostream* out) { *out << v.x << ' ' << v.y << ' ' << v.z << ' ' << v.w; }

inline CUDA_RESOURCE_DESC resource_of(CUarray array) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  return resource;
}

inline CUDA_TEXTURE_DESC reading(CUaddress_mode mode, CUfilter_mode filter, unsigned int flags = 0) {
  CUDA_TEXTURE_DESC texture{};
  std::fill(std::begin(texture.addressMode), std::end(texture.addressMode), mode);
  texture.filterMode = filter;
  texture.flags = flags;
  return texture;
}

class Textures : public DriverTest {
 protected:
  void TearDown() override {
    for (const CUtexObject texture : textures_) EXPECT_OK(cuTexObjectDestroy(texture));
    for (const CUsurfObject surface : surfaces_) EXPECT_OK(cuSurfObjectDestroy(surface));
    for (const CUarray array : arrays_) EXPECT_OK(cuArrayDestroy(array));
    for (const CUmipmappedArray array : mipmapped_) EXPECT_OK(cuMipmappedArrayDestroy(array));
    DriverTest::TearDown();
  }

  CUarray array(CUarray_format format, unsigned int channels, std::size_t width, std::size_t height = 0,
                std::size_t depth = 0, unsigned int flags = 0) {
    const CUDA_ARRAY3D_DESCRIPTOR descriptor{width, height, depth, format, channels, flags};
    CUarray made = nullptr;
    EXPECT_OK(cuArray3DCreate(&made, &descriptor));
    arrays_.push_back(made);
    return made;
  }

  /// Copies whole rows between an array and host memory.
  static void copy(CUarray array, void* host, std::size_t row_bytes, std::size_t rows, std::size_t slices,
                   bool into_array) {
    CUDA_MEMCPY3D request{};
    request.WidthInBytes = row_bytes;
    request.Height = rows;
    request.Depth = slices;
    if (into_array) {
      request.srcMemoryType = CU_MEMORYTYPE_HOST;
      request.srcHost = host;
      request.srcPitch = row_bytes;
      request.srcHeight = rows;
      request.dstMemoryType = CU_MEMORYTYPE_ARRAY;
      request.dstArray = array;
    } else {
      request.dstMemoryType = CU_MEMORYTYPE_HOST;
      request.dstHost = host;
      request.dstPitch = row_bytes;
      request.dstHeight = rows;
      request.srcMemoryType = CU_MEMORYTYPE_ARRAY;
      request.srcArray = array;
    }
    EXPECT_OK(cuMemcpy3D(&request));
  }

  template <class T>
  void fill(CUarray array, std::vector<T> values, std::size_t rows = 1, std::size_t slices = 1) {
    copy(array, values.data(), values.size() * sizeof(T) / rows / slices, rows, slices, true);
  }

  template <class T>
  std::vector<T> contents(CUarray array, std::size_t count, std::size_t rows = 1, std::size_t slices = 1) {
    std::vector<T> values(count);
    copy(array, values.data(), count * sizeof(T) / rows / slices, rows, slices, false);
    return values;
  }

  /// An array of floats 0, 1, 2 and so on, in rows.
  CUarray counting(std::size_t width, std::size_t height = 0, std::size_t depth = 0, unsigned int flags = 0) {
    const CUarray made = array(CU_AD_FORMAT_FLOAT, 1, width, height, depth, flags);
    const std::size_t rows = std::max<std::size_t>(height, 1), slices = std::max<std::size_t>(depth, 1);
    std::vector<float> values(width * rows * slices);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    fill(made, values, rows, slices);
    return made;
  }

  CUtexObject texture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& how,
                      const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
    CUtexObject made = 0;
    EXPECT_OK(cuTexObjectCreate(&made, &resource, &how, view));
    textures_.push_back(made);
    return made;
  }

  CUsurfObject surface(CUarray array) {
    const CUDA_RESOURCE_DESC resource = resource_of(array);
    CUsurfObject made = 0;
    EXPECT_OK(cuSurfObjectCreate(&made, &resource));
    surfaces_.push_back(made);
    return made;
  }

  CUmipmappedArray mipmaps(std::size_t size, unsigned int levels) {
    const CUDA_ARRAY3D_DESCRIPTOR descriptor{size, size, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUmipmappedArray made = nullptr;
    EXPECT_OK(cuMipmappedArrayCreate(&made, &descriptor, levels));
    mipmapped_.push_back(made);
    for (unsigned int level = 0; level < levels; ++level) {  // every texel of a level is 10 * level
      CUarray each = nullptr;
      EXPECT_OK(cuMipmappedArrayGetLevel(&each, made, level));
      const std::size_t extent = size >> level;
      fill(each, std::vector<float>(extent * extent, 10.0F * static_cast<float>(level)), extent);
    }
    return made;
  }

  CUdeviceptr device_copy(const void* bytes, std::size_t count) {
    CUdeviceptr memory = 0;
    EXPECT_OK(cuMemAlloc(&memory, std::max<std::size_t>(count, 1)));
    EXPECT_OK(cuMemcpyHtoD(memory, bytes, count));
    return memory;
  }

  CUfunction texture_kernel(const char* name) {
    if (!module) {
      const char* folder = std::getenv("CUCORE_TEST_DATA");  // where the program was carried to another machine
      std::ifstream file(std::string(folder != nullptr ? folder : CUCORE_TEST_DATA) +
                         "/any_driver/texture_kernels.ptx");
      const std::string text(std::istreambuf_iterator<char>(file), {});
      EXPECT_OK(cuModuleLoadData(&module, text.c_str()));
    }
    return kernel(name);
  }

  /// What `name` finds in the texture at each place.
  template <class T>
  std::vector<T> at(const char* name, CUtexObject texture, const std::vector<Float4>& places) {
    const CUdeviceptr where = device_copy(places.data(), places.size() * sizeof(Float4));
    std::vector<T> found(places.size());
    const CUdeviceptr out = device_copy(found.data(), found.size() * sizeof(T));
    const auto count = static_cast<int>(places.size());
    EXPECT_OK(launch(texture_kernel(name), (static_cast<unsigned int>(count) + 63) / 64, 64, nullptr, texture, where,
                     out, count));
    EXPECT_OK(cuMemcpyDtoH(found.data(), out, found.size() * sizeof(T)));
    EXPECT_OK(cuMemFree(where));
    EXPECT_OK(cuMemFree(out));
    return found;
  }
  template <class T>
  T one(const char* name, CUtexObject texture, const Float4& place = {}) {
    return at<T>(name, texture, {place})[0];
  }

  CUresult run(const char* name, unsigned int x, unsigned int y, unsigned int z, std::vector<void*> arguments) {
    CUresult result = cuLaunchKernel(texture_kernel(name), 1, 1, 1, x, y, z, 0, nullptr, arguments.data(), nullptr);
    return result == CUDA_SUCCESS ? cuCtxSynchronize() : result;
  }

  std::vector<CUtexObject> textures_;
  std::vector<CUsurfObject> surfaces_;
  std::vector<CUarray> arrays_;
  std::vector<CUmipmappedArray> mipmapped_;
};
