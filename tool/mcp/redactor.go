package mcp

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/earshot-dev/earshot/tool/settings"
)

// redactor removes the secrets of a server from what it says. Its access tokens change while a session goes on.
type redactor struct {
	current atomic.Pointer[settings.Redactor]

	mu      sync.Mutex
	secrets map[string]string
	token   string
}

func newRedactor(secrets map[string]string) *redactor {
	r := &redactor{secrets: maps.Clone(secrets)}
	r.current.Store(settings.NewRedactor(secrets))
	return r
}

// What stands in a text instead of the tokens that were removed from it. Names of secrets have no blanks.
const (
	ofLogin        = "of the login"
	ofEarlierLogin = "of the login before"
)

// learn adds an access token. The one before stays a secret, too: a late answer may hold it.
func (r *redactor) learn(token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if token == r.token {
		return
	}
	if r.token != "" {
		r.secrets[ofEarlierLogin] = r.token
	}
	r.token, r.secrets[ofLogin] = token, token
	r.current.Store(settings.NewRedactor(r.secrets))
}

// Text removes the secrets from a complete text.
func (r *redactor) Text(text []byte) []byte { return r.current.Load().Text(text) }
