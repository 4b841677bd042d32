"""The settings of a chat model as the providers take them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import SecretStr

    from salon.providers.chat import ChatOptions
    from salon.settings.conversation import ChatSettings


def chat_options(
    common: "ChatSettings", *, url: str | None, key: "SecretStr | None"
) -> "ChatOptions":
    """Return the options of a model at this address with this key, under the common limits."""
    from salon.providers.chat import ChatLimits, ChatOptions, as_prices

    return ChatOptions(
        url=url,
        key=key.get_secret_value() if key else None,
        timeout_s=common.timeout_s,
        retries=common.retries,
        max_tokens=common.max_tokens,
        limits=ChatLimits(
            requests=common.session_requests,
            tokens=common.session_tokens,
            usd=common.session_usd,
        ),
        prices=as_prices(common.usd_per_million_input, common.usd_per_million_output),
    )
