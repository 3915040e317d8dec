-- What a call writes: fewer rows, and fewer pages of indexes.

-- +goose Up

-- Whether a turn has ended is set where it ends. An index that hangs on what is made from the status was written again
-- whenever that changed, at each step of a call.
DROP INDEX turns_open;
DROP INDEX turns_owner;
DROP INDEX turns_content;
DROP INDEX turns_name;
DROP INDEX turns_topic;
ALTER TABLE turns DROP COLUMN ended;
ALTER TABLE turns ADD COLUMN ended INTEGER NOT NULL DEFAULT 0;
UPDATE turns SET ended = 1 WHERE status = 'ended';
CREATE INDEX turns_open ON turns (created, turn_id) WHERE NOT ended;
CREATE INDEX turns_owner ON turns (owner, created, turn_id) WHERE NOT ended;
CREATE INDEX turns_content ON turns (created, turn_id) WHERE ended AND erased_at IS NULL;
CREATE UNIQUE INDEX turns_name ON turns (project, name) WHERE NOT ended AND name <> '';
CREATE INDEX turns_topic ON turns (topic) WHERE NOT ended AND topic <> '';

-- A result is its report, with its place in the transcript and what the worker knows it by. One whose turn was erased
-- has no key any more.
ALTER TABLE reports ADD COLUMN key TEXT;
ALTER TABLE reports ADD COLUMN tool TEXT;
UPDATE reports SET (applied, key, tool, card) = (SELECT n, key, tool, card FROM results WHERE results.call_id = reports.call_id AND results.turn_id = reports.turn_id)
    WHERE EXISTS (SELECT 1 FROM results WHERE results.call_id = reports.call_id AND results.turn_id = reports.turn_id);
DROP TABLE results;
CREATE UNIQUE INDEX reports_applied ON reports (turn_id, applied) WHERE applied IS NOT NULL;
CREATE VIEW results AS SELECT turn_id, applied AS n, key, call_id, tool, card FROM reports WHERE applied IS NOT NULL AND key IS NOT NULL;

-- A message that was sent is removed, so the few that wait need no index by session.
DELETE FROM outbox WHERE published_at IS NOT NULL;
DROP INDEX outbox_session;
