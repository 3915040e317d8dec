-- The passkeys of people. Each has an act in the chain, from which the digest of its key can be compared.

-- +goose Up

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
