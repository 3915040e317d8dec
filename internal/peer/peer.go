// Package peer finds out which account and which process of this machine is at the other end of a connection.
package peer

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// key is where a request's context has whose connection it came by.
type key struct{}

// end is the other end of a connection. Each part is looked up when it is asked for first.
type end struct {
	user    func() string
	process func() int
}

// With has the requests of a connection know which account and process of this machine is
// at its other end. It is looked up when it is asked for first, once for each connection.
func With(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, key{}, end{
		user:    sync.OnceValue(func() string { return user(conn.RemoteAddr(), conn.LocalAddr()) }),
		process: sync.OnceValue(func() int { return process(conn.RemoteAddr(), conn.LocalAddr()) }),
	})
}

// Of is the account of this machine that a request comes from, "" where the system
// does not say.
func Of(r *http.Request) string {
	if known, is := r.Context().Value(key{}).(end); is {
		return known.user()
	}
	return ""
}

// ProcessOf is the id of the one process of this machine that a request comes from; 0 where the system does not say,
// where the process is another user's, and where several processes have the connection.
func ProcessOf(r *http.Request) int {
	if known, is := r.Context().Value(key{}).(end); is {
		return known.process()
	}
	return 0
}
