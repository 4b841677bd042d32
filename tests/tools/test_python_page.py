"""The page of the Python interface says what `Salon` can do."""

import inspect
import re
from functools import cached_property

from salon.app import Salon
from tools.python_page import python_page


def _is_capability(name: str) -> bool:
    found = inspect.getattr_static(Salon, name)
    return inspect.isfunction(found) or isinstance(found, (property, cached_property))


def test_every_public_method_is_listed_once() -> None:
    own = python_page().replace(_archive_part(), "")
    names = [name for name in dir(Salon) if not name.startswith("_") and _is_capability(name)]
    assert len(names) > 100
    listed = re.findall(r"^- `(\w+)[(:]", own, re.MULTILINE)
    assert sorted(listed) == sorted(names)


def test_the_methods_of_the_archive_are_listed_apart() -> None:
    assert "\n- `put(handle: str, content: bytes, *, " in _archive_part()


def test_signatures_are_shown_as_they_are_called() -> None:
    page = python_page()
    assert "- `set_period(avatar: AvatarId, period: Period) -> CorpusManifest`: Say which" in page
    assert "limit: int = 5, mode: Mode = 'hybrid'" in page
    assert "- `archive: SqliteArchive`: " in page
    assert "`CorpusManifest`, `Period` in `salon.corpus.manifest`" in page
    assert "self" not in re.findall(r"\((\w+)", page)


def _archive_part() -> str:
    found = re.search(r"## `salon\.archive`\n.*?(?=^## )", python_page(), re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[0]
