package access

import (
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// maxBrowser is how many characters of a browser's own name are kept, maxUser of the
	// account that it belongs to.
	maxBrowser = 100
	maxUser    = 64
	// usedEvery is how exactly the file says when a login was last used: each time would be
	// a write for each request.
	usedEvery = 5 * time.Minute
)

// Browser is where a login comes from, as far as that is known.
type Browser struct {
	// Name is what it calls itself. It is the browser's word and proves nothing.
	Name string
	// User is the account of this machine that its connections belong to, as the system
	// says; "" where it does not. A login that was begun by one counts for no other.
	User string
}

// Login is a browser that is logged in, as people may see it: nothing in it lets anybody
// in.
type Login struct {
	ID     string
	Person string
	// Browser is what the browser calls itself.
	Browser string
	Begun   time.Time
	// Used is when its cookie was last shown. Of a login in another process it is behind by
	// up to five minutes.
	Used    time.Time
	Expires time.Time
}

// cut keeps the beginning of a browser's name, as text that the file can hold.
func cut(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	if runes := []rune(name); len(runes) > maxBrowser {
		return string(runes[:maxBrowser])
	}
	return name
}

// Logins returns who is logged in on a page, oldest first. Errors: those of [Open].
func (s *Store) Logins() ([]Login, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	var all []Login
	for _, pg := range s.pages {
		if s.counts(pg.who.Credential) {
			all = append(all, pg.login())
		}
	}
	slices.SortFunc(all, func(a, b Login) int {
		if d := a.Begun.Compare(b.Begun); d != 0 {
			return d
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all, s.broken
}

func (pg page) login() Login {
	return Login{
		ID: strings.TrimPrefix(pg.who.Credential, sessionPrefix), Person: pg.who.Name, Browser: pg.browser.Name,
		Begun: pg.begun, Used: pg.used, Expires: pg.expires,
	}
}

// EndLogins ends the page sessions that are meant and returns them: from this moment they
// count no more, here; within a second elsewhere. Their streams end. None that is meant is
// no error. Errors: busy, and those of [Open].
func (s *Store) EndLogins(meant func(Login) bool) ([]Login, error) {
	var ended []Login
	err := s.change(func(tokens []Token) ([]Token, error) {
		for _, hash := range slices.Sorted(maps.Keys(s.pages)) {
			if one := s.pages[hash].login(); meant(one) {
				s.end(hash)
				ended = append(ended, one)
			}
		}
		return tokens, nil
	})
	if err != nil {
		return nil, err
	}
	return ended, nil
}
