package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/tool/mcp"
)

// Source has the tokens of one server, and renews them. It implements [mcp.Login].
type Source struct {
	store        *Store
	name, server string
	turn         chan struct{} // of one place: who has it renews, for all that wait

	mu      sync.Mutex
	unsaved *Login // was renewed, and could not be stored; its tokens are not used before it is
}

// Source returns the source of the tokens for a server at an address.
func (s *Store) Source(name, server string) *Source {
	return &Source{store: s, name: name, server: server, turn: make(chan struct{}, 1)}
}

func (s *Source) need(why string) error { return &mcp.LoginError{Server: s.name, Why: why} }

// Token implements [mcp.Login].
func (s *Source) Token(ctx context.Context) (string, error) {
	l, err := s.store.Load(s.name, s.server)
	switch {
	case errors.Is(err, ErrNone) || err == nil && l.ID == "":
		return "", nil
	case err != nil:
		return "", s.need("cannot be used, since " + cause.Of(err))
	case l.Ended != "":
		return "", s.need(l.Ended)
	case !l.expired(s.store.Now()) && s.pending() == nil:
		return l.AccessToken, nil
	}
	return s.renew(ctx, l.AccessToken)
}

// Refused implements [mcp.Login].
func (s *Source) Refused(ctx context.Context, token string) (string, error) {
	if token == "" {
		if err := s.store.Ask(ctx, s.name, s.server); err != nil {
			return "", err
		}
		return "", s.need(mcp.WhyNoLogin)
	}
	return s.renew(ctx, token)
}

func (s *Source) pending() *Login {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unsaved
}

func (s *Source) setPending(l *Login) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsaved = l
}

// renew returns another token than old, which has expired or was refused. Of several calls at once one renews, here and in
// other processes; the others get its token. It ends with its request even if ctx ends: the answer may hold the only
// refresh token that is still good.
func (s *Source) renew(ctx context.Context, old string) (token string, err error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return "", fmt.Errorf("the login is being renewed: %w", ctx.Err())
	}
	err = s.store.locked(ctx, s.name, func() error {
		l, err := s.store.Load(s.name, s.server)
		switch {
		case errors.Is(err, ErrNone) || err == nil && l.ID == "":
			return s.need(mcp.WhyNoLogin)
		case err != nil:
			return s.need("cannot be used, since " + cause.Of(err))
		case l.Ended != "":
			return s.need(l.Ended)
		}
		if kept := s.pending(); kept != nil && kept.ID == l.ID {
			l = *kept
			if err := s.keep(l); err != nil {
				return err
			}
		}
		s.setPending(nil)
		if l.AccessToken == old || l.expired(s.store.Now()) {
			if err := s.refresh(context.WithoutCancel(ctx), &l); err != nil {
				return err
			}
		}
		token = l.AccessToken
		return nil
	})
	return token, err
}

// refresh renews a login, and stores it before anybody uses its tokens.
func (s *Source) refresh(ctx context.Context, l *Login) error {
	if l.RefreshToken == "" {
		return s.end(l, "has a login that is over, and cannot be renewed")
	}
	token, err := s.store.refreshed(ctx, *l)
	if refused, is := errors.AsType[*oauth2.RetrieveError](err); is {
		switch refused.ErrorCode {
		case "invalid_grant", "invalid_client", "unauthorized_client":
			return s.end(l, "has a login that "+cause.OneLine(l.Issuer)+" does not renew any more")
		}
	}
	if err != nil {
		return fmt.Errorf("the login at %s cannot be renewed now: %s", cause.OneLine(l.Issuer), reason(err))
	}
	s.store.reached("mcp.refreshed")
	l.take(token, s.store.Now())
	return s.keep(*l)
}

// keep stores a renewed login; what cannot be stored now is stored before it is used.
func (s *Source) keep(l Login) error {
	err := s.store.write(s.name, loginFile, l)
	if err != nil {
		s.setPending(&l)
	}
	return err
}

// end notes that only another login helps. Its tokens are dropped.
func (s *Source) end(l *Login, why string) error {
	l.Ended, l.AccessToken, l.RefreshToken = why, "", ""
	if err := s.store.write(s.name, loginFile, *l); err != nil {
		return err
	}
	return s.need(why)
}

// refreshed asks for new tokens (RFC 6749, section 6). The package's own renewal does not name the resource (RFC 8707), so
// this is its other grant, whose parameters can be replaced.
func (s *Store) refreshed(ctx context.Context, l Login) (*oauth2.Token, error) {
	client, err := clientOf(l.Server, l.Networks)
	if err != nil {
		return nil, err
	}
	secret, err := s.secretOf(l.Client)
	if err != nil {
		return nil, err
	}
	grant := clientcredentials.Config{
		ClientID: l.Client.ID, ClientSecret: secret, TokenURL: l.TokenURL, AuthStyle: l.Client.Style,
		EndpointParams: url.Values{"grant_type": {"refresh_token"}, "refresh_token": {l.RefreshToken}, "resource": {l.Resource}},
	}
	token, err := grant.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
	if err == nil {
		err = usable(token)
	}
	return token, err
}

// Watch implements [mcp.Login].
func (s *Source) Watch(ctx context.Context, changed func()) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return
	}
	defer func() { _ = watcher.Close() }()
	if s.store.makeFolder() != nil || watcher.Add(s.store.Dir) != nil {
		return
	}
	seen := s.state()
	for {
		select {
		case <-ctx.Done():
			return
		case e, open := <-watcher.Events:
			if !open {
				return
			}
			if filepath.Base(e.Name) != s.name+loginFile {
				continue
			}
		case _, open := <-watcher.Errors: // such as an overflow: anything may have changed
			if !open {
				return
			}
		}
		if now := s.state(); now != seen {
			seen = now
			changed()
		}
	}
}

// state is what makes a login another one: a renewed login is the same.
func (s *Source) state() string {
	l, err := s.store.Load(s.name, s.server)
	if err != nil {
		return ""
	}
	return l.ID
}
