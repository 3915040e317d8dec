-- The open turns of an agent are found without reading those of others: where it may have only so many, each start counts
-- them, and a new definition of it is applied to them.

-- +goose Up

CREATE INDEX turns_agent ON turns (agent, created, turn_id) WHERE NOT ended;

-- The turns that take a place of their agent are found by one expression, whose share of all rows the database knows. It took that of
-- the agent and that of active turns for independent, and with many of either read the whole agenda for a few.
DROP INDEX agenda_active;
CREATE INDEX agenda_active ON agenda ((CASE WHEN active = 1 THEN agent END), turn_id) WHERE active = 1;
