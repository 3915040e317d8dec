-- What people prefer for what they read and hear: a JSON object of words, so that another preference needs no column.

-- +goose Up

ALTER TABLE people ADD COLUMN choices TEXT NOT NULL DEFAULT '';
