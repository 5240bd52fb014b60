"""The site of `make docs`: Sphinx over the pages of this folder, both interfaces and the files at the tree's root."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))

project = "cucore"
version = release = re.search(r'CUCORE_VERSION_STRING "(.+)"', (ROOT / "include/cucore/version.hpp").read_text()).group(
    1
)
copyright = "the authors of cucore, Apache-2.0"
html_title = f"cucore {version}"
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_baseurl = ""
templates_path = []
exclude_patterns = ["README.md"]

extensions = [
    "breathe",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
]

# Markdown: what GitHub shows too, and little besides.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
suppress_warnings = [
    "myst.header",  # pages that are included begin below their first heading
    "duplicate_declaration.cpp",  # the namespace, once a header
    "ref.python",  # annotations that say Device: there are two
]
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True
highlight_language = "text"
pygments_style = "friendly"
pygments_dark_style = "github-dark"

# C++, by Doxygen's XML.
XML = ROOT / "build/docs/xml"
breathe_projects = {"cucore": str(XML)}
breathe_default_project = "cucore"

# Python.
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autoclass_content = "class"
python_use_unqualified_type_names = True


PRIVATE = re.compile(r'<sectiondef kind="private-.*?</sectiondef>', re.DOTALL)
INCLUDES = re.compile(r"<includes .*?</includes>")  # they lead to pages of files, of which there are none


def make_xml(_app):
    XML.mkdir(parents=True, exist_ok=True)
    subprocess.run(["doxygen", "docs/Doxyfile"], cwd=ROOT, check=True)
    for file in XML.glob("*.xml"):
        file.write_text(INCLUDES.sub("", PRIVATE.sub("", file.read_text())))


def setup(app):
    from docstrings import as_rst
    from pygments.lexers.special import TextLexer
    from sphinx.highlighting import lexers

    for name in ("mermaid", "gdb"):  # Pygments knows neither
        lexers[name] = TextLexer()
    app.connect("autodoc-process-docstring", as_rst)
    app.connect("builder-inited", make_xml)
