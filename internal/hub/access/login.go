package access

import (
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// maxBrowser and maxUser limit the stored length, in characters, of the browser's name and of the account name.
	maxBrowser = 100
	maxUser    = 64
	// usedEvery is the precision of the stored last-used time. Storing it exactly would need a write for each request.
	usedEvery = 5 * time.Minute
)

// Browser describes where a login comes from, as far as that is known.
type Browser struct {
	// Name is the name that the browser sends. It is unverified.
	Name string
	// User is the local account that owns the connection, according to the operating system; "" if unknown. A page
	// session that was begun by one account is not valid for another.
	User string
}

// Login is a logged-in browser or terminal, for display. It contains no secret.
type Login struct {
	ID     string
	Person string
	// Browser is the name that the browser sends; of a terminal it is the terminal's name, such as "terminal:pts/3".
	Browser string
	Begun   time.Time
	// Used is when its cookie was last presented. For a login in another process it may be up to five minutes old.
	Used    time.Time
	Expires time.Time
}

// cut truncates a browser's name and makes it valid text for the file.
func cut(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	if runes := []rune(name); len(runes) > maxBrowser {
		return string(runes[:maxBrowser])
	}
	return name
}

// Logins returns the logins, oldest first. Errors: those of [Open].
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
	for _, pg := range s.others {
		all = append(all, pg.login())
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
	name := pg.browser.Name
	if pg.terminal != "" {
		name = pg.who.Surface
	}
	return Login{
		ID: strings.TrimPrefix(pg.who.Credential, sessionPrefix), Person: pg.who.Name, Browser: name,
		Begun: pg.begun, Used: pg.used, Expires: pg.expires,
	}
}

// EndLogins ends the page sessions that match and returns them, and ends their streams. It takes effect at once in this
// process, and within a second in others. It is not an error if none matches. Errors: busy, and those of [Open].
func (s *Store) EndLogins(meant func(Login) bool) ([]Login, error) {
	var ended []Login
	err := s.change(func(tokens []Token) ([]Token, error) {
		for _, hash := range slices.Sorted(maps.Keys(s.pages)) {
			if one := s.pages[hash].login(); meant(one) {
				s.end(hash)
				ended = append(ended, one)
			}
		}
		for _, hash := range slices.Sorted(maps.Keys(s.others)) {
			if one := s.others[hash].login(); meant(one) {
				delete(s.others, hash)
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
