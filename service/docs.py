"""`/docs`: the operations of /openapi.json on one page that loads nothing from elsewhere."""

from base64 import b64encode
from hashlib import sha256

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #222; }
h2 { font-size: 1rem; margin: 2rem 0 .2rem; font-family: ui-monospace, monospace; }
h2 b { display: inline-block; min-width: 4.5rem; color: #06c; }
table { border-collapse: collapse; margin: .5rem 0; }
td { border-top: 1px solid #ddd; padding: .2rem 1rem .2rem 0; vertical-align: top; }
td:first-child { font-family: ui-monospace, monospace; white-space: nowrap; }
pre { background: #f5f5f5; padding: .8rem; overflow-x: auto; }
@media (prefers-color-scheme: dark) {
  body { background: #181818; color: #ddd; }
  pre { background: #242424; }
  td { border-color: #444; } h2 b { color: #6af; }
}
"""

# Text goes in by textContent alone, so nothing in the document can become markup.
SCRIPT = """
"use strict";
const page = document.querySelector("main");
function put(parent, tag, text) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  return parent.appendChild(element);
}
function row(table, name, text) {
  const line = put(table, "tr");
  put(line, "td", name);
  put(line, "td", text);
}
function resolve(doc, schema) {
  const ref = schema && schema.$ref;
  return ref ? doc.components.schemas[ref.split("/").pop()] : schema || {};
}
function example(doc, content) {
  const json = content && content["application/json"];
  if (!json) return;
  const schema = resolve(doc, json.schema);
  return (schema.examples || [])[0];
}
function block(title, value) {
  if (value === undefined) return;
  put(page, "div", title);
  put(page, "pre", JSON.stringify(value, null, 2));
}
function limits(schema) {
  return ["minimum", "maximum", "default", "enum"].filter((key) => schema[key] !== undefined)
    .map((key) => key + " " + JSON.stringify(schema[key])).join(", ");
}
function show(doc, path, method, operation) {
  const heading = put(page, "h2");
  put(heading, "b", method.toUpperCase());
  heading.append(path);
  put(page, "div", operation.description || operation.summary || "");
  const table = put(page, "table");
  for (const parameter of operation.parameters || []) {
    const schema = resolve(doc, parameter.schema);
    row(table, parameter.name, [parameter.in, parameter.description, limits(schema)].filter(Boolean).join("; "));
  }
  for (const [status, answer] of Object.entries(operation.responses)) {
    row(table, status, answer.description + " " + Object.keys(answer.content || {}).join(", "));
  }
  block("Request", example(doc, (operation.requestBody || {}).content));
  const good = Object.entries(operation.responses).find(([status]) => status.startsWith("2"));
  block("Answer", good && example(doc, good[1].content));
}
async function load() {
  const answer = await fetch("openapi.json");
  const doc = await answer.json();
  page.textContent = "";
  put(page, "h1", doc.info.title + " " + doc.info.version);
  put(page, "p", doc.info.description);
  for (const [path, methods] of Object.entries(doc.paths)) {
    for (const [method, operation] of Object.entries(methods)) show(doc, path, method, operation);
  }
}
load().catch((error) => { page.textContent = "openapi.json could not be read: " + error; });
"""

PAGE = f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>StreamSieve: the HTTP API</title>
<style>{STYLE}</style></head>
<body><main>Reading <a href="openapi.json">openapi.json</a></main><script>{SCRIPT}</script></body>
</html>
"""


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


POLICY = (
    f"default-src 'none'; script-src {_digest(SCRIPT)}; style-src {_digest(STYLE)}; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def docs_router() -> APIRouter:
    """The page, and the way to it from the root."""
    router = APIRouter(include_in_schema=False)

    @router.get("/docs")
    async def docs() -> HTMLResponse:
        """The page."""
        return HTMLResponse(PAGE, headers={"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"})

    @router.get("/")
    async def root() -> Response:
        """Nothing else is here yet."""
        return RedirectResponse("docs")

    return router
