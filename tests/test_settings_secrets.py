"""What is secret in the settings is shown to nobody."""

import pytest

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
