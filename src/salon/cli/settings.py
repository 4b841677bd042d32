"""`salon settings`: what is in force, and what it means."""

import click

from salon.cli.common import emit, json_option
from salon.cli.place import settings_in_force
from salon.settings import setting_names


@click.command()
@json_option
def settings(as_json: bool) -> None:
    """Show the settings in force."""
    values = settings_in_force().model_dump(mode="json")
    lines = []
    for name, meaning in setting_names().items():
        value: object = values
        for part in name.split("."):
            assert isinstance(value, dict)
            value = value[part]
        lines.append(f"{name} = {value}\n    {meaning}")
    emit(values, "\n".join(lines), as_json=as_json)
