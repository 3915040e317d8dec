package bus

import (
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Connected returns the principals that are connected to the embedded server now, each with the time of its oldest
// connection for requests. Error: failed.
func (s *Server) Connected() (map[Principal]time.Time, error) {
	users := map[string]Principal{}
	for who, c := range s.now().principals {
		users[c.Request.User] = who
	}
	since := make(map[Principal]time.Time)
	for offset := 0; ; {
		found, err := s.host.nats.Connz(&server.ConnzOptions{Username: true, Offset: offset})
		if err != nil {
			return nil, &Error{Code: CodeFailed, Message: "the connections cannot be listed: " + err.Error(), Err: err}
		}
		for _, c := range found.Conns {
			who, known := users[c.AuthorizedUser]
			if before, listed := since[who]; known && (!listed || c.Start.Before(before)) {
				since[who] = c.Start
			}
		}
		if offset += len(found.Conns); len(found.Conns) == 0 || offset >= found.Total {
			return since, nil
		}
	}
}
