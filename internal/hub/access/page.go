package access

import (
	"errors"
	"io"
	"maps"
	"strings"
	"time"
	"unicode"
)

const (
	// CodeLife is how long a login code can be used, PageLife how long a page session
	// lasts.
	CodeLife = 10 * time.Minute
	PageLife = 12 * time.Hour

	// A login code is 20 digits, 66 bits. With as many codes out as can be, and a million
	// tries a second for all of their ten minutes, the chance to guess one is below one in a
	// billion. So no count of wrong tries is needed, which would make right codes void.
	codeDigits = 20
	codeGroup  = 4
	maxCodes   = 64
	maxPages   = 1024
	// maxCodesEach and maxPagesEach are how many one credential has at most: the oldest gives way,
	// so that nobody can use up what the others need.
	maxCodesEach = 4
	maxPagesEach = 16

	// pageSurface is where answers given on a page come from.
	pageSurface = "page"
)

// code is a login code that is out.
type code struct {
	who     Principal
	expires time.Time
}

// page is one browser that is logged in.
type page struct {
	who     Principal
	by      string // the credential that it stands on; "" is none but itself
	browser Browser
	begun   time.Time
	used    time.Time // the last time that its cookie was shown
	filed   time.Time // what the file says of that
	expires time.Time
}

// PageSession is what a login gives.
type PageSession struct {
	// Cookie is the secret for the browser to keep. Only its hash is kept here, in the file
	// too, so that a restart does not log anybody out.
	Cookie    string
	Principal Principal
	Expires   time.Time
}

// Code makes a login code for a principal: 20 digits in groups of four, to be used once
// within 10 minutes. A page session that comes of it counts only as long as the
// principal's own token does, if it has shown one; a grant ends with the process and
// opens what may outlive it. Errors: invalid.
func (s *Store) Code(p Principal) (string, error) {
	if err := checkPrincipal(p); err != nil {
		return "", err
	}
	if strings.HasPrefix(p.Credential, grantPrefix) {
		p.Credential = ""
	}
	word, err := newCode(s.rand)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	oldest(s.codes, maxCodesEach, func(c code) (bool, time.Time) {
		return c.who.Name == p.Name && c.who.Credential == p.Credential, c.expires
	})
	if len(s.codes) >= maxCodes {
		return "", invalid("too many login codes are out; wait until one has run out")
	}
	s.codes[hashed(plainCode(word))] = code{who: p, expires: s.now().Add(CodeLife)}
	return word, nil
}

// Login uses a login code up and begins a page session in a browser.
// How the code is written, with dashes, blanks or neither, and in the digits of which
// script, does not matter. Wrong codes make no right one void. Errors: unknown, also for a
// code that was used or has run out.
func (s *Store) Login(word string, in Browser) (PageSession, error) {
	hash := hashed(plainCode(word))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	c, found := s.codes[hash]
	if !found {
		return PageSession{}, ErrUnknown
	}
	delete(s.codes, hash)
	return s.begin(c.who, in)
}

// Begin begins a page session in a browser for a principal who has shown a token. Errors:
// gone.
func (s *Store) Begin(p Principal, in Browser) (PageSession, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	if !s.counts(p.Credential) {
		return PageSession{}, ErrRevoked
	}
	return s.begin(p, in)
}

// begin makes the session. The caller holds mu.
func (s *Store) begin(who Principal, in Browser) (PageSession, error) {
	for _, hash := range oldest(s.pages, maxPagesEach, func(p page) (bool, time.Time) {
		return p.who.Name == who.Name && p.by == who.Credential, p.expires
	}) {
		s.end(hash)
		s.notify()
	}
	if len(in.User) > maxUser {
		return PageSession{}, invalid("the name of the user who logs in is too long")
	}
	if len(s.pages) >= maxPages {
		return PageSession{}, invalid("too many pages are logged in; log one out")
	}
	id, err := newID(s.rand)
	if err != nil {
		return PageSession{}, err
	}
	cookie, hash, err := newSecret(s.rand, "")
	if err != nil {
		return PageSession{}, err
	}
	now := s.now()
	pg := page{who: who, by: who.Credential, browser: Browser{Name: cut(in.Name), User: in.User}, begun: now, used: now, filed: now, expires: now.Add(PageLife)}
	pg.who.Credential, pg.who.Surface = sessionPrefix+id, pageSurface
	s.pages[hash] = pg
	if !strings.HasPrefix(pg.by, grantPrefix) {
		s.unsaved[hash] = &pg
		s.flush()
	}
	return PageSession{Cookie: cookie, Principal: pg.who, Expires: pg.expires}, nil
}

// Page returns whom a cookie stands for that the user of this machine has shown, as in
// [Browser], and remembers that it was shown. Errors: unknown, also where another user has
// logged in with it than the one who shows it.
func (s *Store) Page(cookie, user string) (Principal, error) {
	hash := hashed(cookie)
	s.mu.Lock()
	defer s.mu.Unlock()
	pg, found := s.pages[hash]
	if !found || !s.counts(pg.who.Credential) || pg.browser.User != "" && pg.browser.User != user {
		return Principal{}, ErrUnknown
	}
	pg.used = s.now()
	s.pages[hash] = pg
	s.touched = s.touched || pg.used.Sub(pg.filed) >= usedEvery
	return pg.who, nil
}

// Logout ends the page session of a cookie; its streams end with it. A cookie that leads
// nowhere is not an error.
func (s *Store) Logout(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hash := hashed(cookie)
	if _, found := s.pages[hash]; found {
		s.end(hash)
		s.flush()
		s.notify()
	}
}

// end ends a page session. The caller holds mu.
func (s *Store) end(hash string) {
	delete(s.pages, hash)
	if s.unsaved[hash] != nil {
		delete(s.unsaved, hash) // nobody knows of it
		return
	}
	s.unsaved[hash] = nil
}

// sweep forgets what has run out, and reports whether a page session has. The caller
// holds mu.
func (s *Store) sweep() bool {
	now, before := s.now(), len(s.pages)
	maps.DeleteFunc(s.codes, func(_ string, c code) bool { return !now.Before(c.expires) })
	maps.DeleteFunc(s.pages, func(_ string, pg page) bool {
		return !now.Before(pg.expires) || (pg.by != "" && !s.counts(pg.by))
	})
	return len(s.pages) != before
}

// newCode makes a code: digits, which are told apart by ear in every language, need no
// capitals, and are typed on any keypad.
func newCode(from io.Reader) (string, error) {
	const even = 250 // below it every digit is as likely
	word := make([]byte, 0, codeDigits+codeDigits/codeGroup)
	raw := make([]byte, 1)
	for n := 0; n < codeDigits; {
		if _, err := io.ReadFull(from, raw); err != nil {
			return "", errors.Join(errors.New("access: randomness"), err)
		}
		if raw[0] >= even {
			continue
		}
		if n > 0 && n%codeGroup == 0 {
			word = append(word, '-')
		}
		word = append(word, '0'+raw[0]%10)
		n++
	}
	return string(word), nil
}

// plainCode brings what somebody typed into one form: its digits, whatever script they are
// of. The digits of a script stand in a row from zero to nine.
func plainCode(word string) string {
	var plain []byte
	for _, r := range word {
		for _, in := range unicode.Nd.R16 {
			if lo, hi := rune(in.Lo), rune(in.Hi); lo <= r && r <= hi {
				plain = append(plain, '0'+byte((r-lo)%10))
			}
		}
	}
	return string(plain)
}

// oldest makes room for one more where somebody has most of something already: it takes out
// what of theirs ends first, and returns its keys.
func oldest[T any](all map[string]T, most int, theirs func(T) (bool, time.Time)) (out []string) {
	for {
		n, first, when := 0, "", time.Time{}
		for key, one := range all {
			credential, ends := theirs(one)
			if !credential {
				continue
			}
			if n++; first == "" || ends.Before(when) {
				first, when = key, ends
			}
		}
		if n < most {
			return out
		}
		delete(all, first)
		out = append(out, first)
	}
}
