-- The passkeys of people. Each has an act in the chain, from which the digest of its key can be compared.

-- +goose Up

CREATE TABLE passkeys (
    passkey_id text COLLATE "C" PRIMARY KEY,
    person     text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    site       text COLLATE "C" NOT NULL,
    public_key text COLLATE "C" NOT NULL,
    counter    bigint NOT NULL,
    added      bigint NOT NULL,
    used       bigint
);
