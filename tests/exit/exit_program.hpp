// What the parts of the program that ends in every way know of each other.
#pragma once

#include <sys/types.h>

#include <string>

/// The ways to end while something is compiled, linked or loaded; 9 if `which` is none of them.
int run_compiling(const std::string& which);

/// The child's exit status.
int wait_for(pid_t child);

/// Opens the plugin, calls this function of it, and closes it again if asked to. 0 if all went well.
int use_plugin(const char* function, bool close);
