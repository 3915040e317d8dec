-- What wants a tick, and what a worker may claim, is found by an index and by whoever looks.
-- Every open turn of an older ledger is due: its first tick finds out when the next one is,
-- and whether it can be claimed.

-- +goose Up

ALTER TABLE turns
    ADD COLUMN worker   text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN due_at   bigint,
    ADD COLUMN claim_at bigint;

UPDATE turns SET due_at = 0 WHERE status <> 'ended';

CREATE INDEX turns_due ON turns (due_at, turn_id) WHERE due_at IS NOT NULL;
CREATE INDEX turns_claim ON turns (agent, claim_at, turn_id) WHERE claim_at IS NOT NULL;
CREATE INDEX turns_worker ON turns (worker) WHERE worker <> '';

-- A message that nobody has marked as left is looked after once it is old enough.
ALTER TABLE outbox ADD COLUMN created bigint NOT NULL DEFAULT 0;
