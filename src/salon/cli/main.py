"""The `salon` command: its groups, loaded only when used, and the codes with which it ends."""

import importlib
import os
import sys
from pathlib import Path

import click

from salon import __version__
from salon.cli.errors import EXIT_CODES_IN_WORDS, INTERRUPTED, report_errors
from salon.cli.place import Place

GROUPS = {
    "ask": ("salon.cli.talk:ask", "Ask an avatar; the answer can be checked."),
    "calibrate": ("salon.cli.calibrate:calibrate", "Set how sure an avatar must be to answer."),
    "chat": ("salon.cli.talk:chat", "Talk with an avatar, turn by turn."),
    "gather": ("salon.cli.talk:gather", "Let several avatars discuss a topic."),
    "verify": ("salon.cli.verify:verify", "Check a response: every citation, every claim."),
    "archive": ("salon.cli.archive:archive", "Cards and handles: the store that loses nothing."),
    "audit": ("salon.cli.audit:audit", "The log of everything that changed, and its proof."),
    "assistant": ("salon.cli.assistant:assistant", "Ask, then act: the assistant in the terminal."),
    "avatar": ("salon.cli.avatar:avatar", "Avatars: make, feed, check, describe and carry them."),
    "companion": ("salon.cli.companion:companion", "Talk with a companion; it reads every turn."),
    "corpus": ("salon.cli.corpus:corpus", "Documents: read, list, judge and remove sources."),
    "council": ("salon.cli.council:council", "Five seats draft, criticise, vote and publish."),
    "demo": ("salon.cli.demo:demo", "Build the avatars that come with Salon."),
    "eval": ("salon.cli.eval:evaluate", "Measure on labelled collections, beside peers."),
    "gate": ("salon.cli.gate:gate", "Explain and teach when an action may be offered."),
    "index": ("salon.cli.index:index", "Indexes: how current they are, and updating them."),
    "mcp": ("salon.cli.mcp:mcp", "Serve avatars to MCP clients, and set those clients up."),
    "memory": ("salon.cli.memory:memory", "What is remembered of a person, and forgetting it."),
    "read": ("salon.cli.corpus:read", "Show the text that a reader finds in a file or page."),
    "replay": ("salon.cli.replay:replay", "Run a session again and compare it with its record."),
    "search": ("salon.cli.search:search", "Find passages, each with its proof and the reasons."),
    "serve": ("salon.cli.serve:serve", "Serve conversations over HTTP and WebSocket."),
    "settings": ("salon.cli.settings:settings", "Show the settings in force."),
    "steps": ("salon.cli.steps:steps", "The steps of a companion's turn: table and graph."),
    "tour": ("salon.cli.tour:tour", "See in a minute what the archive does."),
    "discord": ("salon.cli.platforms:discord", "Let avatars answer on Discord."),
    "harmonica": ("salon.cli.platforms:harmonica", "Take avatars into Harmonica's sessions."),
    "slack": ("salon.cli.platforms:slack", "Let avatars answer in Slack."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only when it is called."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a reader of our output that goes away (`| head`) is no failure."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in a fixed order."""
        return sorted(GROUPS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of this name."""
        if cmd_name not in GROUPS:
            return None
        module, name = GROUPS[cmd_name][0].split(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, GROUPS[name][1]) for name in self.list_commands(ctx)])


_CODES = "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES_IN_WORDS.items())


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=f"Every command ends with one of these codes: {_CODES}.",
)
@click.option(
    "--home",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the archive, its key and salon.toml (default: SALON_HOME or the user's data "
    "folder).",
)
@click.option(
    "--archive",
    type=click.Path(dir_okay=False),
    help="Archive file, where it is not salon.db in the home: an MCard file, say.",
)
@click.version_option(__version__, prog_name="salon")
@click.pass_context
def cli(ctx: click.Context, home: Path | None, archive: str | None) -> None:
    """Host conversations with agents you can check."""
    ctx.obj = Place(home=home, flags={"archive": archive} if archive else {})


def main() -> None:
    """Run the command line and turn every outcome into an exit code."""
    try:
        with report_errors():
            # Without its own exits, click returns the code that a command asked for.
            code = cli.main(standalone_mode=False)
        if isinstance(code, int):
            sys.exit(code)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.Abort:
        click.echo("stopped", err=True)
        sys.exit(INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
