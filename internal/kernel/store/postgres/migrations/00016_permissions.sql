-- Standing permissions: a person's yes to later calls. The document has the bounds, which are content of
-- the session that it was given in.

-- +goose Up

CREATE TABLE permissions (
    number     bigint NOT NULL PRIMARY KEY,
    session_id text COLLATE "C" NOT NULL,
    owner      text COLLATE "C" NOT NULL,
    agent      text COLLATE "C" NOT NULL,
    tool       text COLLATE "C" NOT NULL,
    ended      bigint NOT NULL,
    version    bigint NOT NULL,
    doc        text NOT NULL
);
CREATE INDEX permissions_live ON permissions (number) WHERE ended = 0;
CREATE INDEX permissions_session ON permissions (session_id);
