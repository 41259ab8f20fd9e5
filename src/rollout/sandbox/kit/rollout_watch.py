"""Tells when code that the agent wrote reaches for what tests it, by an audit hook, which Python cannot take out."""

# This runs in the sandbox, under whatever Python is there, before all else.
# mypy: ignore-errors
# ruff: noqa: PTH206, PTH118, PTH120

import _thread
import os
import re
import sys

import rollout_files
import rollout_handed
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
# What Python imports with; the rest of the same modules reads for others.
_IMPORTS = frozenset(("get_code", "_find_and_load", "_find_spec", "find_spec", "_fill_cache", "exec_module"))
_SHOWS_SOURCE = "linecache.py"


def watch(tell, writer_code, laid):
    """Tells, for as long as the process lives, when code that the agent wrote reaches for what runs the tests, or for
    what these are made of. ``writer_code`` is the code of what keeps the key."""
    homes, getframe, get_ident = rollout_files.homes_of_python(), sys._getframe, _thread.get_ident
    trusted, tests, root = laid.trusted, laid.tests, laid.root
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

    main, executable = get_ident(), sys.executable
    script = abspath(sys.argv[0]) if sys.argv and sys.argv[0] else ""

    def is_installed(name):
        return name.startswith(("<frozen ", *homes)) or (name == script and not name.startswith(root))

    def suspect(frame, past_installed=False):
        # The file that asks, unless it is installed or as the environment has it. What a text was made code of is asked
        # for by whoever did that.
        while frame is not None:
            code = frame.f_code
            name = code.co_filename
            if is_installed(name) or code is writer_code:
                if not past_installed and code is not writer_code:
                    return None
            elif not name.startswith("<"):
                return None if name in trusted else name
            frame = frame.f_back
        return None

    def asker(frame):
        # The frame of the agent's code that has a file opened, however many others are between; and whether it is a
        # test's own doing.
        shown = False
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith("<frozen importlib") and frame.f_code.co_name in _IMPORTS:
                return None, False
            if is_installed(name):
                if shown and basename(name) != _SHOWS_SOURCE:
                    # It is for a message about an error or a warning.
                    return None, False
                shown = basename(name) == _SHOWS_SOURCE
            elif name in tests:
                return None, True
            elif not name.startswith("<") and name not in trusted:
                return frame, False
            frame = frame.f_back
        return None, False

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
            found, is_test = asker(frame)
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
            found, _ = asker(frame)
            if found is not None:
                reached(found.f_code.co_filename, short(path))

    def handed(frame, path):
        return rollout_handed.by_call(rollout_handed.entry(frame, tests | trusted.keys(), is_installed), path)

    def read(frame, path, by):
        # A test may have handed over a copy.
        found, _ = asker(frame)
        if found is None:
            return
        entry = rollout_handed.entry(found, tests | trusted.keys(), is_installed)
        name = found.f_code.co_filename
        if entry.f_code.co_name == "<module>":
            reached(name, short(path))
            return
        named = laid.is_named(path)
        if rollout_handed.by_call(entry, path) or rollout_handed.by_call(entry, by):
            if named:
                doubt_reading(found, path)
        elif named:
            reached(name, short(path))
        elif (moved or getcwd() == started_in) and not (anyhow(entry, path) or anyhow(entry, by)):
            doubt_reading(found, path)

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
            found, is_test = asker(frame)
            if found is not None:
                reached(found.f_code.co_filename, short(path))
            elif is_test:
                laid.spared.update(inside)

    def left(frame, args):
        found, _ = asker(frame)
        path = path_of(args[0])
        if found is not None and path is not None and not handed(found, path):
            moved.append(path)

    def starter(name):
        def started_by(frame, args):
            by, among = _caller(frame), list(args[:1])
            if name == "multiprocessing" and (
                basename(by) == "subprocess.py" or rollout_programs.is_tracker(among[0], executable)
            ):
                return
            expect_named(frame, args)
            by = nearest(frame)
            if not laid.secret or laid.is_allowed(name) or by in laid.starters:
                return
            found, _ = asker(frame)
            # A thread may have nothing else to do.
            if found is None and (by is not None or get_ident() == main):
                return
            doubt(found, "started a program, which can read what is hidden", "“" + name + "”")

        return started_by

    def nearest(frame):
        while frame is not None:
            name = frame.f_code.co_filename
            if not is_installed(name) and not name.startswith("<"):
                return name
            frame = frame.f_back
        return None

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
        elif (is_installed(name) or abspath(name) in trusted) and (asking := suspect(frame)) is not None:
            # Code that goes by the name of another's file.
            reached(asking, basename(name))

    def executed(frame, args):
        code = args[0]
        name = code.co_filename
        is_text = name.startswith("<") and not name.startswith("<frozen ")
        is_new = not is_text and not is_installed(name) and name not in laid.known
        if is_new and (laid.is_impostor(name) or basename(name).partition(".")[0] in laid.stems):
            complain("“" + short(name) + "” was put among the tests while they ran")
        # What was laid down is read beforehand; this is for what is made code of while it runs.
        if not is_text and not is_new and suspect(frame) is None:
            return
        made_by = frame.f_code.co_filename
        is_made = is_text and is_installed(made_by) and basename(made_by) not in _RUNS_TEXT
        if found := {each for each in rollout_texts.reached_in(code, is_made) if not laid.is_allowed(each)}:
            name = suspect(frame, past_installed=is_text or is_new)
            if name is not None:
                reached(name, min(found))

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
            return args[1] if args[1] in rollout_texts.FRAMES else None
        if event == "object.__setattr__":
            return args[1] if args[1] in ("__code__", "__defaults__", "__kwdefaults__", "__bases__") else None
        if event == "pickle.find_class":
            return args[0] if str(args[0]).partition(".")[0] in rollout_texts.HOMES else None
        return None

    def hook(event, args):
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
            elif (name := suspect(frame)) is not None:
                reached(name, what)
        finally:
            busy.discard(get_ident())

    # A process that is forked while another thread is in the hook would be without it.
    os.register_at_fork(after_in_child=busy.clear)
    rollout_programs.announce()
    sys.addaudithook(hook)


def _caller(frame):
    return frame.f_back.f_code.co_filename if frame.f_back is not None else ""
