"""Reports to rollout what a test runner finds, each line signed with a key that is read once and then gone."""

# This runs in the sandbox, under whatever Python is there, before all else.
# mypy: ignore-errors
# ruff: noqa: B905, PTH100, PTH109, PTH118, PTH119, PTH120, PTH123

import _thread
import hashlib
import hmac
import json
import os
import sys
import types

_KIT = os.path.dirname(os.path.abspath(__file__))


def open_report():
    """A generator that writes the events it is sent, or None where nobody asked, or where another process has the key.

    The first it is sent are the code objects that it takes events from.
    """
    folder = os.environ.pop("ROLLOUT_WITNESS", None)
    if not folder:
        return None
    try:
        pipe = os.open(folder + "/key", os.O_RDONLY | os.O_NONBLOCK)
        try:
            key = os.read(pipe, 4096)
        finally:
            os.close(pipe)
        report = os.open(folder + "/report", os.O_WRONLY)
    except OSError:
        return None
    if not key:
        return None
    writer = _write(key, report)
    next(writer)
    return writer


def _write(key, report):
    # What is kept here lies in the frame of a generator: Python itself tells the watch below when somebody asks for it.
    # All that is used later is taken now, before anybody can put something else in its place.
    signed, dumps, write, getpid = hmac.new(key, digestmod=hashlib.sha256), json.dumps, os.write, os.getpid
    getframe, owner, mark = sys._getframe, os.getpid(), b""
    del key
    allowed = yield
    event = yield
    while True:
        if getpid() == owner:
            caller = getframe(1).f_code
            if not any(caller is each for each in allowed):
                event = {"t": "problem", "what": "code under test wrote results of its own"}
            text = dumps(event).encode("ascii")
            seal = signed.copy()
            seal.update(mark + text)
            mark = seal.hexdigest().encode("ascii")
            line = mark + b" " + text + b"\n"
            while line:
                line = line[write(report, line) :]
        event = yield


def voice(writer, asks):
    """A function that tells one event, from the main thread and one at a time; ``asks()`` names a stranger in the stack
    of calls that may not tell anything but problems."""
    lock, owner, get_ident = _thread.RLock(), _thread.get_ident(), _thread.get_ident
    send, told = writer.send, []

    def tell(**event):
        with lock:
            if event["t"] != "problem":
                caller = "a thread" if get_ident() != owner else asks()
                if caller is not None:
                    event = {
                        "t": "problem",
                        "what": "“" + os.path.basename(caller) + "” wrote results of its own",
                    }
            if event["t"] == "problem":
                if told:
                    return
                told.append(event)
            send(event)

    writer.send((tell.__code__,))
    return tell


def trusted_files():
    """The files of the project that are as the environment has them, as absolute paths, with their digests."""
    try:
        with open(os.path.join(_KIT, "trusted.json"), encoding="utf-8") as file:
            digests = json.load(file)
    except (OSError, ValueError):
        return {}
    here = os.getcwd()
    return {os.path.join(here, name): digest for name, digest in digests.items()}


def changed():
    """A function that gives the name of code of the environment's that is no longer what was laid down, or None."""
    trusted = {path: digest for path, digest in trusted_files().items() if path.endswith(".py")}
    sha256, opened, names = hashlib.sha256, open, {path: os.path.basename(path) for path in trusted}

    def find():
        for path, digest in trusted.items():
            try:
                with opened(path, "rb") as file:
                    found = sha256(file.read()).hexdigest()
            except OSError:
                found = None
            if found != digest:
                return names[path]
        return None

    return find


def take_path_back():
    """Lets the working folder be imported from, as `python -m` would have it, now that the runner itself is loaded."""
    if os.environ.pop("PYTHONSAFEPATH", None) and "-m" in sys.orig_argv[1:]:
        sys.path.insert(0, os.getcwd())
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != _KIT]
    if paths:
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    else:
        os.environ.pop("PYTHONPATH", None)


def seal(*modules):
    """A function that names what has been changed in these modules and their classes: put in the place of something,
    added to a class, or given other code."""
    homes = []
    for module in modules:
        homes.append((module.__name__, module, False))
        for name, member in list(vars(module).items()):
            if isinstance(member, type) and member.__module__ == module.__name__:
                homes.append((module.__name__ + "." + name, member, True))
    return _seal(homes)


def seal_class(home):
    """As :func:`seal`, for one class."""
    return _seal([(home.__name__, home, True)])


def _seal(homes):
    missing, watched = object(), (types.FunctionType, type, type(len), staticmethod, classmethod, property)
    inert = (
        "__doc__",
        "__abstractmethods__",
        "_abc_impl",
        "__annotations__",
        "__weakref__",
        "__dict__",
        "__slotnames__",
    )

    def insides(member):
        if isinstance(member, property):
            return tuple(insides(each) for each in (member.fget, member.fset, member.fdel))
        member = getattr(member, "__func__", member)
        if type(member) is not types.FunctionType:
            return None
        # A decorator keeps what it decorates in a cell.
        cells = tuple(
            each.cell_contents.__code__ if type(each.cell_contents) is types.FunctionType else None
            for each in (member.__closure__ or ())
            if each != types.CellType()
        )
        return (member.__code__, member.__defaults__, cells)

    kept = []
    for title, home, is_class in homes:
        members = {
            name: (member, insides(member))
            for name, member in vars(home).items()
            if isinstance(member, watched)
        }
        kept.append((title, home, members, frozenset(vars(home)) if is_class else None))

    def same(before, now):
        # Defaults may have an equality of their own, so they are compared by identity.
        return now == before or (
            isinstance(before, tuple)
            and isinstance(now, tuple)
            and len(before) == len(now)
            and all(a is b or (isinstance(a, tuple) and same(a, b)) for a, b in zip(before, now))
        )

    def broken():
        for title, home, members, names in kept:
            now = vars(home)
            for name, (member, inside) in members.items():
                if name in inert:
                    continue
                found = now.get(name, missing)
                if found is not member or (inside is not None and not same(inside, insides(found))):
                    return title + "." + name
            if names is not None:
                for name, member in list(now.items()):
                    # Plain values are what classes keep notes in.
                    acts = callable(member) or hasattr(type(member), "__get__")
                    if acts and name not in names and name not in inert:
                        return title + "." + name
        return None

    return broken


def broken_assertion(case):
    """The name of an assertion of a TestCase that holds though it must not, or None."""
    for name, arguments in (
        ("assertEqual", (1, 2)),
        ("assertIs", (1, 2)),
        ("assertIn", (1, [2])),
        ("assertTrue", (0,)),
    ):
        try:
            getattr(case, name)(*arguments)
        except AssertionError:
            continue
        except Exception:
            return name
        return name
    return None


def homes_of_python():
    """The beginnings of the paths of all that is installed, Python's own library first."""
    import sysconfig

    homes = [_KIT, sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    homes += [os.path.dirname(os.__file__)]
    homes += [entry for entry in sys.path if os.path.basename(entry) in ("site-packages", "dist-packages")]
    here = os.getcwd() + os.sep
    # A folder of the project that is called like one of these is the project's.
    return tuple(
        home + os.sep for home in dict.fromkeys(homes) if home and not (home + os.sep).startswith(here)
    )


def stranger(anchors=()):
    """A function that gives the file of a caller that is no part of Python or of what is installed, or None; code under
    test is one. Where ``anchors`` are given, one of these code objects has to be among the callers."""
    homes = homes_of_python()
    scripts = os.path.abspath(sys.argv[0]) if sys.argv and sys.argv[0] else ""
    getframe, trusted = sys._getframe, trusted_files()

    def find():
        frame, anchored = getframe(1), not anchors
        while frame is not None:
            code = frame.f_code
            name = code.co_filename
            known = name == scripts or name.startswith(("<frozen ", *homes))
            # A conftest.py may run tests in its own way; it is the environment's.
            known = known or (os.path.basename(name) == "conftest.py" and name in trusted)
            if not known and not (frame.f_back is None and code.co_name == "<module>"):
                return name
            anchored = anchored or any(code is each for each in anchors)
            frame = frame.f_back
        return None if anchored else "code that runs outside of the tests"

    return find


_FRAMES = ("tb_frame", "gi_frame", "cr_frame", "ag_frame", "f_back", "f_globals", "f_locals", "f_builtins")
_EVENTS = frozenset(
    (
        *("sys._getframe", "sys._current_frames", "sys._current_exceptions", "sys._getframemodulename"),
        *("sys.settrace", "sys.setprofile", "sys.monitoring.register_callback", "sys.addaudithook"),
        *("gc.get_objects", "gc.get_referrers", "gc.get_referents", "code.__new__", "marshal.loads"),
    )
)
_HOMES = (
    "pytest",
    "_pytest",
    "pluggy",
    "unittest",
    "rollout_witness",
    "rollout_witness_pytest",
    "gc",
    "ctypes",
)
_NAMES = frozenset(_HOMES) | {
    *(
        "_exit",
        "_getframe",
        "settrace",
        "setprofile",
        "get_objects",
        "get_referrers",
        "__code__",
        "__closure__",
    ),
    *("__globals__", "__subclasses__", "__builtins__", "PYTEST_CURRENT_TEST", *_FRAMES),
}


def watch(tell):
    """Tells, for as long as the process lives, when code that the agent wrote reaches for what runs the tests.

    Python calls an audit hook at such places, and has no way to take one out.
    """
    homes, trusted, getframe = homes_of_python(), trusted_files(), sys._getframe
    own = [watch.__code__, _write.__code__]
    busy, abspath, fsdecode = [], os.path.abspath, os.fsdecode
    writing = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC

    def suspect(past_installed=False):
        # The file that asks, unless it is installed or as the environment has it. What a text was made code of is asked
        # for by whoever did that.
        frame = getframe(2)
        while frame is not None:
            code = frame.f_code
            name = code.co_filename
            if name.startswith(("<frozen ", *homes)) or any(code is each for each in own):
                if not past_installed:
                    return None
                frame = frame.f_back
                continue
            if not name.startswith("<"):
                return None if name in trusted else name
            frame = frame.f_back
        return None

    def described(name, what):
        return "“" + os.path.basename(name) + "” reached for “" + what + "” while the tests ran"

    def names_in(code, depth=0):
        found = set(code.co_names)
        for each in code.co_consts:
            if isinstance(each, types.CodeType) and depth < 40:
                found |= names_in(each, depth + 1)
            elif isinstance(each, str):
                found.add(each)
        return found

    def is_code_of_ours(path):
        if not isinstance(path, (str, bytes)):
            return False
        name = fsdecode(path)
        return name.endswith(".py") and abspath(name) in trusted

    def hook(event, args):
        if event == "import" or event == "compile" or busy:
            return
        what = None
        if event == "open":
            if args[2] & writing and is_code_of_ours(args[0]):
                what = fsdecode(args[0])
        elif event in ("os.rename", "os.remove", "os.truncate", "os.link", "os.symlink", "os.chmod"):
            what = next((fsdecode(each) for each in args[:2] if is_code_of_ours(each)), None)
        elif event in _EVENTS or event.startswith("ctypes."):
            what = event
        elif event == "object.__getattr__":
            what = args[1] if args[1] in _FRAMES else None
        elif event == "object.__setattr__":
            what = args[1] if args[1] in ("__code__", "__defaults__", "__kwdefaults__", "__bases__") else None
        elif event == "pickle.find_class":
            what = args[0] if str(args[0]).partition(".")[0] in _HOMES else None
        elif event == "exec":
            busy.append(event)
            try:
                # Modules are read beforehand; this is for text that is made code of while it runs.
                is_text = args[0].co_filename.startswith("<") and not args[0].co_filename.startswith(
                    "<frozen "
                )
                reached = (is_text or suspect()) and names_in(args[0]) & _NAMES
                name = suspect(past_installed=is_text) if reached else None
                if name is not None:
                    tell(t="problem", what=described(name, min(reached)))
            finally:
                busy.pop()
        if what is None:
            return
        busy.append(event)
        try:
            name = suspect()
            if name is not None:
                tell(
                    t="problem",
                    what="“" + os.path.basename(name) + "” reached for “" + what + "” while the tests ran",
                )
        finally:
            busy.pop()

    own.append(hook.__code__)
    sys.addaudithook(hook)


def origins():
    """A function that gives the file an exception comes from, as a path in the project: the last one on its way that is
    not installed; an empty text where there is none."""
    homes, here = homes_of_python(), os.getcwd() + os.sep

    def find(error):
        found, traceback = "", getattr(error, "__traceback__", None)
        while traceback is not None:
            name = traceback.tb_frame.f_code.co_filename
            if not name.startswith(("<frozen ", *homes)):
                found = name
            traceback = traceback.tb_next
        return found[len(here) :] if found.startswith(here) else found

    return find
