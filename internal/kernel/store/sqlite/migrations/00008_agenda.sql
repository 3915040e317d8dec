-- What a turn is found by while it goes on (when it is due, who may claim it, who holds it)
-- stands beside it in narrow rows, which most steps need not write.

-- +goose Up

CREATE TABLE agenda (
    turn_id  TEXT PRIMARY KEY NOT NULL REFERENCES turns (turn_id) ON DELETE CASCADE,
    agent    TEXT NOT NULL,
    worker   TEXT NOT NULL,
    due_at   INTEGER,
    claim_at INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO agenda (turn_id, agent, worker, due_at, claim_at)
SELECT turn_id, agent, worker, due_at, claim_at FROM turns WHERE due_at IS NOT NULL OR claim_at IS NOT NULL OR worker <> '';
CREATE INDEX agenda_due ON agenda (due_at, turn_id) WHERE due_at IS NOT NULL;
CREATE INDEX agenda_claim ON agenda (agent, claim_at, turn_id) WHERE claim_at IS NOT NULL;
CREATE INDEX agenda_worker ON agenda (worker) WHERE worker <> '';

ALTER TABLE turns ADD COLUMN ended INTEGER NOT NULL GENERATED ALWAYS AS (status = 'ended') VIRTUAL;
DROP INDEX turns_due;
DROP INDEX turns_claim;
DROP INDEX turns_worker;
DROP INDEX turns_open;
DROP INDEX turns_owner;
DROP INDEX turns_content;
CREATE INDEX turns_open ON turns (created, turn_id) WHERE NOT ended;
CREATE INDEX turns_owner ON turns (owner, created, turn_id) WHERE NOT ended;
CREATE INDEX turns_content ON turns (created, turn_id) WHERE ended AND erased_at IS NULL;

-- What happened elsewhere is no news here.
ALTER TABLE turns ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;
UPDATE turns SET imported = 1 WHERE status = 'ended' AND instr(doc, '"imported":"') > 0;
