-- Boxes: which turn put which card into them, and which turn read them. Entries go with their turn.

-- +goose Up

CREATE TABLE box_entries (
    owner   text COLLATE "C" NOT NULL,
    box     text COLLATE "C" NOT NULL,
    n       bigint NOT NULL,
    use     text NOT NULL,
    agent   text NOT NULL,
    turn_id text COLLATE "C" NOT NULL,
    call_id text COLLATE "C" NOT NULL,
    card_id text COLLATE "C" NOT NULL,
    through bigint NOT NULL,
    at      bigint NOT NULL,
    PRIMARY KEY (owner, box, n)
);

CREATE INDEX box_entries_turn ON box_entries (turn_id);
CREATE INDEX box_entries_card ON box_entries (card_id);
