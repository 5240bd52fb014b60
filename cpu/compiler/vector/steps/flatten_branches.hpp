// What is cheap on a side of a branch at which lanes may part, all lanes compute, and select the result: a maximum that
// knows of NaN is three ways for one lane, and a few operations for all.
#pragma once

namespace cucore::cpu::compiler {

class ControlFlow;
class StrideAnalysis;

/// True if the code was changed: what is known of it is then out of date.
bool flatten_branches(const ControlFlow& flow, const StrideAnalysis& strides);

}  // namespace cucore::cpu::compiler
