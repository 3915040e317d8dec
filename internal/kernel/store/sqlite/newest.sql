-- What all migrations make, for a new ledger; generated (TestNewest).
PRAGMA application_id = 1165128552;
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE meta (
    key   TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE counters (
    name  TEXT PRIMARY KEY NOT NULL,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
, summary TEXT NOT NULL DEFAULT '', worker TEXT NOT NULL DEFAULT '', due_at INTEGER, claim_at INTEGER, erased_at INTEGER, imported INTEGER NOT NULL DEFAULT 0, name TEXT NOT NULL DEFAULT '', topic TEXT NOT NULL DEFAULT '', ended INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX turns_created ON turns (created, turn_id);
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
CREATE TABLE tokens (
    token   TEXT PRIMARY KEY NOT NULL,
    number  INTEGER NOT NULL REFERENCES questions (number),
    turn_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE grants (
    call_id TEXT NOT NULL REFERENCES calls (call_id),
    fence   INTEGER NOT NULL,
    owner   TEXT NOT NULL,
    at      INTEGER NOT NULL, older INTEGER NOT NULL DEFAULT 0,
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
, created INTEGER NOT NULL DEFAULT 0) STRICT;
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
, turn_id TEXT NOT NULL DEFAULT '') STRICT;
CREATE UNIQUE INDEX cards_one_result ON cards (project, tool_call_id) WHERE type = 'tool.result' AND tool_call_id <> '';
CREATE TABLE reports (
    call_id         TEXT PRIMARY KEY NOT NULL,
    turn_id         TEXT NOT NULL REFERENCES turns (turn_id),
    card            TEXT NOT NULL,
    status          TEXT NOT NULL,
    after_execution TEXT NOT NULL,
    at              INTEGER NOT NULL,
    applied         INTEGER
, key TEXT, tool TEXT) STRICT, WITHOUT ROWID;
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
, salt TEXT NOT NULL DEFAULT '', entry INTEGER, terms TEXT NOT NULL DEFAULT '', older INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX receipts_call ON receipts (call_id);
CREATE TABLE sealed (
    call_id TEXT NOT NULL,
    ref     TEXT NOT NULL,
    box     BLOB NOT NULL,
    PRIMARY KEY (call_id, ref)
) STRICT, WITHOUT ROWID;
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
, seen TEXT) STRICT;
CREATE TABLE blobs (
    sha256   TEXT PRIMARY KEY NOT NULL CHECK (length(sha256) = 64),
    size     INTEGER NOT NULL CHECK (size >= 0),
    have     INTEGER NOT NULL CHECK (have BETWEEN 0 AND size),
    complete INTEGER NOT NULL CHECK (complete IN (0, 1)),
    running  BLOB
, created INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE blob_chunks (
    sha256 TEXT NOT NULL REFERENCES blobs (sha256) ON DELETE CASCADE,
    start  INTEGER NOT NULL,
    data   BLOB NOT NULL,
    PRIMARY KEY (sha256, start)
) STRICT;
CREATE INDEX questions_open ON questions (turn_id) WHERE state = 'open';
CREATE INDEX turns_erased ON turns (created, turn_id) WHERE erased_at IS NOT NULL;
CREATE INDEX receipts_session ON receipts (session_id, id);
CREATE INDEX outbox_dead ON outbox (id) WHERE dead_at IS NOT NULL AND published_at IS NULL;
CREATE INDEX cards_created ON cards (created);
CREATE INDEX late_results_turn ON late_results (turn_id);
CREATE TABLE blob_refs (
    sha256  TEXT NOT NULL,
    card_id TEXT NOT NULL,
    PRIMARY KEY (sha256, card_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_refs_card ON blob_refs (card_id);
CREATE INDEX cards_turn ON cards (turn_id, card_id);
CREATE TABLE agenda (
    turn_id  TEXT PRIMARY KEY NOT NULL REFERENCES turns (turn_id) ON DELETE CASCADE,
    agent    TEXT NOT NULL,
    worker   TEXT NOT NULL,
    due_at   INTEGER,
    claim_at INTEGER
, active integer NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE INDEX agenda_due ON agenda (due_at, turn_id) WHERE due_at IS NOT NULL;
CREATE INDEX agenda_claim ON agenda (agent, claim_at, turn_id) WHERE claim_at IS NOT NULL;
CREATE INDEX agenda_worker ON agenda (worker) WHERE worker <> '';
CREATE TABLE audit (
    n          INTEGER PRIMARY KEY,
    kind       TEXT NOT NULL,
    at         INTEGER NOT NULL,
    of         INTEGER NOT NULL,
    commitment TEXT NOT NULL,
    link       TEXT NOT NULL
, session_id TEXT, call_id TEXT, fence INTEGER, doc TEXT NOT NULL DEFAULT '') STRICT;
CREATE UNIQUE INDEX receipts_entry ON receipts (entry);
CREATE TABLE request_keys (
    principal  TEXT NOT NULL,
    key        TEXT NOT NULL,
    digest     TEXT NOT NULL,
    turn_id    TEXT NOT NULL,
    session_id TEXT NOT NULL,
    at         INTEGER NOT NULL, call_id TEXT NOT NULL DEFAULT '', lasting INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (principal, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_keys_at ON request_keys (at);
CREATE TABLE "people" (
    person         TEXT PRIMARY KEY NOT NULL,
    answer_seconds INTEGER NOT NULL CHECK (answer_seconds >= 0),
    undo_seconds   INTEGER NOT NULL CHECK (undo_seconds >= 0)
, choices TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;
CREATE TABLE "consents" (
    call_id     TEXT PRIMARY KEY NOT NULL REFERENCES calls (call_id),
    question    INTEGER NOT NULL REFERENCES questions (number),
    digest      TEXT NOT NULL CHECK (digest <> ''),
    given_by    TEXT NOT NULL,
    surface     TEXT NOT NULL,
    at          INTEGER NOT NULL,
    consumed_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_session ON audit (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX audit_operators ON audit (at) WHERE session_id IS NULL AND doc <> '';
CREATE TABLE in_force (
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    digest  TEXT NOT NULL,
    detail  TEXT NOT NULL,
    person  TEXT NOT NULL,
    PRIMARY KEY (kind, subject)
) STRICT, WITHOUT ROWID;
CREATE TABLE permissions (
    number     INTEGER NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL,
    owner      TEXT NOT NULL,
    agent      TEXT NOT NULL,
    tool       TEXT NOT NULL,
    ended      INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    doc        TEXT NOT NULL
) STRICT;
CREATE INDEX permissions_live ON permissions (number) WHERE ended = 0;
CREATE INDEX permissions_session ON permissions (session_id);
CREATE TABLE passkeys (
    passkey_id TEXT NOT NULL PRIMARY KEY,
    person     TEXT NOT NULL,
    name       TEXT NOT NULL,
    site       TEXT NOT NULL,
    public_key TEXT NOT NULL,
    counter    INTEGER NOT NULL,
    added      INTEGER NOT NULL,
    used       INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE agents (
    name   TEXT NOT NULL PRIMARY KEY,
    digest TEXT NOT NULL,
    doc    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE box_entries (
    owner   TEXT    NOT NULL,
    box     TEXT    NOT NULL,
    n       INTEGER NOT NULL,
    use     TEXT    NOT NULL,
    agent   TEXT    NOT NULL,
    turn_id TEXT    NOT NULL,
    call_id TEXT    NOT NULL,
    card_id TEXT    NOT NULL,
    through INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (owner, box, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX box_entries_turn ON box_entries (turn_id);
CREATE INDEX box_entries_card ON box_entries (card_id);
CREATE INDEX turns_open ON turns (created, turn_id) WHERE NOT ended;
CREATE INDEX turns_owner ON turns (owner, created, turn_id) WHERE NOT ended;
CREATE INDEX turns_content ON turns (created, turn_id) WHERE ended AND erased_at IS NULL;
CREATE UNIQUE INDEX turns_name ON turns (project, name) WHERE NOT ended AND name <> '';
CREATE INDEX turns_topic ON turns (topic) WHERE NOT ended AND topic <> '';
CREATE UNIQUE INDEX reports_applied ON reports (turn_id, applied) WHERE applied IS NOT NULL;
CREATE VIEW results AS SELECT turn_id, applied AS n, key, call_id, tool, card FROM reports WHERE applied IS NOT NULL AND key IS NOT NULL;
CREATE INDEX turns_agent ON turns (agent, created, turn_id) WHERE NOT ended;
CREATE INDEX agenda_active ON agenda ((CASE WHEN active = 1 THEN agent END), turn_id) WHERE active = 1;
INSERT INTO goose_db_version (version_id, is_applied) VALUES
    (0, 1),
    (1, 1),
    (2, 1),
    (3, 1),
    (4, 1),
    (5, 1),
    (6, 1),
    (7, 1),
    (8, 1),
    (9, 1),
    (10, 1),
    (11, 1),
    (12, 1),
    (13, 1),
    (14, 1),
    (15, 1),
    (16, 1),
    (17, 1),
    (18, 1),
    (19, 1),
    (20, 1),
    (21, 1),
    (22, 1),
    (23, 1),
    (24, 1),
    (25, 1);
