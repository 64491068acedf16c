"""`/selectors`: create, look at, delete. (Not named `selectors`, which is the standard library's.)"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from service.body import json_body
from service.detail import selector_detail
from service.lag import LagWatch
from service.models import NewSelector, Selector, SelectorSpec
from service.openapi import problem_answers, ref
from service.problems import WritesRefused
from service.views import Views
from store.protocol import Store
from streamsieve.errors import UnknownSelector
from streamsieve.spec import NAME, Spec

LOCATION = {"Location": {"schema": {"type": "string"}, "description": "Where the selector is"}}
NEW_SELECTOR: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": ref(NewSelector)}}}
}


def selectors_router(store: Store, views: Views, lag: LagWatch, writes_allowed: bool) -> APIRouter:
    """The router."""
    router = APIRouter(tags=["selectors"])

    def writes() -> None:
        if not writes_allowed:
            raise WritesRefused("no key is configured that allows writes")

    @router.get("/selectors", response_model=list[SelectorSpec], responses=problem_answers(503))
    def list_selectors() -> list[dict[str, Any]]:
        """All selectors, by name."""
        return [registered.spec.as_json() for _, registered in sorted(views.registry().live.items())]

    @router.post(
        "/selectors",
        status_code=201,
        response_model=SelectorSpec,
        responses={201: {"headers": LOCATION}, **problem_answers(400, 403, 409, 413, 415, 422, 503)},
        dependencies=[Depends(writes)],
        openapi_extra=NEW_SELECTOR,
    )
    def create_selector(body: Annotated[object, Depends(json_body)], response: Response) -> dict[str, Any]:
        """Create a selector. Workers subscribe to its topic within 2 s."""
        spec = Spec.parse(body)
        store.create(spec)
        views.changed()
        response.headers["Location"] = f"/selectors/{spec.name}"
        return spec.as_json()

    @router.get("/selectors/{name}", response_model=Selector, responses=problem_answers(404, 503))
    def get_selector(name: str) -> Selector:
        """A selector's spec and books, and the lag of each partition."""
        registered = views.find(name)
        version = views.top(registered).version
        return selector_detail(registered.spec, views.statuses(registered), version, lag)

    @router.delete(
        "/selectors/{name}", status_code=204, responses=problem_answers(403, 404, 503), dependencies=[Depends(writes)]
    )
    def delete_selector(name: str) -> None:
        """Delete a selector and all that it learnt."""
        if not NAME.fullmatch(name):
            raise UnknownSelector(f"no selector named {name!r}")
        store.delete(name)
        views.changed()

    return router
