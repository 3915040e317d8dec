-- How long a person wishes to be able to take a yes back; and a yes is given once for each call, not
-- for each question: one that is asked again under its number is about another call.

-- +goose Up

ALTER TABLE people DROP CONSTRAINT people_answer_seconds_check;
ALTER TABLE people ADD CHECK (answer_seconds >= 0);
ALTER TABLE people ADD COLUMN undo_seconds bigint NOT NULL DEFAULT 0 CHECK (undo_seconds >= 0);

ALTER TABLE consents DROP CONSTRAINT consents_pkey;
ALTER TABLE consents DROP CONSTRAINT consents_call_id_key;
ALTER TABLE consents ADD PRIMARY KEY (call_id);
