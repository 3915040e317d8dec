// Package peer finds out which account of this machine is at the other end of a connection.
package peer

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// key is where a request's context has whose connection it came by.
type key struct{}

// With has the requests of a connection know which account of this machine is at its
// other end. It is looked up when it is asked for first, once for each connection.
func With(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, key{}, sync.OnceValue(func() string { return user(conn.RemoteAddr(), conn.LocalAddr()) }))
}

// Of is the account of this machine that a request comes from, "" where the system
// does not say.
func Of(r *http.Request) string {
	if known, is := r.Context().Value(key{}).(func() string); is {
		return known()
	}
	return ""
}
