"""Tells when code that the agent wrote reaches for what tests it, by an audit hook, which Python cannot take out."""

# This runs in the sandbox, under whatever Python is there, before all else.
# mypy: ignore-errors
# ruff: noqa: PTH206, PTH118, PTH120

import _thread
import os
import re
import sys

import rollout_frames
import rollout_handed
import rollout_lines
import rollout_programs
import rollout_texts

_EVENTS = frozenset(
    (
        *("sys._getframe", "sys._current_frames", "sys._current_exceptions", "sys._getframemodulename"),
        *("sys.settrace", "sys.setprofile", "sys.monitoring.register_callback", "sys.addaudithook"),
        *("gc.get_objects", "gc.get_referrers", "gc.get_referents", "code.__new__", "marshal.loads"),
    )
)
# What changes files, with the places of its arguments that are paths, of one that is made, and of folders' numbers.
_CHANGES = {
    "os.rename": ((0, 1), 1, (2, 3)),
    "os.link": ((0, 1), 1, (2, 3)),
    "os.symlink": ((0, 1), 1, (2,)),
    "os.mkdir": ((), 0, (2,)),
    "os.remove": ((0,), None, (1,)),
    "os.rmdir": ((0,), None, (1,)),
    "os.truncate": ((0,), None, ()),
    "os.chmod": ((0,), None, (2,)),
    "os.chown": ((0,), None, (3,)),
    "os.utime": ((0,), None, (3,)),
    "shutil.rmtree": ((0,), None, ()),
    "shutil.move": ((0, 1), 1, ()),
}
_ALSO_CALLED = {"code.__new__": "__code__"}
# Parts of Python that run text which they are given, where others run what they make themselves.
_RUNS_TEXT = frozenset(
    (
        *(
            "timeit.py",
            "code.py",
            "codeop.py",
            "runpy.py",
            "profile.py",
            "cProfile.py",
            "trace.py",
            "doctest.py",
        ),
        *(
            "pdb.py",
            "bdb.py",
            "pydoc.py",
            "gettext.py",
            "config.py",
            "site.py",
            "ast.py",
            "inspect.py",
            "rlcompleter.py",
        ),
    )
)


def watch(tell, writer_code, laid):
    """Tells, for as long as the process lives, when code that the agent wrote reaches for what runs the tests, or for
    what these are made of. ``writer_code`` is the code of what keeps the key."""
    getframe, frames, get_ident = sys._getframe, sys._current_frames, _thread.get_ident
    trusted, tests, root, callers = (
        laid.trusted,
        laid.tests,
        laid.root,
        rollout_frames.Callers(laid, writer_code),
    )
    busy, abspath, fsdecode, basename, isfile = (
        set(),
        os.path.abspath,
        os.fsdecode,
        os.path.basename,
        os.path.isfile,
    )
    getcwd, split, find_parts = os.getcwd, os.path.split, re.findall
    writing = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
    started_in, moved, doubts, anyhow = getcwd(), [], [], rollout_handed.anyhow(root)

    of_frames = frozenset(rollout_texts.FRAMES)
    main, executable, modules, is_installed = get_ident(), sys.executable, sys.modules, callers.is_installed

    def path_of(value):
        return (
            abspath(fsdecode(value)) if type(value) in (str, bytes) or rollout_handed.is_path(value) else None
        )

    def short(path):
        return path[len(root) :] if path.startswith(root) else path

    def opened(frame, args):
        name = args[0]
        if type(name) not in (str, bytes):
            return
        name = fsdecode(name)
        base, writes = basename(name), bool(type(args[2]) is int and args[2] & writing)
        if base.endswith(".pyc") and not writes:
            cached(name)
        elif base == "mem" and abspath(name).startswith("/proc/"):
            found, _ = callers.opening(frame)
            if found is not None:
                reached(found.f_code.co_filename, name)
        elif base in laid.names or writes:
            find = laid.plainly_meant if writes else laid.meant
            path = (find(name) if base in laid.names else None) or abspath(name)
            if writes:
                written(frame, path)
            elif path in laid.secret:
                read(frame, path, abspath(name))

    def cached(name):
        # Nothing that was laid down is compiled, and nothing compiled is kept.
        path = abspath(name)
        home, base = split(path)
        stem = base.partition(".")[0]
        above = os.path.dirname(home) if basename(home) == "__pycache__" else home
        of_tests = stem in laid.stems or os.path.join(above, stem + ".py") in tests
        if of_tests and not is_installed(path) and isfile(path):
            complain("other code was put in the place of “" + stem + ".py” while the tests ran")

    def written(frame, path):
        if path in laid.guarded:
            found, is_test = callers.opening(frame)
            if found is None:
                if is_test:
                    laid.spared.add(path)
                return
            is_data = (path in tests or path in laid.secret) and not path.endswith(
                (".py", ".ini", ".cfg", ".toml")
            )
            if is_data and handed(found, path):
                laid.spared.add(path)
                if path in laid.secret:
                    # It may be what a later test compares with.
                    doubt(found, "wrote to “" + short(path) + "”, which is hidden", "the file")
                return
            reached(found.f_code.co_filename, short(path))
        elif laid.is_impostor(path):
            found, _ = callers.opening(frame)
            if found is not None:
                reached(found.f_code.co_filename, short(path))

    def handed(frame, path):
        return rollout_handed.by_call(rollout_handed.entry(frame, tests | trusted.keys(), is_installed), path)

    def read(frame, path, by):
        found, is_test = callers.opening(frame)
        if found is None:
            if not is_test and get_ident() != main:
                read_aside(path, by)
            return
        if callers.is_import(frame):
            # A test is in the runner's hands already.
            if path in tests:
                doubt_reading(found, path)
            return
        entry = rollout_handed.entry(found, tests | trusted.keys(), is_installed)
        shown_by = callers.shown_by(frame)
        if shown_by is not None:
            if shown_by != "inspect.py" or not rollout_handed.by_member(entry, path):
                # What shows an error or a warning goes without the line.
                raise OSError("This file is hidden from the code that it tests.")
            doubt(found, "asked for the source of what “" + short(path) + "” handed over", "the file")
            return
        name = found.f_code.co_filename
        if entry.f_code.co_name == "<module>":
            reached(name, short(path))
            return
        named = laid.is_named(path)
        # A test may have handed over a copy.
        if rollout_handed.by_call(entry, path) or rollout_handed.by_call(entry, by):
            if named:
                doubt_reading(found, path)
        elif named:
            reached(name, short(path))
        elif (moved or getcwd() == started_in) and not (anyhow(entry, path) or anyhow(entry, by)):
            doubt_reading(found, path)

    def read_aside(path, by):
        # A thread in which nothing of anybody's runs; who waits for it may have started it.
        found, is_test = callers.opening(frames().get(main))
        if found is not None:
            entry = rollout_handed.entry(found, tests | trusted.keys(), is_installed)
            is_test = anyhow(entry, path) or anyhow(entry, by)
        if path in tests or laid.is_named(path) or not is_test:
            doubt_reading(None, path)

    def changes(paths, target, folders):
        def changed(frame, args):
            if any(args[place] not in (-1, None) for place in folders):
                # The path is one below a folder that is not said.
                return
            if target is not None and (path := path_of(args[target])) is not None and laid.is_impostor(path):
                written(frame, path)
            for path in [path_of(args[place]) for place in paths]:
                if path in laid.guarded:
                    written(frame, path)
                elif path is not None and (path + os.sep).startswith(root):
                    moved_with(frame, path)

        return changed

    def moved_with(frame, path):
        inside = [each for each in laid.guarded if each.startswith(path + os.sep)]
        if inside:
            found, is_test = callers.opening(frame)
            if found is not None:
                reached(found.f_code.co_filename, short(path))
            elif is_test:
                laid.spared.update(inside)

    def left(frame, args):
        found, _ = callers.opening(frame)
        path = path_of(args[0])
        if found is not None and path is not None and not handed(found, path):
            moved.append(path)

    def starter(name):
        def started_by(frame, args):
            if name == "multiprocessing" and rollout_programs.is_tracker(args[0], executable):
                return
            expect_named(frame, args)
            by, asked = callers.nearest(frame), "subprocess" if is_of_subprocess(frame) else name
            if not laid.secret or laid.is_allowed(asked) or by in laid.starters:
                return
            found, _ = callers.opening(frame)
            # A thread may have nothing else to do.
            if found is None and (by is not None or get_ident() == main):
                return
            doubt(found, "started a program, which can read what is hidden", "“" + asked + "”")

        return started_by

    def is_of_subprocess(frame):
        # It starts programs by what may be called without it, and by which differs between versions of Python.
        names = (frame.f_code.co_filename, _caller(frame))
        return any(basename(each) == "subprocess.py" and is_installed(each) for each in names)

    def expect_named(frame, args):
        said = []
        pieces = list(args[:2])
        while pieces:
            each = pieces.pop()
            if type(each) in (list, tuple):
                pieces += each
            elif type(each) in (str, bytes):
                said.append(fsdecode(each))
        parts = set(find_parts("[^\\s\"'`<>|;&()=/]+", " ".join(said)))
        for path in laid.secret:
            if parts.issuperset(short(path).split(os.sep)):
                read(frame, path, path)

    def compiled(frame, args):
        source, name = args
        if type(name) is not str:
            return
        if type(source) is bytes and laid.is_other(abspath(name), source):
            complain("“" + basename(name) + "” was changed while the tests ran")
        elif (is_installed(name) or abspath(name) in trusted) and (
            asking := callers.asking(frame)
        ) is not None:
            # Code that goes by the name of another's file.
            reached(asking.f_code.co_filename, basename(name))

    def executed(frame, args):
        code = args[0]
        name = code.co_filename
        is_text = name.startswith("<") and not name.startswith("<frozen ")
        is_new = not is_text and not is_installed(name) and name not in laid.known
        if is_new and (laid.is_impostor(name) or basename(name).partition(".")[0] in laid.stems):
            complain("“" + short(name) + "” was put among the tests while they ran")
        # What was laid down is read beforehand; this is for what is made code of while it runs.
        if not is_text and not is_new and callers.asking(frame) is None:
            return
        made_by = frame.f_code.co_filename
        is_made = is_text and is_installed(made_by) and basename(made_by) not in _RUNS_TEXT
        if found := {
            each
            for each in rollout_texts.reached_in(code, is_made, laid.test_modules)
            if not laid.is_allowed(each)
        }:
            asking = callers.asking(frame, past_installed=is_text or is_new)
            if asking is not None:
                reached(asking.f_code.co_filename, min(found))

    looks = {
        "open": opened,
        "os.chdir": left,
        "compile": compiled,
        "exec": executed,
        **{event: changes(*places) for event, places in _CHANGES.items()},
        **{event: starter(name) for event, name in rollout_programs.STARTS.items()},
    }

    def complain(what):
        tell(t="problem", what=what)

    def reached(name, what):
        complain("“" + basename(name) + "” reached for “" + what + "” while the tests ran")

    def doubt_reading(frame, path):
        doubt(frame, "read “" + short(path) + "” while the tests ran, and no test handed it over", "the file")

    def doubt(frame, what, name):
        if doubts:
            return
        doubts.append(what)
        place = "a thread" if frame is None else "“" + basename(frame.f_code.co_filename) + "”"
        if frame is not None and name != "the file":
            place += ", line " + str(frame.f_lineno) + ","
        tell(t="doubt", what=place + " " + what, allow=name)

    def sought(event, args):
        if event in _EVENTS or event.startswith("ctypes."):
            return event
        if event == "object.__getattr__":
            return args[1]
        if event == "object.__setattr__":
            return args[1] if args[1] in ("__code__", "__defaults__", "__kwdefaults__", "__bases__") else None
        if event == "pickle.find_class":
            return args[0] if leads_to_tests(*map(str, args)) else None
        return None

    def leads_to_tests(module, name):
        if module.rpartition(".")[2] in laid.test_modules:
            # Objects of classes that tests made are often packed, and unpacked again.
            found = getattr(modules.get(module), name, None)
            return not isinstance(found, type)
        return module.partition(".")[0] in rollout_texts.HOMES

    def hook(event, args):
        if event == "builtins.id" or (event == "object.__getattr__" and args[1] not in of_frames):
            # These come thousands of times a test.
            return
        look = looks.get(event)
        what = sought(event, args) if look is None else None
        if what is not None and laid.is_allowed(_ALSO_CALLED.get(what, what)):
            return
        if (look is None and what is None) or get_ident() in busy:
            return
        busy.add(get_ident())
        try:
            frame = getframe(1)
            if look is not None:
                look(frame, args)
            elif (asking := callers.asking(frame)) is None:
                pass
            elif what == "sys._getframe" and (asking.f_code.co_filename, asking.f_lineno) in laid.looks:
                # It may not be of anything but itself.
                if not rollout_frames.is_of_itself(frame, asking, args):
                    reached(asking.f_code.co_filename, what)
            else:
                reached(asking.f_code.co_filename, what)
        finally:
            busy.discard(get_ident())

    # A process that is forked while another thread is in the hook would be without it.
    os.register_at_fork(after_in_child=busy.clear)
    rollout_programs.announce()
    rollout_lines.keep_out(laid)
    sys.addaudithook(hook)


def _caller(frame):
    return frame.f_back.f_code.co_filename if frame.f_back is not None else ""
