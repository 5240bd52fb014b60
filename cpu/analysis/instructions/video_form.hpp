// The forms of video instructions, which the verifier reads as well, for those who emit them.
#pragma once

#include "cpu/ptx/checks/video_form.hpp"

namespace cucore::cpu::analysis {

using ptx::BitRange;
using ptx::read_video_form;
using ptx::VideoForm;

}  // namespace cucore::cpu::analysis
