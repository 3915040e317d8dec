-- A request that comes twice begins one turn: what was asked for under a key, for a day. Only
-- hashes are kept, of the key and of what was asked for.

-- +goose Up

CREATE TABLE request_keys (
    principal  text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    digest     text COLLATE "C" NOT NULL,
    turn_id    text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    at         bigint NOT NULL,
    PRIMARY KEY (principal, key)
);
CREATE INDEX request_keys_at ON request_keys (at);
