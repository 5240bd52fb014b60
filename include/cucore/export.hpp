// CUCORE_API marks what the shared library exports; everything else is hidden.
#pragma once

#define CUCORE_API __attribute__((visibility("default")))
