package access_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/internal/hub/access"
)

func login(t *testing.T, s *access.Store, name string) access.PageSession {
	t.Helper()
	word, err := s.Code(access.Principal{Name: name, Surface: "here", Roles: []access.Role{access.Approver, access.Listener}, Owners: []string{"bob"}})
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.Login(word, access.Browser{Name: "a browser"})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// TestLoginOutlivesTheProcess: anyone who was logged in is so after a restart, as the same
// principal with the same end, and nothing in the file would let anybody else in.
func TestLoginOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	file := path(t)
	page := login(t, open(t, file), "ann")
	add(t, open(t, file), "tool", access.Listener) // another process writes the file in between
	again := open(t, file)
	who, err := again.Page(page.Cookie, "")
	if err != nil || !reflect.DeepEqual(who, page.Principal) {
		t.Fatalf("after the restart: %+v, %v; want %+v", who, err, page.Principal)
	}
	if _, err := again.Current(page.Principal); err != nil || !again.MayApprove("ann", "", "bob") {
		t.Errorf("its rights after the restart: %v", err)
	}
	raw, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(raw), page.Cookie) {
		t.Errorf("the file has the secret itself, or cannot be read: %v", err)
	}
	late, err := access.Open(access.Options{Path: file, Now: func() time.Time { return page.Expires }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := late.Page(page.Cookie, ""); !errors.Is(err, access.ErrUnknown) {
		t.Errorf("after its end: %v", err)
	}
}

// TestLogoutOutlivesTheProcess: a page that was logged out stays out, elsewhere too.
func TestLogoutOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	file := path(t)
	here := open(t, file)
	one, other, third := login(t, here, "ann"), login(t, here, "ann"), login(t, here, "bob")
	there := open(t, file)
	here.Logout(one.Cookie)
	if _, err := there.Authenticate("nothing"); !errors.Is(err, access.ErrUnknown) { // it looks at the file
		t.Errorf("a secret of nobody: %v", err)
	}
	for what, s := range map[string]*access.Store{"there": there, "after a restart": open(t, file)} {
		if _, err := s.Page(one.Cookie, ""); !errors.Is(err, access.ErrUnknown) {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := s.Page(other.Cookie, ""); err != nil {
			t.Errorf("the other, %s: %v", what, err)
		}
	}
	ended, err := open(t, file).EndLogins(func(l access.Login) bool { return l.Person == "ann" })
	if err != nil || len(ended) != 1 {
		t.Errorf("%d ended, want 1; %v", len(ended), err)
	}
	last := open(t, file)
	if _, err := last.Page(other.Cookie, ""); !errors.Is(err, access.ErrUnknown) {
		t.Errorf("after all were logged out: %v", err)
	}
	if _, err := last.Page(third.Cookie, ""); err != nil {
		t.Errorf("somebody else: %v", err)
	}
}

// TestLoginStandsOnItsCredential: a page session of a token ends with the token, and one
// of a grant with the process; what a grant's code has opened does not.
func TestLoginStandsOnItsCredential(t *testing.T) {
	t.Parallel()
	file := path(t)
	s := open(t, file)
	who, err := s.Authenticate(add(t, s, "ann", access.Approver))
	if err != nil {
		t.Fatal(err)
	}
	ofToken, err := s.Begin(who, access.Browser{})
	if err != nil {
		t.Fatal(err)
	}
	secret, err := s.Grant(access.Principal{Name: "bob", Surface: "here", Roles: []access.Role{access.Listener}})
	if err != nil {
		t.Fatal(err)
	}
	granted, err := s.Authenticate(secret)
	if err != nil {
		t.Fatal(err)
	}
	ofGrant, err := s.Begin(granted, access.Browser{})
	if err != nil {
		t.Fatal(err)
	}
	word, err := s.Code(granted)
	if err != nil {
		t.Fatal(err)
	}
	byCode, err := s.Login(word, access.Browser{Name: "a browser"})
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, "carl", access.Listener) // the file is read again
	if _, err := s.Page(ofGrant.Cookie, ""); err != nil {
		t.Errorf("a page of a grant: %v", err)
	}
	again := open(t, file)
	if _, err := again.Page(ofToken.Cookie, ""); err != nil {
		t.Errorf("a page of a token, after a restart: %v", err)
	}
	if who, err := again.Page(byCode.Cookie, ""); err != nil || who.Name != "bob" {
		t.Errorf("a page that a grant has made a code for, after a restart: %+v, %v", who, err)
	}
	if _, err := again.Page(ofGrant.Cookie, ""); !errors.Is(err, access.ErrUnknown) {
		t.Errorf("a page of a grant, after a restart: %v", err)
	}
	if _, err := again.Revoke("ann"); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, file).Page(ofToken.Cookie, ""); !errors.Is(err, access.ErrUnknown) {
		t.Errorf("a page of a token that was revoked: %v", err)
	}
}

// TestLoginIsWrittenLater: where the file cannot be written just now, a login and a
// logout count all the same, and are written as soon as that is possible.
func TestLoginIsWrittenLater(t *testing.T) {
	t.Parallel()
	file := path(t)
	synctest.Test(t, func(t *testing.T) {
		s := open(t, file)
		before := login(t, s, "ann")
		f, err := os.OpenFile(file+".lock", os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		page, removed := login(t, s, "ann"), login(t, s, "ann")
		s.Logout(before.Cookie)
		s.Logout(removed.Cookie)
		if _, err := s.Page(page.Cookie, ""); err != nil {
			t.Errorf("a login that is not written: %v", err)
		}
		if _, err := open(t, file).Page(page.Cookie, ""); !errors.Is(err, access.ErrUnknown) {
			t.Errorf("the file could be written: %v", err)
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_UN); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		wakeup := s.Watch(ctx)
		<-time.After(time.Second)
		again := open(t, file)
		if _, err := again.Page(page.Cookie, ""); err != nil {
			t.Errorf("a login that was to be written: %v", err)
		}
		for _, out := range []access.PageSession{before, removed} {
			if _, err := again.Page(out.Cookie, ""); !errors.Is(err, access.ErrUnknown) {
				t.Errorf("a logout that was to be written: %v", err)
			}
		}
		cancel()
		for range wakeup {
		}
	})
}

// TestBadLogins: a file whose logins cannot be believed is refused as a whole.
func TestBadLogins(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"short hash": {`"sha256": "`, `"sha256": "a`}, "no id": {`"id": "`, `"id": "", "was": "`}, "emptied id": {`"expires"`, `"id": "", "expires"`},
		"unknown role": {`"approver"`, `"emperor"`}, "no end": {`"expires": "`, `"expires": "x`},
		"no name": {`"person": "ann"`, `"person": ""`}, "unknown member": {`"person"`, `"x": 1, "person"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := path(t)
			login(t, open(t, file), "ann")
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := rewrite(file, raw, c[0], c[1]); err != nil {
				t.Fatal(err)
			}
			if _, err := access.Open(access.Options{Path: file}); !errors.Is(err, access.ErrDamaged) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("twice", func(t *testing.T) {
		t.Parallel()
		file := path(t)
		login(t, open(t, file), "ann")
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		from := bytes.Index(raw, []byte(`"pages": [`)) + len(`"pages": [`)
		row := strings.TrimRight(string(raw[from:bytes.LastIndexByte(raw, ']')]), " \n")
		if err := rewrite(file, raw, row, row+","+row); err != nil {
			t.Fatal(err)
		}
		if _, err := access.Open(access.Options{Path: file}); !errors.Is(err, access.ErrDamaged) {
			t.Errorf("%v", err)
		}
	})
}
