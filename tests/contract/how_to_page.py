"""The packages that the page about writing a stack builds, exactly as it gives them."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Mapping
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "write-a-stack.md"
BLOCK = re.compile(r"```(python|toml)\n(.*?)```", re.DOTALL)


def packages() -> Mapping[str, Mapping[str, str]]:
    """Return the files of each package by its name: module, test and `pyproject.toml`, byte for byte."""
    blocks = BLOCK.findall(PAGE.read_text("utf-8"))
    files = {re.split(r"[ \n]", code)[1]: code for language, code in blocks if language == "python"}
    found = {}
    for language, code in blocks:
        if language != "toml" or "[project]" not in code:
            continue
        table = tomllib.loads(code)
        (module,) = table["tool"]["setuptools"]["py-modules"]
        names = (f"{module}.py", f"test_{module}.py")
        found[table["project"]["name"]] = {**{name: files[name] for name in names}, "pyproject.toml": code}
    return found


def environment(folder: Path) -> Path:
    """Make an environment of its own that sees what this one has installed; return its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    site = next((folder / "lib").glob("python3*/site-packages"))
    here = sysconfig.get_path("purelib")
    (site / "here.pth").write_text(f"import site; site.addsitedir({here!r})\n", "utf-8")
    return folder / "bin" / "python"


def install(python: Path, package: Path) -> None:
    """Install a folder with pip, without a network: its build backend is the one that is installed here."""
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--quiet"]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", *offline, str(package)], check=True
    )


def uninstall(python: Path, name: str) -> None:
    """Uninstall a package with pip."""
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    subprocess.run([*pip, "uninstall", "--yes", "--quiet", name], check=True)
