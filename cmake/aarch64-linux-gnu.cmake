# A toolchain file: builds for 64-bit Arm on another machine, with Debian's g++-aarch64-linux-gnu. Headers and libraries
# are those of the folder CUCORE_ARM_SYSTEM, which tools/arm_system.py makes; tests run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CUCORE_ARM_SYSTEM)
if(NOT CUCORE_ARM_SYSTEM)
  message(FATAL_ERROR "CUCORE_ARM_SYSTEM: the folder that `tools/arm_system.py FOLDER` made")
endif()
set(CMAKE_SYSROOT ${CUCORE_ARM_SYSTEM})
set(CMAKE_FIND_ROOT_PATH ${CUCORE_ARM_SYSTEM})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;${CUCORE_ARM_SYSTEM}")
# The Python of that folder, for whose version an interpreter of this machine answers.
file(GLOB Python_INCLUDE_DIR ${CUCORE_ARM_SYSTEM}/usr/include/python3.*)
string(REGEX REPLACE ".*python3\\.([0-9]+)$" "cpython-3\\1-${CMAKE_LIBRARY_ARCHITECTURE}" SKBUILD_SOABI "${Python_INCLUDE_DIR}")
