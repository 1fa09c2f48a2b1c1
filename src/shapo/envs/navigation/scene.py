"""A picture of one environment: robot, objects and, as rings of beads above the robot, its lidars."""

# MuJoCo's extension modules hide their names from a type checker.
# pyright: reportAttributeAccessIssue=false

import math
from collections.abc import Iterator

import mujoco
import numpy as np
from numpy.typing import NDArray

from shapo.envs.navigation.models import CAR_BOXES, knobs
from shapo.envs.navigation.sight import axes
from shapo.envs.navigation.tasks import LIDAR_BINS, Kind, Objects, Task
from shapo.envs.rendering import Renderer

COLOURS: dict[Kind, tuple[float, float, float, float]] = {
    "goal": (0.1, 0.75, 0.2, 0.35),
    "hazard": (0.2, 0.3, 0.95, 0.45),
    "vase": (0.2, 0.8, 0.85, 1.0),
    "button": (0.95, 0.6, 0.1, 1.0),
    "gremlin": (0.65, 0.2, 0.8, 1.0),
    "pillar": (0.45, 0.45, 0.5, 1.0),
    "box": (0.9, 0.85, 0.2, 1.0),
    "circle": (0.1, 0.75, 0.2, 0.2),
    "wall": (0.9, 0.3, 0.2, 0.25),
}
_POINT = """
<geom type="sphere" size="0.1"/>
<geom type="box" size="0.05 0.05 0.05" pos="0.1 0 0"/>
"""
_CAR = f"""
{CAR_BOXES}
<geom type="cylinder" size="0.05" fromto="-0.155 0.1 -0.05 -0.105 0.1 -0.05" rgba="0.2 0.2 0.2 1"/>
<geom type="cylinder" size="0.05" fromto="0.105 0.1 -0.05 0.155 0.1 -0.05" rgba="0.2 0.2 0.2 1"/>
<geom type="sphere" size="0.05" pos="0 -0.1 -0.05" rgba="0.2 0.2 0.2 1"/>
"""
_RING_RADIUS, _RING_HEIGHT, _RING_GAP, _BEAD = 0.18, 0.4, 0.07, 0.022


class Scene:
    """Draws environments of `task`."""

    def __init__(self, task: Task):
        self._task = task
        model = mujoco.MjModel.from_xml_string(_mjcf(task))
        self._data = mujoco.MjData(model)
        self._model = model
        self._renderer = Renderer(model)

    def picture(
        self,
        robot_q: NDArray[np.float64],
        spots: NDArray[np.float64],
        body_q: NDArray[np.float64],
        lidars: NDArray[np.float64],
        width: int,
        height: int,
    ) -> NDArray[np.uint8]:
        """The environment from above, [height, width, 3]; `lidars` [kinds, 16] are what the robot sees."""
        data = self._data
        height_of_robot, ax, ay, az, bx, by, bz = axes(robot_q)
        frame = np.array([[ax, bx, 0], [ay, by, 0], [az, bz, 0]])
        frame[:, 2] = np.cross(frame[:, 0], frame[:, 1])
        origin = np.array([*robot_q[:2], height_of_robot])
        data.mocap_pos[0] = origin
        mujoco.mju_mat2Quat(data.mocap_quat[0], frame.ravel())
        first_body = len(spots) - len(body_q)
        for j in range(1, len(spots)):
            if j >= first_body:
                data.mocap_pos[j], data.mocap_quat[j] = np.split(body_q[j - first_body], [3])
            else:
                data.mocap_pos[j, :2] = spots[j]
        mujoco.mj_kinematics(self._model, data)
        return self._renderer.frame(
            data,
            self._camera(origin),
            width,
            height,
            lambda scene: _draw_lidars(scene, origin, frame, self._task, lidars),
        )

    def close(self) -> None:
        """Free the renderer."""
        self._renderer.close()

    def _camera(self, robot: NDArray[np.float64]) -> mujoco.MjvCamera:
        camera = mujoco.MjvCamera()
        camera.lookat[:] = 0, 0, 0
        # A robot that runs off stays in the picture.
        widest = max(self._task.extent, *(c.size for c in self._task.of_kind("circle")), 0.0)
        camera.distance = 2.4 * max(widest + 0.3, float(np.abs(robot[:2]).max()))
        camera.azimuth, camera.elevation = 90, -60
        return camera


def _draw_lidars(
    scene: mujoco.MjvScene,
    origin: NDArray[np.float64],
    frame: NDArray[np.float64],
    task: Task,
    lidars: NDArray[np.float64],
) -> None:
    seen = [group for group in task.objects if group.seen]
    for level, (group, lidar) in enumerate(zip(seen, lidars, strict=True)):
        for k in range(LIDAR_BINS):
            angle = 2 * math.pi * (k + 0.5) / LIDAR_BINS
            beside = np.array([math.cos(angle), math.sin(angle), 0]) * _RING_RADIUS
            place = origin + frame @ beside + (0, 0, _RING_HEIGHT + level * _RING_GAP)
            colour = np.array([*COLOURS[group.kind][:3], 0.1 + 0.9 * lidar[k]], np.float32)
            mujoco.mjv_initGeom(
                scene.geoms[scene.ngeom],
                mujoco.mjtGeom.mjGEOM_SPHERE,
                np.full(3, _BEAD),
                place,
                np.eye(3).ravel(),
                colour,
            )
            scene.ngeom += 1


def _shape(group: Objects, place: tuple[float, float] | None) -> tuple[str, float]:
    """A geom's attributes, and its height."""
    s = group.size
    match group.kind:
        case "goal":
            return f'type="cylinder" size="{s} {s / 2}"', s / 2 + 0.01
        case "hazard" | "circle":
            return f'type="cylinder" size="{s} 0.01"', 0.02
        case "button":
            return f'type="sphere" size="{s}"', s
        case "pillar":
            return f'type="cylinder" size="{s} 0.5"', 0.5
        case "wall":
            along_y = place is not None and place[0] != 0
            return f'type="box" size="{f"0.05 {s}" if along_y else f"{s} 0.05"} 0.3"', 0.25
        case _:
            return f'type="box" size="{s} {s} {s}"', s


def _objects(task: Task) -> Iterator[str]:
    for group in task.objects:
        colour = " ".join(map(str, COLOURS[group.kind]))
        for k in range(group.count):
            shape, height = _shape(group, group.places[k] if group.places else None)
            geoms = f'<geom {shape} rgba="{colour}"/>'
            if group.kind == "box":
                geoms += knobs(group.size, f'rgba="{colour}"')
            yield f'<body mocap="true" pos="0 0 {height}">{geoms}</body>'


def _mjcf(task: Task) -> str:
    return f"""
<mujoco>
  <visual>
    <headlight ambient="0.4 0.4 0.4" diffuse="0.5 0.5 0.5" specular="0.1 0.1 0.1"/>
    <quality shadowsize="2048" numslices="64"/>
  </visual>
  <default>
    <geom rgba="0.85 0.2 0.2 1"/>
  </default>
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1="0.75 0.85 0.95" rgb2="1 1 1" width="64" height="384"/>
    <texture name="floor" type="2d" builtin="checker" rgb1="0.9 0.9 0.9" rgb2="0.8 0.8 0.8" width="64" height="64"/>
    <material name="floor" texture="floor" texrepeat="14 14"/>
  </asset>
  <worldbody>
    <light pos="0 0 5" dir="0.2 0.2 -1" directional="true" diffuse="0.4 0.4 0.4"/>
    <geom type="plane" size="7 7 0.1" material="floor" rgba="1 1 1 1"/>
    <body mocap="true">{_POINT if task.robot == "point" else _CAR}</body>
    {"".join(_objects(task))}
  </worldbody>
</mujoco>"""
