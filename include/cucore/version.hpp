// The version, in one place: CMake and the Python package read it from this file.
#pragma once

#define CUCORE_VERSION_MAJOR 0
#define CUCORE_VERSION_MINOR 1
#define CUCORE_VERSION_PATCH 0
#define CUCORE_VERSION_STRING "0.1.0"
