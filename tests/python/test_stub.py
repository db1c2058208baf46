"""stiction.pyi lists the contents of the module: every name, every argument with its default, every field of every report; and
everything has a docstring."""
import ast
import inspect
import pathlib
import unittest

import stiction
import support

STUB = ast.parse((pathlib.Path(stiction.__file__).parent / "stiction.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")}
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
NAMED_TUPLES = {name: node for name, node in CLASSES.items() if any(ast.unparse(b) == "NamedTuple" for b in node.bases)}
ALIASES = {"Vector", "Quaternion"}  # of the stub alone
KINDS = inspect.Parameter


def stub_signature(node):
    """[(name, kind, default)] of a def; without self or cls."""
    args = node.args
    positional = [(a.arg, KINDS.POSITIONAL_ONLY) for a in args.posonlyargs] + [
        (a.arg, KINDS.POSITIONAL_OR_KEYWORD) for a in args.args
    ]
    defaults = [None] * (len(positional) - len(args.defaults)) + args.defaults
    result = [
        (name, kind, ast.literal_eval(d) if d is not None else KINDS.empty)
        for (name, kind), d in zip(positional, defaults)
    ]
    for a, d in zip(args.kwonlyargs, args.kw_defaults):
        result.append((a.arg, KINDS.KEYWORD_ONLY, ast.literal_eval(d) if d is not None else KINDS.empty))
    if args.kwarg:
        result.append((args.kwarg.arg, KINDS.VAR_KEYWORD, KINDS.empty))
    return [entry for entry in result if entry[0] not in ("self", "cls")]


def signature(thing):
    parameters = inspect.signature(thing).parameters.values()
    return [(p.name, p.kind, p.default) for p in parameters if p.name != "self"]


def is_overload(node):
    return any(ast.unparse(d) == "overload" for d in node.decorator_list)


def is_property(node):
    return any(ast.unparse(d) == "property" or ast.unparse(d).endswith(".setter") for d in node.decorator_list)


class Stub(unittest.TestCase):
    maxDiff = None

    def test_names(self):
        in_stub = set(CLASSES) | set(FUNCTIONS) | {"__version__"}
        in_module = {name for name in dir(stiction) if not name.startswith("__")} | {"__version__"}
        self.assertEqual(in_stub, in_module)

    def test_functions(self):
        for name, node in FUNCTIONS.items():
            self.assertEqual(stub_signature(node), signature(getattr(stiction, name)), name)

    def test_classes(self):
        for name, node in CLASSES.items():
            if name in NAMED_TUPLES or name == "Error":
                continue
            cls = getattr(stiction, name)
            members = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
            public = {m for m in vars(cls) if not m.startswith("_")}
            self.assertEqual({m for m in members if not m.startswith("_")}, public, name)
            for member, definition in members.items():
                where = f"{name}.{member}"
                if is_property(definition):
                    self.assertTrue(inspect.isgetsetdescriptor(getattr(cls, member)), where)
                elif member == "__new__":
                    self.assertEqual(stub_signature(definition), signature(cls), where)
                elif member in ("__iter__", "__len__", "__getitem__", "__buffer__"):
                    continue  # by slots
                elif not is_overload(definition):
                    self.assertEqual(stub_signature(definition), signature(getattr(cls, member)), where)

    def test_setters(self):
        setters = {
            (name, m.name)
            for name, node in CLASSES.items()
            for m in node.body
            if isinstance(m, ast.FunctionDef) and any(ast.unparse(d).endswith(".setter") for d in m.decorator_list)
        }
        self.assertEqual(setters, {("System", "time"), ("System", "q"), ("System", "v"), ("System", "controls"), ("Articulation", "q"), ("Articulation", "v")})

    def test_fields_of_reports(self):
        tuples = {
            n
            for n in dir(stiction)
            if isinstance(getattr(stiction, n), type) and issubclass(getattr(stiction, n), tuple)
        }
        self.assertEqual(set(NAMED_TUPLES), tuples)
        for name, node in NAMED_TUPLES.items():
            fields = tuple(m.target.id for m in node.body if isinstance(m, ast.AnnAssign))
            self.assertEqual(fields, getattr(stiction, name).__match_args__, name)

    def test_types_of_fields(self):
        system = support.system(support.drop(1), preset="accurate")
        while not len(system.events()):
            system.step()
        problem = system.problem(local=True)
        solution = problem.solve()
        samples = [
            system.step(),
            system.contacts()[0],
            system.pose(1),
            system.energy(),
            solution,
            problem.error(solution.r),
            system.ray((0, 0, 9), (0, 0, -1)),
            stiction.settings()[0],
            stiction.LcpProblem([[1.0]], [-1.0]).solve(),
        ]
        plain = {"int": int, "float": float, "bool": bool, "str": str, "Array": stiction.Array, "Vector": tuple}
        for sample in samples:
            node = NAMED_TUPLES[type(sample).__name__]
            for field in node.body:
                expected = plain.get(ast.unparse(field.annotation))
                if expected is not None:
                    self.assertIs(type(getattr(sample, field.target.id)), expected, f"{node.name}.{field.target.id}")


class Help(unittest.TestCase):
    def test_everything_has_words(self):
        self.assertGreater(len(stiction.__doc__), 200)
        for name in dir(stiction):
            thing = getattr(stiction, name)
            if name.startswith("__"):
                continue
            self.assertTrue(thing.__doc__, name)
            if not isinstance(thing, type) or issubclass(thing, tuple):
                continue
            for member, value in vars(thing).items():
                if not member.startswith("_"):
                    self.assertTrue(getattr(value, "__doc__", None) is not None, f"{name}.{member}")

    def test_fields_have_words(self):
        for name in NAMED_TUPLES:
            cls = getattr(stiction, name)
            for field in cls.__match_args__:
                self.assertIsNotNone(getattr(cls, field).__doc__, f"{name}.{field}")


if __name__ == "__main__":
    unittest.main()
