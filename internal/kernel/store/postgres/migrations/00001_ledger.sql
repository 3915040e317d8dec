-- The first schema: the same tables as in SQLite. Times are microseconds since 1970 in UTC;
-- JSON is text as it was given, since jsonb keeps neither its bytes nor \u0000. Texts are
-- compared by their bytes, whatever the database's own order is.

-- +goose Up

CREATE TABLE meta (
    key   text COLLATE "C" PRIMARY KEY,
    value text COLLATE "C" NOT NULL
);
-- Tells a ledger from another program's tables.
INSERT INTO meta (key, value) VALUES ('application', 'earshot');

CREATE TABLE counters (
    name  text COLLATE "C" PRIMARY KEY,
    value bigint NOT NULL
);

-- A turn as one document, with what it is found and listed by. seq is the number of the
-- last event of its session, summary what a list says of how it has ended. Every step
-- writes the row anew; the room left in its page keeps the indexes out of that.
CREATE TABLE turns (
    turn_id    text COLLATE "C" PRIMARY KEY,
    session_id text COLLATE "C" NOT NULL UNIQUE,
    project    text COLLATE "C" NOT NULL,
    agent      text COLLATE "C" NOT NULL,
    owner      text COLLATE "C" NOT NULL,
    status     text COLLATE "C" NOT NULL,
    created    bigint NOT NULL,
    version    bigint NOT NULL CHECK (version > 0),
    seq        bigint NOT NULL DEFAULT 0,
    doc        text COLLATE "C" NOT NULL,
    narration  text COLLATE "C",
    summary    text COLLATE "C" NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX turns_created ON turns (created, turn_id);
CREATE INDEX turns_open ON turns (created, turn_id) WHERE status <> 'ended';

-- What a turn was given. Apart from it, so that a step does not write it again.
CREATE TABLE turn_inputs (
    turn_id text COLLATE "C" PRIMARY KEY REFERENCES turns (turn_id),
    args    text COLLATE "C",
    request text COLLATE "C" NOT NULL
);

CREATE TABLE calls (
    call_id    text COLLATE "C" PRIMARY KEY,
    turn_id    text COLLATE "C" NOT NULL REFERENCES turns (turn_id),
    session_id text COLLATE "C" NOT NULL,
    tool       text COLLATE "C" NOT NULL,
    target     text COLLATE "C" NOT NULL,
    state      text COLLATE "C" NOT NULL,
    class      text COLLATE "C" NOT NULL,
    risk       text COLLATE "C" NOT NULL,
    definition text COLLATE "C" NOT NULL,
    card       text COLLATE "C" NOT NULL,
    question   bigint,
    digest     text COLLATE "C" NOT NULL,
    fence      bigint NOT NULL,
    owner      text COLLATE "C" NOT NULL,
    doc        text COLLATE "C" NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX calls_turn ON calls (turn_id);

CREATE TABLE questions (
    number   bigint PRIMARY KEY,
    turn_id  text COLLATE "C" NOT NULL REFERENCES turns (turn_id),
    token    text COLLATE "C" NOT NULL UNIQUE,
    kind     text COLLATE "C" NOT NULL,
    state    text COLLATE "C" NOT NULL,
    deadline bigint NOT NULL,
    digest   text COLLATE "C" NOT NULL,
    doc      text COLLATE "C" NOT NULL
);
CREATE INDEX questions_turn ON questions (turn_id);

-- Every token that ever was: a spent one still leads to its turn, and to no other.
CREATE TABLE tokens (
    token   text COLLATE "C" PRIMARY KEY,
    number  bigint NOT NULL REFERENCES questions (number),
    turn_id text COLLATE "C" NOT NULL
);

-- A yes: once for each question, once for each call, used once.
CREATE TABLE consents (
    question    bigint PRIMARY KEY REFERENCES questions (number),
    call_id     text COLLATE "C" NOT NULL UNIQUE REFERENCES calls (call_id),
    digest      text COLLATE "C" NOT NULL CHECK (digest <> ''),
    given_by    text COLLATE "C" NOT NULL,
    surface     text COLLATE "C" NOT NULL,
    at          bigint NOT NULL,
    consumed_at bigint
);

CREATE TABLE grants (
    call_id text COLLATE "C" NOT NULL REFERENCES calls (call_id),
    fence   bigint NOT NULL,
    owner   text COLLATE "C" NOT NULL,
    at      bigint NOT NULL,
    PRIMARY KEY (call_id, fence)
);

-- The numbers of the rows are given one by one (no cache): those of a session are in the
-- order of its seq, and none is given after one that is larger.
CREATE TABLE events (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session_id text COLLATE "C" NOT NULL,
    seq        bigint NOT NULL CHECK (seq > 0),
    event_id   text COLLATE "C" NOT NULL UNIQUE,
    type       text COLLATE "C" NOT NULL,
    body       text COLLATE "C",
    template   text COLLATE "C" NOT NULL,
    params     text COLLATE "C",
    at         bigint NOT NULL,
    UNIQUE (session_id, seq)
);

CREATE TABLE outbox (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session_id   text COLLATE "C" NOT NULL,
    subject      text COLLATE "C" NOT NULL,
    header       text COLLATE "C",
    payload      bytea NOT NULL,
    call_id      text COLLATE "C" NOT NULL,
    published_at bigint,
    dead_at      bigint,
    dead_reason  text COLLATE "C"
);
CREATE INDEX outbox_waiting ON outbox (id) WHERE published_at IS NULL AND dead_at IS NULL;

CREATE TABLE cards (
    card_id      text COLLATE "C" PRIMARY KEY,
    project      text COLLATE "C" NOT NULL,
    type         text COLLATE "C" NOT NULL,
    author       text COLLATE "C" NOT NULL,
    tool_call_id text COLLATE "C" NOT NULL,
    content      text COLLATE "C",
    metadata     text COLLATE "C",
    created      bigint NOT NULL
);
CREATE UNIQUE INDEX cards_one_result ON cards (project, tool_call_id) WHERE type = 'tool.result' AND tool_call_id <> '';

-- The inbox: one report for each call. applied is its place in the turn's transcript.
CREATE TABLE reports (
    call_id         text COLLATE "C" PRIMARY KEY,
    turn_id         text COLLATE "C" NOT NULL REFERENCES turns (turn_id),
    card            text COLLATE "C" NOT NULL,
    status          text COLLATE "C" NOT NULL,
    after_execution text COLLATE "C" NOT NULL,
    at              bigint NOT NULL,
    applied         bigint
);

CREATE TABLE results (
    turn_id text COLLATE "C" NOT NULL REFERENCES turns (turn_id),
    n       bigint NOT NULL CHECK (n > 0),
    key     text COLLATE "C" NOT NULL,
    call_id text COLLATE "C" NOT NULL,
    tool    text COLLATE "C" NOT NULL,
    card    text COLLATE "C" NOT NULL,
    PRIMARY KEY (turn_id, n)
);

CREATE TABLE late_results (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    turn_id         text COLLATE "C" NOT NULL,
    call_id         text COLLATE "C" NOT NULL,
    card            text COLLATE "C" NOT NULL,
    status          text COLLATE "C" NOT NULL,
    after_execution text COLLATE "C" NOT NULL,
    at              bigint NOT NULL
);

CREATE TABLE edges (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    call_id   text COLLATE "C" NOT NULL,
    primitive text COLLATE "C" NOT NULL,
    phase     text COLLATE "C" NOT NULL,
    source    text COLLATE "C" NOT NULL,
    target    text COLLATE "C" NOT NULL,
    at        bigint NOT NULL
);
CREATE INDEX edges_call ON edges (call_id);

CREATE TABLE receipts (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session_id text COLLATE "C" NOT NULL,
    call_id    text COLLATE "C" NOT NULL,
    question   bigint NOT NULL,
    decision   text COLLATE "C" NOT NULL,
    given_by   text COLLATE "C" NOT NULL,
    surface    text COLLATE "C" NOT NULL,
    at         bigint NOT NULL,
    shown      text COLLATE "C" NOT NULL,
    language   text COLLATE "C" NOT NULL
);
CREATE INDEX receipts_call ON receipts (call_id);

CREATE TABLE sealed (
    call_id text COLLATE "C" NOT NULL,
    ref     text COLLATE "C" NOT NULL,
    box     bytea NOT NULL,
    PRIMARY KEY (call_id, ref)
);

-- claimed_class and claimed_risk are the service's word, class and risk the operator's.
CREATE TABLE tools (
    tool_name       text COLLATE "C" PRIMARY KEY,
    description     text COLLATE "C" NOT NULL,
    parameters      text COLLATE "C",
    target_subject  text COLLATE "C" NOT NULL,
    after_execution text COLLATE "C" NOT NULL,
    options         text COLLATE "C",
    claimed_class   text COLLATE "C" NOT NULL,
    claimed_risk    text COLLATE "C" NOT NULL,
    digest          text COLLATE "C" NOT NULL,
    reviewed        boolean NOT NULL,
    class           text COLLATE "C" NOT NULL,
    risk            text COLLATE "C" NOT NULL,
    changed         bigint NOT NULL
);

-- have counts the bytes that are there, in order; running is the state of the hash over
-- them, until the blob is complete and the hash has been checked.
CREATE TABLE blobs (
    sha256   text COLLATE "C" PRIMARY KEY CHECK (length(sha256) = 64),
    size     bigint NOT NULL CHECK (size >= 0),
    have     bigint NOT NULL CHECK (have BETWEEN 0 AND size),
    complete boolean NOT NULL,
    running  bytea
);

-- Pieces are kept as they are: most are compressed already, and whole ones are read.
CREATE TABLE blob_chunks (
    sha256 text COLLATE "C" NOT NULL REFERENCES blobs (sha256) ON DELETE CASCADE,
    start  bigint NOT NULL,
    data   bytea NOT NULL,
    PRIMARY KEY (sha256, start)
);
ALTER TABLE blob_chunks ALTER COLUMN data SET STORAGE EXTERNAL;
