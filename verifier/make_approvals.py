#!/usr/bin/env python3
"""Writes test/vectors/approvals-v1.ndjson: an approvals export of Inkfast, schema inkfast/approvals/1.

Deterministic: no clock, no randomness. Nothing is shared with inkfast_verify.py: members are written in their JCS order by
hand, numbers are written as RFC 8785 wants them, and the hashing is its own, so that a slip in one of the two shows. The
vectors freeze the schema: a change of this file's output is a change of it.

    make_approvals.py [OUT]
"""
import hashlib
import pathlib
import sys

SCHEMA = "inkfast/approvals/1"
SESSION = "01HF7YAT00PGB3M8SDW7AN6ZJT"
RUN = "01HF7YAT00K1QDC8M1CK2TEHM9"
DIGEST = hashlib.sha256(b'{"data":{"cwd":"/srv/app","force":true},"subject":"rm -rf build","subjectType":"tool"}').hexdigest()

# Every other character is written as it is.
WRITTEN = {0x22: '\\"', 0x5C: "\\\\", 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}
WRITTEN.update({code: "\\u00" + format(code, "02x") for code in range(0x20) if code not in WRITTEN})


class Number(str):
    """As it is to be written."""


def obj(*members):
    """Members in their order, which is checked by nobody here: it is what the vectors are about."""
    return ("object", members)


def write(value):
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return '"' + value.translate(WRITTEN) + '"'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ",".join(write(item) for item in value) + "]"
    return "{" + ",".join(write(name) + ":" + write(item) for name, item in value[1]) + "}"


def number(value):
    return Number(value)


def approval(at, ident, state, *decided):
    """The approval that is asked again and again; `decided` stands between `data` and `deciders`."""
    return [
        obj(("askedAt", number(at)), ("askedBy", "agent_7"),
            ("data", obj(("cwd", "/srv/app"), ("force", True))), *decided,
            ("digest", DIGEST), ("id", ident), ("kind", "approval"), ("revision", number("7")), ("risk", "high"),
            ("seq", number("3")), ("session", SESSION), ("state", state), ("subject", "rm -rf build"),
            ("subjectType", "tool"), ("tenant", "main")),
    ]


def records():
    yield from approval("1700000000000", "01HF7YAT00AAAAAAAAAAAAAAAA", "pending", ("deciders", ["user/grace", "user/ada"]))
    yield from approval("1700000001000", "01HF7YAT00BBBBBBBBBBBBBBBB", "approved",
                        ("decidedAt", number("1700000002000")), ("decidedBy", "user/grace"))
    yield obj(("askedAt", number("1700000003000")), ("blob", obj(("bytes", number("70000")), ("digest", "ab" * 32))),
              ("decidedAt", number("1700000003000")), ("decidedBy", "user/grace"), ("digest", "cd" * 32),
              ("id", "01HF7YAT00CCCCCCCCCCCCCCCC"), ("kind", "approval"), ("permit", "01HF7YAT00DDDDDDDDDDDDDDDD"),
              ("revision", number("9")), ("run", RUN), ("seq", number("8")), ("session", SESSION), ("state", "denied"),
              ("subject", "send 4711 mails"), ("tenant", "acme-1"), ("value", "deny"))
    yield obj(("askedAt", number("0")), ("deliveries", [obj(("at", number("1")), ("channel", "slack"), ("ref", "C1/171"))]),
              ("id", "01HF7YAT00EEEEEEEEEEEEEEEE"), ("kind", "ask"),
              ("note", "é e\u0301 漢字 😀 👩‍👩‍👧 \ufffd \u2028\u2029 \ufeff \U0010ffff \x7f \x85 \u202e"),
              ("seen", [obj(("at", number("2")), ("by", "user/ada"))]), ("state", "answered"),
              ("subject", "\"quoted\" \\ / \b\t\n\f\r \x00\x1f"), ("value", [None, True, False, "", [], obj(), obj(("", obj(("", []))))]))
    # RFC 8785, 3.2.2.3 and appendix B.
    yield obj(("numbers", [number(text) for text in (
        "0", "1", "-1", "4.5", "0.002", "1e-27", "333333333.3333333", "1e+30", "1e+21", "1e+22", "1e-7", "0.000001", "0.1",
        "100000000000000000000", "999999999999999900000", "123456789012345680000", "9007199254740991", "9007199254740992",
        "-9007199254740992", "295147905179352830000", "5e-324", "-5e-324", "1.7976931348623157e+308",
        "-1.7976931348623157e+308", "9.999999999999997e+22", "1e+23", "1.0000000000000001e+23", "999999999999999700000",
        "999999999999999900000", "1e+21", "9.999999999999997e-7", "0.000001", "333333333.3333332", "333333333.33333325",
        "333333333.3333333", "333333333.3333334", "333333333.33333343", "-0.0000033333333333333333", "1424953923781206.2")]))
    # RFC 8785, 3.2.3: by UTF-16 code units, so the emoji comes before U+FB33.
    yield obj(("\r", "Carriage Return"), ("1", "One"), ("\x80", "Control"), ("ö", "Latin Small Letter O With Diaeresis"),
              ("€", "Euro Sign"), ("😀", "Emoji: Grinning Face"), ("\ufb33", "Hebrew Letter Dalet With Dagesh"))
    yield obj(("", 0 == 1), ("A", None), ("AA", None), ("B", None), ("__proto__", "a name like any other"), ("a", None), ("aa", None))
    yield obj()
    deep = []
    for _ in range(40):
        deep = [deep]
    yield obj(("deep", deep))
    for n in range(10, 13):
        yield obj(("n", number(str(n))))


def render():
    chain = "0" * 64
    lines = []
    for sequence, record in enumerate(records(), 1):
        digest = hashlib.sha256(write(record).encode("utf-8")).hexdigest()
        prev = chain
        chain = hashlib.sha256("\n".join((SCHEMA, str(sequence), prev, digest)).encode("utf-8")).hexdigest()
        lines.append(write(obj(("chain_sha256", chain), ("prev", prev), ("record", record), ("record_sha256", digest),
                               ("schema", SCHEMA), ("sequence", number(str(sequence))))))
    lines.append(write(obj(("chain_sha256", chain), ("count", number(str(len(lines)))), ("schema", SCHEMA))))
    return "".join(line + "\n" for line in lines).encode("utf-8")


def main():
    default = pathlib.Path(__file__).resolve().parent.parent / "test" / "vectors" / "approvals-v1.ndjson"
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    data = render()
    out.write_bytes(data)
    print("%s: %d bytes, sha256 %s" % (out, len(data), hashlib.sha256(data).hexdigest()))


if __name__ == "__main__":
    main()
