"""The guide's example prints what the guide says."""

import re
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).resolve().parent.parent.parent / "docs/guides/council.md"


def test_the_round_in_the_guide_runs_and_prints_what_it_says(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert found is not None
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", found[1]],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin"},
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
    )
    assert done.stdout == found[2]
