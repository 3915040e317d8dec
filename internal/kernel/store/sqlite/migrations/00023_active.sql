-- Which turns are active, that is, take one of those that their agent may have under way, so that a claim need not read the
-- others, such as the turns that wait for others. It is exact from when that of a turn next changes; until then a turn that is
-- under way is active, unless it is a session of an outside agent or waits for others.

-- +goose Up

ALTER TABLE agenda ADD COLUMN active integer NOT NULL DEFAULT 0;
INSERT INTO agenda (turn_id, agent, worker, active)
    SELECT turn_id, agent, '', 1 FROM turns
    WHERE NOT ended AND status IN ('running', 'suspended') AND doc NOT LIKE '%"outside":true%' AND doc NOT LIKE '%"batch":{"waits":true%'
    ON CONFLICT (turn_id) DO UPDATE SET active = 1;
CREATE INDEX agenda_active ON agenda (agent, turn_id) WHERE active = 1;
