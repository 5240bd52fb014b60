"""MuJoCo Warp's steps of several worlds on CUDA, compared with MuJoCo's own: contacts, joints, its solvers."""

import unittest

import mujoco
import mujoco_warp
import numpy as np
import warp

MODEL = """<mujoco><option timestep="0.002" iterations="10" ls_iterations="10"/><worldbody>
<geom type="plane" size="5 5 .1"/>
<body pos="0 0 .3"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
<body pos=".5 0 .2"><freejoint/><geom type="sphere" size=".1" mass="1"/></body>
<body pos="1 0 1"><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
<body pos=".3 0 0"><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body>
</body>
</worldbody></mujoco>"""


class Programs(unittest.TestCase):
    def test_steps(self):
        model = mujoco.MjModel.from_xml_string(MODEL)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        with warp.ScopedDevice("cuda:0"):
            device_model, worlds = mujoco_warp.put_model(model), mujoco_warp.put_data(model, data, nworld=3)
            for _ in range(150):
                mujoco_warp.step(device_model, worlds)
                mujoco.mj_step(model, data)
            found = worlds.qpos.numpy()
        np.testing.assert_array_equal(found, found[:1].repeat(3, axis=0))
        np.testing.assert_allclose(found[0], data.qpos, atol=1e-3)


if __name__ == "__main__":
    unittest.main()
