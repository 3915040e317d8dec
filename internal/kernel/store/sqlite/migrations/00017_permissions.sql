-- Standing permissions: a person's yes to later calls. The document has the bounds, which are content of
-- the session that it was given in.

-- +goose Up

CREATE TABLE permissions (
    number     INTEGER NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL,
    owner      TEXT NOT NULL,
    agent      TEXT NOT NULL,
    tool       TEXT NOT NULL,
    ended      INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    doc        TEXT NOT NULL
) STRICT;
CREATE INDEX permissions_live ON permissions (number) WHERE ended = 0;
CREATE INDEX permissions_session ON permissions (session_id);
