"""Probes: does the process live, can it serve."""

from fastapi import APIRouter, Response

from service.lag import LagWatch
from service.models import Alive, HaltedPartition, Readiness
from service.openapi import problem_answers
from service.problems import problem
from service.views import Views
from store.protocol import Store
from streamsieve.errors import StoreDown


def health_router(store: Store, views: Views, lag: LagWatch) -> APIRouter:
    """The router."""
    router = APIRouter(tags=["health"])

    @router.get("/livez")
    async def livez() -> Alive:
        """The process answers. Runs in the event loop: threads that wait for Redis can't hold it up."""
        return Alive(status="alive")

    @router.get("/readyz", response_model=Readiness, responses=problem_answers(503))
    def readyz() -> Readiness | Response:
        """200 if Redis answers. Kafka down or partitions halted are told, but reads go on."""
        try:
            store.ping()
            return Readiness(redis="up", kafka=lag.kafka(), halted=halted_partitions(views))
        except StoreDown as error:
            parts = Readiness(redis=f"down: {error}", kafka=lag.kafka(), halted=[])
            return problem(503, "not-ready", "Not ready", "Redis does not answer.", down="redis", **parts.model_dump())

    return router


def halted_partitions(views: Views) -> list[HaltedPartition]:
    """Those that wait for an operator."""
    return [
        HaltedPartition(selector=registered.spec.name, partition=status.partition, reason=status.halted)
        for registered, statuses in views.books()
        for status in statuses
        if status.halted
    ]
