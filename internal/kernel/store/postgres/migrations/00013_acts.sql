-- What was done has an entry in the chain, too: the starts and outcomes of calls with an effect, and what
-- operators have changed. An act is kept in its entry, with its salt, until retention takes it out. A start has
-- a fence, an outcome has none, and what operators did has no session.

-- +goose Up

ALTER TABLE audit ADD COLUMN session_id text COLLATE "C";
ALTER TABLE audit ADD COLUMN call_id text COLLATE "C";
ALTER TABLE audit ADD COLUMN fence bigint;
ALTER TABLE audit ADD COLUMN doc text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX audit_session ON audit (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX audit_operators ON audit (at) WHERE session_id IS NULL AND doc <> '';

-- What is in force beside the ledger, as the chain has it: found again to tell what has changed.
CREATE TABLE in_force (
    kind    text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    digest  text COLLATE "C" NOT NULL,
    detail  text COLLATE "C" NOT NULL,
    person  text COLLATE "C" NOT NULL,
    PRIMARY KEY (kind, subject)
);
