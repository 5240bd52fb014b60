// The forms of video instructions, for the emitters; the verifier reads them as well.
#pragma once

#include "cpu/ptx/checks/video_form.hpp"

namespace cucore::cpu::analysis {

using ptx::BitRange;
using ptx::read_video_form;
using ptx::VideoForm;

}  // namespace cucore::cpu::analysis
