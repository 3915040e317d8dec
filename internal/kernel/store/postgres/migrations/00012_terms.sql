-- What an answer was bound to: digests of the call, the rule that applied, and how it was seen, as one
-- document. Receipts from before have none.

-- +goose Up

ALTER TABLE receipts ADD COLUMN terms text COLLATE "C" NOT NULL DEFAULT '';
