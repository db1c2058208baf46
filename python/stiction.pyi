# stiction.pyi -- names and types for editors and type checkers; help(stiction) has the words. tests/python compares
# this file with the module, name by name and argument by argument.
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from types import MappingProxyType, TracebackType
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, final, overload

from typing_extensions import Buffer

__version__: str

_Path = str | bytes | PathLike[str] | PathLike[bytes]
_Numbers = Buffer | Sequence[float]  # numpy's arrays among them
_Body = str | int  # by name or by id: so are joints, forces and shapes
_Overrides = Mapping[str, Any] | Sequence[str]
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # w x y z

class _HasTocoo(Protocol):
    def tocoo(self) -> Any: ...

# scipy.sparse; (data, (i, j)); (data, i, p) by column; rows
_Matrix = _HasTocoo | tuple[_Numbers, tuple[Sequence[int], Sequence[int]]] | tuple[_Numbers, Sequence[int], Sequence[int]] | Buffer | Sequence[_Numbers]

class Error(Exception):
    status: str
    line: int

# Functions

def settings() -> list[Setting]: ...
def presets() -> dict[str, str]: ...
def solvers() -> dict[str, str]: ...
def solver_parameters() -> dict[str, tuple[float, float, float, str]]: ...
def schema() -> dict[str, Any]: ...
def read_problem(path: _Path, /) -> FrictionProblem | LcpProblem: ...
def solve(problem: FrictionProblem | LcpProblem | _Path | dict[str, Any], /, **options: Any) -> Any: ...

# Numbers

@final
class Array:
    @property
    def shape(self) -> tuple[int, ...]: ...
    def tolist(self) -> list[Any]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: int | slice, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

_Row = TypeVar("_Row")

@final
class Table(Generic[_Row]):
    @property
    def columns(self) -> tuple[str, ...]: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: int, /) -> _Row: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[_Row]: ...
    @overload
    def __getitem__(self, key: str, /) -> Array | list[str]: ...
    def __iter__(self) -> Iterator[_Row]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

# Scenes and systems

@final
class Scene:
    def __new__(cls, path: _Path, overrides: _Overrides | None = None) -> Scene: ...
    @classmethod
    def from_json(cls, text: str | bytes, overrides: _Overrides | None = None, label: str = "scene") -> Scene: ...
    @classmethod
    def from_dict(cls, description: dict[str, Any], overrides: _Overrides | None = None, label: str = "scene") -> Scene: ...
    def system(self, /, **settings: Any) -> System: ...
    def mass(self, body: _Body, /) -> tuple[float, tuple[Vector, Vector, Vector]]: ...
    def to_dict(self, /) -> dict[str, Any]: ...
    def model(self, /) -> dict[str, Any]: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def bodies(self) -> MappingProxyType[str, int]: ...
    @property
    def joints(self) -> MappingProxyType[str, int]: ...
    @property
    def forces(self) -> MappingProxyType[str, int]: ...
    @property
    def shapes(self) -> MappingProxyType[str, int]: ...

@final
class System:
    def __new__(cls, scene: Scene, /, **settings: Any) -> System: ...
    def step(self, /, h: float | None = None, steps: int = 1) -> StepInfo: ...
    def run(self, /, until: float | None = None, h: float | None = None) -> StepInfo: ...
    def clone(self, /) -> System: ...
    def __copy__(self, /) -> System: ...
    def __deepcopy__(self, memo: Any, /) -> System: ...
    def change(self, scene: Scene, /) -> None: ...
    def save(self, /) -> bytes: ...
    def restore(self, state: Buffer, /) -> None: ...
    def hash(self, /) -> int: ...
    def set_state(self, /, time: float | None = None, q: _Numbers | None = None, v: _Numbers | None = None) -> None: ...
    def pose(self, body: _Body, /) -> Pose: ...
    def velocity(self, body: _Body, /) -> Velocity: ...
    def poses(self, /) -> Array: ...
    def velocities(self, /) -> Array: ...
    def set_parameter(self, path: str, value: float, /) -> None: ...
    def parameter(self, path: str, /) -> float: ...
    def set_motor(self, joint: _Body, wanted: float | None, /) -> None: ...
    def set_keyframe(self, keyframe: int | str, /) -> None: ...
    def set_force(self, /, force: _Body, value: _Numbers | None = None, torque: _Numbers | None = None) -> None: ...
    def push(self, /, body: _Body, force: _Numbers | None = None, torque: _Numbers | None = None) -> None: ...
    def set_pose(self, /, body: _Body, position: _Numbers | None = None, orientation: _Numbers | None = None) -> None: ...
    def set_velocity(self, /, body: _Body, linear: _Numbers | None = None, spin: _Numbers | None = None) -> None: ...
    def present(self, body: _Body, /) -> bool: ...
    def remove_body(self, body: _Body, /) -> None: ...
    def insert_body(self, /, body: _Body, position: _Numbers, orientation: _Numbers | None = None, linear: _Numbers | None = None, spin: _Numbers | None = None) -> None: ...
    def measures(self, /) -> dict[str, dict[str, float]]: ...
    def asleep(self, body: _Body, /) -> bool: ...
    def wake(self, body: _Body, /) -> None: ...
    def energy(self, /) -> Energy: ...
    def momentum(self, /) -> Momentum: ...
    def contacts(self, /) -> Table[Contact]: ...
    def contact_force(self, body: _Body, /) -> Force: ...
    def joint(self, /, joint: _Body, frame: Literal["world", "a"] = "world") -> Joint: ...
    def joints(self, /, frame: Literal["world", "a"] = "world") -> Table[Joint]: ...
    def springs(self, /) -> Table[Spring]: ...
    def events(self, /) -> Table[Event]: ...
    def islands(self, /) -> Table[Island]: ...
    def profile(self, /) -> dict[str, float]: ...
    def problem(self, /, local: bool = False) -> FrictionProblem: ...
    def articulation(self, /) -> Articulation: ...
    def ray(self, /, origin: _Numbers, direction: _Numbers, length: float | None = None, groups: int | None = None) -> RayHit | None: ...
    def rays(self, /, origins: Buffer | Sequence[_Numbers], directions: Buffer | Sequence[_Numbers], length: float | None = None, groups: int | None = None) -> Table[RayHit]: ...
    def overlaps(self, /, shape: dict[str, Any], groups: int | None = None) -> list[int]: ...
    def closest(self, /, shape: dict[str, Any], within: float | None = None, groups: int | None = None) -> Closest | None: ...
    def distance(self, a: _Body, b: _Body, /) -> Closest: ...
    def render(self, /, width: int = 640, height: int = 480, camera: dict[str, Any] | None = None) -> Array: ...
    def record(self, /, path: _Path, rate: float = 60.0, checkpoint: float = 0.0, flush: float = 1.0) -> Recorder: ...
    @property
    def controls(self) -> Array: ...
    @controls.setter
    def controls(self, value: _Numbers) -> None: ...
    @property
    def control_names(self) -> tuple[str, ...]: ...
    @property
    def scene(self) -> Scene: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def time(self) -> float: ...
    @time.setter
    def time(self, value: float) -> None: ...
    @property
    def q(self) -> Array: ...
    @q.setter
    def q(self, value: _Numbers) -> None: ...
    @property
    def v(self) -> Array: ...
    @v.setter
    def v(self, value: _Numbers) -> None: ...
    @property
    def initial_change(self) -> tuple[float, float]: ...

# Many worlds

@final
class Batch:
    def __new__(cls, scene: Scene, /, worlds: int, *, threads: int = 1, parameters: Sequence[str] = (), reset_failed: bool = False, **settings: Any) -> Batch: ...
    def step(self, /, steps: int | Sequence[int] | Buffer = 1, mask: Sequence[bool] | Buffer | None = None) -> int: ...
    def reset(self, /, mask: Sequence[bool] | Buffer | None = None, keyframe: int | Sequence[int] | Buffer = 0) -> None: ...
    def set_states(self, /, q: Buffer | Sequence[_Numbers], v: Buffer | Sequence[_Numbers], time: _Numbers | None = None, mask: Sequence[bool] | Buffer | None = None) -> None: ...
    def add_keyframe(self, /, q: _Numbers, v: _Numbers, time: float = 0.0) -> int: ...
    def apply_parameters(self, /, mask: Sequence[bool] | Buffer | None = None) -> None: ...
    def read_sensors(self, /, mask: Sequence[bool] | Buffer | None = None) -> Any: ...
    def message(self, world: int, /) -> str: ...
    def info(self, world: int, /) -> StepInfo: ...
    def system(self, world: int, /) -> System: ...
    @property
    def time(self) -> Any: ...
    @property
    def q(self) -> Any: ...
    @property
    def v(self) -> Any: ...
    @property
    def controls(self) -> Any: ...
    @property
    def parameters(self) -> Any: ...
    @property
    def sensors(self) -> Any: ...
    @property
    def control_names(self) -> tuple[str, ...]: ...
    @property
    def parameter_names(self) -> tuple[str, ...]: ...
    @property
    def sensor_names(self) -> tuple[str, ...]: ...
    @property
    def status(self) -> Array: ...
    @property
    def failures(self) -> int: ...
    @property
    def worlds(self) -> int: ...
    @property
    def scene(self) -> Scene: ...
    @property
    def settings(self) -> dict[str, Any]: ...

# Joint coordinates

_BodyForces = Sequence[tuple[_Body, _Numbers, _Numbers] | tuple[_Body, _Numbers, _Numbers, _Numbers]]

@final
class Articulation:
    def read(self, /) -> None: ...
    def write(self, /) -> None: ...
    def links(self, /) -> Table[Link]: ...
    def loops(self, /) -> list[int]: ...
    def joint(self, joint: _Body, /) -> tuple[Array, Array]: ...
    def set_joint(self, /, joint: _Body, q: _Numbers | None = None, v: _Numbers | None = None) -> None: ...
    def outside(self, /) -> tuple[int, int]: ...
    def loop_error(self, /) -> float: ...
    def move(self, /, q: _Numbers, v: _Numbers, h: float = 1.0) -> Array: ...
    def difference(self, q0: _Numbers, q1: _Numbers, /) -> Array: ...
    def point(self, /, body: _Body, point: _Numbers | None = None, acceleration: _Numbers | None = None) -> PointMotion: ...
    def frame(self, /, name: str, acceleration: _Numbers | None = None) -> PointMotion: ...
    def jacobian(self, /, body: _Body, point: _Numbers | None = None) -> Array: ...
    def jacobian_rate(self, /, body: _Body, point: _Numbers | None = None) -> Array: ...
    def centre_of_mass(self, /, body: _Body | None = None) -> CentreOfMass: ...
    def momentum_matrix(self, /, body: _Body | None = None) -> Array: ...
    def mass_matrix(self, /) -> Array: ...
    def mass_factor(self, /) -> tuple[Array, Array]: ...
    def mass_product(self, x: _Numbers, /) -> Array: ...
    def mass_solve(self, x: _Numbers, /) -> Array: ...
    def coriolis(self, /) -> Array: ...
    def gravity(self, /) -> Array: ...
    def inverse_dynamics(self, /, acceleration: _Numbers | None = None, forces: _BodyForces | None = None) -> Array: ...
    def inverse_contacts(self, /, touches: Sequence[tuple[_Body, _Numbers, _Numbers, float] | tuple[_Body, _Numbers, _Numbers, float, _Body]], acceleration: _Numbers | None = None, driven: _Numbers | None = None) -> tuple[Array, Array, float]: ...
    def forward_dynamics(self, /, tau: _Numbers | None = None, forces: _BodyForces | None = None) -> Array: ...
    def reach(self, /, targets: Sequence[tuple[_Body, _Numbers, _Numbers] | tuple[_Body, _Numbers, _Numbers, _Numbers]], held: _Numbers | None = None, tolerance: float = 1e-09, max_iterations: int = 200) -> Reach: ...
    @property
    def q(self) -> Array: ...
    @q.setter
    def q(self, value: _Numbers) -> None: ...
    @property
    def v(self) -> Array: ...
    @v.setter
    def v(self, value: _Numbers) -> None: ...

# Recordings

@final
class Recorder:
    def close(self, /, outcome: str = "finished", message: str = "") -> None: ...
    def __enter__(self, /) -> Recorder: ...
    def __exit__(self, type: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None, /) -> None: ...
    @property
    def closed(self) -> bool: ...
    @property
    def path(self) -> str: ...
    @property
    def size(self) -> int: ...

@final
class Recording:
    def __new__(cls, path: _Path) -> Recording: ...
    def steps(self, /) -> Table[RecordedStep]: ...
    def frames(self, /) -> Table[RecordedFrame]: ...
    def poses(self, /, frame: int | None = None) -> Array: ...
    def velocities(self, /, frame: int | None = None) -> Array: ...
    def contacts(self, /, frame: int | None = None) -> Table[RecordedContact]: ...
    def joints(self, /, frame: int | None = None) -> Table[RecordedJoint]: ...
    def springs(self, /, frame: int | None = None) -> Table[RecordedSpring]: ...
    def events(self, /) -> Table[RecordedEvent]: ...
    def checkpoints(self, /) -> Table[Checkpoint]: ...
    def scene(self, /, overrides: _Overrides | None = None) -> Scene: ...
    def restore(self, /, system: System, checkpoint: int = -1) -> None: ...
    def write_csv(self, path: _Path, /) -> None: ...
    def write_vtk(self, folder: _Path, /) -> None: ...
    def curves(self, /) -> str: ...
    def plot(self, /, path: _Path, curves: str | Sequence[str], over: str | None = None) -> None: ...
    def close(self, /) -> None: ...
    def __enter__(self, /) -> Recording: ...
    def __exit__(self, type: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None, /) -> None: ...
    @property
    def info(self) -> RecordingInfo: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def model(self) -> dict[str, Any]: ...

# Problems

_Columns = tuple[Array, Array, Array]

@final
class FrictionProblem:
    def __new__(cls, mu: _Numbers, dim: int = 3, *, W: _Matrix | None = None, q: _Numbers | None = None, V: _Matrix | None = None, R: _Matrix | None = None, s: _Numbers | None = None, M: _Matrix | None = None, H: _Matrix | None = None, f: _Numbers | None = None, w: _Numbers | None = None, G: _Matrix | None = None, b: _Numbers | None = None, mu_roll: _Numbers | None = None, mu_spin: _Numbers | None = None) -> FrictionProblem: ...
    def solve(self, /, solver: str | Callable[[ReducedProblem, Array], _Numbers] = "auto", tolerance: float | None = None, max_iterations: int | None = None, start: _Numbers | None = None, all_errors: bool = True, threads: int = 1, parameters: dict[str, float] | None = None, history: bool = False) -> Solution: ...
    def error(self, r: _Numbers, /) -> FrictionError: ...
    def accepts(self, solver: str, /) -> bool: ...
    def lowest(self, /) -> float: ...
    def contradiction(self, /) -> float: ...
    def determined(self, /, r: _Numbers, weight: _Numbers | None = None, tolerance: float = 0.0) -> Determined: ...
    def write(self, /, path: _Path, title: str | None = None, description: str | None = None, r: _Numbers | None = None, u: _Numbers | None = None, v: _Numbers | None = None) -> None: ...
    @property
    def form(self) -> Literal["local", "global"]: ...
    @property
    def dim(self) -> int: ...
    @property
    def n_contacts(self) -> int: ...
    @property
    def n_v(self) -> int: ...
    @property
    def n_l(self) -> int: ...
    @property
    def W(self) -> _Columns | None: ...
    @property
    def V(self) -> _Columns | None: ...
    @property
    def R(self) -> _Columns | None: ...
    @property
    def M(self) -> _Columns | None: ...
    @property
    def H(self) -> _Columns | None: ...
    @property
    def G(self) -> _Columns | None: ...
    @property
    def q(self) -> Array | None: ...
    @property
    def s(self) -> Array | None: ...
    @property
    def f(self) -> Array | None: ...
    @property
    def w(self) -> Array | None: ...
    @property
    def b(self) -> Array | None: ...
    @property
    def mu(self) -> Array: ...
    @property
    def mu_roll(self) -> Array | None: ...
    @property
    def mu_spin(self) -> Array | None: ...
    @property
    def stored(self) -> Array | None: ...

@final
class ReducedProblem:
    def apply(self, r: _Numbers, /) -> Array: ...
    def residual(self, r: _Numbers, /) -> float: ...
    def project(self, r: _Numbers, /) -> Array: ...
    def matrix(self, /) -> tuple[list[float], list[int], list[int]]: ...
    @property
    def b(self) -> Array: ...
    @property
    def rho(self) -> Array: ...
    @property
    def contacts(self) -> list[tuple[str, int, int, float, float, float, float, float]]: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def max_iterations(self) -> int: ...

@final
class LcpProblem:
    def __new__(cls, M: _Matrix, q: _Numbers, free: Sequence[bool] | None = None) -> LcpProblem: ...
    def solve(self, /, tolerance: float = 1e-08) -> LcpSolution: ...
    def write(self, /, path: _Path, title: str | None = None, description: str | None = None) -> None: ...
    @property
    def n(self) -> int: ...
    @property
    def M(self) -> _Columns: ...
    @property
    def q(self) -> Array: ...

# Reports: named tuples (struct sequences) whose fields help() explains

class StepInfo(NamedTuple):
    time: float
    h: float
    steps: int
    converged: bool
    residual: float
    worst_residual: float
    unconverged: int
    iterations: int
    solver: str | None
    fallback: str | None
    contacts: int
    joints: int
    asleep: int
    islands: int
    collisions: int
    transitions: int
    problems: int
    accumulated: bool
    overlapping: int
    undetermined: int
    penetration: float
    joint_error: float
    joint_residual: float
    impact_gain: float
    recovery: float
    attempts: int
    joint_opening: float
    drift_fallbacks: int
    rebounds_limited: int
    kinetic: float
    potential: float
    friction: float
    work: float
    damping: float
    impacts: float
    correction: float
    scheme: float
    unexplained: float
    struck: int
    force_time: float
    force_h: float
    law_change: float
    redundant_rows: int
    cone_violation: float
    complementarity: float

class Contact(NamedTuple):
    id: int
    a: int
    b: int
    shape_a: int
    shape_b: int
    joint: int
    point: Vector
    normal: Vector
    tangent: Vector
    gap: float
    asleep: bool
    dim: int
    velocity: tuple[float, float, float, float, float, float]
    impulse: tuple[float, float, float, float, float, float]
    impact: tuple[float, float, float, float, float, float]
    force: Vector
    torque: Vector
    struck: bool

class Joint(NamedTuple):
    id: int
    point: Vector
    impulse: Vector
    angular_impulse: Vector
    impact: Vector
    angular_impact: Vector
    force: Vector
    torque: Vector
    error: float
    coordinate: float
    speed: float
    motor: float
    friction: float
    limit: float
    spring: float
    other: float
    other_speed: float
    other_limit: float
    gear: float
    struck: bool

class Spring(NamedTuple):
    id: int
    point_a: Vector
    point_b: Vector
    length: float
    rate: float
    force: float
    force_on_b: Vector
    torque_on_b: Vector

class Event(NamedTuple):
    kind: str
    time: float
    contact: int
    a: int
    b: int
    point: Vector
    normal: Vector
    before: float
    after: float
    impulse: float

class Island(NamedTuple):
    bodies: int
    contacts: int
    rows: int
    converged: bool
    residual: float
    iterations: int
    solver: str | None

class RayHit(NamedTuple):
    shape: int
    body: int
    distance: float
    point: Vector
    normal: Vector

class Closest(NamedTuple):
    shape: int
    body: int
    gap: float
    point: Vector
    other: Vector
    normal: Vector

class Link(NamedTuple):
    body: int
    parent: int
    joint: int
    type: str
    reversed: bool
    first_q: int
    n_q: int
    first_v: int
    n_v: int

class PointMotion(NamedTuple):
    position: Vector
    velocity: Vector
    acceleration: Vector
    orientation: Quaternion
    spin: Vector
    spin_rate: Vector

class CentreOfMass(NamedTuple):
    mass: float
    position: Vector
    velocity: Vector
    angular_momentum: Vector

class Reach(NamedTuple):
    reached: bool
    iterations: int
    error: float
    at_limits: int

class Pose(NamedTuple):
    position: Vector
    orientation: Quaternion

class Velocity(NamedTuple):
    linear: Vector
    spin: Vector

class Energy(NamedTuple):
    kinetic: float
    potential: float

class Force(NamedTuple):
    force: Vector
    torque: Vector

class Momentum(NamedTuple):
    linear: Vector
    angular: Vector

class Setting(NamedTuple):
    key: str
    kind: str
    unit: str
    help: str
    words: tuple[str, ...] | None
    range: tuple[float, float] | None

class RecordingInfo(NamedTuple):
    format: int
    version: str
    created: str
    name: str
    description: str
    label: str
    outcome: str
    message: str
    wall: float
    closed: bool
    n_bodies: int
    n_joints: int
    n_frames: int
    n_steps: int
    n_contacts: int
    n_events: int
    n_checkpoints: int
    rate: float
    first: float
    last: float
    bytes: int
    stage_seconds: tuple[float, ...]
    text: str
    sets: tuple[str, ...]

class RecordedStep(NamedTuple):
    time: float
    h: float
    contacts: int
    collisions: int
    iterations: int
    overlapping: int
    asleep: int
    converged: int
    solver: str
    residual: float
    penetration: float
    joint_error: float
    kinetic: float
    potential: float
    wall: float
    joint_residual: float
    friction: float
    force_time: float
    force_h: float
    struck: int
    work: float
    damping: float
    impacts: float
    correction: float
    scheme: float
    unexplained: float

class RecordedFrame(NamedTuple):
    time: float
    step: int
    first_contact: int
    n_contacts: int

class RecordedContact(NamedTuple):
    id: int
    a: int
    b: int
    point: Vector
    normal: Vector
    impulse: Vector
    impact: Vector
    velocity: Vector
    gap: float

class RecordedJoint(NamedTuple):
    force: Vector
    torque: Vector
    coordinate: float
    speed: float
    other: float
    other_speed: float
    motor: float
    error: float
    friction: float
    limit: float
    spring: float
    gear: float

class RecordedSpring(NamedTuple):
    length: float
    rate: float
    force: float
    force_on_b: Vector
    torque_on_b: Vector

class RecordedEvent(NamedTuple):
    time: float
    step: int
    kind: str
    a: int
    b: int
    point: Vector
    normal: Vector
    before: float
    after: float
    impulse: float

class Checkpoint(NamedTuple):
    time: float
    step: int
    hash: int
    offset: int
    bytes: int

class Solution(NamedTuple):
    r: Array
    u: Array
    v: Array | None
    l: Array | None
    converged: bool
    residual: float
    iterations: int
    solver: str | None
    fallback: str | None
    error: float
    error_rho: float
    equality: float
    certified: float
    cone_violation: float
    penetration: float
    complementarity: float
    worst_contact: int
    history: list[Progress] | None

class Progress(NamedTuple):
    solver: str | None
    iteration: int
    residual: float
    work: float

class FrictionError(NamedTuple):
    error: float
    error_rho: float
    equality: float
    rounding: float
    certified: float
    cone_violation: float
    penetration: float
    complementarity: float
    worst_contact: int

class Determined(NamedTuple):
    determined: list[bool]
    least: Array
    active_rows: int
    rank: int
    undetermined_contacts: int

class LcpSolution(NamedTuple):
    z: Array
    w: Array
    outcome: str
    pivots: int
    error: float
    error_rho: float
    certified: float
    violation: float
    complementarity: float

