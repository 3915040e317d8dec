package server_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/testkit/oidctest"
	"github.com/earshot-dev/earshot/server"
)

// vouching returns a server's options that a provider vouches for people at.
func vouching(p *oidctest.Provider, accept bool) server.OIDC {
	return server.OIDC{
		Issuer: p.URL, Audience: oidctest.Audience, Accept: accept,
		Roles:  []string{"ears=listener", "hands=listener", "hands=approver", "ops=approver", "ops=operator"},
		Owners: []string{"hands=*"},
	}
}

// TestOIDC: a token of the provider is heard on each transport, and one that is not for this server, that has no role or that nobody has
// signed on none; who has one has its limits, whatever token they come with.
func TestOIDC(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := open(t, server.Options{Data: shortFolder(t), HTTP: "127.0.0.1:0", OIDC: vouching(p, false), SubscriptionsEach: 1})
	good := oidctest.Grant{Subject: "alice", Groups: []string{"ears"}}
	for by, dial := range dialers {
		for name, row := range map[string]struct {
			token string
			says  []string
		}{
			"for another server":  {p.Token(oidctest.Grant{Subject: "alice", Groups: []string{"ears"}, Audience: "wiki"}), []string{"401 ", "is not for this server", "Unauthenticated"}},
			"without a role":      {p.Token(oidctest.Grant{Subject: "alice", Groups: []string{"others"}}), []string{"403 ", "no value of its claim", "PermissionDenied"}},
			"nonsense":            {"a.b.c", []string{"401 ", "neither one of this server", "Unauthenticated"}},
			"a token of nobody's": {"earshot_wrong", []string{"401 ", "not valid"}},
		} {
			got := dial(ctx, t, visit{Server: s, token: row.token})
			if !containsAny(got.refused, row.says) {
				t.Errorf("%s, %s: %q", by, name, got.refused)
			}
		}
		subject := good
		subject.Subject = string(by)
		if got := dial(ctx, t, visit{Server: s, token: p.Token(subject)}); got.refused != "" {
			t.Errorf("%s: it is refused: %s", by, got.refused)
		}
		if got := dial(ctx, t, visit{Server: s, token: p.Token(subject)}); got.refused == "" {
			t.Errorf("%s: a second token gives a second share", by)
		}
	}
	me, err := client.Dial(ctx, client.Options{URL: s.URL(), Token: p.Token(good)})
	must(t, err)
	who, err := me.Identity(ctx)
	if err != nil || !strings.HasPrefix(who.Name, "oidc:") || !strings.HasSuffix(who.Name, ":alice") || who.Accepts {
		t.Errorf("it is %+v, %v", who, err)
	}
	if _, err := client.Dial(ctx, client.Options{URL: s.URL(), Token: s.Token()}); err != nil {
		t.Errorf("a token of the server itself: %v", err)
	}
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// TestOIDCExpires: a stream ends when the token does with which it was opened, on each transport, and says why where it can.
func TestOIDCExpires(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	s := open(t, server.Options{Data: shortFolder(t), HTTP: "127.0.0.1:0", OIDC: vouching(p, false)})
	for by, dial := range dialers {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience) // from here: it may have waited long for its turn
			defer cancel()
			for life := 2 * time.Second; ; life *= 2 { // on a busy machine the subscription may come too late
				before := time.Now()
				got := dial(ctx, t, visit{Server: s, token: p.Token(oidctest.Grant{Subject: "alice", Groups: []string{"ears"}, Life: life})})
				if got.refused != "" && life < time.Minute {
					continue
				}
				if got.refused != "" {
					t.Fatal(got.refused)
				}
				got.until(ctx, func([]byte) bool { return false })
				err := got.over
				if lived := time.Since(before); lived < life-time.Second {
					t.Errorf("it ends after %s, with a token for %s: %v", lived, life, err)
				}
				if end, is := errors.AsType[*transport.Error](err); by != aaep.TransportSSE && (!is || end.Code != transport.NotAuthenticated) {
					t.Errorf("it ends with %v, expected that the token is not valid any more", err)
				}
				return
			}
		})
	}
}

// TestOIDCAway: the server starts while the provider cannot be asked, says so, refuses its tokens for the time being, and takes its own.
func TestOIDCAway(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	token := p.Token(oidctest.Grant{Subject: "alice", Groups: []string{"ears"}})
	p.Away.Store(true)
	var said []string
	s := open(t, server.Options{Data: t.TempDir(), HTTP: "127.0.0.1:0", OIDC: vouching(p, false), Notice: func(line string) { said = append(said, line) }})
	if !strings.Contains(strings.Join(said, "\n"), "The identity provider "+p.URL+" cannot be asked for its keys: ") {
		t.Errorf("it says %q", said)
	}
	if got := peerByEvents(t.Context(), t, visit{Server: s, token: token}); !strings.Contains(got.refused, "503 ") || !strings.Contains(got.refused, "cannot be asked for its keys") {
		t.Errorf("a token of it gets %s", got.refused)
	}
	if got := peerByEvents(t.Context(), t, visit{Server: s, token: s.Token()}); got.refused != "" {
		t.Errorf("a token of the server gets %s", got.refused)
	}
}

// TestOIDCAccept: who approves by a token of the provider rejects, and accepts only where the operator lets such tokens accept; a passkey is
// asked for all the same. Neither makes a login, reviews a tool or is an agent.
func TestOIDCAccept(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	for name, row := range map[string]struct {
		accept   bool
		presence string
		code     string // of the refusal of an accept
	}{
		"by default":       {false, "", "login_required"},
		"let accept":       {true, "", ""},
		"asked for a sign": {true, "all", "passkey_required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var (
				mu   sync.Mutex
				sent []string
			)
			s := open(t, server.Options{
				Data: t.TempDir(), HTTP: "127.0.0.1:0", OIDC: vouching(p, row.accept), RequirePresence: row.presence,
				Agents: []server.Agent{{Agent: clerk()}}, Services: []server.Service{send(&sent, &mu)},
			})
			dial := func(token string) *client.Client {
				c, err := client.Dial(ctx, client.Options{URL: s.URL(), Token: token})
				must(t, err)
				return c
			}
			person := dial(p.Token(oidctest.Grant{Subject: "alice", Groups: []string{"hands"}}))
			turn, err := dial(s.Token()).Start(ctx, api.TurnStart{Agent: "clerk", Args: jsontext.Value(`{"to":"Ada"}`), Request: "Write to Ada."})
			must(t, err)
			for event, err := range person.ForSession(turn.Session).Events(ctx) {
				must(t, err)
				asked, is := event.Payload.(aaep.AwaitingConfirmation)
				if !is {
					continue
				}
				number, _ := aaep.Read(event.Extensions[aaep.PrefixEarshot]).Whole("question")
				_, err := person.Reply(ctx, int(number), api.Reply{Token: asked.ReplyToken, Decision: "accept"})
				if code := codeOf(err); code != row.code {
					t.Errorf("an accept: %v, expected %q", err, row.code)
				}
				if row.code == "" {
					continue
				}
				if _, err := person.Reply(ctx, int(number), api.Reply{Token: asked.ReplyToken, Decision: "reject"}); err != nil {
					t.Errorf("a no: %v", err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if want := map[bool]int{true: 1}[row.code == ""]; len(sent) != want {
				t.Errorf("%d letters were sent, want %d", len(sent), want)
			}
			if _, err := person.LoginCode(ctx); codeOf(err) != string(client.CodeForbidden) {
				t.Errorf("a login code: %v", err)
			}
			ops := dial(p.Token(oidctest.Grant{Subject: "olga", Groups: []string{"ops"}}))
			if err := ops.Operate(ctx, api.OpTools, api.ToolsRequest{}, &jsontext.Value{}); err != nil {
				t.Errorf("an operator looks: %v", err)
			}
			err = ops.Operate(ctx, api.OpReview, api.ReviewRequest{Tool: "mail.send"}, &jsontext.Value{})
			if refused := codeOf(err) == string(client.CodeForbidden); refused == row.accept {
				t.Errorf("a review: %v", err)
			}
			if _, err := client.DialAgent(ctx, client.Options{URL: s.URL(), Token: p.Token(oidctest.Grant{Subject: "olga", Groups: []string{"ops"}})}); err == nil {
				t.Error("it is an agent")
			}
		})
	}
}

// codeOf returns the code of a server's refusal, the nearest one.
func codeOf(err error) string {
	for _, known := range []*client.Error{client.ErrLogin, client.ErrPasskeyRequired} {
		if errors.Is(err, known) {
			return string(known.Code)
		}
	}
	if e, is := errors.AsType[*client.Error](err); is {
		return string(e.Code)
	}
	return ""
}
