// Package argument handles the values of a call: it resolves arguments before anyone is asked, validates them,
// replaces secrets by sealed references, and moves large values out of line. It reads no ledger and writes none:
// what has to be saved is in its results.
package argument

import "io"

// Options of a handler.
type Options struct {
	// Key seals secrets and makes their MACs: [KeySize] bytes. Without one, tools that take secrets are refused.
	Key  []byte
	Rand io.Reader
	// Environment looks up what a tool's `envs` option names.
	Environment func(name string) (string, bool)
}

// Handler resolves arguments. It is safe for concurrent use, and keeps compiled schemas.
type Handler struct {
	o       Options
	schemas schemas
}

// New makes a handler.
func New(o Options) *Handler { return &Handler{o: o} }
