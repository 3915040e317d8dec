package access_test

import (
	"errors"
	"path/filepath"
	"slices"
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

// TestBeginVouched: a person of a provider who has logged in on the page is who it says for as long as any login, in this process alone; and
// accepts only if they were seen to log in.
func TestBeginVouched(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	file := filepath.Join(t.TempDir(), "tokens.json")
	o := access.Options{Path: file, Now: func() time.Time { return now }, Provider: &vouches{}}
	s, err := access.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	alice := access.Vouched{
		Issuer: "https://id.example.org", Subject: "alice", Expires: now.Add(time.Minute), Owners: []string{"anna"},
		Roles: []api.Role{api.RoleListener, api.RoleApprover, api.RoleOperator},
	}
	begin := func(v access.Vouched) access.PageSession {
		t.Helper()
		session, err := s.BeginVouched(v, access.Browser{Name: "a browser", User: "me"})
		if err != nil {
			t.Fatal(err)
		}
		return session
	}
	session := begin(alice)
	alone := alice
	alone.Unattended = "nobody was asked"
	unseen := begin(alone)
	if _, _, err := s.Add(access.NewToken{Name: "bob", Roles: []api.Role{api.RoleListener}}); err != nil { // the file is written and read again
		t.Fatal(err)
	}

	now = now.Add(time.Hour) // longer than the provider's token
	who, err := s.Page(session.Cookie, "me")
	if err != nil || who.Name != access.NameOf(alice.Issuer, "alice") || who.Surface != "page" || !who.May(api.Operate) {
		t.Fatalf("%+v, %v", who, err)
	}
	if !s.MayApprove(who.Name, who.Credential, "anna") || !s.MayAccept(who.Credential) {
		t.Error("who was seen to log in accepts nothing")
	}
	if other, err := s.Page(session.Cookie, "another"); err == nil {
		t.Errorf("the cookie is good for another account: %+v", other)
	}
	if who, err := s.Page(unseen.Cookie, "me"); err != nil || who.Unattended == "" || who.May(api.Operate) || s.MayAccept(who.Credential) {
		t.Errorf("who was not seen: %+v, %v", who, err)
	}
	if _, err := s.BeginVouched(access.Vouched{Issuer: alice.Issuer, Subject: "x", Roles: []api.Role{api.RoleAgent}}, access.Browser{}); err == nil {
		t.Error("an agent logs in")
	}

	other := alice
	other.Subject = "other"
	ended := begin(other)
	if all, err := s.EndLogins(func(l access.Login) bool { return l.Person == ended.Principal.Name }); err != nil || len(all) != 1 {
		t.Errorf("an operator ends %v, %v", all, err)
	}
	if _, err := s.Page(ended.Cookie, "me"); err == nil {
		t.Error("a login that an operator has ended counts")
	}
	s.Logout(unseen.Cookie)
	if _, err := s.Page(unseen.Cookie, "me"); err == nil {
		t.Error("after the logout it counts")
	}
	if now = now.Add(access.PageLife); s.MayApprove(who.Name, who.Credential, "anna") {
		t.Error("after its end it approves")
	}
	if _, err := s.Current(who); !errors.Is(err, access.ErrRevoked) {
		t.Errorf("after its end: %v", err)
	}
}

// TestVouchedLoginsAreListed: a command lists and ends the logins of people of a provider that a server has begun, and counts none of
// them; and the server's next run takes them out of the file.
func TestVouchedLoginsAreListed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	file := filepath.Join(t.TempDir(), "tokens.json")
	open := func(p access.Provider) *access.Store {
		t.Helper()
		s, err := access.Open(access.Options{Path: file, Now: func() time.Time { return now }, Provider: p, Poll: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	listed := func(s *access.Store) (ids []string) {
		t.Helper()
		all, err := s.Logins()
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range all {
			ids = append(ids, l.ID)
		}
		return ids
	}
	server := open(&vouches{})
	var began []access.PageSession
	for _, subject := range []string{"alice", "bob", "eve"} {
		one, err := server.BeginVouched(access.Vouched{
			Issuer: "https://id.example.org", Subject: subject, Roles: []api.Role{api.RoleApprover}, Owners: []string{"anna"},
		}, access.Browser{Name: subject})
		if err != nil {
			t.Fatal(err)
		}
		began = append(began, one)
		now = now.Add(time.Second)
	}
	alice, bob, eve := began[0], began[1], began[2]
	idOf := func(s access.PageSession) string { return strings.TrimPrefix(s.Principal.Credential, "session:") }

	command := open(nil)
	if got := listed(command); !slices.Equal(got, []string{idOf(alice), idOf(bob), idOf(eve)}) {
		t.Fatalf("a command lists %v", got)
	}
	who := alice.Principal
	if _, err := command.Page(alice.Cookie, ""); err == nil || command.MayApprove(who.Name, who.Credential, "anna") {
		t.Error("the login counts in another process")
	}
	if _, err := command.EndLogins(func(l access.Login) bool { return l.ID == idOf(bob) }); err != nil {
		t.Fatal(err)
	}
	if got := listed(server); !slices.Equal(got, []string{idOf(alice), idOf(eve)}) {
		t.Errorf("after a command has ended one, the server lists %v", got)
	}
	if _, err := server.Page(bob.Cookie, ""); err == nil {
		t.Error("a login that a command has ended counts")
	}
	if _, err := server.Page(alice.Cookie, ""); err != nil || !server.MayAccept(who.Credential) || !server.MayApprove(who.Name, who.Credential, "anna") {
		t.Errorf("another one, which it has not, does not count: %v", err)
	}
	server.Logout(eve.Cookie)
	if got := listed(open(nil)); !slices.Equal(got, []string{idOf(alice)}) {
		t.Errorf("after a logout a command lists %v", got)
	}

	again := open(&vouches{})
	if _, err := again.Page(alice.Cookie, ""); err == nil || again.MayApprove(who.Name, who.Credential, "anna") || len(listed(again)) != 0 {
		t.Error("after the restart a login of the run before counts or is listed")
	}
	if _, _, err := again.Add(access.NewToken{Name: "carol", Roles: []api.Role{api.RoleListener}}); err != nil { // the file is written
		t.Fatal(err)
	}
	if got := listed(open(nil)); len(got) != 0 {
		t.Errorf("and a command still lists %v", got)
	}
}
