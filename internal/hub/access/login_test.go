package access_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// TestCodeIsTyped: five groups of four digits, of which every writing counts that a person
// or a keyboard makes of them, and none that has another digit.
func TestCodeIsTyped(t *testing.T) {
	t.Parallel()
	s := open(t, path(t))
	ann := access.Principal{Name: "ann", Roles: []access.Role{access.Listener}, Surface: "page"}
	for name, written := range map[string]func(string) string{
		"as it is":         func(c string) string { return c },
		"with blanks":      func(c string) string { return "  " + strings.ReplaceAll(c, "-", " ") + "\n" },
		"in one":           func(c string) string { return strings.ReplaceAll(c, "-", "") },
		"with long dashes": func(c string) string { return strings.ReplaceAll(c, "-", " – ") },
		"in Arabic digits": func(c string) string { return shifted(c, '٠') },
		"in Persian ones":  func(c string) string { return shifted(c, '۰') },
		"in Devanagari":    func(c string) string { return shifted(c, '०') },
		"at full width":    func(c string) string { return shifted(c, '0') },
	} {
		word, err := s.Code(ann)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`^\d{4}(-\d{4}){4}$`).MatchString(word) {
			t.Fatalf("the code is %q", word)
		}
		last := "0"
		if strings.HasSuffix(word, "0") {
			last = "1"
		}
		for what, wrong := range map[string]string{"one digit": word[:len(word)-1] + last, "one less": word[:len(word)-1], "one more": word + "0", "nothing": ""} {
			if _, err := s.Login(wrong, access.Browser{}); !errors.Is(err, access.ErrUnknown) {
				t.Errorf("%s wrong: %v", what, err)
			}
		}
		if _, err := s.Login(written(word), access.Browser{}); err != nil {
			t.Errorf("%s, %q: %v", name, written(word), err)
		}
	}
}

func shifted(code string, zero rune) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return zero + r - '0'
		}
		return r
	}, code)
}

// TestCodeIsEven: bytes that would make some digits likelier are left out.
func TestCodeIsEven(t *testing.T) {
	t.Parallel()
	raw := make([]byte, 256)
	for i := range raw {
		raw[i] = byte(255 - i)
	}
	s, err := access.Open(access.Options{Path: path(t), Rand: bytes.NewReader(raw)})
	if err != nil {
		t.Fatal(err)
	}
	word, err := s.Code(access.Principal{Name: "ann", Roles: []access.Role{access.Listener}, Surface: "page"})
	if err != nil || word != "9876-5432-1098-7654-3210" {
		t.Errorf("%q, %v", word, err)
	}
}

// TestLogins lists who is logged in, in which browser, since when and until when it was
// used, in another process too; and ends what is meant, there too, with its streams.
func TestLogins(t *testing.T) {
	t.Parallel()
	file := path(t)
	synctest.Test(t, func(t *testing.T) {
		server := open(t, file)
		ctx, cancel := context.WithCancel(t.Context())
		wakeup := server.Watch(ctx)
		began := time.Now()
		first := login(t, server, "ann")
		<-time.After(time.Minute)
		second := login(t, server, "bob")
		<-time.After(time.Hour - time.Minute)
		if _, err := server.Page(first.Cookie, ""); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second) // the next look writes it
		command := open(t, file)
		all, err := command.Logins()
		if err != nil || len(all) != 2 {
			t.Fatalf("%+v, %v", all, err)
		}
		for i, want := range []struct {
			person      string
			begun, used time.Duration
		}{{"ann", 0, time.Hour}, {"bob", time.Minute, time.Minute}} {
			if l := all[i]; l.Person != want.person || l.Browser != "a browser" || !l.Begun.Equal(began.Add(want.begun)) || !l.Used.Equal(began.Add(want.used)) || !l.Expires.Equal(began.Add(want.begun+access.PageLife)) {
				t.Errorf("%+v, want %+v", l, want)
			}
		}
		drain(wakeup)
		ended, err := command.EndLogins(func(l access.Login) bool { return l.ID == all[0].ID })
		if err != nil || len(ended) != 1 || ended[0].Person != "ann" {
			t.Errorf("%+v, %v", ended, err)
		}
		// It is used once more before the server has looked: that must not bring it back.
		<-time.After(time.Nanosecond)
		_, _ = server.Page(first.Cookie, "")
		<-wakeup
		if d := time.Since(began) - time.Hour - time.Second; d > time.Second {
			t.Errorf("the server took notice after %s", d)
		}
		if _, err := server.Current(first.Principal); !errors.Is(err, access.ErrRevoked) {
			t.Errorf("the ended login: %v", err)
		}
		if _, err := server.Page(second.Cookie, ""); err != nil {
			t.Errorf("the other: %v", err)
		}
		<-time.After(time.Hour)
		if left, err := open(t, file).Logins(); err != nil || len(left) != 1 || left[0].Person != "bob" {
			t.Errorf("left are %+v, %v", left, err)
		}
		if raw, err := os.ReadFile(file); err != nil || strings.Contains(string(raw), second.Cookie) {
			t.Errorf("the file tells the cookie, or cannot be read: %v", err)
		}
		cancel()
		for range wakeup {
		}
	})
}

func drain(wakeup <-chan struct{}) {
	select {
	case <-wakeup:
	default:
	}
}

// TestBrowserIsText: what a browser calls itself is cut and made text, so that it can neither
// fill the file nor keep it from being written.
func TestBrowserIsText(t *testing.T) {
	t.Parallel()
	file := path(t)
	s := open(t, file)
	for name, want := range map[string]string{
		strings.Repeat("\U0001F600", 5000): strings.Repeat("\U0001F600", 100), "a\xff\x00b": "a\uFFFD\x00b", "": "",
	} {
		word, err := s.Code(access.Principal{Name: "ann", Roles: []access.Role{access.Listener}, Surface: "page"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Login(word, access.Browser{Name: name}); err != nil {
			t.Fatal(err)
		}
		all, err := open(t, file).Logins()
		if err != nil || len(all) != 1 || all[0].Browser != want {
			t.Errorf("%+v, %v, want %q", all, err, want)
		}
		if _, err := s.EndLogins(func(access.Login) bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCookieIsOfOneUser: a cookie that was stolen is worth nothing to another user of the
// machine, nor where the system does not say who shows it; after a restart neither. Where the
// system did not say who has logged in, nobody is asked.
func TestCookieIsOfOneUser(t *testing.T) {
	t.Parallel()
	file := path(t)
	s := open(t, file)
	page := func(user string) access.PageSession {
		word, err := s.Code(access.Principal{Name: "ann", Roles: []access.Role{access.Listener}, Surface: "page"})
		if err != nil {
			t.Fatal(err)
		}
		in, err := s.Login(word, access.Browser{User: user})
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	known, unknown := page("1000"), page("")
	for when, s := range map[string]*access.Store{"at once": s, "after a restart": open(t, file)} {
		for user, want := range map[string]error{"1000": nil, "1001": access.ErrUnknown, "": access.ErrUnknown, "0": access.ErrUnknown} {
			if _, err := s.Page(known.Cookie, user); !errors.Is(err, want) {
				t.Errorf("%s, shown by %q: %v, want %v", when, user, err, want)
			}
			if _, err := s.Page(unknown.Cookie, user); err != nil {
				t.Errorf("%s, of nobody known, shown by %q: %v", when, user, err)
			}
		}
	}
}

// TestLoginFollowsItsToken: a login has the rights that its token has now, and none once the token is gone.
func TestLoginFollowsItsToken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens.json")
	s, err := access.Open(access.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	secret, _, err := s.Add(access.NewToken{Name: "anna", Roles: []api.Role{api.RoleListener, api.RoleApprover}, Owners: []string{"ben"}})
	if err != nil {
		t.Fatal(err)
	}
	who, err := s.Authenticate(secret)
	if err != nil {
		t.Fatal(err)
	}
	session, err := s.Begin(who, access.Browser{})
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	token, is := file["tokens"].([]any)[0].(map[string]any)
	if !is {
		t.Fatalf("the file is %s", raw)
	}
	token["roles"], token["owners"] = []string{"auditor", "listener"}, []string{"cem"}
	if raw, err = json.Marshal(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(); err != nil { // it has the file read again
		t.Fatal(err)
	}
	now, err := s.Page(session.Cookie, "")
	if err != nil || now.Has(access.Approver) || !now.Has(access.Auditor) || now.Approves("ben") || !slices.Equal(now.Owners, []string{"cem"}) {
		t.Errorf("the login is %+v, %v", now, err)
	}
	if current, err := s.Current(session.Principal); err != nil || current.Has(access.Approver) {
		t.Errorf("its rights now are %+v, %v", current, err)
	}
	if s.MayApprove("anna", session.Principal.Credential, "ben") {
		t.Error("it still approves")
	}
}

// TestShortCode: a code for a phone logs it in once, is void after ten wrong ones of its length, and takes none of the long ones with it.
func TestShortCode(t *testing.T) {
	t.Parallel()
	s := open(t, path(t))
	ann := access.Principal{Name: "ann", Surface: "here", Roles: []access.Role{access.Listener}}
	short := func(p access.Principal) string {
		t.Helper()
		word, err := s.ShortCode(p)
		if err != nil {
			t.Fatal(err)
		}
		if len(strings.ReplaceAll(word, "-", "")) != 8 {
			t.Errorf("a short code is %s", word)
		}
		return word
	}
	try := func(word string) bool {
		_, err := s.Login(word, access.Browser{})
		return err == nil
	}
	wrong := func(word string, n int) { // in a code of ours, one digit is another
		t.Helper()
		for range n {
			other := []byte(word)
			other[0] = '0' + (other[0]-'0'+1)%10
			if try(string(other)) {
				t.Error("a wrong code logs in")
			}
		}
	}
	first, second := short(ann), short(ann)
	if try(first) || !try(second) || try(second) {
		t.Error("not the newest short code alone counts, once")
	}
	long, err := s.Code(ann)
	if err != nil {
		t.Fatal(err)
	}
	word := short(ann)
	if _, _, err := s.LoginTerminal("ann", word, access.Terminal{Key: "k", Name: "pts/1"}); err == nil {
		t.Error("it logs a terminal in")
	}
	if err := s.Spend("ann", word); err == nil {
		t.Error("it is good for something else")
	}
	if wrong(word, 9); !try(word) {
		t.Error("it is void after nine wrong ones")
	}
	word = short(ann)
	for range 20 {
		if try("1") || try("1234-5678-9012-3456-7890") {
			t.Error("a wrong code logs in")
		}
	}
	if wrong(word, 10); try(word) {
		t.Error("it counts after ten wrong ones")
	}
	if !try(long) {
		t.Error("the long code went with it")
	}
	for i := range 8 {
		p := ann
		p.Name = fmt.Sprint("person", i)
		short(p)
	}
	if _, err := s.ShortCode(access.Principal{Name: "late", Surface: "here", Roles: ann.Roles}); err == nil {
		t.Error("more short codes are out than guesses allow")
	}
	if _, err := s.Code(ann); err != nil {
		t.Errorf("they keep long ones from being made: %v", err)
	}
}
