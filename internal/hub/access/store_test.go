package access_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/internal/hub/access"
)

func path(t *testing.T) string { return filepath.Join(t.TempDir(), "tokens.json") }

func open(t *testing.T, file string) *access.Store {
	t.Helper()
	s, err := access.Open(access.Options{Path: file, Poll: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func add(t *testing.T, s *access.Store, name string, roles ...access.Role) string {
	t.Helper()
	secret, _, err := s.Add(access.NewToken{Name: name, Roles: roles})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestTokens(t *testing.T) {
	t.Parallel()
	file := path(t)
	s := open(t, file)
	secret, token, err := s.Add(access.NewToken{
		Name: "braille", Person: "ann", Roles: []access.Role{access.Listener, access.Approver, access.Listener},
		Projects: []string{"home"}, Owners: []string{"bob"},
	})
	if err != nil || len(secret) < 43 {
		t.Fatalf("%q, %v", secret, err)
	}
	for _, other := range []*access.Store{s, open(t, file)} {
		who, err := other.Authenticate(secret)
		if err != nil || who.Name != "ann" || who.Surface != "braille" || !slices.Equal(who.Roles, []access.Role{access.Approver, access.Listener}) ||
			!who.Reaches("home") || who.Reaches("work") || !who.Hears("bob") || who.Hears("carol") {
			t.Errorf("%+v, %v", who, err)
		}
		if now, err := other.Current(who); err != nil || now.Name != "ann" {
			t.Errorf("current: %+v, %v", now, err)
		}
	}
	raw, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(raw), strings.TrimPrefix(secret, "earshot_")) || !strings.Contains(string(raw), token.SHA256) {
		t.Errorf("the file: %s, %v", raw, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode: %v, %v", info.Mode(), err)
	}
	if list, err := s.List(); err != nil || len(list) != 1 || list[0].Name != "braille" || list[0].ID != token.ID {
		t.Errorf("%+v, %v", list, err)
	}
	for _, wrong := range []string{"", secret + "x", secret[1:], token.SHA256, token.ID} {
		if who, err := s.Authenticate(wrong); !errors.Is(err, access.ErrUnknown) || who.Name != "" {
			t.Errorf("%q leads to %+v, %v", wrong, who, err)
		}
	}
	if _, _, err := s.Add(access.NewToken{Name: "braille", Roles: []access.Role{access.Auditor}}); !errors.Is(err, access.ErrExists) {
		t.Errorf("the same name again: %v", err)
	}
	if _, err := s.Revoke("nobody"); !errors.Is(err, access.ErrNotFound) {
		t.Errorf("revoking nobody: %v", err)
	}
}

func TestInvalidTokens(t *testing.T) {
	t.Parallel()
	s := open(t, path(t))
	for name, n := range map[string]access.NewToken{
		"no name": {Roles: []access.Role{access.Listener}}, "no role": {Name: "a"}, "an unknown role": {Name: "a", Roles: []access.Role{"king"}},
		"a space": {Name: "a b", Roles: []access.Role{access.Listener}}, "a control": {Name: "a\x1b[2J", Roles: []access.Role{access.Listener}},
		"a long name":              {Name: strings.Repeat("x", 65), Roles: []access.Role{access.Listener}},
		"an agent that approves":   {Name: "a", Roles: []access.Role{access.Agent, access.Approver}},
		"a tool that listens":      {Name: "a", Roles: []access.Role{access.Listener, access.Tool}},
		"an empty owner":           {Name: "a", Roles: []access.Role{access.Listener}, Owners: []string{""}},
		"a direction in a project": {Name: "a", Roles: []access.Role{access.Listener}, Projects: []string{"x\u202e"}},
	} {
		if _, _, err := s.Add(n); !errors.Is(err, access.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRevoked: a token that is gone counts no more, here at once, elsewhere within a
// second; who watches is told; a new token of that name is another.
func TestRevoked(t *testing.T) {
	t.Parallel()
	file := path(t)
	synctest.Test(t, func(t *testing.T) {
		here, there := open(t, file), open(t, file)
		secret := add(t, here, "ann", access.Approver)
		who, err := there.Authenticate(secret)
		if err != nil {
			t.Fatal(err)
		}
		page, err := there.Begin(who, access.Browser{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		wakeup := there.Watch(ctx)
		if _, err := here.Revoke("ann"); err != nil {
			t.Fatal(err)
		}
		add(t, here, "ann", access.Approver)
		if _, err := here.Current(who); !errors.Is(err, access.ErrRevoked) {
			t.Errorf("here: %v", err)
		}
		began := time.Now()
		<-wakeup
		if d := time.Since(began); d > time.Second {
			t.Errorf("told after %s", d)
		}
		for what, p := range map[string]access.Principal{"the token": who, "the page": page.Principal} {
			if _, err := there.Current(p); !errors.Is(err, access.ErrRevoked) {
				t.Errorf("%s, there: %v", what, err)
			}
		}
		if _, err := there.Page(page.Cookie, ""); !errors.Is(err, access.ErrUnknown) {
			t.Errorf("the page's cookie: %v", err)
		}
		if _, err := there.Begin(who, access.Browser{}); !errors.Is(err, access.ErrRevoked) {
			t.Errorf("another page: %v", err)
		}
		cancel()
		for range wakeup {
		}
	})
}

// TestWatchIsQuiet: nothing is told while nothing changes, and several changes at once.
func TestWatchIsQuiet(t *testing.T) {
	t.Parallel()
	file := path(t)
	synctest.Test(t, func(t *testing.T) {
		s := open(t, file)
		ctx, cancel := context.WithCancel(t.Context())
		wakeup := s.Watch(ctx)
		quiet := func() bool {
			<-time.After(time.Minute)
			select {
			case <-wakeup:
				return false
			default:
				return true
			}
		}
		if !quiet() {
			t.Error("told of nothing")
		}
		add(t, s, "a", access.Listener)
		add(t, s, "b", access.Listener)
		<-wakeup
		if !quiet() {
			t.Error("told twice")
		}
		cancel()
		for range wakeup {
		}
	})
}

// TestBadFile: a file that cannot be trusted lets nobody in by a token, says what was
// found and what to do, and counts again once it is mended.
func TestBadFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(file string, raw []byte) error
		want  error
	}{
		"cut off":            {func(f string, raw []byte) error { return os.WriteFile(f, raw[:len(raw)/2], 0o600) }, access.ErrDamaged},
		"empty":              {func(f string, _ []byte) error { return os.WriteFile(f, nil, 0o600) }, access.ErrDamaged},
		"of another version": {func(f string, raw []byte) error { return rewrite(f, raw, `"version": 1`, `"version": 2`) }, access.ErrDamaged},
		"with an unknown member": {
			func(f string, raw []byte) error { return rewrite(f, raw, `"version": 1`, `"version": 1, "x": 2`) }, access.ErrDamaged,
		},
		"with an unknown role": {func(f string, raw []byte) error { return rewrite(f, raw, `"listener"`, `"emperor"`) }, access.ErrDamaged},
		"with a short hash":    {func(f string, raw []byte) error { return rewrite(f, raw, `"sha256": "`, `"sha256": "a`) }, access.ErrDamaged},
		"readable by others":   {func(f string, _ []byte) error { return os.Chmod(f, 0o644) }, access.ErrUnsafe},
		"writable by a group":  {func(f string, _ []byte) error { return os.Chmod(f, 0o620) }, access.ErrUnsafe},
		"a link": {func(f string, _ []byte) error {
			return errors.Join(os.Rename(f, f+".real"), os.Symlink(f+".real", f))
		}, access.ErrUnsafe},
		"a folder": {func(f string, _ []byte) error { return errors.Join(os.Remove(f), os.Mkdir(f, 0o700)) }, access.ErrUnsafe},
		"a pipe":   {func(f string, _ []byte) error { return errors.Join(os.Remove(f), unix.Mkfifo(f, 0o600)) }, access.ErrUnsafe},
		"too large": {func(f string, raw []byte) error {
			return os.WriteFile(f, append(raw, strings.Repeat(" ", 5<<20)...), 0o600)
		}, access.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := path(t)
			add(t, open(t, file), "ann", access.Listener)
			running := open(t, file)
			secret := add(t, running, "bob", access.Listener)
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(file, raw); err != nil {
				t.Fatal(err)
			}
			_, err = access.Open(access.Options{Path: file})
			var changed *access.Error
			if !errors.Is(err, c.want) || !errors.As(err, &changed) || changed.Hint == "" {
				t.Errorf("Open: %v", err)
			} else if strings.Contains(changed.Message, "jsontext") || strings.Contains(changed.Message, "unmarshal") {
				t.Errorf("Open says %q, in the decoder's text; expected one for people", changed.Message)
			}
			if _, err := running.Authenticate(secret); !errors.Is(err, c.want) {
				t.Errorf("Authenticate: %v", err)
			}
			if _, _, err := running.Add(access.NewToken{Name: "x", Roles: []access.Role{access.Listener}}); !errors.Is(err, c.want) {
				t.Errorf("Add: %v", err)
			}
			if _, err := running.Revoke("ann"); !errors.Is(err, c.want) {
				t.Errorf("Revoke: %v", err)
			}
			if err := errors.Join(os.RemoveAll(file), os.WriteFile(file, raw, 0o600)); err != nil {
				t.Fatal(err)
			}
			if who, err := running.Authenticate(secret); err != nil || who.Name != "bob" {
				t.Errorf("mended: %+v, %v", who, err)
			}
		})
	}
}

func rewrite(file string, raw []byte, from, to string) error {
	next := strings.Replace(string(raw), from, to, 1)
	if next == string(raw) {
		return fmt.Errorf("%s is not in the file", from)
	}
	return os.WriteFile(file, []byte(next), 0o600)
}

// TestForeignFile: only root can give a file away, so the check runs there alone.
func TestForeignFile(t *testing.T) {
	t.Parallel()
	file := path(t)
	add(t, open(t, file), "ann", access.Listener)
	if err := os.Chown(file, 12345, -1); err != nil {
		if os.Geteuid() == 0 {
			t.Fatal(err)
		}
		return // nobody but root can make this case; nor can anybody else fall into it
	}
	if _, err := access.Open(access.Options{Path: file}); !errors.Is(err, access.ErrUnsafe) {
		t.Errorf("another's file: %v", err)
	}
}

// TestUnreadableFolder: no folder, or no room for the lock.
func TestUnreadableFolder(t *testing.T) {
	t.Parallel()
	s, err := access.Open(access.Options{Path: filepath.Join(t.TempDir(), "gone", "tokens.json")})
	if err != nil {
		t.Fatal(err) // no file means no tokens
	}
	if _, _, err := s.Add(access.NewToken{Name: "a", Roles: []access.Role{access.Listener}}); !errors.Is(err, access.ErrUnreadable) {
		t.Errorf("Add: %v", err)
	}
	if _, err := access.Open(access.Options{}); !errors.Is(err, access.ErrInvalid) {
		t.Errorf("no path: %v", err)
	}
}

// TestManyWriters: changes by many never lose one, and wait for each other.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	file := path(t)
	var all sync.WaitGroup
	for i := range 8 {
		s := open(t, file)
		all.Go(func() {
			for j := range 4 {
				if _, _, err := s.Add(access.NewToken{Name: fmt.Sprintf("t%d-%d", i, j), Roles: []access.Role{access.Listener}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if list, err := open(t, file).List(); err != nil || len(list) != 32 {
		t.Errorf("%d tokens, %v", len(list), err)
	}
	left, err := filepath.Glob(file + ".*.new")
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestMayApprove(t *testing.T) {
	t.Parallel()
	s := open(t, path(t))
	add(t, s, "ann", access.Approver)
	add(t, s, "lis", access.Listener)
	add(t, s, "aud", access.Auditor)
	add(t, s, "opr", access.Operator)
	add(t, s, "tidy", access.Agent)
	for _, n := range []access.NewToken{
		{Name: "boss", Roles: []access.Role{access.Operator, access.Approver}},
		{Name: "bob", Roles: []access.Role{access.Approver}, Owners: []string{"lis"}},
		{Name: "all", Roles: []access.Role{access.Approver}, Owners: []string{access.Everybody}},
		{Name: "tidy2", Person: "tidy", Roles: []access.Role{access.Approver}, Owners: []string{access.Everybody}},
		{Name: "phone", Person: "lis", Roles: []access.Role{access.Approver}},
	} {
		if _, _, err := s.Add(n); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Grant(access.Principal{Name: "gil", Roles: []access.Role{access.Approver}, Surface: "terminal"}); err != nil {
		t.Fatal(err)
	}
	may := func(want string) {
		t.Helper()
		var got []string
		for _, pair := range []string{
			"ann ann", "ann lis", "lis lis", "aud ann", "opr ann", "boss ann", "bob lis", "bob ann", "all ann", "tidy ann", "gil gil", "nobody nobody", " ",
		} {
			person, owner, _ := strings.Cut(pair, " ")
			if s.MayApprove(person, "", owner) {
				got = append(got, pair)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("may approve: %s\nwant %s", strings.Join(got, ", "), want)
		}
	}
	may("ann ann, lis lis, boss ann, bob lis, all ann, gil gil")
	if _, err := s.Revoke("phone"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Revoke("all"); err != nil {
		t.Fatal(err)
	}
	may("ann ann, boss ann, bob lis, gil gil")
}

func TestLogin(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	s, err := access.Open(access.Options{Path: path(t), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	ann := access.Principal{Name: "ann", Roles: []access.Role{access.Listener, access.Approver}, Surface: "page"}
	code := func() string {
		t.Helper()
		word, err := s.Code(ann)
		if err != nil {
			t.Fatal(err)
		}
		return word
	}
	word := code()
	page, err := s.Login(strings.ToLower(strings.ReplaceAll(word, "-", " ")), access.Browser{})
	if err != nil || page.Principal.Name != "ann" || page.Expires != now.Add(access.PageLife) {
		t.Fatalf("%+v, %v", page, err)
	}
	if _, err := s.Login(word, access.Browser{}); !errors.Is(err, access.ErrUnknown) {
		t.Errorf("used twice: %v", err)
	}
	who, err := s.Page(page.Cookie, "")
	if err != nil || who.Name != "ann" || who.Surface != "page" || who.Credential == "" || strings.Contains(page.Cookie, who.Credential) {
		t.Errorf("%+v, %v", who, err)
	}
	if !s.MayApprove("ann", "", "ann") {
		t.Error("a page that is logged in does not approve")
	}
	late := code()
	now = now.Add(access.CodeLife)
	if _, err := s.Login(late, access.Browser{}); !errors.Is(err, access.ErrUnknown) {
		t.Errorf("too late: %v", err)
	}
	word = code()
	for i := range 5000 {
		wrong := fmt.Sprintf("%020d", i)
		if _, err := s.Login(wrong, access.Browser{}); !errors.Is(err, access.ErrUnknown) {
			t.Fatalf("a wrong one: %v", err)
		}
	}
	other, err := s.Login(word, access.Browser{})
	if err != nil {
		t.Errorf("a right one after many wrong ones of somebody else: %v", err)
	}
	s.Logout(other.Cookie)
	s.Logout("nothing")
	if _, err := s.Page(other.Cookie, ""); !errors.Is(err, access.ErrUnknown) {
		t.Errorf("after the logout: %v", err)
	}
	now = now.Add(access.PageLife - access.CodeLife)
	for what, err := range map[string]error{"cookie": second(s.Page(page.Cookie, "")), "principal": second(s.Current(who))} {
		if err == nil {
			t.Errorf("the %s counts after its time", what)
		}
	}
	if s.MayApprove("ann", "", "ann") {
		t.Error("a page that has run out approves")
	}
	again, err := s.Login(code(), access.Browser{})
	if err != nil {
		t.Fatal(err)
	}
	if ended, err := s.EndLogins(func(access.Login) bool { return true }); err != nil || len(ended) != 1 {
		t.Errorf("%d pages ended, %v", len(ended), err)
	}
	if _, err := s.Page(again.Cookie, ""); err == nil {
		t.Error("the page counts after all were logged out")
	}
}

func second[T any](_ T, err error) error { return err }

// TestGrant: a secret that lives as long as the store.
func TestGrant(t *testing.T) {
	t.Parallel()
	file := path(t)
	s := open(t, file)
	secret, err := s.Grant(access.Principal{Name: "ann", Roles: []access.Role{access.Operator}, Surface: "terminal", Credential: "token:forged"})
	if err != nil {
		t.Fatal(err)
	}
	who, err := s.Authenticate(secret)
	if err != nil || who.Name != "ann" || who.Credential == "token:forged" {
		t.Errorf("%+v, %v", who, err)
	}
	if _, err := s.Current(who); err != nil {
		t.Error(err)
	}
	if _, err := open(t, file).Authenticate(secret); !errors.Is(err, access.ErrUnknown) {
		t.Errorf("elsewhere: %v", err)
	}
	if _, err := s.Current(access.Principal{Name: "ann", Roles: []access.Role{access.Operator}}); !errors.Is(err, access.ErrRevoked) {
		t.Errorf("a principal with nothing to show: %v", err)
	}
	if _, err := s.Grant(access.Principal{Name: "tidy", Roles: []access.Role{access.Agent, access.Approver}, Surface: "x"}); !errors.Is(err, access.ErrInvalid) {
		t.Errorf("an agent that approves: %v", err)
	}
}

// TestOwnShare: anyone who makes many codes or logs in often pushes out their own oldest, and
// never anybody else's.
func TestOwnShare(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	s, err := access.Open(access.Options{Path: filepath.Join(t.TempDir(), "tokens.json"), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	ann := access.Principal{Name: "ann", Surface: "terminal", Roles: []access.Role{access.Approver}}
	bob := access.Principal{Name: "bob", Surface: "terminal", Roles: []access.Role{access.Listener}}
	anns, err := s.Code(ann)
	if err != nil {
		t.Fatal(err)
	}
	var codes, cookies []string
	for range 40 {
		now = now.Add(time.Second)
		word, err := s.Code(bob)
		if err != nil {
			t.Fatalf("after %d codes: %v", len(codes), err)
		}
		codes = append(codes, word)
	}
	if _, err := s.Login(codes[0], access.Browser{}); !errors.Is(err, access.ErrUnknown) {
		t.Errorf("the oldest of forty codes counts: %v", err)
	}
	for range 40 {
		now = now.Add(time.Second)
		word, err := s.Code(bob)
		if err != nil {
			t.Fatal(err)
		}
		in, err := s.Login(word, access.Browser{})
		if err != nil {
			t.Fatalf("after %d logins: %v", len(cookies), err)
		}
		cookies = append(cookies, in.Cookie)
	}
	if _, err := s.Page(cookies[0], ""); !errors.Is(err, access.ErrUnknown) {
		t.Errorf("the oldest of forty logins counts: %v", err)
	}
	if _, err := s.Page(cookies[39], ""); err != nil {
		t.Errorf("the newest does not: %v", err)
	}
	if _, err := s.Login(anns, access.Browser{}); err != nil {
		t.Errorf("somebody else's code: %v", err)
	}
}
