-- What a list says of how a turn has ended, beside the document.

-- +goose Up

ALTER TABLE turns ADD COLUMN summary TEXT NOT NULL DEFAULT '';

UPDATE turns SET summary = ifnull(CASE WHEN json_valid(doc) THEN doc ->> '$.state.end.message' END, '') WHERE status = 'ended';
