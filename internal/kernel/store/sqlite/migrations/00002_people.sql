-- What people wish for themselves, and the way to the open questions among many turns.

-- +goose Up

-- answer_seconds is how long questions put to the person stay open; never 0.
CREATE TABLE people (
    person         TEXT PRIMARY KEY NOT NULL,
    answer_seconds INTEGER NOT NULL CHECK (answer_seconds > 0)
) STRICT, WITHOUT ROWID;

CREATE INDEX questions_open ON questions (turn_id) WHERE state = 'open';
