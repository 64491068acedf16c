"""The service: HTTP over a store and, for the lag, a broker."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from fastapi import FastAPI
from prometheus_client import CollectorRegistry
from starlette.types import Lifespan

from broker.protocol import Broker
from service import openapi, problems
from service.docs import docs_router
from service.features import features_router
from service.head import HeadAsGet
from service.health import health_router
from service.lag import LagWatch
from service.metrics import HttpMetrics, MeasuredApp, SelectorMetrics, metrics_router
from service.selector_routes import selectors_router
from service.views import Views
from store.protocol import Store


class Info(NamedTuple):
    """What the API says of itself."""

    title: str = "StreamSieve"
    version: str = "0.1.0"
    description: str = "Tells a streaming pipeline which features matter right now."


def create_app(store: Store, broker: Broker | None, writes_allowed: bool, info: Info = Info()) -> FastAPI:  # noqa: B008
    """The app. Store and broker stay the caller's: whoever made them closes them, after the app has stopped."""
    views = Views(store)
    lag = LagWatch(views, broker)
    registry = CollectorRegistry()
    registry.register(SelectorMetrics(views, lag))

    app = FastAPI(
        title=info.title,
        version=info.version,
        description=info.description,
        lifespan=_watching(lag),
        docs_url=None,  # FastAPI's pages load their scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    problems.install(app)
    openapi.install(app)
    app.add_middleware(MeasuredApp, metrics=HttpMetrics(registry))
    app.add_middleware(HeadAsGet)
    app.include_router(features_router(views))
    app.include_router(selectors_router(store, views, lag, writes_allowed))
    app.include_router(health_router(store, views, lag))
    app.include_router(metrics_router(registry))
    app.include_router(docs_router())
    return app


def _watching(lag: LagWatch) -> Lifespan[FastAPI]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        lag.start()
        try:
            yield
        finally:
            lag.stop()

    return lifespan
