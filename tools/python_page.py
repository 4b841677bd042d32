"""The page of the Python interface, made from the public methods of `Salon` and their docstrings.

Signatures are shown as they are written in the code. A part's heading is the beginning of its
module's docstring; the headings of `Salon` itself are the comments that divide its class.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from types import ModuleType

from salon.app import Salon
from salon.core.archive import Archive

_HEADING = re.compile(r"    # ([A-Z][\w ,]+)$")
_Member = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Members of one class that belong together."""

    title: str
    about: str
    owner: type
    members: tuple[_Member, ...]


def python_page() -> str:
    lines = [
        "# The Python interface\n",
        (
            "One object does everything: `Salon` at work in one home. The command line, the page, "
            "HTTP, MCP and the chat platforms call the methods below and shape what they return. "
            "Nothing is opened before it is needed; `with` or `close` lets go of it.\n"
        ),
        _EXAMPLE,
        (
            "What goes wrong is raised as an error of [one tree](errors.md) with a stable code; an "
            "[outcome](../glossary.md) such as `corpus_miss` is a result. Under each heading "
            "stands where its types are defined.\n"
        ),
    ]
    for group in _groups():
        lines += _shown(group)
    return "\n".join(lines).rstrip("\n") + "\n"


_EXAMPLE = """\
```python
from pathlib import Path

from salon.app import Salon
from salon.corpus.sources import FileSource
from salon.settings import load_settings

note = Path("canal.txt")
note.write_text("A canal that everyone uses and nobody mends silts up.\\n")

with Salon(load_settings()) as salon:
    (read,) = salon.ingest([FileSource(path=note)])
    (passage,) = salon.search("canal", mode="sparse").passages
    card = salon.archive.get(passage.hash)
    assert card.content[passage.start : passage.end] == passage.content.encode()
```
"""


def _groups() -> Iterator[_Group]:
    """Walk what is public, each name where `Salon` takes it from."""
    seen: set[str] = set()
    for owner in Salon.__mro__:
        if not owner.__module__.startswith(("salon.app", "salon.parts.")):
            continue
        members = [one for one in _members(owner) if one.name not in seen]
        seen |= {one.name for one in members}
        if owner is Salon:
            yield from _by_comment(owner, members)
            yield _archive()
        elif members:
            title, about = _title(inspect.getmodule(owner))
            yield _Group(title=title, about=about, owner=owner, members=tuple(members))


def _archive() -> _Group:
    return _Group(
        title="`salon.archive`",
        about="Cards, handles, documents and the audit log.",
        owner=Archive,
        members=tuple(_members(Archive)),
    )


def _members(owner: type) -> list[_Member]:
    """Return the public methods and properties that a class defines, as they are written."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(tree, ast.ClassDef)
    return [
        one
        for one in tree.body
        if isinstance(one, _Member) and not one.name.startswith("_") and ast.get_docstring(one)
    ]


def _by_comment(owner: type, members: list[_Member]) -> Iterator[_Group]:
    """Part the members of a class at the comments that divide it."""
    headings = {1: "Opening and closing"}
    for number, line in enumerate(inspect.getsource(owner).splitlines(), start=1):
        if found := _HEADING.fullmatch(line):
            headings[number] = found[1]
    begins = [*sorted(headings), 10**9]
    for begin, end in pairwise(begins):
        chosen = tuple(one for one in members if begin <= one.lineno < end)
        if chosen:
            yield _Group(title=headings[begin], about="", owner=owner, members=chosen)


def _title(module: ModuleType | None) -> tuple[str, str]:
    """Return heading and text from `Heading: text.`, the first sentence of a module."""
    sentence = _sentence(inspect.getdoc(module) or "")
    title, _, about = sentence.partition(": ")
    return title, about[:1].upper() + about[1:]


def _shown(group: _Group) -> Iterator[str]:
    yield f"## {group.title}\n"
    if group.about:
        yield f"{group.about}\n"
    if places := _places(group):
        yield f"Types: {places}.\n"
    yield from (f"- `{_signature(one)}`: {_sentence(_doc(one))}" for one in group.members)
    yield ""


def _sentence(text: str) -> str:
    return text.partition("\n\n")[0].replace("\n", " ")


def _doc(member: _Member) -> str:
    return ast.get_docstring(member) or ""


def _signature(member: _Member) -> str:
    """Return a method as it is called, or a property with its type."""
    returned = _type(member.returns)
    if any("property" in ast.unparse(one) for one in member.decorator_list):
        return f"{member.name}: {returned}"
    return f"{member.name}({', '.join(_arguments(member.args))}) -> {returned}"


def _arguments(given: ast.arguments) -> Iterator[str]:
    """Walk the arguments without `self`; those after `*` are named in a call."""
    bare = len(given.args) - len(given.defaults)
    for place, one in enumerate(given.args[1:], start=1):
        yield _argument(one, given.defaults[place - bare] if place >= bare else None)
    if given.kwonlyargs:
        yield "*"
    for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _argument(one, default)


def _argument(one: ast.arg, default: ast.expr | None) -> str:
    usual = "" if default is None else f" = {ast.unparse(default)}"
    return f"{one.arg}: {_type(one.annotation)}{usual}"


class _Unquoted(ast.NodeTransformer):
    """An annotation that is written as text, as what it says."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        is_text = isinstance(node.value, str)
        return ast.parse(str(node.value), mode="eval").body if is_text else node


def _type(annotation: ast.expr | None) -> str:
    return "None" if annotation is None else ast.unparse(_Unquoted().visit(annotation))


def _places(group: _Group) -> str:
    """Return where the types of a group's signatures are defined, for those of Salon."""
    module = inspect.getmodule(group.owner)
    assert module is not None
    used = {
        one.id
        for member in group.members
        for part in (member.returns, *_annotations(member.args))
        if part is not None
        for one in ast.walk(ast.parse(_type(part)))
        if isinstance(one, ast.Name)
    }
    homes: dict[str, list[str]] = {}
    for name, (home, original) in sorted(_defined(module).items()):
        if name in used:
            shown = f"`{name}`" if name == original else f"`{original}` as `{name}`"
            homes.setdefault(home, []).append(shown)
    return "; ".join(f"{', '.join(names)} in `{home}`" for home, names in sorted(homes.items()))


def _annotations(arguments: ast.arguments) -> list[ast.expr | None]:
    return [one.annotation for one in (*arguments.args, *arguments.kwonlyargs)]


def _defined(module: ModuleType) -> dict[str, tuple[str, str]]:
    """Return module and name there of everything of Salon that a module defines or imports."""
    found: dict[str, tuple[str, str]] = {}
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("salon."):
            found |= {one.asname or one.name: (str(node.module), one.name) for one in node.names}
        elif isinstance(node, ast.ClassDef):
            found[node.name] = (module.__name__, node.name)
    return found
