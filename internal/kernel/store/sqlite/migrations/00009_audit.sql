-- Each receipt has an entry in a chain, which stays when the receipt goes. Those that were there
-- before have none. The salt of an entry's commitment is kept with the receipt only.

-- +goose Up

CREATE TABLE audit (
    n          INTEGER PRIMARY KEY,
    kind       TEXT NOT NULL,
    at         INTEGER NOT NULL,
    of         INTEGER NOT NULL,
    commitment TEXT NOT NULL,
    link       TEXT NOT NULL
) STRICT;

ALTER TABLE receipts ADD COLUMN salt TEXT NOT NULL DEFAULT '';
ALTER TABLE receipts ADD COLUMN entry INTEGER;
CREATE UNIQUE INDEX receipts_entry ON receipts (entry);
