"""OpenMM's CUDA platform, compared with its Reference platform: energies and forces of bonded, nonbonded, periodic,
solvated and custom terms in three precisions, constraints, integrators, virtual sites and minimisation. Its kernels are
compiled by NVRTC and loaded by the driver; cuFFT (PME) is not used."""

import unittest

import numpy as np
import openmm as mm

rng = np.random.default_rng(7)
COUNT = 125
GRID = np.stack(np.meshgrid(*[np.arange(5)] * 3), -1).reshape(-1, 3) * 0.4 + rng.random((COUNT, 3)) * 0.05


def system(*forces, count=COUNT, box=None):
    made = mm.System()
    for n in range(count):
        made.addParticle(12.0 + n % 3)
    if box:
        made.setDefaultPeriodicBoxVectors(*(np.eye(3) * box))
    for force in forces:
        made.addForce(force)
    return made


def state(made, platform, positions, precision="single", steps=0, integrator=None):
    properties = {"Precision": precision} if platform == "CUDA" else {}
    context = mm.Context(
        made, integrator or mm.VerletIntegrator(0.001), mm.Platform.getPlatformByName(platform), properties
    )
    context.setPositions(positions)
    if steps:
        context.setVelocities(np.zeros_like(positions))
        context.getIntegrator().step(steps)
    found = context.getState(getEnergy=True, getForces=True, getPositions=True)
    return (
        found.getPotentialEnergy()._value,
        found.getForces(asNumpy=True)._value,
        found.getPositions(asNumpy=True)._value,
    )


def compare(made, positions=GRID, precision="mixed", rtol=2e-4):
    energy, forces, _ = state(made, "CUDA", positions, precision)
    wanted_energy, wanted_forces, _ = state(made, "Reference", positions)
    np.testing.assert_allclose(energy, wanted_energy, rtol=rtol, atol=1e-3)
    np.testing.assert_allclose(forces, wanted_forces, rtol=rtol, atol=rtol * max(1, np.abs(wanted_forces).max()))


def charges(method=mm.NonbondedForce.NoCutoff):
    force = mm.NonbondedForce()
    for n in range(COUNT):
        force.addParticle(0.2 * (-1) ** n, 0.3, 0.5)
    force.setNonbondedMethod(method)
    force.setCutoffDistance(0.9)
    return force


class Forces(unittest.TestCase):
    def test_nonbonded_in_three_precisions(self):
        for precision, rtol in (("single", 1e-3), ("mixed", 2e-4), ("double", 1e-6)):
            compare(system(charges()), precision=precision, rtol=rtol)

    def test_a_periodic_box_with_a_cutoff(self):
        force = charges(mm.NonbondedForce.CutoffPeriodic)
        for n in range(20):
            force.addException(n, n + 1, 0, 0.3, 0)
        compare(system(force, box=2.0))

    def test_bonds_angles_and_torsions(self):
        bonds, angles, torsions, rb = (
            mm.HarmonicBondForce(),
            mm.HarmonicAngleForce(),
            mm.PeriodicTorsionForce(),
            mm.RBTorsionForce(),
        )
        for n in range(COUNT - 3):
            bonds.addBond(n, n + 1, 0.35, 1000)
            angles.addAngle(n, n + 1, n + 2, 1.8, 50)
            torsions.addTorsion(n, n + 1, n + 2, n + 3, 2, 0.5, 3)
            rb.addTorsion(n, n + 1, n + 2, n + 3, 1, 2, -1, 0.5, 0.2, 0.1)
        compare(system(bonds, angles, torsions, rb))

    def test_custom_forces(self):
        pairs = mm.CustomNonbondedForce("a*exp(-3*r)*(s1+s2)")
        pairs.addGlobalParameter("a", 2)
        pairs.addPerParticleParameter("s")
        outside = mm.CustomExternalForce("k*((x-1)^2+abs(y)+sin(z))")
        outside.addGlobalParameter("k", 4)
        bonds = mm.CustomCompoundBondForce(3, "distance(p1,p2)*angle(p1,p2,p3)^2")
        for n in range(COUNT):
            pairs.addParticle([0.1 * (n % 5)])
            outside.addParticle(n)
            if n < COUNT - 2:
                bonds.addBond([n, n + 1, n + 2])
        compare(system(pairs, outside, bonds))

    def test_a_tabulated_function(self):
        force = mm.CustomNonbondedForce("table(r)")
        force.addTabulatedFunction("table", mm.Continuous1DFunction(list(np.cos(np.linspace(0, 3, 40))), 0, 4))
        for _ in range(COUNT):
            force.addParticle()
        compare(system(force))

    def test_implicit_solvent(self):
        force = mm.GBSAOBCForce()
        for n in range(COUNT):
            force.addParticle(0.2 * (-1) ** n, 0.15, 0.8)
        compare(system(charges(), force))

    def test_many_bodies(self):
        force = mm.CustomManyParticleForce(3, "exp(-distance(p1,p2)-distance(p2,p3)-distance(p1,p3))")
        force.setNonbondedMethod(mm.CustomManyParticleForce.CutoffNonPeriodic)
        force.setCutoffDistance(0.6)
        for _ in range(COUNT):
            force.addParticle([])
        compare(system(force))


class Motion(unittest.TestCase):
    def same_motion(self, make_integrator, made, steps=20, tolerance=1e-3):
        found = state(made, "CUDA", GRID, "mixed", steps, make_integrator())
        wanted = state(made, "Reference", GRID, "mixed", steps, make_integrator())
        np.testing.assert_allclose(found[2], wanted[2], atol=tolerance)
        self.assertGreater(np.abs(found[2] - GRID).max(), 1e-4)

    def test_integrators(self):
        self.same_motion(lambda: mm.VerletIntegrator(0.001), system(charges()))

        def custom():
            integrator = mm.CustomIntegrator(0.001)
            integrator.addPerDofVariable("old", 0)
            integrator.addComputePerDof("v", "v+0.5*dt*f/m")
            integrator.addComputePerDof("x", "x+dt*v")
            integrator.addComputePerDof("v", "v+0.5*dt*f/m")
            return integrator

        self.same_motion(custom, system(charges()))

    def test_constraints(self):
        made = system(charges())
        for n in range(0, COUNT - 1, 5):
            made.addConstraint(n, n + 1, float(np.linalg.norm(GRID[n] - GRID[n + 1])))
        for platform in ("CUDA", "Reference"):
            moved = state(made, platform, GRID, "mixed", 20)[2]
            for n in range(0, COUNT - 1, 5):
                wanted = np.linalg.norm(GRID[n] - GRID[n + 1])
                self.assertLess(abs(np.linalg.norm(moved[n] - moved[n + 1]) - wanted), 1e-4)

    def test_temperature(self):
        made = system(charges(mm.NonbondedForce.CutoffPeriodic), box=2.0)
        integrator = mm.LangevinMiddleIntegrator(300, 10, 0.002)
        context = mm.Context(made, integrator, mm.Platform.getPlatformByName("CUDA"))
        context.setPositions(GRID)
        context.setVelocitiesToTemperature(300, 1)
        seen = []
        for _ in range(20):
            integrator.step(10)
            kinetic = context.getState(getEnergy=True).getKineticEnergy()._value
            seen.append(2 * kinetic / (3 * COUNT * 0.00831446))
        self.assertLess(abs(np.mean(seen[5:]) - 300), 60)

    def test_minimisation(self):
        energies = []
        for platform in ("CUDA", "Reference"):
            context = mm.Context(system(charges()), mm.VerletIntegrator(0.001), mm.Platform.getPlatformByName(platform))
            context.setPositions(GRID)
            before = context.getState(getEnergy=True).getPotentialEnergy()._value
            mm.LocalEnergyMinimizer.minimize(context, 10, 100)
            energies.append(context.getState(getEnergy=True).getPotentialEnergy()._value)
            self.assertLess(energies[-1], before)
        self.assertLess(abs(energies[0] - energies[1]), 0.05 * abs(energies[1]))


if __name__ == "__main__":
    unittest.main()
