"""What is secret in the settings is shown to nobody."""

from pathlib import Path

import pytest

from salon.core.errors import InvalidSettings
from salon.settings import load_settings


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://salon:hunter2@db/salon",
        "postgresql://:hunter2@db/salon",
        "postgresql://db/salon?user=salon&password=hunter2&sslmode=require",
    ],
)
def test_passwords_and_keys_are_masked(address: str) -> None:
    settings = load_settings(
        environment={
            "SALON_HOME": "home",
            "SALON_INDEX__VECTORS": address,
            "SALON_INDEX__EMBEDDER_KEY": "hunter2",
        }
    )
    assert settings.index.vectors == address
    for shown in (repr(settings), settings.model_dump_json()):
        assert "hunter2" not in shown
    assert "***" in settings.model_dump(mode="json")["index"]["vectors"]


@pytest.mark.parametrize("given", ["notes.db", "C:/salon/notes.db", "a:b/notes.db", "/x://y"])
def test_a_path_is_a_path_whatever_signs_are_in_it(given: str) -> None:
    settings = load_settings(environment={"SALON_HOME": "home", "SALON_ARCHIVE": given})
    assert settings.archive_path == Path(given)


def test_an_address_for_the_archive_is_refused_as_a_path_object_too() -> None:
    address = Path("postgresql://u:hunter2@db/salon")
    with pytest.raises(InvalidSettings) as refused:
        load_settings(environment={"SALON_HOME": "home"}, flags={"archive": address})
    assert "hunter2" not in f"{refused.value} {refused.value.hint} {refused.value.details}"
