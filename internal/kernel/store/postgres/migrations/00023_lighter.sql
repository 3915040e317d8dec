-- What a call writes: fewer rows, and fewer entries in indexes.

-- +goose Up

-- Whether a turn has ended is set where it ends, as in SQLite.
ALTER TABLE turns ALTER COLUMN ended DROP EXPRESSION;

-- A result is its report, with its place in the transcript and what the worker knows it by. One whose turn was erased
-- has no key any more.
ALTER TABLE reports ADD COLUMN key text COLLATE "C", ADD COLUMN tool text COLLATE "C";
UPDATE reports SET applied = results.n, key = results.key, tool = results.tool, card = results.card
    FROM results WHERE results.call_id = reports.call_id AND results.turn_id = reports.turn_id;
DROP TABLE results;
CREATE UNIQUE INDEX reports_applied ON reports (turn_id, applied) WHERE applied IS NOT NULL;
CREATE VIEW results AS SELECT turn_id, applied AS n, key, call_id, tool, card FROM reports WHERE applied IS NOT NULL AND key IS NOT NULL;

-- A message that was sent is removed, so the few that wait need no index by session.
DELETE FROM outbox WHERE published_at IS NOT NULL;
DROP INDEX outbox_session;
