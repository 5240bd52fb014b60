#pragma once
constexpr float factor = 2.0f;
