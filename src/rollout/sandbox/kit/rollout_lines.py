"""Keeps lines of hidden files out of what Python keeps of sources, where whoever comes later could read them."""

# This runs in the sandbox, under whatever Python is there, before all else.
# mypy: ignore-errors

import functools
import linecache


def keep_out(laid):
    """Has Python forget the lines of a hidden file once they have been shown."""
    update, secret, find = linecache.updatecache, laid.secret, laid.plainly_meant

    @functools.wraps(update)
    def updatecache(filename, *args, **kwargs):
        lines = update(filename, *args, **kwargs)
        entry = linecache.cache.get(filename, ())
        if any(find(name) in secret for name in (filename, *entry[3:]) if type(name) is str):
            linecache.cache.pop(filename, None)
        return lines

    linecache.updatecache = updatecache
