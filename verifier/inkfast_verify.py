#!/usr/bin/env python3
"""Independent verifier for the Inkfast journal, format version 1.

Written from the format page (journal-format.md) alone. Standard library only, Python 3.9+.

    inkfast_verify.py FILE [--receipts receipts.json] [--json]
    inkfast_verify.py FILE --approvals [--chain HEX] [--json]

FILE is an NDJSON export ('-' for stdin), a vectors file, or a SQLite database; which one is detected. An export of
approvals is detected too, if its first line is whole; --approvals says that it is one.
Exit: 0 intact, 1 not intact, 2 could not read.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import sqlite3
import sys
from array import array
from bisect import bisect_left

FORMAT = "inkfast/1"
TAG_PAYLOAD = b"inkfast/1/payload\0"
TAG_EVENT = b"inkfast/1/event\0"
TAG_LINK = b"inkfast/1/link\0"
TAG_KEY = b"inkfast/1/key\0"
TAG_BODY = b"inkfast/1/body\0"
APPROVALS = "inkfast/approvals/1"
GENESIS = bytes(32)
NO_ID = bytes(16)
U64 = (1 << 64) - 1
U32 = (1 << 32) - 1

STATES = ("intact", "erased", "erased-unauthorised", "corrupt", "missing")
FIRST = 20          # how many broken events are listed
CANDIDATES = 8      # how many possible previous hashes are kept after a break
ERASURES = 10000    # how many erasures are listed
DAY = 86400000      # milliseconds; clocks of nodes differ by less

SQLITE_MAGIC = b"SQLite format 3\0"
OPTIONAL_IDS = ("session", "run", "subject", "cause")
TYPE_RE = re.compile(rb"[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)+")
ULID_RE = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.ASCII)
HEX_RE = re.compile(r"[0-9a-fA-F]*", re.ASCII)
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
TO_BASE32 = str.maketrans(CROCKFORD, "0123456789abcdefghijklmnopqrstuv")


class Unreadable(Exception):
    """The input could not be read at all: exit 2."""


# ---------------------------------------------------------------- the format

def H(data):
    return hashlib.sha256(data).digest()


def lp(data):
    return len(data).to_bytes(4, "big") + data


def commit_of(salt, payload):
    return H(TAG_PAYLOAD + salt + payload)


def event_of(header, commit):
    return H(TAG_EVENT + header + commit)


def link_of(previous, seq, event):
    return H(TAG_LINK + previous + seq.to_bytes(8, "big") + event)


def key_of(journal, scope, key):
    return H(TAG_KEY + lp(journal) + lp(scope) + key)[:16]


def ulid_bytes(text):
    """16 bytes of a ULID, or None where it is not well-formed. Either case; no I, L, O, U; first character <= '7'."""
    if not isinstance(text, str):
        return None
    if not text.isascii():
        return None
    text = text.upper()
    if not ULID_RE.fullmatch(text):
        return None
    return int(text.translate(TO_BASE32), 32).to_bytes(16, "big")


def ulid_text(raw):
    n = int.from_bytes(raw, "big")
    return "".join(CROCKFORD[(n >> shift) & 31] for shift in range(125, -1, -5))


def hex_bytes(text, length):
    if isinstance(text, str) and len(text) == 2 * length and HEX_RE.fullmatch(text):
        return bytes.fromhex(text)
    return None


def is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


# ---------------------------------------------------------------- one event, however it was stored

class Event:
    """Fields as bytes and ints; None where malformed (then `problems` says so)."""
    __slots__ = ("name", "seq", "journal", "id", "at", "type", "schema", "cls", "actor", "ids", "key",
                 "payload", "salt", "erased", "commit", "hash", "claimed", "problems")

    def __init__(self):
        self.problems = []
        self.claimed = None

    def check_header(self):
        """The header rules of the page. A broken rule is noted; the field is kept if it still can be encoded."""
        bad = self.problems.append
        if self.seq is not None and not 1 <= self.seq <= U64:
            bad("seq is not in 1..2^64-1")
            self.seq = None
        if self.id == NO_ID:
            bad("id is empty")
        if self.at is not None and not 0 <= self.at <= U64:
            bad("at is not a u64")
            self.at = None
        if self.type is not None:
            if len(self.type) > 128:
                bad("type is longer than 128 bytes")
            if not TYPE_RE.fullmatch(self.type):
                bad("type is not of the form noun.verbed")
        if self.schema is not None and not 0 <= self.schema <= U32:
            bad("schema is not a u32")
            self.schema = None
        if self.cls is not None and self.cls not in (0, 1):
            bad("class is neither 0 nor 1")
            if not 0 <= self.cls <= 255:
                self.cls = None
        if self.actor is not None:
            if len(self.actor) > 64:
                bad("actor is longer than 64 characters")
            if not self.actor.isascii():
                bad("actor is not ASCII")

    def header(self):
        """The bytes between the tag and commit_i, or None where a field cannot be encoded."""
        parts = (self.journal, self.id, self.at, self.type, self.schema, self.cls, self.actor, self.key)
        if any(part is None for part in parts) or any(part is None for part in self.ids):
            return None
        return b"".join((lp(self.journal), self.id, self.at.to_bytes(8, "big"), lp(self.type),
                         self.schema.to_bytes(4, "big"), bytes((self.cls,)), lp(self.actor), *self.ids, self.key))


def event_from_json(obj):
    e = Event()
    bad = e.problems.append

    def text(field):
        value = obj.get(field)
        if not isinstance(value, str):
            bad("%s is not text" % field)
            return None
        try:
            return value.encode("utf-8")
        except UnicodeEncodeError:
            bad("%s holds a lone surrogate" % field)
            return None

    def integer(field):
        value = obj.get(field)
        if not is_int(value):
            bad("%s is not an integer" % field)
            return None
        return value

    def hexed(field, length):
        value = hex_bytes(obj.get(field), length)
        if value is None:
            bad("%s is not %d hex characters" % (field, 2 * length))
        return value

    e.name = obj["journal"]
    e.journal = text("journal")
    e.seq = integer("seq")
    e.id = ulid_bytes(obj.get("id"))
    if e.id is None:
        bad("id is not a ULID")
    e.at = integer("at")
    e.type = text("type")
    e.schema = integer("schema")
    e.cls = integer("class")
    e.actor = text("actor")
    e.ids = []
    for field in OPTIONAL_IDS:
        value = obj.get(field)
        raw = NO_ID if value is None else ulid_bytes(value)
        if raw is None:
            bad("%s is not a ULID" % field)
        e.ids.append(raw)
    e.key = NO_ID if obj.get("key") is None else hexed("key", 16)
    # erased means written as null; a field that is not there at all is damage
    e.erased = obj.get("payload", 0) is None and obj.get("salt", 0) is None
    e.payload = e.salt = None
    if not e.erased:
        if obj.get("payload", 0) is None or obj.get("salt", 0) is None:
            bad("half erased: only one of payload and salt is null")
        if obj.get("payload", 0) is not None:
            e.payload = text("payload")
        if obj.get("salt", 0) is not None:
            e.salt = hexed("salt", 16)
    e.commit = hexed("commit", 32)
    e.hash = hexed("hash", 32)
    if "event" in obj:
        e.claimed = hexed("event", 32)
    e.check_header()
    return e


class Text(bytes):
    """What SQLite holds as TEXT, undecoded: so that it can be told from a BLOB, and bad UTF-8 raises nothing."""


def event_from_row(row, encoding):
    (tenant, seq, ident, at, type_, schema, cls, actor, session, run, subject, cause, key,
     payload, salt, digest, hash_) = row
    e = Event()
    bad = e.problems.append

    def text(field, value):
        if not isinstance(value, Text):
            bad("%s is not text" % field)
            return None
        value = bytes(value)
        try:
            value.decode("utf-8")
        except UnicodeDecodeError:
            bad("%s is not UTF-8" % field)
        return value

    def integer(field, value):
        if not is_int(value):
            bad("%s is not an integer" % field)
            return None
        return value

    def blob(field, value, length):
        if isinstance(value, bytes) and not isinstance(value, Text) and len(value) == length:
            return value
        bad("%s is not a blob of %d bytes" % (field, length))
        return None

    e.journal = text("tenant", tenant)
    e.name = e.journal.decode("utf-8", "backslashreplace") if e.journal is not None else str(tenant)
    e.seq = integer("seq", seq)
    e.id = blob("id", ident, 16)
    e.at = integer("at", at)
    e.type = text("type", type_)
    e.schema = integer("schema", schema)
    e.cls = integer("class", cls)
    e.actor = text("actor", actor)
    e.ids = [NO_ID if value is None else blob(field, value, 16)
             for field, value in zip(OPTIONAL_IDS, (session, run, subject, cause))]
    e.key = NO_ID if key is None else blob("key", key, 16)
    e.erased = payload is None and salt is None
    e.payload = e.salt = None
    if not e.erased:
        if payload is None or salt is None:
            bad("half erased: only one of payload and salt is null")
        if payload is not None:
            try:
                decoded = payload.decode(encoding)
                e.payload = payload if encoding == "utf-8" else decoded.encode("utf-8")
            except UnicodeError:
                bad("payload is not well-formed text")
                e.payload = payload
        if salt is not None:
            e.salt = blob("salt", salt, 16)
    e.commit = blob("digest", digest, 32)
    e.hash = blob("hash", hash_, 32)
    e.check_header()
    return e


# ---------------------------------------------------------------- references

IN_BLOB, INLINE_WITH_REFS, IN_BLOB_WITH_REFS = 2, 3, 4
REFERENCE_RE = re.compile(r"blob:[0-9a-f]{64}|value:[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]", re.ASCII)
DIGEST_RE = re.compile(r"[0-9a-f]{64}", re.ASCII)
MARK = b'"digest":"'
SAFE = (1 << 53) - 1


def declared_in(schema, value):
    """The declared references of a payload of form 3 or 4, or None where it has not that form."""
    members = {"refs", "data"} if schema == INLINE_WITH_REFS else {"refs", "digest", "bytes"}
    if not isinstance(value, dict) or set(value) != members or not isinstance(value["refs"], list) or not value["refs"]:
        return None
    refs = value["refs"]
    if not all(isinstance(ref, str) and REFERENCE_RE.fullmatch(ref) for ref in refs):
        return None
    return refs if all(a < b for a, b in zip(refs, refs[1:])) else None


def names_blob(value):
    digest, size = value.get("digest"), value.get("bytes")
    whole = is_int(size) or (isinstance(size, float) and size.is_integer())
    return isinstance(digest, str) and DIGEST_RE.fullmatch(digest) is not None and whole and -SAFE <= size <= SAFE


def blobs_in(value):
    if isinstance(value, dict):
        if names_blob(value):
            yield "blob:" + value["digest"]
        value = value.values()
    elif not isinstance(value, list):
        return
    for item in value:
        yield from blobs_in(item)


def references_of(schema, payload):
    """Every reference of an event, in order; None where the payload has not the form that its schema names."""
    declares = schema in (INLINE_WITH_REFS, IN_BLOB_WITH_REFS)
    if not declares and MARK not in payload:
        return []
    try:
        value = json.loads(payload.decode("utf-8"))
        found = set(blobs_in(value)) if MARK in payload else set()
    except (ValueError, RecursionError):
        return None if declares else []
    declared = declared_in(schema, value) if declares else []
    return None if declared is None else sorted(found.union(declared))


# ---------------------------------------------------------------- verifying

class Runs:
    """A growing set of seqs as sorted, disjoint runs, so that a long erased stretch costs two numbers."""

    def __init__(self):
        self.first = array("Q")
        self.last = array("Q")

    def add(self, seq):
        if self.last and seq == self.last[-1] + 1:
            self.last[-1] = seq
        elif not self.last or seq > self.last[-1]:
            self.first.append(seq)
            self.last.append(seq)

    def take(self, low, high):
        """Remove every seq in low..high; how many were there."""
        high = min(high, U64)
        i = bisect_left(self.last, low)
        j = i
        taken = 0
        keep = []
        while j < len(self.first) and self.first[j] <= high:
            a, b = self.first[j], self.last[j]
            taken += min(b, high) - max(a, low) + 1
            if a < low:
                keep.append((a, low - 1))
            if b > high:
                keep.append((high + 1, b))
            j += 1
        if j > i:
            self.first[i:j] = array("Q", [a for a, _ in keep])
            self.last[i:j] = array("Q", [b for _, b in keep])
        return taken

    def __iter__(self):
        return zip(self.first, self.last)


class Chain:
    """Where one journal stands."""

    def __init__(self):
        self.position = 0
        self.hash = GENESIS          # stored hash at the position, None where it was malformed
        self.previous = [GENESIS]    # hashes the next event may follow; empty: unknown
        self.pending = Runs()        # erased, not (yet) authorised
        self.at = 0                  # time of the event at the position
        self.last_good = 0


class Verifier:
    def __init__(self, receipts=None):
        self.receipts = receipts     # None, or {journal: {seq: [hash, ...]}}
        self.receipts_bad = 0
        self.receipts_checked = 0
        self.events = 0
        self.states = dict.fromkeys(STATES, 0)
        self.chains = {}
        self.broken = []
        self.broken_total = 0
        self.notes = []
        self.erasures = []
        self.erasures_total = 0
        self.heads = None            # None, or {journal: (seq, hash)} as a database stores them
        self.unread_lines = 0
        self.references = None       # None, or how many references the list beside the journal was compared with
        self.references_bad = 0
        self.current = None          # name of the journal of the last event

    def report(self, journal, seq, state, reason):
        self.broken_total += 1
        if len(self.broken) < FIRST:
            self.broken.append({"journal": journal, "seq": seq, "state": state, "reason": reason})

    def note(self, text):
        if len(self.notes) < FIRST:
            self.notes.append(text)

    def compare_references(self, name, seq, wanted, stored):
        self.references = (self.references or 0) + len(wanted)
        for ref in sorted(set(wanted) ^ set(stored)):
            self.references_bad += 1
            self.report(name, seq, "corrupt", "%s %s" % (
                "the list of references lacks" if ref in wanted else "the list of references has, and the event has not,", ref))

    def unread_line(self, number, reason):
        self.unread_lines += 1
        self.states["corrupt"] += 1
        self.report(None, None, "corrupt", "line %d: %s" % (number, reason))

    def receipt_at(self, name, seq):
        return self.receipts.get(name, {}).get(seq, []) if self.receipts else []

    def add(self, e):
        self.events += 1
        self.current = e.name
        chain = self.chains.get(e.name)
        if chain is None:
            chain = self.chains[e.name] = Chain()
        problems = e.problems

        # payload against commit
        commits = [] if e.commit is None else [e.commit]
        if e.payload is not None and e.salt is not None:
            computed = commit_of(e.salt, e.payload)
            if computed != e.commit:
                if e.commit is not None:
                    problems.append("payload and salt do not give the commit")
                commits.append(computed)
            elif references_of(e.schema, e.payload) is None:
                problems.append("the payload has not the form that its schema names")
        header = e.header()
        digests = [] if header is None else [event_of(header, commit) for commit in commits]
        if e.claimed is not None and digests and e.claimed != digests[0]:
            problems.append("event digest differs")

        # position
        expected = chain.position + 1
        seq = expected if e.seq is None else e.seq
        in_order = True
        if expected > U64:
            reported = chain.position if e.seq is None else seq
            in_order = False
            problems.append("after the last possible seq")
        elif seq != expected:
            if e.hash is not None and any(link_of(p, expected, d) == e.hash for p in chain.previous for d in digests):
                problems.append("seq was altered: by its hash this is seq %d" % expected)
                reported = seq
                seq = expected
            elif seq > expected:
                reported = seq
                self.gap(e.name, chain, expected, seq - 1)
            else:
                reported = seq
                in_order = False
                problems.append("seq %d again or out of order, after %d" % (seq, chain.position))
        else:
            reported = seq

        # link
        verified = False
        if not in_order:
            # a stray line: what follows may follow it, or what was there before
            chain.previous = unique(chain.previous + ([e.hash] if e.hash is not None else []))
        else:
            computed = [link_of(p, seq, d) for d in digests for p in chain.previous]
            if e.hash is not None and digests and e.hash in computed[:len(chain.previous)]:
                verified = True
                chain.previous = [e.hash]
            else:
                if digests and chain.previous and e.hash is not None:
                    problems.append("hash does not follow from this event and the one before it")
                # go on with the recomputed or the stored one. The chain recomputed from the last good event first.
                width = len(chain.previous)
                follow = [computed[k * width] for k in range(len(digests) if width else 0)]
                if e.hash is not None:
                    follow.append(e.hash)
                chain.previous = unique(follow + computed)
            chain.position = seq
            chain.hash = e.hash
            for receipt in self.receipt_at(e.name, seq):
                self.receipts_checked += 1
                if receipt != e.hash:
                    self.receipts_bad += 1
                    if not problems:
                        problems.append("hash differs from the receipt")

        # state
        if problems:
            self.states["corrupt"] += 1
            self.report(e.name, reported, "corrupt", "; ".join(problems))
            return
        chain.last_good = seq
        if e.at < chain.at - DAY:
            self.note("%s seq %d: its time %d lies more than a day before that of the event before it, %d"
                      % (quote(e.name), seq, e.at, chain.at))
        chain.at = e.at
        if e.erased:
            chain.pending.add(seq)
            return
        self.states["intact"] += 1
        if e.type == b"payload.erased":
            if verified:
                self.authorise(e, chain, seq)
            else:
                self.note("%s seq %d: payload.erased right after a gap; its header cannot be checked, "
                          "so it authorises nothing" % (quote(e.name), seq))

    def gap(self, name, chain, first, last):
        count = last - first + 1
        known = min(count, self.unread_lines)     # already counted as unreadable lines
        self.unread_lines -= known
        anchor = self.receipt_at(name, last)
        chain.previous = unique(list(anchor))
        if count > known:
            self.states["missing"] += count - known
            reason = span(first, last)
            if not anchor:
                reason += "; the link of seq %d cannot be checked" % (last + 1)
            self.report(name, first, "missing", reason)

    def authorise(self, e, chain, seq):
        ranges, reason = erased_ranges(e.payload)
        if ranges is None:
            self.note("%s seq %d: payload.erased names no valid seqs; it authorises nothing" % (quote(e.name), seq))
        taken = sum(chain.pending.take(low, high) for low, high in ranges or ())
        self.states["erased"] += taken
        self.erasures_total += 1
        if len(self.erasures) < ERASURES:
            self.erasures.append({"journal": e.name, "seq": seq, "at": e.at, "actor": e.actor.decode("ascii"),
                                  "reason": reason, "erased": taken})

    def finish(self, complete=True):
        for name, chain in self.chains.items():
            for first, last in chain.pending:
                self.states["erased-unauthorised"] += last - first + 1
                reason = "payload erased, and no later payload.erased names it"
                if not complete:
                    reason += " in the part that could be read"
                if last > first:
                    reason += " (%d..%d)" % (first, last)
                self.report(name, first, "erased-unauthorised", reason)
        if complete and self.heads is not None:
            self.check_heads()
        if self.receipts is None or not complete:
            return
        for name, by_seq in self.receipts.items():
            head = self.chains[name].position if name in self.chains else 0
            if self.heads and name in self.heads:
                head = max(head, self.heads[name][0] or 0)    # what is missing up to the head is counted already
            beyond = [seq for seq in by_seq if seq > head]
            for seq, hashes in by_seq.items():
                if seq == 0:
                    self.receipts_checked += len(hashes)
                    if any(value != GENESIS for value in hashes):
                        self.receipts_bad += 1
                        self.states["corrupt"] += 1
                        self.report(name, 0, "corrupt", "receipt for seq 0 is not the genesis")
                elif seq > head:
                    self.receipts_checked += len(hashes)
                    self.receipts_bad += len(hashes)
            if beyond:
                self.states["missing"] += max(beyond) - head
                self.report(name, head + 1, "missing", "cut tail: a receipt names seq %d, the journal ends at %d"
                            % (max(beyond), head))
        # receipts that fell into a gap were never compared; they are bad, the gap is counted already
        total = sum(len(h) for by_seq in self.receipts.values() for h in by_seq.values())
        self.receipts_bad += total - self.receipts_checked
        self.receipts_checked = total

    def check_heads(self):
        """The stored head of a journal names its last event. A head beyond it is a cut tail."""
        for name, (seq, digest) in self.heads.items():
            chain = self.chains.get(name)
            position = chain.position if chain else 0
            if seq is None or digest is None:
                self.damaged_head(name, position, "the head is malformed")
            elif seq > position:
                self.states["missing"] += seq - position
                self.report(name, position + 1, "missing", "cut tail: the head is %d, the journal ends at %d" % (seq, position))
            elif seq < position:
                self.damaged_head(name, seq + 1, "an event stands beyond the head, which is %d" % seq)
            elif digest != (chain.hash if chain else GENESIS):
                self.damaged_head(name, seq, "the head is not the hash of the last event")
        for name in sorted(self.chains.keys() - self.heads.keys()):
            self.damaged_head(name, None, "the journal has no head")

    def damaged_head(self, name, seq, reason):
        self.states["corrupt"] += 1
        self.report(name, seq, "corrupt", reason)

    def intact(self):
        return not (self.states["erased-unauthorised"] or self.states["corrupt"] or self.states["missing"] or self.references_bad)


def unique(values):
    return list(dict.fromkeys(values))[:CANDIDATES]


def span(first, last):
    return "missing" if first == last else "missing %d..%d" % (first, last)


def erased_ranges(payload):
    """([(from, to), ...], reason) of a payload.erased payload; no ranges (None) where they are malformed."""
    try:
        value = parse(payload.decode("utf-8"))
    except (ValueError, RecursionError):
        return None, ""
    value = value if isinstance(value, dict) else {}
    reason = value.get("reason")
    reason = reason if isinstance(reason, str) else ""
    seqs = value.get("seqs")
    if not isinstance(seqs, list) or not seqs:
        return None, reason
    ranges = []
    for item in seqs:
        if not (isinstance(item, list) and len(item) == 2 and all(map(is_int, item)) and 1 <= item[0] <= item[1]):
            return None, reason
        ranges.append((item[0], item[1]))
    return ranges, reason


# ---------------------------------------------------------------- reading

def no_duplicates(pairs):
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("duplicate key")
    return result


def no_constant(name):
    raise ValueError("%s is not JSON" % name)


def parse(text):
    """Strict JSON. Raises ValueError or RecursionError."""
    return json.loads(text, object_pairs_hook=no_duplicates, parse_constant=no_constant)


def load_receipts(path):
    try:
        with open(path, "rb") as file:
            value = parse(file.read().decode("utf-8-sig"))
    except OSError as error:
        raise Unreadable("receipts %s: %s" % (path, error.strerror or error))
    except (ValueError, RecursionError) as error:
        raise Unreadable("receipts %s: not JSON (%s)" % (path, error))
    if not isinstance(value, list):
        raise Unreadable("receipts %s: not a list" % path)
    result = {}
    for number, item in enumerate(value):
        name = item.get("tenant", item.get("journal")) if isinstance(item, dict) else None
        digest = hex_bytes(item.get("hash"), 32) if isinstance(item, dict) else None
        seq = item.get("seq") if isinstance(item, dict) else None
        if not isinstance(name, str) or digest is None or not is_int(seq) or not 0 <= seq <= U64:
            raise Unreadable("receipts %s: entry %d is not {tenant, seq, hash}" % (path, number))
        hashes = result.setdefault(name, {}).setdefault(seq, [])
        if digest not in hashes:
            hashes.append(digest)
    return result


def read_ndjson(first, file, verifier):
    number = 0
    line = first
    while line:
        number += 1
        if number == 1 and line.startswith(b"\xef\xbb\xbf"):
            line = line[3:]
        stripped = line.strip(b" \t\r\n")
        if stripped:
            try:
                obj = parse(stripped.decode("utf-8"))
            except UnicodeDecodeError:
                verifier.unread_line(number, "not UTF-8")
            except RecursionError:
                verifier.unread_line(number, "not JSON (nested too deep)")
            except ValueError as error:
                verifier.unread_line(number, "not JSON (%s)" % getattr(error, "msg", str(error)))
            else:
                if not isinstance(obj, dict) or not isinstance(obj.get("journal"), str):
                    verifier.unread_line(number, "not an event (no journal)")
                else:
                    verifier.add(event_from_json(obj))
        line = file.readline()
    if not verifier.events and verifier.states["corrupt"]:
        raise Unreadable("no line is an event: not an Inkfast journal (%s)" % verifier.broken[0]["reason"])


COLUMNS = ("tenant", "seq", "id", "at", "type", "schema", "class", "actor", "session", "run", "subject", "cause",
           "key", "payload", "salt", "digest", "hash")


class Damaged(Exception):
    """SQLite gave up while reading: exit 1."""


def open_sqlite(path):
    uri = pathlib.Path(os.path.abspath(path)).as_uri()
    try:
        conn = sqlite3.connect(uri + "?mode=ro", uri=True)
        conn.execute("select count(*) from sqlite_master").fetchone()
        return conn
    except sqlite3.OperationalError as error:
        # A database in WAL mode in a folder that cannot be written. Without a -wal file nothing is in flight.
        wal = path + "-wal"
        if "malformed" in str(error) or (os.path.exists(wal) and os.path.getsize(wal)):
            raise
        conn = sqlite3.connect(uri + "?mode=ro&immutable=1", uri=True)
        conn.execute("select count(*) from sqlite_master").fetchone()
        return conn


class References:
    """The list of references beside the journal (table refs), read along with the events and in their order."""

    def __init__(self, conn):
        self.exists = conn.execute("select 1 from sqlite_master where type = 'table' and name = 'refs'").fetchone() is not None
        self.rows = conn.execute("select tenant, seq, ref from refs order by tenant, seq, ref") if self.exists else iter(())
        self.next = next(self.rows, None)

    def compare(self, verifier, e, tenant, seq):
        if not isinstance(tenant, bytes) or not is_int(seq):
            return
        stored = []
        while self.next is not None and (self.next[0], self.next[1]) <= (tenant, seq):
            if (self.next[0], self.next[1]) == (tenant, seq):
                stored.append(bytes(self.next[2]).decode("utf-8", "backslashreplace"))
            else:
                verifier.compare_references(e.name, self.next[1], [], [bytes(self.next[2]).decode("utf-8", "backslashreplace")])
            self.next = next(self.rows, None)
        wanted = [] if e.payload is None else references_of(e.schema, e.payload)
        if wanted is not None:
            verifier.compare_references(e.name, e.seq, wanted, stored)


def read_sqlite(path, verifier):
    conn = None
    try:
        try:
            conn = open_sqlite(path)
            conn.text_factory = Text
            conn.execute("pragma query_only = on")
            conn.execute("pragma trusted_schema = off")
            encoding = conn.execute("pragma encoding").fetchone()[0].decode("ascii").lower()
            found = {bytes(row[1]).decode("utf-8", "replace").lower() for row in conn.execute("pragma table_info(events)")}
            if not found:
                raise Unreadable("%s: no table events" % path)
            lacking = [name for name in COLUMNS if name not in found]
            if lacking:
                raise Unreadable("%s: table events lacks %s" % (path, ", ".join(lacking)))
            # One transaction holds both reads, so that a writer cannot move a head between them.
            conn.execute("begin")
            tables = [row[0] for row in conn.execute("select name from sqlite_master where type = 'table' and name = 'heads'")]
            heads = conn.execute("select tenant, seq, hash from heads").fetchall() if tables else None
            select = ", ".join("cast(payload as blob)" if name == "payload" else '"%s"' % name for name in COLUMNS)
            rows = conn.execute("select %s from events order by tenant, seq" % select)
        except sqlite3.Error as error:
            text = str(error)
            if any(word in text for word in ("malformed", "not a database", "disk I/O", "corrupt")):
                raise Damaged(text)
            raise Unreadable("%s: %s" % (path, text))
        try:
            listed = References(conn)
            for row in rows:
                e = event_from_row(row, encoding)
                verifier.add(e)
                if listed.exists:
                    listed.compare(verifier, e, row[0], row[1])
            verifier.heads = None if heads is None else {}
            for tenant, seq, digest in heads or ():
                name = bytes(tenant).decode("utf-8", "backslashreplace") if isinstance(tenant, bytes) else str(tenant)
                whole = isinstance(digest, bytes) and not isinstance(digest, Text) and len(digest) == 32
                verifier.heads[name] = (seq if is_int(seq) else None, digest if whole else None)
        except sqlite3.Error as error:
            raise Damaged(str(error))
    finally:
        if conn is not None:
            conn.close()


# ---------------------------------------------------------------- approvals

ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
RECORD_LINE = {"schema", "sequence", "prev", "record_sha256", "chain_sha256", "record"}
LAST_LINE = {"schema", "count", "chain_sha256"}
FILTERED_LAST_LINE = LAST_LINE | {"filter"}


def jcs_string(text):
    text.encode("utf-8")                      # a lone surrogate raises UnicodeEncodeError, a ValueError
    out = []
    for char in text:
        out.append(ESCAPES.get(char) or ("\\u%04x" % ord(char) if char < " " else char))
    return '"%s"' % "".join(out)


def jcs_number(value):
    """As ECMAScript writes a double: the shortest digits that read back, plain from 1e-6 up to below 1e21."""
    value = float(value)                      # OverflowError for an integer no double reaches
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError("not finite")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or 0)   # the decimal point stands behind so many digits
    digits = whole + ("" if fraction == "0" else fraction)
    point -= len(digits) - len(digits.lstrip("0"))
    digits = digits.lstrip("0").rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    power = point - 1
    return "%s%s%se%s%d" % (sign, digits[0], "." + digits[1:] if count > 1 else "", "+" if power > 0 else "-", abs(power))


def jcs(value):
    """RFC 8785: the one text of a JSON value. Raises ValueError, OverflowError or RecursionError."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return jcs_string(value)
    if isinstance(value, (int, float)):
        return jcs_number(value)
    if isinstance(value, list):
        return "[%s]" % ",".join(map(jcs, value))
    members = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return "{%s}" % ",".join("%s:%s" % (jcs_string(name), jcs(value[name])) for name in members)


def hex_of(text):
    return H(text.encode("utf-8")).hex()


def looks_like_approvals(line):
    return b'"schema":"inkfast/approvals/' in line


def read_approvals(first, file, kept=None):
    """Stops at the first line that is not what the page says; `line` is its number, from 1."""
    count = number = 0
    chain = "0" * 64
    ended = False
    answer_filter = []

    def result(reason=None, at=None):
        answer = {"intact": reason is None, "source": "approvals", "records": count, "chain": chain}
        if reason is not None:
            answer.update(line=number if at is None else at, reason=reason)
        elif answer_filter:
            answer["filter"] = answer_filter[0]
        return answer

    line = first
    while line:
        number += 1
        if ended:
            return result("something follows the last line")
        try:
            text = (line[:-1] if line.endswith(b"\n") else line).decode("utf-8")
            obj = parse(text)
            canonical = jcs(obj)
        except (ValueError, OverflowError, RecursionError):
            return result("not JSON")
        if canonical != text:
            return result("not written as JCS")
        if not isinstance(obj, dict) or set(obj) not in (RECORD_LINE, LAST_LINE, FILTERED_LAST_LINE):
            return result("not the members of a line")
        if obj["schema"] != APPROVALS:
            return result("another schema")
        if "count" in obj:
            if obj["count"] != count or isinstance(obj["count"], bool):
                return result("counts another number of records than the %d before it" % count)
            if "filter" in obj:
                if not isinstance(obj["filter"], dict) or not obj["filter"]:
                    return result("not the members of a line")
                # An export that holds a selection says so, and its final chain covers it.
                chain = hex_of("%s\nfilter\n%s\n%s" % (APPROVALS, chain, jcs(obj["filter"])))
                answer_filter.append(obj["filter"])
            if obj["chain_sha256"] != chain:
                return result("ends another chain")
            ended = True
        else:
            if obj["sequence"] != count + 1 or isinstance(obj["sequence"], bool):
                return result("record %d was to come here" % (count + 1))
            if obj["prev"] != chain:
                return result("does not follow the record before it")
            record = hex_of(jcs(obj["record"]))
            if obj["record_sha256"] != record:
                return result("the record has another digest")
            follows = hex_of("%s\n%d\n%s\n%s" % (APPROVALS, count + 1, chain, record))
            if obj["chain_sha256"] != follows:
                return result("the chain does not follow from the record")
            count += 1
            chain = follows
        line = file.readline()
    if not ended:
        return result("the last line is missing", number + 1)
    if kept is not None and kept != chain:
        return result("sound in itself, but not the chain it is held against")
    return result()


# ---------------------------------------------------------------- vectors

def check_vectors(data):
    """(result, counts) of a vectors file; `broken` lists what disagrees."""
    broken = []
    total = [0]
    counts = {}

    def disagree(where, reason, seq=None, state="corrupt"):
        total[0] += 1
        if len(broken) < FIRST:
            broken.append({"journal": where, "seq": seq, "state": state, "reason": reason})

    def section(name):
        items = data.get(name, [])
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise Unreadable("vectors: %s is not a list of objects" % name)
        counts[name] = len(items)
        return enumerate(items)

    def utf8(item, field):
        value = item.get(field)
        if not isinstance(value, str):
            raise ValueError("%s is not text" % field)
        return value.encode("utf-8")     # a lone surrogate raises UnicodeEncodeError, a ValueError

    def salt(item):
        value = hex_bytes(item.get("salt"), 16)
        if value is None:
            raise ValueError("salt is not 32 hex characters")
        return value

    def compare(item, field, value):
        if hex_bytes(item.get(field), len(value)) != value:
            raise ValueError("%s: computed %s" % (field, value.hex()))

    def ulid(item):
        raw = ulid_bytes(item.get("text"))
        if raw is None:
            raise ValueError("text is not a ULID")
        compare(item, "hex", raw)
        if ulid_text(raw) != item["text"]:
            raise ValueError("hex gives %s" % ulid_text(raw))

    def event(item):
        filled = dict(item, seq=1, payload=None, salt=None, hash="0" * 64)
        utf8(item, "journal")
        e = event_from_json(filled)
        if e.problems:
            raise ValueError("; ".join(e.problems))
        compare(item, "event", event_of(e.header(), e.commit))

    def references(item):
        found = references_of(item.get("schema"), utf8(item, "payload"))
        if found != item.get("references"):
            raise ValueError("references: computed %s" % json.dumps(found))

    checks = (
        ("ulid", ulid),
        ("payload", lambda v: compare(v, "commit", commit_of(salt(v), utf8(v, "payload")))),
        ("key", lambda v: compare(v, "digest", key_of(utf8(v, "journal"), utf8(v, "scope"), utf8(v, "key")))),
        ("body", lambda v: compare(v, "digest", H(TAG_BODY + salt(v) + utf8(v, "canonical")))),
        ("event", event),
        ("references", references),
    )
    for name, check in checks:
        for number, item in section(name):
            try:
                check(item)
            except ValueError as error:
                disagree("%s[%d]" % (name, number), str(error))

    states = dict.fromkeys(STATES, 0)
    journals = {}
    events = 0
    for number, item in section("chains"):
        where = "chains[%d] %s" % (number, item.get("journal"))
        verifier = Verifier()
        if not isinstance(item.get("events"), list) or not item["events"]:
            disagree(where, "no events")
            continue
        for index, obj in enumerate(item["events"]):
            if not isinstance(obj, dict) or not isinstance(obj.get("journal"), str):
                disagree(where, "events[%d] is not an event" % index)
            elif obj["journal"] != item.get("journal"):
                disagree(where, "events[%d] is of another journal" % index)
            elif "event" not in obj:
                disagree(where, "events[%d] has no event digest" % index)
            else:
                verifier.add(event_from_json(obj))
        verifier.finish()
        events += verifier.events
        for state in STATES:
            states[state] += verifier.states[state]
        for chain in verifier.chains.values():
            journals[where] = head_of(chain)
        expect = item.get("expect")
        if expect is None:
            for one in verifier.broken:
                disagree(where, one["reason"], one["seq"], one["state"])
            total[0] += verifier.broken_total - len(verifier.broken)
            continue
        if not isinstance(expect, dict):
            disagree(where, "expect is not an object")
            continue
        if "intact" in expect and expect["intact"] != verifier.intact():
            disagree(where, "expected intact %s" % json.dumps(expect["intact"]))
        if "states" in expect and dict(dict.fromkeys(STATES, 0), **expect["states"]) != verifier.states:
            disagree(where, "expected states %s, found %s" % (json.dumps(expect["states"]), json.dumps(verifier.states)))
        if "broken" in expect:
            found = [{"seq": one["seq"], "state": one["state"]} for one in verifier.broken]
            if found != expect["broken"]:
                disagree(where, "expected broken %s, found %s" % (json.dumps(expect["broken"]), json.dumps(found)))
    if not any(counts.values()):
        raise Unreadable("vectors: the file holds none")
    return {"intact": total[0] == 0, "events": events, "journals": journals, "states": states, "broken": broken,
            "brokenTotal": total[0], "source": "vectors", "vectors": counts}


# ---------------------------------------------------------------- output

def quote(text):
    """A name for people: as it is if harmless, else escaped."""
    if text is None:
        return "-"
    return text if re.fullmatch(r"[A-Za-z0-9_./@:\[\] -]+", text) else json.dumps(text)


def head_of(chain):
    return {"head": chain.position, "hash": chain.hash.hex() if chain.hash is not None else None}


def result_of(verifier, source, complete):
    result = {
        "intact": verifier.intact() and complete,
        "events": verifier.events,
        "journals": {name: head_of(chain) for name, chain in verifier.chains.items()},
        "states": verifier.states,
        "broken": verifier.broken,
        "brokenTotal": verifier.broken_total,
        "source": source,
        "basis": ["chain"] + ["heads"] * (verifier.heads is not None) + ["receipts"] * (verifier.receipts is not None),
    }
    if verifier.receipts is not None:
        result["receipts"] = {"checked": verifier.receipts_checked, "bad": verifier.receipts_bad}
    if verifier.references is not None:
        result["references"] = {"compared": verifier.references, "bad": verifier.references_bad}
    result["erasures"] = verifier.erasures
    result["erasuresTotal"] = verifier.erasures_total
    if verifier.notes:
        result["notes"] = verifier.notes
    return result


def show_approvals(result):
    print("approvals: %d records, chain %s" % (result["records"], result["chain"]))
    if not result["intact"]:
        print("  line %d: %s" % (result["line"], result["reason"]))
    if "filter" in result:
        print("  filtered, so not complete: %s" % jcs(result["filter"]))
    print("INTACT" if result["intact"] else "NOT INTACT")


def show(result):
    if result["source"] == "approvals":
        return show_approvals(result)
    print("%s: %d events, %d journal%s" % (result["source"], result["events"], len(result["journals"]),
                                           "" if len(result["journals"]) == 1 else "s"))
    shown = list(result["journals"].items())
    for name, head in shown[:FIRST]:
        print("  %s  head %d  %s" % (quote(name), head["head"], head["hash"] or "(malformed)"))
    if len(shown) > FIRST:
        print("  and %d more" % (len(shown) - FIRST))
    print("states: " + ", ".join("%s %d" % item for item in result["states"].items()))
    if "vectors" in result:
        print("vectors: " + ", ".join("%s %d" % item for item in result["vectors"].items()))
    if "receipts" in result:
        print("checked: %s and %d receipts, %d of them bad"
              % (" and ".join(result["basis"][:-1]), result["receipts"]["checked"], result["receipts"]["bad"]))
    elif "basis" in result:
        print("checked: %s only; without receipts a tail cut%s or a rewrite from the start cannot be seen"
              % (" and ".join(result["basis"]), " together with its head" if "heads" in result["basis"] else ""))
    for one in result["broken"]:
        where = quote(one["journal"]) + ("" if one["seq"] is None else " seq %d" % one["seq"])
        print("  %s: %s: %s" % (where, one["state"], one["reason"]))
    if result["brokenTotal"] > len(result["broken"]):
        print("  and %d more" % (result["brokenTotal"] - len(result["broken"])))
    for one in result.get("erasures", ())[:FIRST]:
        print("erasure: %s seq %d, time %d, actor %s: %s (%d payloads)" % (
            quote(one["journal"]), one["seq"], one["at"], quote(one["actor"]), quote(one["reason"]), one["erased"]))
    if result.get("erasuresTotal", 0) > FIRST:
        print("  and %d more" % (result["erasuresTotal"] - FIRST))
    for note in result.get("notes", ()):
        print("note: " + note)
    if "error" in result:
        good = result["lastGood"]
        print("read error: %s; last good: %s" % (result["error"], "none" if good is None else
                                                 "%s seq %d" % (quote(good["journal"]), good["seq"])))
    if "vectors" in result:
        print("AGREES" if result["intact"] else "DISAGREES")
    else:
        print("INTACT" if result["intact"] else "NOT INTACT")


def looks_like_vectors(line):
    """Whether a file beginning with this line may be a vectors file rather than NDJSON."""
    line = line[3:] if line.startswith(b"\xef\xbb\xbf") else line
    try:
        value = json.loads(line.decode("utf-8"))
        return isinstance(value, dict) and "format" in value and "seq" not in value
    except (ValueError, RecursionError):
        line = line.strip()
        return line == b"{" or re.match(rb'\{\s*"format"', line) is not None


def verify(path, receipts, approvals=False, kept=None):
    verifier = Verifier(receipts)
    if path != "-":
        if os.path.isdir(path):
            raise Unreadable("%s: is a folder" % path)
        file = open(path, "rb")
    else:
        file = sys.stdin.buffer
    with file:
        start = file.read(len(SQLITE_MAGIC))
        if start != SQLITE_MAGIC:
            if not start.endswith(b"\n"):
                start += file.readline()
            # `start` may hold several (short) lines
            first, rest = split_first(start)
            if approvals or looks_like_approvals(first):
                if receipts is not None:
                    raise Unreadable("receipts do not go with an export of approvals")
                return read_approvals(first, Lines(rest, file), kept)
            if looks_like_vectors(first):
                try:
                    data = parse((start + file.read()).decode("utf-8-sig"))
                except (ValueError, RecursionError) as error:
                    raise Unreadable("%s: begins like a vectors file but is not JSON (%s)" % (path, error))
                if not isinstance(data, dict) or data.get("format") != FORMAT:
                    raise Unreadable("%s: not a vectors file of format %s" % (path, FORMAT))
                if receipts is not None:
                    raise Unreadable("receipts do not go with a vectors file")
                return check_vectors(data)
            read_ndjson(first, Lines(rest, file), verifier)
            verifier.finish()
            return result_of(verifier, "ndjson", True)
    if path == "-":
        raise Unreadable("a SQLite database cannot be read from stdin; give its path")
    try:
        read_sqlite(path, verifier)
    except Damaged as error:
        good = verifier.chains[verifier.current].last_good if verifier.current in verifier.chains else 0
        verifier.states["corrupt"] += 1
        verifier.report(verifier.current, None, "corrupt", "cannot be read on: %s; last good seq %s"
                        % (error, good or "none"))
        verifier.finish(complete=False)
        result = result_of(verifier, "sqlite", False)
        result["error"] = str(error)
        result["lastGood"] = {"journal": verifier.current, "seq": good} if good else None
        return result
    verifier.finish()
    return result_of(verifier, "sqlite", True)


def split_first(data):
    end = data.find(b"\n") + 1
    return (data[:end], data[end:]) if end else (data, b"")


class Lines:
    """readline() over some bytes already read, then the file."""

    def __init__(self, rest, file):
        self.rest = rest
        self.file = file

    def readline(self):
        if self.rest:
            line, self.rest = split_first(self.rest)
            return line if line.endswith(b"\n") else line + self.file.readline()
        return self.file.readline()


def main(argv=None):
    parser = argparse.ArgumentParser(description="Verify an Inkfast journal (format %s)." % FORMAT)
    parser.add_argument("file", metavar="FILE", help="NDJSON export ('-': stdin), vectors file or SQLite database")
    parser.add_argument("--receipts", metavar="JSON", help="list of {tenant, seq, hash} to check against")
    parser.add_argument("--approvals", action="store_true", help="FILE is an export of approvals")
    parser.add_argument("--chain", metavar="HEX", help="the final chain of that export, as it was kept elsewhere")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    args = parser.parse_args(argv)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
        sys.stderr.reconfigure(errors="backslashreplace")
    try:
        receipts = load_receipts(args.receipts) if args.receipts else None
        result = verify(args.file, receipts, args.approvals or args.chain is not None, args.chain)
    except Unreadable as error:
        message = str(error)
    except OSError as error:
        message = "%s: %s" % (args.file, error.strerror or error)
    except KeyboardInterrupt:
        message = "interrupted"
    else:
        if args.json:
            print(json.dumps(result))
        else:
            show(result)
        return 0 if result["intact"] else 1
    if args.json:
        print(json.dumps({"intact": False, "error": message}))
    print("inkfast_verify: could not read: " + message, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
