// The part of LLVM that describes code, for the files that emit it. Optimising, assembling and linking need far larger
// headers, which only the files for those steps include. Nothing outside cpu/compiler sees LLVM.
#pragma once

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
