"""Makes the pictures of docs/gallery.md, in docs/images/gallery: examples whose Python takes a file name draw them."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/images/gallery"


def main():
    PICTURES.mkdir(parents=True, exist_ok=True)
    for program in sorted((ROOT / "examples").glob("*/main.py")):
        if "main.py FILE.png" in program.read_text():
            subprocess.run([sys.executable, program, PICTURES / f"{program.parent.name}.png"], check=True)


if __name__ == "__main__":
    main()
