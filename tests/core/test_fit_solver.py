"""The solver's parts against independent computations, and the second-order fit on readings whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from anymocap_addon.core.exam.motions import random_motion
from anymocap_addon.core.fit.banded import BandedSystem, solve
from anymocap_addon.core.fit.first_order import descend, fit_first_order, load_baseline
from anymocap_addon.core.fit.fit import FitOptions, fit_motion
from anymocap_addon.core.fit.jacobian import JointJacobian
from anymocap_addon.core.fit.lm import Schedule, minimise
from anymocap_addon.core.fit.model import FitModel, State, build_model
from anymocap_addon.core.fit.objective import Anchors, Objective, Steps, Weights
from anymocap_addon.core.fit.observations import ErrorModel, Observations, observations
from anymocap_addon.core.fit.start import kabsch, rigid_set, start_pose
from anymocap_addon.core.kinematics import Skeleton, euler_to_matrix, rotvec_to_matrix
from anymocap_addon.core.rig import RigInfo
from anymocap_addon.core.triangulation import triangulated

from .walker import LAYOUT, Walk, detections, noisy, turned, walk, walker_rig

torch.set_num_threads(1)


def random_state(model: FitModel, frames: int, seed: int) -> State:
    motion = random_motion(model.rig, LAYOUT, frames, 24.0, seed)
    return State(*map(model.tensor, motion))


def seen_by(model: FitModel, walk_: Walk, error: ErrorModel | None = None) -> Observations:
    reading = detections(model.rig, walk_.joints)
    return observations(
        LAYOUT,
        reading.front_uv,
        reading.side_uv,
        reading.front_conf,
        reading.side_conf,
        error,
        model.device,
    )


def mean_mm(fitted: np.ndarray, true: np.ndarray) -> float:
    return float(np.linalg.norm(fitted - true, axis=-1).mean() * 1000)


@pytest.mark.parametrize("make", [walker_rig, None], ids=["walker", "small"])
def test_jacobian_equals_automatic_differentiation(make: object, small_rig: RigInfo) -> None:
    rig = walker_rig() if make else small_rig
    model = build_model(rig, LAYOUT)
    state = random_state(model, 3, 1)
    state = State(state.trans, rotvec_to_matrix(torch.randn(3, 3).double()) @ state.root_R, state.euler)

    def joints(step: torch.Tensor, frame: int) -> torch.Tensor:
        euler = torch.cat([state.euler[frame, :1], state.euler[frame, 1:] + step[6:].reshape(-1, 3)])
        root = rotvec_to_matrix(step[3:6]) @ state.root_R[frame]
        moved = model.skeleton.forward((state.trans[frame] + step[:3])[None], root[None], euler[None])
        return moved.joints.reshape(-1)

    analytic = JointJacobian(model)(state, model.forward(state))
    zero = torch.zeros(model.unknowns, dtype=torch.float64)
    for frame in range(3):
        for differentiate in (torch.func.jacfwd, torch.func.jacrev):
            automatic = differentiate(lambda step, f=frame: joints(step, f))(zero)
            assert torch.allclose(analytic[frame], automatic, atol=1e-10)


def test_normal_equations_hold_the_gradient_of_the_loss() -> None:
    """2 J^T W r is the gradient of the loss by autograd: every term, plants and limits included."""
    model = build_model(walker_rig(limit_deg=8.0), LAYOUT)
    truth = walk(model.rig, 6)
    state = random_state(build_model(walker_rig(), LAYOUT), 6, 3)
    rng = np.random.default_rng(0)
    shape = (6, model.rig.J)
    weights = Weights(
        acceleration=model.tensor(rng.uniform(0.1, 1, model.rig.J)),
        angular_velocity=3.0,
        rest=2.0,
        ground=50.0,
        limit=200.0,
        rest_pose=model.tensor(rng.normal(0, 0.1, (model.rig.B, 3))),
        anchors=Anchors(model.tensor(rng.uniform(0, 1, shape)), model.tensor(truth.joints)),
        steps=Steps(model.tensor(rng.uniform(0, 1, (5, model.rig.J, 3))), model.tensor(np.array([0.01, 0.02, 0.0]))),
    )
    objective = Objective(model, seen_by(model, truth, ErrorModel()), weights)
    state = State(state.trans - 0.3, state.root_R, state.euler)  # below the ground too
    system = objective.normal_equations(state, objective.evaluate(state, 6.0))
    step = torch.zeros(6, model.unknowns, dtype=torch.float64, requires_grad=True)
    loss = objective.evaluate(objective.moved(state, step), 6.0).penalised
    (automatic,) = torch.autograd.grad(loss, step)
    assert torch.allclose(2 * system.gradient, automatic, rtol=1e-8, atol=1e-6 * float(automatic.abs().max()))


def test_banded_solve_equals_dense_solve() -> None:
    rng = np.random.default_rng(0)
    frames, size = 7, 4
    root = np.zeros((frames * size, frames * size))
    for t in range(frames):  # a lower banded factor makes a banded positive definite matrix
        root[t * size : (t + 1) * size, max(0, t - 2) * size : (t + 1) * size] = rng.normal(
            size=(size, (min(t, 2) + 1) * size)
        )
    dense = root @ root.T + 20 * np.eye(frames * size)
    blocks = torch.tensor(dense).reshape(frames, size, frames, size).permute(0, 2, 1, 3)
    gradient = torch.tensor(rng.normal(size=(frames, size)))
    system = BandedSystem(
        torch.stack([blocks[t, t] for t in range(frames)]),
        torch.stack([blocks[t + 1, t] for t in range(frames - 1)]),
        torch.stack([blocks[t + 2, t] for t in range(frames - 2)]),
        gradient,
    )
    damped = dense + 0.1 * np.diag(np.diag(dense)) + 1e-6 * np.eye(len(dense))
    solution = solve(system, 0.1)
    assert solution is not None
    assert np.allclose(solution.numpy().ravel(), np.linalg.solve(damped, -gradient.numpy().ravel()))
    fixed = torch.tensor(rng.random((frames, size)) < 0.3)
    free = ~fixed.numpy().ravel()
    held = solve(system, 0.1, fixed)
    assert held is not None and not held[fixed].any()
    want = np.linalg.solve(damped[np.ix_(free, free)], -gradient.numpy().ravel()[free])
    assert np.allclose(held.numpy().ravel()[free], want)
    assert np.allclose(system.times(gradient).numpy().ravel(), dense @ gradient.numpy().ravel())
    assert solve(BandedSystem(-system.here, system.after1, system.after2, gradient), 0.1) is None


def test_root_with_one_child_gets_a_rigid_set_that_spans_a_plane() -> None:
    """Body, tail and neck of the walker lie in the plane x = 0; only widening reaches more; yaw must be right."""
    rig = walker_rig()
    truth = turned(walk(rig, 12), rig, 70.0)
    chosen = rigid_set(rig, Skeleton.of(rig))
    assert np.linalg.svd(rig.rest_joints()[chosen] - rig.rest[0, :3, 3], compute_uv=False)[1] > 0.1
    reading = detections(rig, truth.joints)
    points, weight = triangulated(LAYOUT, reading.front_uv, reading.side_uv, reading.front_conf, reading.side_conf)
    _, root, _ = start_pose(rig, points, weight)
    assert np.abs(root - truth.root_R).max() < 0.1


def test_kabsch_never_returns_a_reflection() -> None:
    flat = np.array([[1.0, 0, 0], [0, 1, 0], [-1, 0.2, 0]])
    seen = flat @ euler_to_matrix(np.array([0.3, 2.0, -1.0])).T
    rotation = kabsch(flat, seen[None], np.ones((1, 3)))
    assert np.linalg.det(rotation[0]) == pytest.approx(1.0)
    assert np.allclose(flat @ rotation[0].T, seen)


def test_clean_readings_give_back_a_random_motion() -> None:
    """From the rest pose, with the priors nearly off, minimising must find the motion to less than a millimetre."""
    model = build_model(walker_rig(), LAYOUT)
    motion = random_motion(model.rig, LAYOUT, 30, 24.0, 5)
    joints = Skeleton.of(model.rig).forward(*motion).joints
    reading = detections(model.rig, joints)
    seen = (reading.front_uv, reading.side_uv, reading.front_conf, reading.side_conf)
    rest = np.tile(model.rig.rest[0], (30, 1, 1))
    start = State(model.tensor(rest[:, :3, 3]), model.tensor(rest[:, :3, :3]), torch.zeros(30, 7, 3).double())
    weights = Weights(model.tensor(np.array(1e-4)), 1e-3, 1e-3, 1e-3)
    objective = Objective(model, observations(LAYOUT, *seen, None, model.device), weights)
    solved = minimise(objective, start, Schedule((40.0, 20.0, 10.0, 6.0), 30, 1e-6))
    assert mean_mm(model.forward(start).joints.numpy(), joints) > 20
    assert mean_mm(solved.at.pose.joints.numpy(), joints) < 0.1


def test_outliers_do_not_pull() -> None:
    rig = walker_rig()
    truth = walk(rig, 40)
    clean = fit_motion(rig, LAYOUT, detections(rig, truth.joints))
    reading = detections(rig, truth.joints)
    rng = np.random.default_rng(0)
    for uv in (reading.front_uv, reading.side_uv):
        hit = rng.random(uv.shape[:2]) < 0.05
        uv[hit] += rng.choice([-1, 1], (hit.sum(), 2)) * rng.uniform(30, 80, (hit.sum(), 2))
    hurt = fit_motion(rig, LAYOUT, reading)
    assert mean_mm(hurt.joints, truth.joints) < mean_mm(clean.joints, truth.joints) + 2.0


def test_low_confidence_counts_less() -> None:
    rig = walker_rig()
    truth = walk(rig, 30)
    errors = []
    for confidence in (0.95, 0.1):
        reading = detections(rig, truth.joints)
        reading.side_uv[:, 9] += 12.0
        reading.side_conf[:, 9] = confidence
        errors.append(np.linalg.norm(fit_motion(rig, LAYOUT, reading).joints - truth.joints, axis=-1)[:, 9].mean())
    assert errors[1] < 0.6 * errors[0]


def test_limits_are_respected_and_compensated() -> None:
    """A knee that may not bend far enough stays at its limit, and the rest of the leg makes up for it."""
    rig = walker_rig()
    truth = walk(rig, 40)
    low, high = rig.limits_rad.copy(), rig.limits_rad.copy()
    low[4:7:2, 0, 0] = -0.3
    tight = replace(rig, limits_rad=np.stack([low[..., 0], high[..., 1]], -1))
    motion = fit_motion(tight, LAYOUT, detections(tight, truth.joints))
    knees = motion.euler[:, [4, 6], 0]
    assert truth.euler[:, 4, 0].min() < -0.6
    assert knees.min() == pytest.approx(-0.3, abs=1e-9)
    assert (motion.euler >= tight.limits_rad[..., 0] - 1e-12)[:, 1:].all()
    assert mean_mm(motion.joints, truth.joints) < 30


def test_both_solvers_reach_the_same_loss() -> None:
    """Eight frames, the baseline's loss: Adam and Levenberg-Marquardt agree within half a percent."""
    model = build_model(walker_rig(), LAYOUT)
    reading = noisy(detections(model.rig, walk(model.rig, 8).joints), 1)
    seen = (reading.front_uv, reading.side_uv, reading.front_conf, reading.side_conf)
    start = State(*map(model.tensor, start_pose(model.rig, *triangulated(LAYOUT, *seen))))
    constants = replace(load_baseline(), steps=400)
    objective = Objective(model, observations(LAYOUT, *seen, None, model.device), constants.weights(model))
    first = descend(model, objective, start, constants, anneal=True)
    with torch.no_grad():
        adam = float(objective.evaluate(first, 6.0).loss)
    second = float(minimise(objective, start, Schedule((40.0, 20.0, 10.0, 6.0), 25, 1e-4)).at.loss)
    assert second == pytest.approx(adam, rel=5e-3)


def test_first_order_fit_runs_both_fits_and_reports() -> None:
    model = build_model(walker_rig(), LAYOUT)
    truth = walk(model.rig, 24)
    reading = detections(model.rig, truth.joints)
    seen = (reading.front_uv, reading.side_uv, reading.front_conf, reading.side_conf)
    start = State(*map(model.tensor, start_pose(model.rig, *triangulated(LAYOUT, *seen))))
    data = observations(LAYOUT, *seen, None, model.device)
    told: list[float] = []
    constants = replace(load_baseline(), steps=150)
    fitted = fit_first_order(model, data, start, 24.0, True, lambda share, note: told.append(share), constants)
    assert fitted.ground.plants and fitted.iterations == 300
    assert told == sorted(told) and told[-1] == 1.0
    assert mean_mm(model.forward(fitted.state).joints.numpy(), truth.joints) < 15


def test_progress_is_monotone_and_may_stop_the_fit() -> None:
    rig = walker_rig()
    told: list[float] = []
    fit_motion(rig, LAYOUT, detections(rig, walk(rig, 30).joints), progress=lambda share, note: told.append(share))
    assert told == sorted(told) and told[-1] == 1.0 and len(told) > 5

    def stop(share: float, note: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_motion(rig, LAYOUT, detections(rig, walk(rig, 30).joints), FitOptions(), stop)
