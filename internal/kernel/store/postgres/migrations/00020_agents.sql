-- The definitions of agents. Each has an act in the chain, from which its digest can be compared.

-- +goose Up

CREATE TABLE agents (
    name   text COLLATE "C" PRIMARY KEY,
    digest text NOT NULL,
    doc    text NOT NULL
);
