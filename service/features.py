"""`GET /features/top`: which features matter right now."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from service.conditional import none_match
from service.models import TopFeatures
from service.openapi import Responses, problem_answers, ref
from service.rendering import MEDIA_TYPES, Format, Rendered, entity_tag
from service.views import Views

DEFAULT_K = 100
MAX_K = 10_000

SelectorName = Annotated[str | None, Query(description="May be left out where there is only one", examples=["spam"])]
Size = Annotated[int, Query(ge=1, le=MAX_K, description="How many features at most")]
Form = Annotated[Format, Query(alias="format")]

TAG = {"ETag": {"schema": {"type": "string"}, "description": "Strong: equal tags mean equal bytes"}}
CSV_NOTE = (
    "Columns rank, feature, weight, score. A name that looks like a formula, or begins with ', has one ' before it"
)
VW_NOTE = "One example a feature: `vw --noconstant -f MASK` makes of them a model for `--feature_mask MASK`"
ANSWERS: Responses = {
    200: {
        "headers": TAG,
        "content": {
            "application/json": {"schema": ref(TopFeatures)},
            "text/csv": {"schema": {"type": "string", "description": CSV_NOTE}},
            "text/x-vw": {"schema": {"type": "string", "description": VW_NOTE}},
        },
    },
    304: {"description": "What If-None-Match names is what is served", "headers": TAG},
    **problem_answers(404, 422, 503),
}


def features_router(views: Views) -> APIRouter:
    """The router; answers are rendered once and shared."""
    router = APIRouter(tags=["features"])
    rendered = Rendered()

    @router.get("/features/top", response_model=TopFeatures, responses=ANSWERS, summary="The served features")
    def top_features(
        request: Request, selector: SelectorName = None, k: Size = DEFAULT_K, form: Form = Format.JSON
    ) -> Response:
        """The best k of the served set, best first. An ETag that was seen costs a 304 without a body."""
        top = views.top(views.only() if selector is None else views.find(selector))
        tag = entity_tag(top, k, form)
        headers = {"ETag": tag, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
        if not none_match(request.headers.getlist("if-none-match"), tag):
            return Response(status_code=304, headers=headers)
        return Response(rendered.of(top, k, form), headers=headers | {"Content-Type": MEDIA_TYPES[form]})

    return router
