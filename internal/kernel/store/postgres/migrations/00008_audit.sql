-- Each receipt has an entry in a chain, which stays when the receipt goes. Those that were there
-- before have none. The salt of an entry's commitment is kept with the receipt only.

-- +goose Up

CREATE TABLE audit (
    n          bigint PRIMARY KEY,
    kind       text COLLATE "C" NOT NULL,
    at         bigint NOT NULL,
    of         bigint NOT NULL,
    commitment text COLLATE "C" NOT NULL,
    link       text COLLATE "C" NOT NULL
);

ALTER TABLE receipts ADD COLUMN salt text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE receipts ADD COLUMN entry bigint;
CREATE UNIQUE INDEX receipts_entry ON receipts (entry);
