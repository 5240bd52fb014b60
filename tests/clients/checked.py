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
