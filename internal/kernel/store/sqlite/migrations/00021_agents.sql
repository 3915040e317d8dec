-- The definitions of agents. Each has an act in the chain, from which its digest can be compared.

-- +goose Up

CREATE TABLE agents (
    name   TEXT NOT NULL PRIMARY KEY,
    digest TEXT NOT NULL,
    doc    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
