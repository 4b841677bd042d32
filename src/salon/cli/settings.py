"""`salon settings`: what is in force, and what it means."""

import click

from salon.cli.common import emit, json_option
from salon.settings import load_settings, setting_names


@click.command()
@json_option
def settings(as_json: bool) -> None:
    """Show the settings in force."""
    home = click.get_current_context().find_root().obj
    values = load_settings(home=home).model_dump(mode="json")
    lines = []
    for name, meaning in setting_names().items():
        value: object = values
        for part in name.split("."):
            assert isinstance(value, dict)
            value = value[part]
        lines.append(f"{name} = {value}\n    {meaning}")
    emit(values, "\n".join(lines), as_json=as_json)
