"""Runs the parts of a client: each is tried, and says "ok NAME" or "FAILED NAME ...", which the test looks for."""

import os
import traceback


def checked(name, function):
    try:
        function()
        print("ok", name, flush=True)
    except Exception as error:  # every part is tried
        print("FAILED", name, type(error).__name__, str(error)[:300], flush=True)
        if os.environ.get("TRACE"):
            traceback.print_exc()


def refuses(kind, function, *words):
    """The function raises an error of that kind, with all the words."""
    try:
        function()
    except kind as error:
        assert all(word in str(error) for word in words), error
        return
    raise AssertionError("nothing was refused")
