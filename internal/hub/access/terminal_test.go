package access_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/hub/access"
)

// The principal of a person's commands, and a terminal of theirs.
func commandsOf(t *testing.T, s *access.Store, name string) access.Principal {
	t.Helper()
	secret, err := s.Grant(access.Principal{Name: name, Surface: "terminal", Roles: []access.Role{access.Approver, access.Listener}, Unattended: "nobody is there"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Authenticate(secret)
	if err != nil || p.Unattended == "" || s.MayAccept(p.Credential) {
		t.Fatalf("%+v, %v, and it may accept", p, err)
	}
	return p
}

var pts3 = access.Terminal{Key: "boot 1 2 3", Name: "pts/3"}

// TestLoginTerminal: a code that was shown for a terminal, or one for any login, makes its commands those of a person
// who is there; for no other terminal, no other person, and not as a cookie.
func TestLoginTerminal(t *testing.T) {
	t.Parallel()
	file := path(t)
	s := open(t, file)
	ann, bob := commandsOf(t, s, "ann"), commandsOf(t, s, "bob")
	for name, code := range map[string]func() (string, error){
		"shown":        func() (string, error) { return s.TerminalCode(ann, pts3) },
		"a login code": func() (string, error) { return s.Code(ann) },
	} {
		word, err := code()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.AtTerminal(ann, pts3); !errors.Is(err, access.ErrUnknown) {
			t.Errorf("%s: before the login: %v", name, err)
		}
		if name == "shown" {
			if _, _, err := s.LoginTerminal("ann", word, access.Terminal{Key: "boot 1 2 4", Name: "pts/3"}); !errors.Is(err, access.ErrUnknown) {
				t.Errorf("in another terminal: %v", err)
			}
		}
		if _, _, err := s.LoginTerminal("bob", word, pts3); !errors.Is(err, access.ErrUnknown) {
			t.Errorf("%s: for another person: %v", name, err)
		}
		begun, until, err := s.LoginTerminal("ann", " "+strings.ReplaceAll(word, "-", " "), pts3)
		if err != nil || until.Before(time.Now()) {
			t.Fatalf("%s: %v, until %s", name, err, until)
		}
		if _, _, err := s.LoginTerminal("ann", word, pts3); !errors.Is(err, access.ErrUnknown) {
			t.Errorf("%s: twice: %v", name, err)
		}
		who, err := s.AtTerminal(ann, pts3)
		if err != nil || who.Unattended != "" || who.Surface != "terminal:pts/3" || who.Credential != begun.Credential || !s.MayAccept(who.Credential) || !s.MayApprove("ann", who.Credential, "ann") {
			t.Errorf("%s: at the terminal it is %+v, %v", name, who, err)
		}
		if _, err := s.AtTerminal(bob, pts3); !errors.Is(err, access.ErrUnknown) {
			t.Errorf("%s: of another person: %v", name, err)
		}
		again := open(t, file)
		if kept, err := again.AtTerminal(ann, pts3); err != nil || kept.Surface != who.Surface || kept.Credential != who.Credential {
			t.Errorf("%s: after a restart: %+v, %v", name, kept, err)
		}
		if all, err := again.Logins(); err != nil || len(all) != 1 || all[0].Browser != "terminal:pts/3" {
			t.Errorf("%s: the logins are %+v, %v", name, all, err)
		}
		raw, _ := os.ReadFile(file)
		for _, cookie := range []string{"terminal\nann\n" + pts3.Key, pts3.Key} {
			if _, err := s.Page(cookie, ""); !errors.Is(err, access.ErrUnknown) || strings.Contains(string(raw), cookie) {
				t.Errorf("%s: as a cookie: %v", name, err)
			}
		}
		if err := s.LogoutTerminal(ann, pts3); err != nil {
			t.Fatal(err)
		}
		if s.MayApprove("ann", who.Credential, "ann") {
			t.Errorf("%s: a yes outlives the logout", name)
		}
		if err := s.LogoutTerminal(ann, pts3); !errors.Is(err, access.ErrUnknown) {
			t.Errorf("%s: a second logout: %v", name, err)
		}
	}
}

// TestTerminalCodeTries: a short code is void after three tries, and after its time; a new one replaces it.
func TestTerminalCodeTries(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s, err := access.Open(access.Options{Path: path(t), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	ann := commandsOf(t, s, "ann")
	code := func() string {
		word, err := s.TerminalCode(ann, pts3)
		if err != nil || len(word) != len("1234-5678") {
			t.Fatalf("the code is %q, %v", word, err)
		}
		return word
	}
	fails := func(why, word string) {
		if _, _, err := s.LoginTerminal("ann", word, pts3); !errors.Is(err, access.ErrUnknown) {
			t.Errorf("%s: %v", why, err)
		}
	}
	word := code()
	for range 3 {
		fails("a wrong code", "1")
	}
	fails("after three wrong ones", word)
	word = code()
	replaced := word
	word = code()
	fails("one that was replaced", replaced)
	now = now.Add(access.TerminalCodeLife)
	fails("after its time", word)
	if _, _, err := s.LoginTerminal("ann", code(), pts3); err != nil {
		t.Error(err)
	}
	now = now.Add(access.PageLife)
	if _, err := s.AtTerminal(ann, pts3); !errors.Is(err, access.ErrUnknown) {
		t.Errorf("after the login's time: %v", err)
	}
}
