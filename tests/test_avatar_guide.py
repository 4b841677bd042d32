"""The guide to creating avatars is followed to the letter: its files, its commands, its output."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine

GUIDE = Path(__file__).resolve().parent.parent / "docs" / "guides" / "avatars.md"
STEPS = re.compile(r"<!-- steps -->\n(.*?)<!-- end of steps -->", re.DOTALL)
NAMED_FILE = re.compile(r"`(papers/[\w.-]+)`:\n\n```markdown\n(.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


def _steady(text: str) -> str:
    """Leave out what differs from run to run, and scores, which move with every calibration."""
    text = re.sub(r"doc_[0-9a-f]{20}", "doc_…", text)
    return re.sub(r"^  [01]\.\d\d +\d+  ", "  #  ", text, flags=re.MULTILINE).strip()


@pytest.mark.requirement("sdk/see-also/creating-avatars")
def test_the_guide_leads_from_an_empty_folder_to_a_working_avatar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    steps = STEPS.search(GUIDE.read_text("utf-8"))
    assert steps is not None
    for name, content in NAMED_FILE.findall(steps[1]):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    salon = CommandLine(tmp_path / "home", monkeypatch)
    document = ""
    for block in CONSOLE.findall(steps[1]):
        for command in re.split(r"^\$ salon ", block, flags=re.MULTILINE)[1:]:
            line, _, expected = command.partition("\n")
            ran = salon(*shlex.split(line.replace("doc_…", document)))
            assert ran.code == 0, ran.errors
            shown = ran.text.replace(str(salon.home), "HOME")
            found = re.search(r"doc_[0-9a-f]{20}", shown)
            document = found[0] if found and not document else document
            assert _steady(shown) == _steady(expected), line
    answered = salon("search", "draw lots", "--avatar", "vera-lind", "--json").json["passages"]
    assert "draw lots" in answered[0]["content"]
