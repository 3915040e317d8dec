-- A request for one call of an outside turn that comes twice makes one call.

-- +goose Up

ALTER TABLE request_keys ADD COLUMN call_id text COLLATE "C" NOT NULL DEFAULT '';
