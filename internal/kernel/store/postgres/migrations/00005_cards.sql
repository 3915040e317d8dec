-- Which turn a card belongs to: the one that its lineage names, or else its call's. Deliverables
-- and the cards of foreign workers have no call here, and go with their turn all the same.

-- +goose Up

ALTER TABLE cards ADD COLUMN turn_id text COLLATE "C" NOT NULL DEFAULT '';

-- The metadata is text, and no id needs an escape in it.
UPDATE cards SET turn_id = coalesce(
    (SELECT turn_id FROM calls WHERE calls.call_id = cards.tool_call_id),
    substring(metadata from '"agent_turn_id"[[:space:]]*:[[:space:]]*"([^"\\]*)"'),
    '');

DROP INDEX cards_call;
CREATE INDEX cards_turn ON cards (turn_id, card_id);
