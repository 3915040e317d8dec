-- What a turn is found by while it goes on (when it is due, who may claim it, who holds it)
-- stands beside it in narrow rows. Every step writes its turn anew; where no index hangs on
-- what has changed, that touches none of them.

-- +goose Up

CREATE TABLE agenda (
    turn_id  text COLLATE "C" PRIMARY KEY REFERENCES turns (turn_id) ON DELETE CASCADE,
    agent    text COLLATE "C" NOT NULL,
    worker   text COLLATE "C" NOT NULL,
    due_at   bigint,
    claim_at bigint
) WITH (fillfactor = 50);
INSERT INTO agenda (turn_id, agent, worker, due_at, claim_at)
SELECT turn_id, agent, worker, due_at, claim_at FROM turns WHERE due_at IS NOT NULL OR claim_at IS NOT NULL OR worker <> '';
CREATE INDEX agenda_due ON agenda (due_at, turn_id) WHERE due_at IS NOT NULL;
CREATE INDEX agenda_claim ON agenda (agent, claim_at, turn_id) WHERE claim_at IS NOT NULL;
CREATE INDEX agenda_worker ON agenda (worker) WHERE worker <> '';

-- A status changes with almost every step, this once.
ALTER TABLE turns ADD COLUMN ended boolean NOT NULL GENERATED ALWAYS AS (status = 'ended') STORED;
DROP INDEX turns_due, turns_claim, turns_worker, turns_open, turns_owner, turns_content;
CREATE INDEX turns_open ON turns (created, turn_id) WHERE NOT ended;
CREATE INDEX turns_owner ON turns (owner, created, turn_id) WHERE NOT ended;
CREATE INDEX turns_content ON turns (created, turn_id) WHERE ended AND erased_at IS NULL;

-- What happened elsewhere is no news here.
ALTER TABLE turns ADD COLUMN imported boolean NOT NULL DEFAULT false;
UPDATE turns SET imported = true WHERE status = 'ended' AND strpos(doc, '"imported":"') > 0;

-- A document of a few kilobytes is not worth packing each time: of what a step leaves as it
-- was, the log then keeps nothing.
ALTER TABLE turns SET (fillfactor = 40, toast_tuple_target = 4080);
ALTER TABLE calls SET (fillfactor = 40, toast_tuple_target = 4080);

-- Both are added where the turn is known to be there: a result out of its report, a report on
-- condition. The database's own look locks the turn's row, and is made at every change of it.
ALTER TABLE results DROP CONSTRAINT results_turn_id_fkey;
ALTER TABLE reports DROP CONSTRAINT reports_turn_id_fkey;
