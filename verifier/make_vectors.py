#!/usr/bin/env python3
"""Writes test/vectors/journal-v1.json: test vectors of the Inkfast journal format, version 1.

Deterministic: no clock, no randomness. Its hashing is written apart from inkfast_verify.py on purpose, so that a slip
in one of the two shows. The vectors freeze the format: a change of this file's output is a change of the format.

    make_vectors.py [OUT]
"""
import hashlib
import json
import pathlib
import struct
import sys

LIMIT = 400 * 1024
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
T0 = 1700000000000
HEADER = ("journal", "id", "at", "type", "schema", "class", "actor", "session", "run", "subject", "cause", "key")


def sha(*parts):
    h = hashlib.sha256()
    for part in parts:
        h.update(part)
    return h.digest()


def seeded(label, size=16):
    """Bytes that look random and always are the same."""
    return hashlib.shake_128(("inkfast vectors " + label).encode()).digest(size)


def ulid_of(raw):
    bits = "00" + "".join(format(byte, "08b") for byte in raw)
    return "".join(ALPHABET[int(bits[i:i + 5], 2)] for i in range(0, 130, 5))


def raw_of(text):
    n = 0
    for char in text:
        n = n * 32 + ALPHABET.index(char)
    return struct.pack(">QQ", n >> 64, n & 0xFFFFFFFFFFFFFFFF)


def make_ulid(label, at=T0):
    return ulid_of(struct.pack(">Q", at)[2:] + seeded("ulid " + label, 10))


def sized(data):
    return struct.pack(">I", len(data)) + data


def commit_of(salt, payload):
    return sha(b"inkfast/1/payload\x00", bytes.fromhex(salt), payload.encode("utf-8")).hex()


def key_of(journal, scope, key):
    full = sha(b"inkfast/1/key\x00", sized(journal.encode("utf-8")), sized(scope.encode("utf-8")), key.encode("utf-8"))
    return full[:16].hex()


def event_of(e):
    def ident(text):
        return raw_of(text) if text is not None else b"\x00" * 16

    return sha(
        b"inkfast/1/event\x00",
        sized(e["journal"].encode("utf-8")), ident(e["id"]), struct.pack(">Q", e["at"]),
        sized(e["type"].encode("utf-8")), struct.pack(">I", e["schema"]), struct.pack(">B", e["class"]),
        sized(e["actor"].encode("utf-8")), ident(e["session"]), ident(e["run"]), ident(e["subject"]), ident(e["cause"]),
        bytes.fromhex(e["key"]) if e["key"] is not None else b"\x00" * 16,
        bytes.fromhex(e["commit"]),
    ).hex()


def link_of(previous, seq, event):
    return sha(b"inkfast/1/link\x00", bytes.fromhex(previous), struct.pack(">Q", seq), bytes.fromhex(event)).hex()


# ---------------------------------------------------------------- the vectors

PAYLOADS = [
    "null", "true", "false", "0", "-1", "0.1", "1e+21", "9007199254740991", '""', "{}", "[]", '"a"', "[1,2,3]",
    '{"b":1,"a":2}',                                   # the caller's key order, not sorted
    '{"é":"é","e\u0301":"NFD, not the same"}',         # composed and decomposed: never normalised
    '"漢字"', '"😀"', '"👩‍👩‍👧"', '"\ufffd"', '"\u2028\u2029"', '"\ufeff"', '"\U0010ffff"', '"\x7f"',
    '"\\u0000"', '"\\b\\t\\n\\f\\r\\u001f"', '"\\"\\\\/"', '{"":{"":[[],{},null]}}',
    "[" * 64 + "]" * 64,
]


def long_payload():
    """70 KiB exactly, ASCII: a JSON string of a counting pattern."""
    size = 70 * 1024
    text = "".join("%06d-inkfast." % n for n in range(size // 14))
    return '"' + text[:size - 2] + '"'


def ulids():
    texts = ["00000000000000000000000000", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "00000000000000000000000001",
             "0123456789ABCDEFGHJKMNPQRS", "7TVWXYZ0123456789ABCDEFGHJ", "01ARZ3NDEKTSV4RRFFQ69G5FAV",
             make_ulid("a"), make_ulid("b", 0), make_ulid("c", (1 << 48) - 1)]
    return [{"text": text, "hex": raw_of(text).hex()} for text in texts]


def payloads():
    result = []
    for number, payload in enumerate(PAYLOADS + [long_payload()]):
        salt = seeded("payload %d" % number).hex()
        if number == 0:
            salt = "00" * 16
        if number == 1:
            salt = "ff" * 16
        result.append({"salt": salt, "payload": payload, "commit": commit_of(salt, payload)})
    return result


def keys():
    given = [("main", "", ""), ("main", "runs", "order-1"), ("acme-1", "runs", "order-1"), ("main", "run", "sorder-1"),
             ("main", "é", "漢字 😀"), ("acme-1/01ARZ3NDEKTSV4RRFFQ69G5FAV", "effects", "k" * 300),
             ("ma", "in", "x"), ("main", "in", "x")]
    return [{"journal": j, "scope": s, "key": k, "digest": key_of(j, s, k)} for j, s, k in given]


def bodies():
    given = ["null", "{}", '{"a":1,"b":[true,null,"x"]}', '{"name":"é 漢字 😀","z":"\\u0000"}', '"\u2028"']
    result = []
    for number, canonical in enumerate(given):
        salt = seeded("body %d" % number).hex()
        digest = sha(b"inkfast/1/body\x00", bytes.fromhex(salt), canonical.encode("utf-8")).hex()
        result.append({"salt": salt, "canonical": canonical, "digest": digest})
    return result


def header(journal, label, **given):
    e = {"journal": journal, "id": None, "at": T0, "type": "thing.made", "schema": 1, "class": 0, "actor": "",
         "session": None, "run": None, "subject": None, "cause": None, "key": None}
    e.update(given)
    if e["id"] is None:
        e["id"] = make_ulid(label, e["at"] & ((1 << 48) - 1))
    return e


def all_ids(label):
    return {"session": make_ulid(label + " session"), "run": make_ulid(label + " run"),
            "subject": make_ulid(label + " subject"), "cause": make_ulid(label + " cause"),
            "key": seeded(label + " key").hex()}


def events():
    long_type = "a" + "b" * 60 + "." + "c_d-9" * 13 + "z"
    assert len(long_type) == 128
    given = [
        {},
        all_ids("e all"),
        dict(all_ids("e all"), actor="user-1"),
        {"journal": "acme-1"},
        {"journal": "acme-1/01ARZ3NDEKTSV4RRFFQ69G5FAV"},
        {"class": 1},
        {"schema": 0},
        {"schema": 0xFFFFFFFF},
        {"at": 0},
        {"at": (1 << 48) - 1},
        {"at": (1 << 53) - 1},
        {"actor": "A" * 63 + "z"},
        {"actor": "~!@ /"},
        {"type": long_type},
        {"type": "a.0"},
        {"type": "x-_9._-.0"},
        {"type": "payload.erased"},
        {"id": "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"},
    ]
    for field in ("session", "run", "subject", "cause", "key"):      # the same id at each place: order matters
        given.append({field: "01ARZ3NDEKTSV4RRFFQ69G5FAV" if field != "key" else raw_of("01ARZ3NDEKTSV4RRFFQ69G5FAV").hex()})
    result = []
    for number, fields in enumerate(given):
        fields = dict(fields)
        e = header(fields.pop("journal", "main"), "event %d" % number, **fields)
        e["commit"] = sha(b"event vector %d" % number).hex()
        e["event"] = event_of(e)
        result.append(e)
    return result


BLOB = "ab" * 32
VALUE = "value:" + "A" * 43


def references():
    """Schema and payload, and the references that follow; None where the payload has not the form of its schema."""
    blob = '{"digest":"%s","bytes":7}' % BLOB
    other = '{"digest":"%s","bytes":0,"kind":"file"}' % ("cd" * 32)
    given = [
        (1, "{}", []),
        (1, blob, ["blob:" + BLOB]),
        (1, '{"b":[%s,{"a":%s}],"c":%s}' % (other, blob, blob), ["blob:" + BLOB, "blob:" + "cd" * 32]),
        (1, '{"digest":"%s"}' % BLOB, []),
        (1, '{"digest":"%s","bytes":"7"}' % BLOB, []),
        (1, '{"digest":"%s","bytes":1.5}' % BLOB, []),
        (1, '{"digest":"%s","bytes":7}' % BLOB.upper(), []),
        (1, '{"digest":"%s","bytes":7}' % BLOB[1:], []),
        (1, json.dumps(blob), []),
        (1, '{"refs":["%s"],"data":1}' % VALUE, []),
        (2, blob, ["blob:" + BLOB]),
        (3, '{"refs":["%s"],"data":null}' % VALUE, [VALUE]),
        (3, '{"refs":["blob:%s","%s"],"data":{"n":%s}}' % (BLOB, VALUE, other), ["blob:" + BLOB, "blob:" + "cd" * 32, VALUE]),
        (4, '{"refs":["%s"],"digest":"%s","bytes":7}' % (VALUE, BLOB), ["blob:" + BLOB, VALUE]),
        (3, "null", None),
        (3, '{"refs":[],"data":1}', None),
        (3, '{"refs":["%s"]}' % VALUE, None),
        (3, '{"refs":["%s"],"data":1,"more":1}' % VALUE, None),
        (3, '{"refs":["%s","blob:%s"],"data":1}' % (VALUE, BLOB), None),
        (3, '{"refs":["%s","%s"],"data":1}' % (VALUE, VALUE), None),
        (3, '{"refs":["%sB"],"data":1}' % VALUE[:-1], None),
        (3, '{"refs":["%s"],"data":1}' % BLOB, None),
        (4, '{"refs":["%s"],"data":1}' % VALUE, None),
    ]
    return [{"schema": schema, "payload": payload, "references": refs} for schema, payload, refs in given]


def chain(name, journal, given, erased=(), expect=None):
    """given: [(payload, header fields)]; erased: seqs whose payload and salt are dropped afterwards."""
    previous = "00" * 32
    out = []
    for seq, (payload, fields) in enumerate(given, 1):
        label = "%s %d" % (name, seq)
        h = header(journal, label, **dict({"at": T0 + seq}, **fields))
        e = {"journal": journal, "seq": seq}
        e.update((field, h[field]) for field in HEADER[1:])
        salt = seeded("salt " + label).hex()
        gone = seq in erased
        e["payload"] = None if gone else payload
        e["salt"] = None if gone else salt
        e["commit"] = commit_of(salt, payload)
        digest = event_of(e)
        e["hash"] = previous = link_of(previous, seq, digest)
        e["event"] = digest
        out.append(e)
    result = {"name": name, "journal": journal}
    if expect is not None:
        result["expect"] = expect
    result["events"] = out
    return result


def erasure(seqs, reason):
    payload = json.dumps({"seqs": seqs, "reason": reason}, separators=(",", ":"), ensure_ascii=False)
    return payload, {"type": "payload.erased", "actor": "operator-1"}


def chains():
    first = make_ulid("varied 1", T0 + 1)
    varied = [
        ("null", {}),
        ('""', dict(all_ids("varied"), cause=first, actor="user-1")),
        ("{}", {"class": 1, "type": "delta.seen"}),
        ('{"text":"é 漢字 😀 \ufffd \u2028 \\u0000"}', {"schema": 0xFFFFFFFF}),
        ('{"b":1,"a":[true,null]}', {"at": 0}),
        ("[]", {"at": (1 << 48) - 1, "actor": "A" * 64}),
        ('"after"', {"type": "a" * 62 + "." + "b" * 65, "cause": first}),
    ]
    tiny = [(str(n), {"type": "t.n"}) for n in range(1, 301)]
    gone = [
        ('{"n":1}', {}),
        ('{"n":2,"name":"to be forgotten"}', {"subject": make_ulid("gone subject")}),
        ('{"n":3,"name":"to be forgotten"}', {"subject": make_ulid("gone subject")}),
        ('{"n":4}', {}),
        ('{"delta":"transient"}', {"class": 1, "type": "delta.seen"}),
        ('{"n":6}', {}),
        erasure([[2, 3], [5, 5]], "asked for by the subject"),
        ('{"n":8}', {}),
    ]
    alarm = [
        ('{"n":1}', {}),
        ('{"n":2}', {}),
        ('{"n":3}', {}),
        erasure([[2, 2]], "retention"),
        ('{"n":5}', {}),
    ]
    return [
        chain("varied", "acme-1", varied),
        chain("three hundred", "main", tiny),
        chain("erased", "main", gone, erased=(2, 3, 5)),
        chain("references", "main", [
            ('{"refs":["%s"],"data":{"state":"%s"}}' % (VALUE, VALUE), {"schema": 3}),
            ('{"refs":["%s"],"digest":"%s","bytes":7}' % (VALUE, BLOB), {"schema": 4}),
            ('{"refs":["%s"],"data":null}' % VALUE, {"schema": 1}),
        ]),
        chain("references of no form", "main", [('{"refs":["%s"]}' % VALUE, {"schema": 3}), ("2", {})], expect={
            "intact": False,
            "states": {"intact": 1, "erased": 0, "erased-unauthorised": 0, "corrupt": 1, "missing": 0},
            "broken": [{"seq": 1, "state": "corrupt"}],
        }),
        chain("session journal", "acme-1/01ARZ3NDEKTSV4RRFFQ69G5FAV", [('"in its own file"', {}), ("2", {})]),
        chain("erased without authority", "acme-1", alarm, erased=(2, 3), expect={
            "intact": False,
            "states": {"intact": 3, "erased": 1, "erased-unauthorised": 1, "corrupt": 0, "missing": 0},
            "broken": [{"seq": 3, "state": "erased-unauthorised"}],
        }),
    ]


def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def render():
    parts = ['{"format": "inkfast/1"',
             '"note": ' + dump("Test vectors of the Inkfast journal format, version 1. Written by verifier/make_vectors.py from "
                               "the format page; do not edit. Texts are byte-exact UTF-8. A chain with expect is not "
                               "intact and must be found so; every other one is intact.")]
    for name, items in (("ulid", ulids()), ("payload", payloads()), ("key", keys()), ("body", bodies()),
                        ("event", events()), ("references", references())):
        parts.append('"%s": [\n%s\n]' % (name, ",\n".join(map(dump, items))))
    rendered = []
    for item in chains():
        rest = {key: value for key, value in item.items() if key != "events"}
        rendered.append("%s,\"events\":[\n%s\n]}" % (dump(rest)[:-1], ",\n".join(map(dump, item["events"]))))
    parts.append('"chains": [\n%s\n]' % ",\n".join(rendered))
    return (",\n".join(parts) + "}\n").encode("utf-8")      # a lone surrogate would raise here


def main():
    default = pathlib.Path(__file__).resolve().parent.parent / "test" / "vectors" / "journal-v1.json"
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    data = render()
    json.loads(data.decode("utf-8"))
    if len(data) >= LIMIT:
        sys.exit("too large: %d bytes" % len(data))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(data)
    print("%s: %d bytes, sha256 %s" % (out, len(data), hashlib.sha256(data).hexdigest()))


if __name__ == "__main__":
    main()
