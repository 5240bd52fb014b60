// TensorMap for TensorMapDescriptor: enumerations arrive as the driver's numbers.
#include "cucore/tensor_map.hpp"

#include <nanobind/stl/vector.h>

#include <utility>

#include "python/bindings/python.hpp"

namespace cucore::python {
namespace {

using MapNumbers = std::vector<std::int64_t>;

// (element_strides, interleave, swizzle, l2_promotion, oob_fill)
TensorMapOptions options_of(const nb::tuple& options) {
  return {.element_strides = nb::cast<MapNumbers>(options[0]),
          .interleave = TensorMapInterleave(nb::cast<int>(options[1])),
          .swizzle = TensorMapSwizzle(nb::cast<int>(options[2])),
          .l2_promotion = TensorMapL2Promotion(nb::cast<int>(options[3])),
          .oob_fill = TensorMapOobFill(nb::cast<int>(options[4]))};
}

}  // namespace

void bind_tensor_map(nb::module_& module) {
  nb::class_<TensorMap>(module, "_TensorMap", "The 128 bytes that kernels take for a tensor.")
      .def_static("tiled",
                  [](DevicePointer address, const StridedLayout& layout, int type, const MapNumbers& box,
                     const nb::tuple& options) {
                    return TensorMap::tiled(address, layout, TensorMapDataType(type), box, options_of(options));
                  })
      .def_static("im2col",
                  [](DevicePointer address, const StridedLayout& layout, int type, MapNumbers lower, MapNumbers upper,
                     std::int64_t channels, std::int64_t pixels, const nb::tuple& options) {
                    const TensorMapPixels taken{.lower_corner = std::move(lower),
                                                .upper_corner = std::move(upper),
                                                .channels_per_pixel = channels,
                                                .pixels_per_column = pixels};
                    return TensorMap::im2col(address, layout, TensorMapDataType(type), taken, options_of(options));
                  })
      .def_static(
          "im2col_wide",
          [](DevicePointer address, const StridedLayout& layout, int type, std::int64_t lower, std::int64_t upper,
             std::int64_t channels, std::int64_t pixels, int mode, const nb::tuple& options) {
            const TensorMapWidePixels taken{.lower_corner_width = lower,
                                            .upper_corner_width = upper,
                                            .channels_per_pixel = channels,
                                            .pixels_per_column = pixels,
                                            .mode = TensorMapWidePixels::Mode(mode)};
            return TensorMap::im2col_wide(address, layout, TensorMapDataType(type), taken, options_of(options));
          })
      .def("replace_address", &TensorMap::replace_address)
      .def_prop_ro("bytes", [](const TensorMap& self) { return nb::bytes(self.bytes().data(), self.bytes().size()); });
}

}  // namespace cucore::python
