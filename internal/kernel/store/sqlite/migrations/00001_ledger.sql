-- The first schema. Times are microseconds since 1970 in UTC; JSON is text as it was given.

-- +goose Up

-- "Ersh": tells a ledger from another program's database.
PRAGMA application_id = 1165128552;

CREATE TABLE meta (
    key   TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
    name  TEXT PRIMARY KEY NOT NULL,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A turn as one document, with what it is found and listed by. seq is the number of the
-- last event of its session.
CREATE TABLE turns (
    turn_id    TEXT PRIMARY KEY NOT NULL,
    session_id TEXT NOT NULL UNIQUE,
    project    TEXT NOT NULL,
    agent      TEXT NOT NULL,
    owner      TEXT NOT NULL,
    status     TEXT NOT NULL,
    created    INTEGER NOT NULL,
    version    INTEGER NOT NULL CHECK (version > 0),
    seq        INTEGER NOT NULL DEFAULT 0,
    doc        TEXT NOT NULL,
    narration  TEXT
) STRICT;
CREATE INDEX turns_created ON turns (created, turn_id);
CREATE INDEX turns_open ON turns (created, turn_id) WHERE status <> 'ended';

-- What a turn was given. Apart from it, so that a step does not write it again.
CREATE TABLE turn_inputs (
    turn_id TEXT PRIMARY KEY NOT NULL REFERENCES turns (turn_id),
    args    TEXT,
    request TEXT NOT NULL
) STRICT;

CREATE TABLE calls (
    call_id    TEXT PRIMARY KEY NOT NULL,
    turn_id    TEXT NOT NULL REFERENCES turns (turn_id),
    session_id TEXT NOT NULL,
    tool       TEXT NOT NULL,
    target     TEXT NOT NULL,
    state      TEXT NOT NULL,
    class      TEXT NOT NULL,
    risk       TEXT NOT NULL,
    definition TEXT NOT NULL,
    card       TEXT NOT NULL,
    question   INTEGER,
    digest     TEXT NOT NULL,
    fence      INTEGER NOT NULL,
    owner      TEXT NOT NULL,
    doc        TEXT NOT NULL
) STRICT;
CREATE INDEX calls_turn ON calls (turn_id);

CREATE TABLE questions (
    number   INTEGER PRIMARY KEY,
    turn_id  TEXT NOT NULL REFERENCES turns (turn_id),
    token    TEXT NOT NULL UNIQUE,
    kind     TEXT NOT NULL,
    state    TEXT NOT NULL,
    deadline INTEGER NOT NULL,
    digest   TEXT NOT NULL,
    doc      TEXT NOT NULL
) STRICT;
CREATE INDEX questions_turn ON questions (turn_id);

-- Every token that ever was: a spent one still leads to its turn, and to no other.
CREATE TABLE tokens (
    token   TEXT PRIMARY KEY NOT NULL,
    number  INTEGER NOT NULL REFERENCES questions (number),
    turn_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A yes: once for each question, once for each call, used once.
CREATE TABLE consents (
    question    INTEGER PRIMARY KEY REFERENCES questions (number),
    call_id     TEXT NOT NULL UNIQUE REFERENCES calls (call_id),
    digest      TEXT NOT NULL CHECK (digest <> ''),
    given_by    TEXT NOT NULL,
    surface     TEXT NOT NULL,
    at          INTEGER NOT NULL,
    consumed_at INTEGER
) STRICT;

CREATE TABLE grants (
    call_id TEXT NOT NULL REFERENCES calls (call_id),
    fence   INTEGER NOT NULL,
    owner   TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (call_id, fence)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    id         INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    seq        INTEGER NOT NULL CHECK (seq > 0),
    event_id   TEXT NOT NULL UNIQUE,
    type       TEXT NOT NULL,
    body       TEXT,
    template   TEXT NOT NULL,
    params     TEXT,
    at         INTEGER NOT NULL,
    UNIQUE (session_id, seq)
) STRICT;

CREATE TABLE outbox (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id   TEXT NOT NULL,
    subject      TEXT NOT NULL,
    header       TEXT,
    payload      BLOB NOT NULL,
    call_id      TEXT NOT NULL,
    published_at INTEGER,
    dead_at      INTEGER,
    dead_reason  TEXT
) STRICT;
CREATE INDEX outbox_waiting ON outbox (id) WHERE published_at IS NULL AND dead_at IS NULL;

CREATE TABLE cards (
    card_id      TEXT PRIMARY KEY NOT NULL,
    project      TEXT NOT NULL,
    type         TEXT NOT NULL,
    author       TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    content      TEXT,
    metadata     TEXT,
    created      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX cards_one_result ON cards (project, tool_call_id) WHERE type = 'tool.result' AND tool_call_id <> '';

-- The inbox: one report for each call. applied is its place in the turn's transcript.
CREATE TABLE reports (
    call_id         TEXT PRIMARY KEY NOT NULL,
    turn_id         TEXT NOT NULL REFERENCES turns (turn_id),
    card            TEXT NOT NULL,
    status          TEXT NOT NULL,
    after_execution TEXT NOT NULL,
    at              INTEGER NOT NULL,
    applied         INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE results (
    turn_id TEXT NOT NULL REFERENCES turns (turn_id),
    n       INTEGER NOT NULL CHECK (n > 0),
    key     TEXT NOT NULL,
    call_id TEXT NOT NULL,
    tool    TEXT NOT NULL,
    card    TEXT NOT NULL,
    PRIMARY KEY (turn_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE late_results (
    id              INTEGER PRIMARY KEY,
    turn_id         TEXT NOT NULL,
    call_id         TEXT NOT NULL,
    card            TEXT NOT NULL,
    status          TEXT NOT NULL,
    after_execution TEXT NOT NULL,
    at              INTEGER NOT NULL
) STRICT;

CREATE TABLE edges (
    id        INTEGER PRIMARY KEY,
    call_id   TEXT NOT NULL,
    primitive TEXT NOT NULL,
    phase     TEXT NOT NULL,
    source    TEXT NOT NULL,
    target    TEXT NOT NULL,
    at        INTEGER NOT NULL
) STRICT;
CREATE INDEX edges_call ON edges (call_id);

CREATE TABLE receipts (
    id         INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    call_id    TEXT NOT NULL,
    question   INTEGER NOT NULL,
    decision   TEXT NOT NULL,
    given_by   TEXT NOT NULL,
    surface    TEXT NOT NULL,
    at         INTEGER NOT NULL,
    shown      TEXT NOT NULL,
    language   TEXT NOT NULL
) STRICT;
CREATE INDEX receipts_call ON receipts (call_id);

CREATE TABLE sealed (
    call_id TEXT NOT NULL,
    ref     TEXT NOT NULL,
    box     BLOB NOT NULL,
    PRIMARY KEY (call_id, ref)
) STRICT, WITHOUT ROWID;

-- claimed_class and claimed_risk are the service's word, class and risk the operator's.
CREATE TABLE tools (
    tool_name       TEXT PRIMARY KEY NOT NULL,
    description     TEXT NOT NULL,
    parameters      TEXT,
    target_subject  TEXT NOT NULL,
    after_execution TEXT NOT NULL,
    options         TEXT,
    claimed_class   TEXT NOT NULL,
    claimed_risk    TEXT NOT NULL,
    digest          TEXT NOT NULL,
    reviewed        INTEGER NOT NULL CHECK (reviewed IN (0, 1)),
    class           TEXT NOT NULL,
    risk            TEXT NOT NULL,
    changed         INTEGER NOT NULL
) STRICT;

-- have counts the bytes that are there, in order; running is the state of the hash over
-- them, until the blob is complete and the hash has been checked.
CREATE TABLE blobs (
    sha256   TEXT PRIMARY KEY NOT NULL CHECK (length(sha256) = 64),
    size     INTEGER NOT NULL CHECK (size >= 0),
    have     INTEGER NOT NULL CHECK (have BETWEEN 0 AND size),
    complete INTEGER NOT NULL CHECK (complete IN (0, 1)),
    running  BLOB
) STRICT, WITHOUT ROWID;

CREATE TABLE blob_chunks (
    sha256 TEXT NOT NULL REFERENCES blobs (sha256) ON DELETE CASCADE,
    start  INTEGER NOT NULL,
    data   BLOB NOT NULL,
    PRIMARY KEY (sha256, start)
) STRICT;
