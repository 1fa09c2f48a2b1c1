"""Pictures of a MuJoCo model without a screen: EGL where there is one, else OSMesa."""

# MuJoCo's extension modules hide their names from a type checker.
# pyright: reportAttributeAccessIssue=false

import ctypes
import importlib
import os
import platform
import weakref
from collections.abc import Callable

import mujoco
import numpy as np
from numpy.typing import NDArray

_LIBRARIES = {"egl": ("libEGL.so.1",), "osmesa": ("libOSMesa.so.8", "libOSMesa.so.6")}
_HELP = (
    "on Debian or Ubuntu install libegl1 and libegl-mesa0 (EGL), or libosmesa6 (OSMesa); "
    "MUJOCO_GL=egl or MUJOCO_GL=osmesa chooses between them"
)
_MOST_GEOMS = 2000


class RenderingUnavailable(RuntimeError):
    """No OpenGL library that can draw without a screen; the message says what to install."""


def backend() -> str:
    """Which OpenGL to draw with: `MUJOCO_GL` if set, else egl or osmesa, whichever is installed.

    Asked before any OpenGL is imported, because PyOpenGL cannot change its mind afterwards.
    """
    chosen = os.environ.get("MUJOCO_GL", "").lower().strip()
    if chosen:
        return chosen
    if platform.system() != "Linux":
        return "native"
    for name in _LIBRARIES:
        if _installed(name):
            return name
    raise RenderingUnavailable(f"cannot draw: neither libEGL nor libOSMesa is installed; {_HELP}")


def _installed(name: str) -> bool:
    for library in _LIBRARIES[name]:
        try:
            ctypes.CDLL(library)
        except OSError:
            continue
        return True
    return False


def _context(width: int, height: int):
    """An OpenGL context with a drawing surface of the given size."""
    name = backend()
    try:
        if name in _LIBRARIES:
            return importlib.import_module(f"mujoco.{name}").GLContext(width, height)
        return mujoco.GLContext(width, height)
    except Exception as error:  # each backend fails in its own way, down to bare RuntimeErrors
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RenderingUnavailable(f"cannot draw with {name} ({reason}); {_HELP}") from error


class Renderer:
    """Draws frames of one model."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._scene = mujoco.MjvScene(model, _MOST_GEOMS)
        self._option = mujoco.MjvOption()
        self._size = (0, 0)
        self._gl = self._target = self._free = None

    def frame(
        self,
        data: mujoco.MjData,
        camera: mujoco.MjvCamera,
        width: int,
        height: int,
        decorate: Callable[[mujoco.MjvScene], None] | None = None,
    ) -> NDArray[np.uint8]:
        """What `camera` sees, [height, width, 3]; `decorate` may add geoms to the scene first."""
        if self._size != (width, height):
            self._open(width, height)
        mujoco.mjv_updateScene(
            self._model,
            data,
            self._option,
            None,
            camera,
            mujoco.mjtCatBit.mjCAT_ALL.value,
            self._scene,
        )
        if decorate is not None:
            decorate(self._scene)
        area = mujoco.MjrRect(0, 0, width, height)
        pixels = np.empty((height, width, 3), np.uint8)
        self._gl.make_current()  # pyright: ignore[reportOptionalMemberAccess]
        mujoco.mjr_render(area, self._scene, self._target)
        mujoco.mjr_readPixels(pixels, None, area, self._target)
        return pixels[::-1].copy()

    def _open(self, width: int, height: int) -> None:
        self.close()
        self._model.vis.global_.offwidth, self._model.vis.global_.offheight = width, height
        self._gl = _context(width, height)
        self._gl.make_current()
        self._target = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        # Also of a renderer that nobody has closed; but at exit OpenGL itself may be gone first.
        self._free = weakref.finalize(self, _freed, self._gl, self._target)
        self._free.atexit = False
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._target)
        self._size = (width, height)

    def close(self) -> None:
        """Free the OpenGL context."""
        if self._free is not None:
            self._free()
        self._gl = self._target = self._free = None
        self._size = (0, 0)


def _freed(gl, target: mujoco.MjrContext) -> None:
    gl.make_current()  # OpenGL knows things by number: in another's context the same are the other's
    target.free()
    gl.free()
