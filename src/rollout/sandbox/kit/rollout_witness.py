"""Reports to rollout what a test runner finds, each line signed with a key that is read once and then gone."""

# This runs in the sandbox, under whatever Python is there, before all else.
# mypy: ignore-errors
# ruff: noqa: PTH100, PTH109, PTH119, PTH120

import _thread
import hashlib
import hmac
import json
import mmap
import operator
import os
import sys
import types

import rollout_equal
import rollout_files
import rollout_watch

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
    send, told, getpid, process = writer.send, [], os.getpid, os.getpid()
    # A process that was forked has the watch, but not the report: what it sees is left here.
    left, dumps, loads = {kind: mmap.mmap(-1, 4096) for kind in ("problem", "doubt")}, json.dumps, json.loads

    def leave(event):
        if event["t"] in left:
            text = dumps({key: value[:400] for key, value in event.items()}).encode("ascii")
            left[event["t"]][: len(text)] = text

    def collect():
        for memory in left.values():
            text = memory[:].rstrip(b"\0")
            if text:
                memory[:] = bytes(4096)
                yield loads(text)

    def tell(**event):
        if getpid() != process:
            leave(event)
            return
        with lock:
            if event["t"] == "end":
                for found in collect():
                    send(found)
            if event["t"] == "doubt":
                send(event)
                return
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


def tell_replaced(tell, found):
    """Tells of what :func:`rollout_library.library` found."""
    if found is not None:
        what = "“" + found[0] + "” was replaced while the tests ran"
        if found[1]:
            tell(t="problem", what=what)
        else:
            tell(t="doubt", what=what, allow="“" + found[0] + "”")


def tell_equal(tell, name):
    """Tells of what :func:`rollout_equal.equalities` found."""
    if name is not None:
        what = "an object of “" + name + "” equals whatever it is compared with"
        tell(t="doubt", what=what, allow="“" + rollout_equal.ALWAYS + "”")


def watch(tell, laid):
    """Tells when code that the agent wrote reaches for what runs the tests."""
    rollout_watch.watch(tell, _write.__code__, laid)


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

    def functions(member):
        if isinstance(member, property):
            return [each for part in (member.fget, member.fset, member.fdel) for each in functions(part)]
        member = getattr(member, "__func__", member)
        return [member] if type(member) is types.FunctionType else []

    def inside(function):
        # A decorator keeps what it decorates in a cell.
        cells = [
            each.cell_contents.__code__ if type(each.cell_contents) is types.FunctionType else None
            for each in (function.__closure__ or ())
            if each != types.CellType()
        ]
        return [function.__code__, function.__defaults__, *cells]

    kept = []
    for title, home, is_class in homes:
        members = [
            (name, member, [(each, inside(each)) for each in functions(member)])
            for name, member in vars(home).items()
            if isinstance(member, watched) and name not in inert
        ]
        kept.append((title, home, members, frozenset(vars(home)) if is_class else None))

    def same(before, now):
        # Defaults may have an equality of their own.
        return len(before) == len(now) and all(map(operator.is_, before, now))

    def broken():
        for title, home, members, names in kept:
            now = vars(home)
            for name, member, inner in members:
                if now.get(name, missing) is not member:
                    return title + "." + name
                for function, before in inner:
                    if not same(before, inside(function)):
                        return title + "." + name
            if names is not None:
                for name, member in list(now.items()):
                    # Plain values are what classes keep notes in.
                    is_new = name not in names and name not in inert
                    if is_new and (callable(member) or hasattr(type(member), "__get__")):
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


def stranger(laid, anchors=()):
    """A function that gives the file of a caller that is no part of Python or of what is installed, or None; code under
    test is one. Where ``anchors`` are given, one of these code objects has to be among the callers."""
    homes = rollout_files.homes_of_python()
    scripts = os.path.abspath(sys.argv[0]) if sys.argv and sys.argv[0] else ""
    getframe, trusted = sys._getframe, laid.trusted

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


def origins(laid):
    """A function that gives the file an exception comes from, as a path in the project: the last one on its way that is
    not installed; an empty text where there is none."""
    homes, here = rollout_files.homes_of_python(), laid.root

    def find(error):
        found, traceback = "", getattr(error, "__traceback__", None)
        while traceback is not None:
            name = traceback.tb_frame.f_code.co_filename
            if not name.startswith(("<frozen ", *homes)):
                found = name
            traceback = traceback.tb_next
        return found[len(here) :] if found.startswith(here) else found

    return find
