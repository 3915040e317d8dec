-- Boxes: which turn put which card into them, and which turn read them. Entries go with their turn.

-- +goose Up

CREATE TABLE box_entries (
    owner   TEXT    NOT NULL,
    box     TEXT    NOT NULL,
    n       INTEGER NOT NULL,
    use     TEXT    NOT NULL,
    agent   TEXT    NOT NULL,
    turn_id TEXT    NOT NULL,
    call_id TEXT    NOT NULL,
    card_id TEXT    NOT NULL,
    through INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (owner, box, n)
) STRICT, WITHOUT ROWID;

CREATE INDEX box_entries_turn ON box_entries (turn_id);
CREATE INDEX box_entries_card ON box_entries (card_id);
