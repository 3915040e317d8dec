package access_test

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// vouches is a provider whose tokens are what they stand for.
type vouches struct {
	mu  sync.Mutex
	who map[string]access.Vouched
}

func (v *vouches) Describe() string { return "tokens of a test" }

func (v *vouches) Verify(token string) (access.Vouched, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if who, found := v.who[token]; found {
		return who, nil
	}
	return access.Vouched{}, access.ErrUnknown
}

// TestVouched: a token of a provider is somebody whom no token of ours can be, with its rights, until it expires.
func TestVouched(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	alice := access.Vouched{Issuer: "https://id.example.org", Subject: "alice", Expires: now.Add(time.Hour), Roles: []api.Role{api.RoleListener}}
	with := func(change func(*access.Vouched)) access.Vouched {
		v := alice
		change(&v)
		return v
	}
	provider := &vouches{who: map[string]access.Vouched{
		"first":     alice,
		"later":     with(func(v *access.Vouched) { v.Expires = now.Add(2 * time.Hour) }),
		"elsewhere": with(func(v *access.Vouched) { v.Issuer = "https://id.example.com" }),
		"approver":  with(func(v *access.Vouched) { v.Roles, v.Owners = []api.Role{api.RoleApprover}, []string{"anna"} }),
		"unattended": with(func(v *access.Vouched) {
			v.Roles, v.Unattended = []api.Role{api.RoleApprover, api.RoleOperator}, "nobody"
		}),
		"agent":   with(func(v *access.Vouched) { v.Roles = []api.Role{api.RoleAgent} }),
		"expired": with(func(v *access.Vouched) { v.Expires = now }),
		"nobody":  with(func(v *access.Vouched) { v.Subject = "" }),
	}}
	s, err := access.Open(access.Options{Path: filepath.Join(t.TempDir(), "tokens.json"), Now: func() time.Time { return now }, Provider: provider})
	if err != nil {
		t.Fatal(err)
	}
	is := func(token string) access.Principal {
		t.Helper()
		p, err := s.Authenticate(token)
		if err != nil {
			t.Fatalf("%s: %v", token, err)
		}
		return p
	}
	first, later := is("first"), is("later")
	if first.Credential != later.Credential || first.Name != later.Name || first.Name != access.NameOf("https://id.example.org", "alice") {
		t.Errorf("two tokens of one person are %+v and %+v", first, later)
	}
	if is("elsewhere").Name == first.Name || is("approver").Credential == first.Credential {
		t.Error("another issuer's person has the same name, or other rights the same credential")
	}
	for _, token := range []string{"agent", "expired", "nobody", "unknown"} {
		if p, err := s.Authenticate(token); err == nil {
			t.Errorf("%s is %+v", token, p)
		}
	}
	if _, _, err := s.Add(access.NewToken{Name: "x", Person: first.Name, Roles: []api.Role{api.RoleListener}}); !errors.Is(err, access.ErrInvalid) {
		t.Errorf("a token of ours has that name: %v", err)
	}

	approver, unattended := is("approver"), is("unattended")
	if !s.MayApprove(approver.Name, approver.Credential, "anna") || !s.MayAccept(approver.Credential) || s.MayAccept(unattended.Credential) || s.MayAccept("oidc:unheard") {
		t.Error("who may approve and accept is wrong")
	}
	if unattended.May(api.Operate) || !unattended.May(api.Inspect) {
		t.Error("nobody is known to be there, and it changes what the gate relies on")
	}
	now = now.Add(time.Hour)
	if _, err := s.Current(first); !errors.Is(err, access.ErrRevoked) {
		t.Errorf("after its end the first token counts: %v", err)
	}
	if _, err := s.Current(later); err != nil {
		t.Errorf("the later one does not: %v", err)
	}
	if s.MayApprove(approver.Name, approver.Credential, "anna") || s.MayAccept(approver.Credential) {
		t.Error("after its end it approves")
	}
}

// TestNameOf: a subject is part of the name as it is, or as a hash; neither can be the other.
func TestNameOf(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	_, hash, _ := strings.Cut(access.NameOf("i", strings.Repeat("a", 300)), "~")
	for _, subject := range []string{"alice", "alice ", "Alice", "~alice", strings.Repeat("a", 300), "~" + hash, "a\nb", "\xff", "auth0|5f7c8ec7c33c6c004bbafe82"} {
		name := access.NameOf("i", subject)
		if other, is := seen[name]; is || len(name) > 64 || !strings.HasPrefix(name, "oidc:") || strings.ContainsAny(name, " \n") {
			t.Errorf("%q is %q, like %q", subject, name, other)
		}
		seen[name] = subject
	}
}
