"""`salon tour`: the archive shown by its own commands, in a home that goes away afterwards.

Every line after a `$` is a real command that is run, and what follows is what it printed.
"""

import contextlib
import shlex
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click

from salon.cli.errors import in_words
from salon.core.errors import SalonError

FIRST = "# On commons\n\nWhat belongs to all is cared for by rules that its users make.\n"
SECOND = FIRST + "\n## Free riders\n\nSanctions start small and grow with repetition.\n"


@click.command()
def tour() -> None:
    """See in a minute what the archive does."""
    with tempfile.TemporaryDirectory(prefix="salon-tour-") as folder, contextlib.chdir(folder):
        guide = Guide(Path(folder))
        for stop in (_cards, _handles, _sources, _deletion, _transfer, _tampering):
            stop(guide)
    click.echo("\nThat was all real, in a folder that is gone now. Your own archive:")
    click.echo("  salon archive add FILE --handle NAME     and     salon --help")


@dataclass(frozen=True, slots=True)
class Guide:
    """Runs commands of the tour in one folder."""

    folder: Path

    def say(self, text: str) -> None:
        """Print a heading."""
        click.echo(f"\n{click.style(text, bold=True)}")

    def run(self, *args: str, home: str = "home") -> None:
        """Print a command, run it, and let it print."""
        from salon.cli.main import cli

        place = "" if home == "home" else f"--home {home} "
        click.secho(f"$ salon {place}{shlex.join(args)}", fg="cyan")
        try:
            cli.main(["--home", str(self.folder / home), *args], standalone_mode=False)
        except SalonError as error:
            click.echo(in_words(error))

    def write(self, name: str, text: str) -> str:
        """Write a file of the tour and return its name."""
        (self.folder / name).write_text(text, "utf-8")
        return name


def _cards(guide: Guide) -> None:
    guide.say("1. Content becomes a card, named by its SHA-256. Known content is recognised.")
    path = guide.write("commons.md", FIRST)
    guide.run("archive", "add", path, "--handle", "essays/commons")
    guide.run("archive", "add", path)


def _handles(guide: Guide) -> None:
    guide.say("2. A handle is a stable name. Every move is kept; a stale move is refused.")
    path = guide.write("commons.md", SECOND)
    guide.run("archive", "add", path, "--handle", "essays/commons")
    guide.run("archive", "history", "essays/commons")
    guide.run("archive", "handle", "set", "essays/commons", "essays/commons", "--expect", "0" * 64)


def _sources(guide: Guide) -> None:
    guide.say("3. A document knows where it comes from and who vouches for it.")
    guide.run("corpus", "add", "commons.md", "--type", "article", "--year", "2026")
    document = _first_document(guide)
    guide.run("corpus", "mark", document, "verified", "--notes", "compared with the original")
    guide.run("corpus", "show", document)


def _deletion(guide: Guide) -> None:
    guide.say("4. What something still needs is not deleted by accident.")
    guide.run("archive", "rm", "essays/commons", "--reason", "tidying up")


def _transfer(guide: Guide) -> None:
    guide.say("5. The whole archive travels as one file and comes out the same, byte for byte.")
    first, second = "all.export", "again.export"
    guide.run("archive", "export", first)
    guide.run("archive", "import", first, home="other")
    guide.run("archive", "export", second, home="other")
    same = Path(first).read_bytes() == Path(second).read_bytes()
    click.echo(f"all.export and again.export are {'identical' if same else 'DIFFERENT'}")


def _tampering(guide: Guide) -> None:
    guide.say("6. Everything can be checked, and what was changed behind Salon's back shows.")
    guide.run("archive", "verify")
    guide.run("audit", "verify")
    click.secho("(now somebody edits one card and cuts the last audit entry with SQL)", dim=True)
    database = sqlite3.connect(guide.folder / "home" / "salon.db")
    with database:
        database.execute(
            "UPDATE card SET content = CAST(replace(content, 'small', 'large') AS BLOB)"
            " WHERE instr(content, CAST('small' AS BLOB))"
        )
        database.execute("DROP TRIGGER salon_audit_no_delete")
        database.execute("DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)")
    database.close()
    guide.run("archive", "verify")
    guide.run("audit", "verify")


def _first_document(guide: Guide) -> str:
    from salon.app import Salon
    from salon.settings import load_settings

    with Salon(load_settings(home=guide.folder / "home")) as salon:
        return next(salon.archive.documents()).id
