-- How long a person wishes to be able to take a yes back; and a yes is given once for each call, not
-- for each question: one that is asked again under its number is about another call.

-- +goose Up

CREATE TABLE people_now (
    person         TEXT PRIMARY KEY NOT NULL,
    answer_seconds INTEGER NOT NULL CHECK (answer_seconds >= 0),
    undo_seconds   INTEGER NOT NULL CHECK (undo_seconds >= 0)
) STRICT, WITHOUT ROWID;
INSERT INTO people_now SELECT person, answer_seconds, 0 FROM people;
DROP TABLE people;
ALTER TABLE people_now RENAME TO people;

CREATE TABLE consents_now (
    call_id     TEXT PRIMARY KEY NOT NULL REFERENCES calls (call_id),
    question    INTEGER NOT NULL REFERENCES questions (number),
    digest      TEXT NOT NULL CHECK (digest <> ''),
    given_by    TEXT NOT NULL,
    surface     TEXT NOT NULL,
    at          INTEGER NOT NULL,
    consumed_at INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO consents_now SELECT call_id, question, digest, given_by, surface, at, consumed_at FROM consents;
DROP TABLE consents;
ALTER TABLE consents_now RENAME TO consents;
