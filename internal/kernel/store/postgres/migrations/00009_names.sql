-- What people call a session: the topic, and a number where another open session has the same one.
-- Sessions of an older ledger have none.

-- +goose Up

ALTER TABLE turns ADD COLUMN name text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN topic text COLLATE "C" NOT NULL DEFAULT '';
CREATE UNIQUE INDEX turns_name ON turns (project, name) WHERE NOT ended AND name <> '';
CREATE INDEX turns_topic ON turns (topic) WHERE NOT ended AND topic <> '';
