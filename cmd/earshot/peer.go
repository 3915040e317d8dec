package main

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// peerKey is where a request's context has whose connection it came by.
type peerKey struct{}

// withPeer has the requests of a connection know which account of this machine is at its
// other end. It is looked up when it is asked for first, once for each connection.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, sync.OnceValue(func() string { return peerUser(conn.RemoteAddr(), conn.LocalAddr()) }))
}

// peerOf is the account of this machine that a request comes from, "" where the system
// does not say.
func peerOf(r *http.Request) string {
	if user, is := r.Context().Value(peerKey{}).(func() string); is {
		return user()
	}
	return ""
}
