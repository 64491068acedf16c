import csv
import io
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx
import pytest

from store.memory import MemoryStore
from tests.service.running import add_selector, claim_of, eventually, publish, spec_json

HOSTILE = [
    "=1+1",
    "<script>alert(1)</script>",
    'a"b,c',
    "new\nline",
    "naïve 💥",
    "'",
    "a|b:c%d",
    "ns^x",
    "\x00\x7f",
    "../..",
]


def names(client: httpx.Client) -> list[str]:
    return [feature["feature"] for feature in client.get("/features/top").json()["features"]]


def test_the_whole_document(client: httpx.Client, store: MemoryStore) -> None:
    registered = add_selector(store)
    top = publish(store, registered, claim_of(store, registered), ["a", "b", "c"])
    answer = client.get("/features/top", params={"selector": "spam", "k": 2})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "selector": "spam",
        "algorithm": "b-arda",
        "version": top.version,
        "applied": 7,
        "samples": 7,
        "updated_at": "2023-11-14T22:13:20.250Z",
        "budget": 5,
        "k": 2,
        "features": [
            {"rank": 1, "feature": "a", "weight": 1.5, "score": 1.1},
            {"rank": 2, "feature": "b", "weight": 0.75, "score": 0.6},
        ],
    }


def test_nothing_served_yet_is_version_0(client: httpx.Client, store: MemoryStore) -> None:
    add_selector(store)
    answer = client.get("/features/top", params={"selector": "spam"})
    assert answer.status_code == 200
    body = answer.json()
    assert (body["version"], body["applied"], body["features"], body["updated_at"]) == (0, 0, [], None)
    assert body["k"] == 100


def test_the_selector_may_be_left_out_where_there_is_only_one(client: httpx.Client, store: MemoryStore) -> None:
    assert client.get("/features/top").status_code == 404
    assert client.post("/selectors", json=spec_json("one")).status_code == 201
    assert client.get("/features/top").json()["selector"] == "one"
    assert client.post("/selectors", json=spec_json("two")).status_code == 201
    refused = client.get("/features/top")
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "selector"


@pytest.mark.parametrize("k", ["0", "-1", "10001", "ten", "1.5", ""])
def test_k_out_of_bounds_names_the_parameter(empty_client: httpx.Client, k: str) -> None:
    answer = empty_client.get("/features/top", params={"k": k})
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == ["k"]


def test_k_at_its_bounds(client: httpx.Client, store: MemoryStore) -> None:
    add_selector(store)
    assert [client.get("/features/top", params={"k": k}).status_code for k in (1, 10000)] == [200, 200]


def test_hostile_names_come_back_as_they_were(client: httpx.Client, store: MemoryStore) -> None:
    registered = add_selector(store)
    publish(store, registered, claim_of(store, registered), HOSTILE)
    answer = client.get("/features/top")
    assert [feature["feature"] for feature in answer.json()["features"]] == HOSTILE
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_csv_gives_no_formula_and_loses_nothing(client: httpx.Client, store: MemoryStore) -> None:
    registered = add_selector(store)
    publish(store, registered, claim_of(store, registered), HOSTILE)
    answer = client.get("/features/top", params={"format": "csv"})
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    cells = [row["feature"] for row in rows]
    assert not [cell for cell in cells if cell[0] in "=+-@\t\r\n"]
    assert [cell.removeprefix("'") for cell in cells] == HOSTILE
    assert [float(row["weight"]) for row in rows] == [1.5 / rank for rank in range(1, len(HOSTILE) + 1)]


def test_vw_mask_is_one_example_a_feature(client: httpx.Client, store: MemoryStore) -> None:
    registered = add_selector(store)
    publish(store, registered, claim_of(store, registered), ["free", "title^x y", "tok:free", "^odd", "a|b%"])
    answer = client.get("/features/top", params={"format": "vw-mask"})
    assert answer.headers["content-type"].startswith("text/x-vw")
    assert answer.text.splitlines() == ["1 | free", "1 |title x%20y", "1 | tok%3Afree", "1 | ^odd", "1 | a%7Cb%25"]


def test_an_unknown_format_is_refused(empty_client: httpx.Client) -> None:
    answer = empty_client.get("/features/top", params={"format": "xml"})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "format")


def test_etag_and_304(client: httpx.Client, store: MemoryStore) -> None:
    registered = add_selector(store)
    claim = claim_of(store, registered)
    publish(store, registered, claim, ["a"])
    first = client.get("/features/top")
    tag = first.headers["etag"]
    assert tag.startswith('"')
    for condition in (tag, f'"x", W/{tag}', "*", f'"x" , ,{tag}'):
        again = client.get("/features/top", headers={"If-None-Match": condition})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag), condition
    for condition in ('"x"', tag.strip('"'), '"x", W/"y"', ""):
        assert client.get("/features/top", headers={"If-None-Match": condition}).status_code == 200, condition
    two_lines = client.get("/features/top", headers=[("If-None-Match", '"x"'), ("If-None-Match", tag)])
    assert two_lines.status_code == 304

    publish(store, registered, claim, ["b"])
    assert eventually(partial(names, client), ["b"]) == ["b"]
    assert client.get("/features/top").headers["etag"] != tag
    assert client.get("/features/top", headers={"If-None-Match": tag}).status_code == 200


def test_k_and_format_have_tags_of_their_own(client: httpx.Client, store: MemoryStore) -> None:
    registered = add_selector(store)
    publish(store, registered, claim_of(store, registered), ["a"])
    asked = [{}, {"k": "1"}, {"format": "csv"}, {"format": "vw-mask"}]
    assert len({client.get("/features/top", params=params).headers["etag"] for params in asked}) == len(asked)


def test_a_selector_made_anew_has_another_tag_before_anything_is_served(client: httpx.Client) -> None:
    tags = []
    for _ in range(2):
        client.post("/selectors", json=spec_json("spam"))
        tags.append(client.get("/features/top").headers["etag"])
        client.delete("/selectors/spam")
    assert tags[0] != tags[1]


def test_the_served_set_trails_the_store_by_far_less_than_a_second(client: httpx.Client, store: MemoryStore) -> None:
    registered = add_selector(store)
    claim = claim_of(store, registered)
    for number in range(5):
        publish(store, registered, claim, [f"f{number}"])
        began = time.monotonic()
        assert eventually(partial(names, client), [f"f{number}"]) == [f"f{number}"]
        assert time.monotonic() - began < 0.5


def test_many_readers_at_once_see_whole_versions_only(client: httpx.Client, store: MemoryStore) -> None:
    registered = add_selector(store)
    claim = claim_of(store, registered)
    publish(store, registered, claim, ["f0"] * 3, applied=0)

    def read(number: int) -> bool:
        if number % 20 == 0:
            publish(store, registered, claim, [f"f{number}"] * 3, applied=number)
        body = client.get("/features/top").json()
        return {feature["feature"] for feature in body["features"]} == {f"f{body['applied']}"}

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(read, range(300)))


def test_head_has_the_headers_of_get_and_no_body(client: httpx.Client, store: MemoryStore) -> None:
    registered = add_selector(store)
    publish(store, registered, claim_of(store, registered), ["a"])
    got, head = client.get("/features/top"), client.head("/features/top")
    assert (head.status_code, head.content) == (200, b"")
    assert all(head.headers[name] == got.headers[name] for name in ("etag", "content-length", "content-type"))
