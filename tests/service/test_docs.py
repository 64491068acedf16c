import re

import httpx

from service.models import Problem, Selector, TopFeatures
from store.memory import MemoryStore
from tests.service.running import add_selector, claim_of, publish


def test_openapi_describes_every_call_and_its_problems(client: httpx.Client) -> None:
    doc = client.get("/openapi.json").json()
    assert sorted(doc["paths"]) == ["/features/top", "/livez", "/metrics", "/readyz", "/selectors", "/selectors/{name}"]
    operations = [operation for path in doc["paths"].values() for operation in path.values()]
    for operation in operations:
        for status, answer in operation["responses"].items():
            if status >= "400":
                assert list(answer["content"]) == ["application/problem+json"]
    refs = set(re.findall(r'"#/components/schemas/(\w+)"', client.get("/openapi.json").text))
    assert refs <= set(doc["components"]["schemas"])
    assert "HTTPValidationError" not in doc["components"]["schemas"]


def test_the_example_of_a_new_selector_is_taken(client: httpx.Client) -> None:
    doc = client.get("/openapi.json").json()
    body = doc["components"]["schemas"]["NewSelector"]["examples"][0]
    assert client.post("/selectors", json=body).status_code == 201


def test_answers_fit_their_models(client: httpx.Client, store: MemoryStore) -> None:
    registered = add_selector(store)
    publish(store, registered, claim_of(store, registered), ["a"])
    TopFeatures.model_validate_json(client.get("/features/top").content, strict=True)
    Selector.model_validate_json(client.get("/selectors/spam").content, strict=True)
    Problem.model_validate_json(client.get("/selectors/nobody").content, strict=True)


def test_the_docs_page_loads_nothing_from_elsewhere(client: httpx.Client) -> None:
    answer = client.get("/", follow_redirects=True)
    assert answer.url.path == "/docs"
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert not re.search(r"https?://|src=|@import|innerHTML", answer.text)
    assert client.get("/redoc").status_code == 404
