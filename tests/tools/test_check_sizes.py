"""The size check catches what it should, and nothing else."""

from pathlib import Path

from tools.check_sizes import problems


def test_a_long_file_and_a_long_function_are_named(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "long.py").write_text("x = 1\n" * 601)
    (source / "wide.py").write_text("def f() -> None:\n" + "    x = 1\n" * 80)
    (source / "fine.py").write_text("x = 1\n" * 600 + "")
    found = list(problems(tmp_path))
    assert found == ["src/long.py: 601 lines (at most 600)", "src/wide.py:1: f has 81 lines"]
