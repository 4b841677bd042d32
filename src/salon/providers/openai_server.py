"""OpenAI's own server, or another that speaks its interface: where it is, and with which key."""

from salon.core.errors import InvalidSettings
from salon.providers.http_json import JsonClient, JsonServer

OPENAI_BASE_URL = "https://api.openai.com/v1"


def open_openai_server(
    name: str, *, base_url: str | None, api_key: str | None, timeout_s: float
) -> JsonClient:
    """Return the connection for the model `name`, or raise `InvalidSettings`."""
    if base_url is None and api_key is None:
        raise InvalidSettings(
            f"openai:{name} needs the base URL of a server, or a key for OpenAI's own",
            hint="set a base URL such as http://127.0.0.1:8080/v1",
        )
    return JsonClient(
        JsonServer(base_url=base_url or OPENAI_BASE_URL, api_key=api_key, timeout_s=timeout_s)
    )
