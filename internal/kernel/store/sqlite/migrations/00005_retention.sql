-- What is kept how long: when the content of a turn was erased, and which cards refer to a blob.

-- +goose Up

ALTER TABLE turns ADD COLUMN erased_at INTEGER;
CREATE INDEX turns_content ON turns (created, turn_id) WHERE status = 'ended' AND erased_at IS NULL;
CREATE INDEX turns_erased ON turns (created, turn_id) WHERE erased_at IS NOT NULL;

CREATE INDEX receipts_session ON receipts (session_id, id);
CREATE INDEX outbox_session ON outbox (session_id);
CREATE INDEX outbox_dead ON outbox (id) WHERE dead_at IS NOT NULL AND published_at IS NULL;
CREATE INDEX cards_call ON cards (tool_call_id);
CREATE INDEX cards_created ON cards (created);
CREATE INDEX late_results_turn ON late_results (turn_id);

-- The definition that was reviewed last, so that a review can show what has changed.
ALTER TABLE tools ADD COLUMN seen TEXT;

ALTER TABLE blobs ADD COLUMN created INTEGER NOT NULL DEFAULT 0;
CREATE TABLE blob_refs (
    sha256  TEXT NOT NULL,
    card_id TEXT NOT NULL,
    PRIMARY KEY (sha256, card_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_refs_card ON blob_refs (card_id);

INSERT INTO blob_refs (sha256, card_id)
SELECT substr(content, instr(content, '"$blob":"') + 9, 64), card_id FROM cards WHERE instr(content, '"$blob":"') > 0;
