-- How many turns of a person are open is found without looking at those of others.

-- +goose Up

CREATE INDEX turns_owner ON turns (owner, created, turn_id) WHERE status <> 'ended';
