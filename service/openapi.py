"""OpenAPI: how errors are declared, and the document itself."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from service.models import NewSelector, Problem
from service.problems import MEDIA_TYPE

REF = "#/components/schemas/{model}"
Responses = dict[int | str, dict[str, Any]]


def ref(model: type) -> dict[str, str]:
    """A pointer to a model's schema."""
    return {"$ref": REF.format(model=model.__name__)}


def problem_answers(*statuses: int) -> Responses:
    """The errors that a route may answer with, for its `responses`."""
    return {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": ref(Problem)}}}
        for status in statuses
    }


def install(app: FastAPI) -> None:
    """Let the app's document carry the schemas that no route declares by a parameter."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign] # FastAPI's own way to extend it


def _document(app: FastAPI) -> dict[str, Any]:
    made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    _drop_default_errors(made)
    for model in (Problem, NewSelector):
        schema = model.model_json_schema(ref_template=REF)
        schemas.update(schema.pop("$defs", {}))
        schemas[model.__name__] = schema
    return made


def _drop_default_errors(made: dict[str, Any]) -> None:
    """FastAPI promises its own 422 wherever a route has a parameter; here every 422 is a problem, and declared."""
    for operation in (operation for path in made["paths"].values() for operation in path.values()):
        if "application/json" in operation["responses"].get("422", {}).get("content", {}):
            del operation["responses"]["422"]
    for unused in ("HTTPValidationError", "ValidationError"):
        made["components"]["schemas"].pop(unused, None)
