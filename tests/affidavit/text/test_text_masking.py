"""What a shared screen should not show: names in paths, mails, hosts, secrets; and what should stay readable."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.text.display import display, mask


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("at /home/alice/work/acme/src/x.py:12", "at ⟨path⟩/x.py:12"),
        ("cd /home/alice && ls", "cd ⟨home⟩ && ls"),
        ("cd /Users/alice/", "cd ⟨home⟩/"),
        ("/mnt/c/Users/alice", "⟨home⟩"),
        ("-I/home/alice/include", "-I⟨path⟩/include"),
        ("file:///home/alice/a/b.md", "file://⟨path⟩/b.md"),
        ("~/acme/notes.md and ~alice/x", "⟨path⟩/notes.md and ⟨path⟩/x"),
        ("C:\\Users\\alice\\x.txt", "⟨path⟩\\x.txt"),
        ("C:\\Users\\alice", "⟨home⟩"),
        (r'{"cwd":"C:\\Users\\alice\\acme"}', r'{"cwd":"⟨path⟩\acme"}'),
        (r"\\fileserver\share\plan.doc", r"⟨path⟩\plan.doc"),
        ("projects/-Users-alice-acme/s.jsonl", "projects/⟨path⟩/s.jsonl"),
        ('{"cwd":"/home/alice/p"}', '{"cwd":"⟨path⟩/p"}'),
    ],
)
def test_paths(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("ask bob.b+x@mail.example.com now", "ask ⟨mail⟩ now"),
        ("Bob <bob@example.com>", "Bob <⟨mail⟩>"),
        ("git@git.example.com:acme/x.git", "⟨mail⟩:acme/x.git"),
        ("scp x alice@buildbox:/srv/x", "scp x ⟨mail⟩:⟨path⟩/x"),
        ("https://api.example.com:8443/v1?q=1", "https://⟨host⟩:8443/v1?q=1"),
        ("db.prod.example.com is down", "⟨host⟩ is down"),
        ("ping 10.1.2.3, 203.0.113.9", "ping ⟨ip⟩, ⟨ip⟩"),
        ("at fe80::1ff:fe23:4567:890a", "at ⟨ip⟩"),
        ("build.intranet", "⟨host⟩"),
    ],
)
def test_mails_and_hosts(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("key sk-test-abcdefghijklmnop.", "key ⟨secret⟩"),
        ("ghp_0123456789abcdefghij", "⟨secret⟩"),
        ("AKIATESTTESTTESTTEST", "⟨secret⟩"),
        ("eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2ln", "⟨secret⟩"),
        ("Authorization: Bearer abc.def-123", "Authorization: ⟨secret⟩"),
        ("curl -H 'X-Thing: bearer 0123456789'", "curl -H 'X-Thing: bearer ⟨secret⟩'"),
        ("Cookie: a=b; sid=c", "Cookie: ⟨secret⟩"),
        ("PGPASSWORD=hunter2 psql", "PGPASSWORD=⟨secret⟩ psql"),
        ("password: 12345", "password: ⟨secret⟩"),
        ("db_pass = 'a b'", "db_pass = '⟨secret⟩'"),
        (r'"apiKey": "a\"b c", "x": 1', r'"apiKey": "⟨secret⟩", "x": 1'),
        (r"{\"client_secret\": \"zzz\"}", r"{\"client_secret\": \"⟨secret⟩\"}"),
        ("https://x.example.com/cb?access_token=abc&y=1", "https://⟨host⟩/cb?access_token=⟨secret⟩&y=1"),
        ("login --token abc --verbose", "login --token ⟨secret⟩ --verbose"),
        ("postgres://app:pw@db.internal/x", "postgres://⟨secret⟩@⟨host⟩/x"),
        ("a -----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY----- b", "a ⟨secret⟩ b"),
        ("-----BEGIN PRIVATE KEY-----\nabc", "⟨secret⟩"),
    ],
)
def test_secrets(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain words, nothing else",
        "input_tokens: 123, max_tokens=4096, tokens: none",
        "/clear and/or 1/2 </div> // comment",
        "os.path.join main.py session.test.ts v1.2.3",
        "http://localhost:3000/a/b and 127.0.0.1:80 and ::1",
        "12:30:45 std::vector a::b sha:9f3c",
        "react@18.2.0 @dataclass a @ b",
        "compass: north, bypass = on",
        r"re.compile('\\d+\\s+\d')",
        "src/auth/session.py tests/x_test.go",
        "役割を確認する é 👍🏽",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask(text) == text


PIECES = st.sampled_from(
    [
        "/home/alice/", "/", "a", "alice", ".com", "@", "https://", "token=", '"', "'", "\\", ":", " ", "\n", "sk-",
        "x" * 20, "10.0.0.1", "::", "-----BEGIN PRIVATE KEY-----", "cookie:", "é", "役", "\u202e", "⟨secret⟩", "⟨", "~",
        "C:", "--password ",
    ]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join))
def test_masked_text_stays_as_it_is_and_can_be_shown(text: str) -> None:
    once = mask(text)
    assert mask(once) == once
    assert display(mask(display(text))) == mask(display(text))


@given(
    st.from_regex(r"[a-z]{3,10}", fullmatch=True), st.sampled_from(["/home/{}/x/y.py", "C:\\Users\\{}\\y", "/Users/{}"])
)
def test_a_persons_name_in_a_home_path_never_shows(name: str, path: str) -> None:
    name += "q7"
    for text in (
        path.format(name),
        f"cd {path.format(name)} && ls",
        f'"{path.format(name)}"',
        f"x={path.format(name)}",
    ):
        assert name not in mask(text)


LONG = [
    "a", "a.", "-", "/a", "/", "::", "a@", "a@b.", '"', "token=", "toke", 'token="', '\\"', "1.1.1.1", "x://a:",
    "eyJaaaaaaaaa.", "-----BEGIN PRIVATE KEY-----", "bearer ", "cookie: ", "~/", "C:\\", "\\\\ab", "--token ", "com.",
]  # fmt: skip


@pytest.mark.parametrize("piece", LONG)
def test_cost_is_linear(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    start = time.process_time()
    mask(text)
    assert time.process_time() - start < 2  # about a tenth of a second; what is quadratic takes minutes
