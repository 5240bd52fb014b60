"""`make docs`: the site in build/docs/site/VERSION, where a broken link or any other warning is an error.

Sphinx and what it needs lie in .setup/docs, apart from the packages of the tests; it sees the package in .venv.
"""

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "build/docs/site"
PACKAGES = Path(os.environ.get("CUCORE_DOCS_PACKAGES", ROOT / ".setup/docs"))
FIRST_PAGE = """<!doctype html>
<meta charset="utf-8">
<title>cucore</title>
<meta http-equiv="refresh" content="0; url={version}/index.html">
<a href="{version}/index.html">cucore {version}</a>
"""


class Links(HTMLParser):
    """What a page leads to, and the names in it that others can lead to."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.targets.append(value)
            elif name in ("id", "name") and value:
                self.names.add(value)


def broken_links(site):
    """Links within the site that lead nowhere, as sentences."""
    pages = {path: Links(path.read_text()) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if file.is_dir():
                file /= "index.html"
            if not file.exists():
                yield f"{path.relative_to(site)}: {target} leads to no file"
            elif parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].names:
                yield f"{path.relative_to(site)}: {target} leads to no place on its page"


def main():
    text = (ROOT / "include/cucore/version.hpp").read_text()
    version = re.search(r'CUCORE_VERSION_STRING "(.+)"', text)[1]
    shutil.rmtree(ROOT / "build/docs", ignore_errors=True)
    search = os.pathsep.join([str(PACKAGES), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    command += ["-d", ROOT / "build/docs/state", ROOT / "docs", SITE / version]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "PYTHONPATH": search})
    (SITE / "index.html").write_text(FIRST_PAGE.format(version=version))
    broken = list(broken_links(SITE))
    if broken:
        sys.exit("\n".join(broken))
    print(f"build/docs/site/{version}/index.html: {len(list(SITE.rglob('*.html')))} pages, no broken link")


if __name__ == "__main__":
    main()
