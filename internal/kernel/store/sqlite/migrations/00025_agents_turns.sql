-- The open turns of an agent are found without reading those of others: where it may have only so many, each start counts
-- them, and a new definition of it is applied to them.

-- +goose Up

CREATE INDEX turns_agent ON turns (agent, created, turn_id) WHERE NOT ended;
