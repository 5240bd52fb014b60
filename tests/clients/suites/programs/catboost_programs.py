"""CatBoost's training on CUDA, compared with its training on the CPU, which cuts the features elsewhere: kernels
of CUB and its own, which its wheel carries with PTX."""

import unittest

import numpy as np
from catboost import CatBoostClassifier, CatBoostRegressor

ROWS = np.random.RandomState(0).randn(1000, 6)
NUMBERS = 2 * ROWS[:, 0] + ROWS[:, 1] ** 2
CLASSES = (ROWS[:, 0] > 0) + (ROWS[:, 2] * ROWS[:, 3] > 0).astype(int)


def trained(kind, values, device, **settings):
    where = {"task_type": "GPU", "devices": "0"} if device == "GPU" else {"task_type": "CPU"}
    settings = {
        "iterations": 10,
        "depth": 4,
        "learning_rate": 0.3,
        "border_count": 32,
        "verbose": False,
        "allow_writing_files": False,
    } | settings
    return kind(**settings, **where).fit(ROWS, values)


class Programs(unittest.TestCase):
    def test_regression(self):
        error = {
            each: np.mean((trained(CatBoostRegressor, NUMBERS, each).predict(ROWS) - NUMBERS) ** 2)
            for each in ("CPU", "GPU")
        }
        self.assertLess(error["GPU"], 1.2 * error["CPU"])

    def test_classes(self):
        right = {
            each: np.mean(
                trained(CatBoostClassifier, CLASSES, each, loss_function="MultiClass").predict(ROWS)[:, 0] == CLASSES
            )
            for each in ("CPU", "GPU")
        }
        self.assertGreater(right["GPU"], right["CPU"] - 0.05)


if __name__ == "__main__":
    unittest.main()
