"""Puts Salon's own pages into the wheel, for the avatar that knows them; the rest is declared."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent


class BuildWithHandbook(build_py):
    """Copy README and docs to where an installed Salon looks for them."""

    def run(self) -> None:
        """Build as always, then add the pages; an editable install reads them where they are."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "salon" / "handbook"
        for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
            copy = target / page.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page, copy)


setup(cmdclass={"build_py": BuildWithHandbook})
