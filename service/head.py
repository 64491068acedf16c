"""HEAD for every GET, as RFC 9110 asks: the same headers, no body."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAsGet:
    """Middleware that runs the GET route and keeps the body back."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass anything but HEAD through."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def bodiless(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, bodiless)
