-- A correlation id stands for one turn for as long as the ledger has it; an idempotency key gives way after a day.

-- +goose Up

ALTER TABLE request_keys ADD COLUMN lasting INTEGER NOT NULL DEFAULT 0;
