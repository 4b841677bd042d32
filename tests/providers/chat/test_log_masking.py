"""Keys are masked in the log of the HTTP library while a model is open, and only then."""

import logging

import pytest

from salon.providers.chat.log_masking import mask, unmask

LOGGER = logging.getLogger("httpcore2.http11")


def test_a_key_is_masked_until_its_last_model_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    mask("secret-key-1")
    mask("secret-key-1")
    unmask("secret-key-1")
    LOGGER.debug("sent back: %s", "secret-key-1")
    LOGGER.debug("nothing: %d", 1)
    assert caplog.messages == ["sent back: [key]", "nothing: 1"]
    unmask("secret-key-1")
    assert LOGGER.filters == []
