-- What is older than the audit chain, or than its acts: no entry stands for it. It is marked here, once, so
-- that nothing has to be told by a clock; the kernel notes in the chain how much it was.

-- +goose Up

ALTER TABLE receipts ADD COLUMN older INTEGER NOT NULL DEFAULT 0;
UPDATE receipts SET older = 1 WHERE entry IS NULL;

ALTER TABLE grants ADD COLUMN older INTEGER NOT NULL DEFAULT 0;
UPDATE grants SET older = 1 WHERE NOT EXISTS (
    SELECT 1 FROM calls JOIN audit ON audit.session_id = calls.session_id AND audit.call_id = calls.call_id
    WHERE calls.call_id = grants.call_id AND audit.fence = grants.fence);
