"""The MuJoCo models: a robot, the solid things of a task and some of its bodies, in MJCF.

Only what collides is here. One model serves every layout: the robot's joints are in world coordinates, solids are
mocap bodies, and a gremlin is welded to a mocap target of its own. `bodies` says how many of the task's bodies take
part, so that a step pays only for those that matter. Until they are placed, all are out of each other's way.
"""

# MuJoCo's extension modules hide their names from a type checker.
# pyright: reportAttributeAccessIssue=false

import math
from functools import lru_cache

import mujoco
import numpy as np

from shapo.envs.navigation import chassis
from shapo.envs.navigation.tasks import Objects, Task

GRAVITY, MAGNETIC = 9.81, 0.5  # MuJoCo's own
SUBSTEPS = 10
SUBSTEP = {"point": 0.002, "car": chassis.SUBSTEP}
ROBOT_RADIUS = {"point": math.hypot(0.15, 0.05), "car": math.hypot(0.155, 0.15)}
ROBOT_SIZES = {"point": (3, 3), "car": (13, 11)}
"""How many positions and velocities a robot has."""
TOLERANCE = 1e-15  # of the solver: tight enough that bodies that take no part make no difference
VASE_SINK = 4e-5  # deep enough that settling stays below the speed that costs
PILLAR_HEIGHT = 0.5  # of its centre
GREMLIN_FLIGHT = 0.2  # height that gremlins are pulled to
GREMLIN_GAP = 1e-12  # between one and the floor: at 0, rounding would decide whether they touch
BODY_DENSITY = 0.001

_POINT = """
<body name="robot" pos="0 0 0.1">
  <joint type="slide" axis="1 0 0" damping="0.01"/>
  <joint type="slide" axis="0 1 0" damping="0.01"/>
  <joint name="turn" type="hinge" axis="0 0 1" damping="0.005"/>
  <geom type="sphere" size="0.1" friction="1 0.01 0.01"/>
  <geom type="box" size="0.05 0.05 0.05" pos="0.1 0 0"/>
  <site name="robot"/>
</body>
"""
_POINT_ACTUATORS = """
<general site="robot" gear="0.3 0 0 0 0 0" ctrlrange="-1 1" forcerange="-0.05 0.05"/>
<velocity joint="turn" gear="0.3" kv="1" ctrlrange="-1 1" forcerange="-0.05 0.05"/>
"""
CAR_BOXES = "\n".join(
    '<geom type="box" size="{} {} {}" pos="{} {} {}"/>'.format(*box)
    for box in chassis.BOXES.tolist()
)
_CAR = f"""
<body name="robot" pos="0 0 0.1">
  <freejoint/>
  {CAR_BOXES}
  <site name="robot"/>
  <body pos="-0.1 0.1 -0.05">
    <joint name="left" axis="1 0 0"/>
    <geom type="cylinder" size="0.05" fromto="-0.055 0 0 -0.005 0 0"/>
  </body>
  <body pos="0.1 0.1 -0.05">
    <joint name="right" axis="1 0 0"/>
    <geom type="cylinder" size="0.05" fromto="0.005 0 0 0.055 0 0"/>
  </body>
  <body pos="0 -0.1 -0.05">
    <joint name="rear" type="ball"/>
    <geom type="sphere" size="0.05"/>
  </body>
</body>
"""
_CAR_ACTUATORS = """
<motor joint="left" ctrlrange="-1 1" forcerange="-0.02 0.02"/>
<motor joint="right" ctrlrange="-1 1" forcerange="-0.02 0.02"/>
"""
_SENSORS = """
<accelerometer site="robot"/><velocimeter site="robot"/><gyro site="robot"/><magnetometer site="robot"/>
"""
_CAR_SENSORS = """<ballangvel joint="rear"/><ballquat joint="rear"/>"""


def solids_of(task: Task) -> Objects | None:
    """The objects that collide and never move."""
    return next(iter(task.of_kind("button", "pillar")), None)


def bodies_of(task: Task) -> Objects | None:
    """The objects that can be pushed."""
    return next(iter(task.of_kind("vase", "gremlin", "box")), None)


def body_height(bodies: Objects) -> float:
    """Height of a body's centre at the start of an episode."""
    return bodies.size + {"vase": -VASE_SINK, "gremlin": GREMLIN_GAP, "box": 0.0}[bodies.kind]


def body_radius(bodies: Objects) -> float:
    """Radius of the ball around a body's centre that holds all of it."""
    if bodies.kind == "box":
        return bodies.size * math.sqrt(1.5**2 + 1.5**2 + 1)
    return bodies.size * math.sqrt(3)


def knobs(half: float, attributes: str) -> str:
    """Geoms at the four corners of the box, which it can be pushed or dragged by."""
    return "".join(
        f'<geom type="box" size="{half / 2} {half / 2} {half}" pos="{x} {y} 0" {attributes}/>'
        for x in (-half, half)
        for y in (-half, half)
    )


def _solid(solids: Objects, k: int) -> str:
    shape = "sphere" if solids.kind == "button" else "cylinder"
    height = solids.size if solids.kind == "button" else PILLAR_HEIGHT
    geom = f'<geom type="{shape}" size="{solids.size} {height}"/>'
    return f'<body mocap="true" pos="{-10 * (k + 1)} 0 {height}">{geom}</body>'


def _body(bodies: Objects, k: int, robot: str) -> str:
    s = bodies.size
    density = BODY_DENSITY / 2 if bodies.kind == "box" and robot == "car" else BODY_DENSITY
    geoms = f'<geom type="box" size="{s} {s} {s}" density="{density}"/>'
    if bodies.kind == "box":
        geoms += knobs(s, f'density="{density}"')
    place = f"{10 * (k + 1)} 0 {body_height(bodies)}"
    return f'<body name="body{k}" pos="{place}"><freejoint/>{geoms}</body>'


@lru_cache(maxsize=64)
def make_model(task: Task, bodies: int) -> mujoco.MjModel:
    """The model of `task` with only `bodies` of its bodies."""
    solids, pushed = solids_of(task), bodies_of(task)
    parts, targets, welds = [], "", ""
    if pushed:
        parts = [_body(pushed, k, task.robot) for k in range(bodies)]
        if pushed.kind == "gremlin":
            targets = "".join(
                f'<body name="target{k}" mocap="true" pos="{10 * (k + 1)} 0 {GREMLIN_FLIGHT}"/>'
                for k in range(bodies)
            )
            welds = "".join(
                f'<weld body1="target{k}" body2="body{k}" solref="0.02 1.5" relpose="0 0 0 1 0 0 0"/>'
                for k in range(bodies)
            )
    car = task.robot == "car"
    return mujoco.MjModel.from_xml_string(f"""
<mujoco>
  <compiler angle="radian" autolimits="true"/>
  <option timestep="{SUBSTEP[task.robot]}" jacobian="dense" tolerance="{TOLERANCE}"/>
  <default>
    <geom condim="6" density="{5 if car else 1}"/>
    <joint damping="0.001"/>
  </default>
  <worldbody>
    <geom type="plane" size="3.5 3.5 0.1"/>
    {_CAR if car else _POINT}
    {"".join(parts)}
    {"".join(_solid(solids, k) for k in range(solids.count)) if solids else ""}
    {targets}
  </worldbody>
  <equality>{welds}</equality>
  <actuator>{_CAR_ACTUATORS if car else _POINT_ACTUATORS}</actuator>
  <sensor>{_SENSORS}{_CAR_SENSORS if car else ""}</sensor>
</mujoco>""")


def hinge_inertia(task: Task) -> float:
    """Of the Point, about the hinge it turns about; 0 for the Car, which has none.

    The turn servo chatters, so an error in the last digits of it soon is one in the first digits of what is sensed.
    """
    if task.robot != "point":
        return 0.0
    model = make_model(task, 0)
    data, mass = mujoco.MjData(model), np.zeros((model.nv, model.nv))
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, mass)
    return float(mass[2, 2])


def full_model(task: Task) -> mujoco.MjModel:
    """The model of `task` with all of its bodies, apart from each other."""
    bodies = bodies_of(task)
    return make_model(task, bodies.count if bodies else 0)
