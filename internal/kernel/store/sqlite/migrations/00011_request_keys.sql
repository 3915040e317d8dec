-- A request that comes twice begins one turn: what was asked for under a key, for a day. Only
-- hashes are kept, of the key and of what was asked for.

-- +goose Up

CREATE TABLE request_keys (
    principal  TEXT NOT NULL,
    key        TEXT NOT NULL,
    digest     TEXT NOT NULL,
    turn_id    TEXT NOT NULL,
    session_id TEXT NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (principal, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_keys_at ON request_keys (at);
