"""Write the reference pages that follow from the code; `--check` fails where one is stale.

Generated: settings, errors, the command line, audit events, the schema of profiles, the Python
interface; and in README and docs/start.md the output of the tour between its two marks, as a real
run printed it.
"""

import argparse
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_origin

import click
from pydantic import BaseModel

from salon.cli.errors import EXIT_CODES_IN_WORDS, exit_code
from salon.cli.main import cli
from salon.core import errors, events
from salon.experts.profile import Profile, profile_schema
from salon.settings import Settings, setting_names
from salon.steps.match_profiles import schema_text
from tools.openapi_page import pages as openapi_pages
from tools.python_page import python_page
from tools.steps_page import steps_page, steps_svg
from tools.wire_page import pages as wire_pages

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
NOTICE = "<!-- Made from the code by `make docs`. Do not edit. -->\n\n"


def settings_page() -> str:
    lines = [
        "# Settings\n",
        (
            "From weak to strong: the defaults, `salon.toml` in Salon's home, environment "
            "variables, flags. `salon settings` prints what is in force.\n"
        ),
        "| setting | environment | default | meaning |",
        "|---|---|---|---|",
    ]
    settings = Settings.model_validate({"home": Path("HOME")})
    defaults: dict[str, Any] = settings.model_dump(mode="json")
    shown = {"home": "the user's data folder", "actor": "the user's name"}
    for name, meaning in setting_names().items():
        value: Any = defaults
        for part in name.split("."):
            value = value[part]
        variable = "SALON_" + name.upper().replace(".", "__")
        lines.append(f"| `{name}` | `{variable}` | {shown.get(name, f'`{value}`')} | {meaning} |")
    lines += [
        "",
        "In `salon.toml`, a dot is a table:",
        "",
        "```toml",
        "[reader]",
        "memory_mb = 2048",
        "```",
    ]
    return "\n".join(lines) + "\n"


def errors_page() -> str:
    lines = [
        "# Errors\n",
        "One tree, one JSON shape, stable codes:\n",
        "```json",
        '{"error": {"code": "card_in_use", "message": "…", "hint": "…", "details": {}}}',
        "```\n",
        "| exit code | meaning |",
        "|---|---|",
    ]
    more = {1: "; please report it"}
    lines += [
        f"| {code} | {meaning}{more.get(code, '')} |"
        for code, meaning in EXIT_CODES_IN_WORDS.items()
    ]
    lines += ["", "| code | error | exit | what it means |"]
    lines += ["|---|---|---|---|"]
    for kind in _tree(errors.SalonError):
        number = exit_code(kind("example"))
        lines.append(f"| `{kind.code}` | `{kind.__name__}` | {number} | {_sentence(kind)} |")
    return "\n".join(lines) + "\n"


def _tree(kind: type[errors.SalonError]) -> Iterator[type[errors.SalonError]]:
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__:
            yield child
            yield from _tree(child)


def events_page() -> str:
    lines = [
        "# Audit events\n",
        (
            "Each entry of the log is `{seq, at, by, body, previous, hash}`; `body` is one of "
            "these. An event refers to content by hash and never contains it.\n"
        ),
        "| kind | fields | meaning |",
        "|---|---|---|",
    ]
    for kind in _kinds():
        names = ", ".join(f"`{field.name}`" for field in fields(kind))
        lines.append(f"| `{kind.kind}` | {names} | {_sentence(kind)} |")
    return "\n".join(lines) + "\n"


def _kinds() -> list[type[events.Event]]:
    named = [one for one in vars(events).values() if isinstance(one, type)]
    return [one for one in named if issubclass(one, events.Event) and one.kind]


def command_page() -> str:
    lines = ["# The command line\n"]
    # As the program is called: what it inherits (`-h` beside `--help`) stands in these settings.
    context = click.Context(cli, info_name="salon", terminal_width=90, **cli.context_settings)
    lines += _command(context)
    return "\n".join(lines) + "\n"


def _command(context: click.Context) -> Iterator[str]:
    command = context.command
    depth = context.command_path.count(" ") + 2
    yield f"{'#' * depth} `{context.command_path}`\n"
    yield "```text"
    yield command.get_help(context).rstrip()
    yield "```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _command(
                click.Context(child, parent=context, info_name=name, terminal_width=90)
            )


def profile_page() -> str:
    lines = [
        "# The profile of an avatar\n",
        (
            "Every field of `config.json`, as the code has it; "
            "[`avatar-schema.json`](avatar-schema.json) says the same to machines. A field whose "
            "name begins with `x-` is kept and never read; any other unknown field is refused "
            "with its path and the nearest valid name. "
            "[Creating avatars](../guides/avatars.md) tells how they are used.\n"
        ),
        "| field | type | default | meaning |",
        "|---|---|---|---|",
        *_profile_rows(Profile, ""),
    ]
    return "\n".join(lines) + "\n"


def _profile_rows(block: type[BaseModel], prefix: str) -> Iterator[str]:
    described = block.model_json_schema(by_alias=True)
    for name, field in block.model_fields.items():
        alias = field.alias or name
        inner, many = _inner_block(field.annotation)
        kind = "object" if inner else _kind(described["properties"][alias], described)
        shown = f"list of {kind}s" if many and inner else kind
        is_plain = inner is None and not field.is_required()
        usual = _default(field.default) if is_plain else ""
        default = "required" if field.is_required() else usual
        yield f"| `{prefix}{alias}` | {shown} | {default} | {field.description} |"
        if inner is not None:
            yield from _profile_rows(inner, f"{prefix}{alias}{'[]' if many else ''}.")


def _inner_block(annotation: object) -> tuple[type[BaseModel] | None, bool]:
    """Return the block that a field holds, and whether it holds many."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, False
    many = get_origin(annotation) is tuple
    for inner in get_args(annotation):
        found, _ = _inner_block(inner)
        if found is not None:
            return found, many
    return None, many


def _kind(schema: dict[str, Any], whole: dict[str, Any]) -> str:
    """Return a JSON type in words."""
    if "$ref" in schema:
        return _kind(whole["$defs"][schema["$ref"].rsplit("/", 1)[1]], whole)
    if "anyOf" in schema:
        kinds = dict.fromkeys(_kind(one, whole) for one in schema["anyOf"])
        return " or ".join(kind for kind in kinds if kind != "null")
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if schema["type"] == "array":
        return f"list of {_kind(schema['items'], whole)}"
    words = {"uri": "address", "date": "date"}
    return words.get(schema.get("format", ""), str(schema["type"]))


def _default(value: object) -> str:
    return "" if value is None or value == () else f"`{json.dumps(value)}`"


def profile_schema_file() -> str:
    return json.dumps(profile_schema(), ensure_ascii=False, indent=2) + "\n"


def _sentence(kind: type) -> str:
    return (inspect.getdoc(kind) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings_page,
    "errors.md": errors_page,
    "audit-events.md": events_page,
    "cli.md": command_page,
    "avatar-profile.md": profile_page,
    "steps.md": steps_page,
    "python.md": python_page,
}


# Files for machines: as they are, without a notice.
FILES: dict[str, Callable[[], str]] = {
    "avatar-schema.json": profile_schema_file,
    "candidate-schema.json": schema_text,
    "steps.svg": steps_svg,
}

WITH_TOUR = ("README.md", "docs/start.md")
TOUR = re.compile(r"<!-- tour ([0-9 ]+) -->\n.*?<!-- end of tour -->", re.DOTALL)


def tour_stops() -> dict[str, str]:
    """Run the tour and return its stops by number, without what differs from run to run."""
    ran = subprocess.run(
        [sys.executable, "-m", "salon.cli.main", "tour"],
        env=os.environ | {"SALON_ACTOR": "you", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    text = re.sub(r"\b[0-9a-f]{64}\b", lambda found: found[0][:8] + "…", ran.stdout)
    text = re.sub(r"head [0-9a-f]{8}…", "head 1f0c…", text)
    text = re.sub(r"digest [0-9a-f]{8}…", "digest 52ab…", text)
    text = re.sub(r"doc_[0-9a-f]{20}", "doc_…", text)
    text = re.sub(r"(at )?\d{4}-\d\d-\d\dT[0-9:.]+(Z|\+00:00) *", "", text)
    stops = re.split(r"\n\n(?=\d\. )", "\n" + text.split("\nThat was all")[0])
    return {stop[0]: stop.strip() for stop in stops if stop.strip()}


def with_tour(text: str, stops: dict[str, str]) -> str:
    """Put the wanted stops of the tour between the marks of a page."""

    def shown(found: re.Match[str]) -> str:
        wanted = "\n\n".join(stops[number] for number in found[1].split())
        body = f"```console\n{wanted}\n```"
        return f"<!-- tour {found[1]} -->\n{body}\n<!-- end of tour -->"

    return TOUR.sub(shown, text)


def all_pages() -> dict[Path, str]:
    """Return every generated page as it should be."""
    pages = {REFERENCE / name: NOTICE + make() for name, make in PAGES.items()}
    pages |= {REFERENCE / name: make() for name, make in FILES.items()}
    stops = tour_stops()
    return (
        pages
        | wire_pages()
        | openapi_pages()
        | {ROOT / name: with_tour((ROOT / name).read_text("utf-8"), stops) for name in WITH_TOUR}
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail instead of writing")
    check = parser.parse_args().check
    stale = []
    pages = all_pages()
    for path, text in pages.items():
        if check and (not path.exists() or path.read_text("utf-8") != text):
            stale.append(str(path.relative_to(ROOT)))
        elif not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    if stale:
        print(f"stale: {', '.join(stale)}; run `make docs`")
        sys.exit(1)
    print(f"docs: {len(pages)} pages {'agree with the code' if check else 'written'}")


if __name__ == "__main__":
    main()
