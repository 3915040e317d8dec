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
	// CodeLife is the lifetime of a login code, PageLife that of a page session.
	CodeLife = 10 * time.Minute
	PageLife = 12 * time.Hour

	// A login code is 20 digits, 66 bits. With the maximum number of codes outstanding and a million attempts a second
	// for ten minutes, the chance to guess one is below one in a billion. Failed attempts are therefore not counted:
	// such a count would let anyone invalidate valid codes.
	codeDigits = 20
	codeGroup  = 4
	maxCodes   = 64

	// A short code is for a phone: it is typed there, or told to it. Anybody can try one, so that it is void after maxShortTries wrong ones
	// of its length. Who is kept out by somebody who tries takes a long one. With the most that are out, all tries together guess one with
	// a probability below one in a million.
	shortDigits   = 8
	maxShort      = 8
	maxShortTries = 10
	maxPages      = 1024
	// maxCodesEach and maxPagesEach limit the codes and pages of one credential. The oldest is dropped, so that nobody
	// can exhaust what others need.
	maxCodesEach = 4
	maxPagesEach = 16

	// pageSurface is the surface of answers that are given on a page.
	pageSurface = "page"
)

// code is an outstanding login code.
type code struct {
	who     Principal
	expires time.Time
	short   bool
	tries   int // how many wrong codes of its length have been tried, if it is short
}

// page is one logged-in browser, or one terminal.
type page struct {
	who      Principal
	by       string // the credential that it is based on; "" if it is independent
	run      string // of a login at an identity provider: the run of the store that it ends with
	terminal string // of a terminal: its name, which is part of its surface
	browser  Browser
	begun    time.Time
	used     time.Time // when its cookie was last presented
	filed    time.Time // the value of used in the file
	expires  time.Time
}

// PageSession is the result of a login.
type PageSession struct {
	// Cookie is the secret for the browser. The server and the file keep only its hash.
	Cookie    string
	Principal Principal
	Expires   time.Time
}

// Code creates a login code for a principal: 20 digits in groups of four, valid once within 10 minutes. If the
// principal used a token, the resulting page session is valid only as long as that token. A grant ends with the
// process, but a page session that it opens may outlive it. Errors: invalid.
func (s *Store) Code(p Principal) (string, error) { return s.newCode(p, codeDigits) }

// ShortCode is like Code, for a phone: 8 digits, which replace those that the principal had. They are void after ten wrong ones. Errors: invalid.
func (s *Store) ShortCode(p Principal) (string, error) { return s.newCode(p, shortDigits) }

func (s *Store) newCode(p Principal, digits int) (string, error) {
	if err := checkPrincipal(p); err != nil {
		return "", err
	}
	p = independent(p)
	word, err := newCode(s.rand, digits)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	short, most := digits == shortDigits, maxCodesEach
	if short {
		most = 1
	}
	oldest(s.codes, most, func(c code) (bool, time.Time) {
		return c.short == short && c.who.Name == p.Name && c.who.Credential == p.Credential, c.expires
	})
	if len(s.codes) >= maxCodes || short && s.shorts() >= maxShort {
		return "", invalid("too many login codes are out; wait until one has run out")
	}
	s.codes[hashed(plainCode(word))] = code{who: p, expires: s.now().Add(CodeLife), short: short}
	return word, nil
}

// shorts is how many short codes are out. The caller holds mu.
func (s *Store) shorts() (n int) {
	for _, c := range s.codes {
		if c.short {
			n++
		}
	}
	return n
}

// tried counts a wrong code against the short ones, if it could have been one. The caller holds mu.
func (s *Store) tried(plain string) {
	if len(plain) != shortDigits {
		return
	}
	for hash, c := range s.codes {
		if !c.short {
			continue
		}
		if c.tries++; c.tries >= maxShortTries {
			delete(s.codes, hash)
			continue
		}
		s.codes[hash] = c
	}
}

// independent returns the principal of a login that p starts: a person is behind it, and it outlives a grant.
func independent(p Principal) Principal {
	p.Unattended = ""
	if strings.HasPrefix(p.Credential, grantPrefix) {
		p.Credential = ""
	}
	return p
}

// Login consumes a login code and begins a page session in a browser. The code may contain dashes or spaces, and digits
// of any script. A wrong code does not invalidate any other, but short ones. Errors: unknown, also for a code that was used, has
// expired or is void.
func (s *Store) Login(word string, in Browser) (PageSession, error) {
	plain := plainCode(word)
	hash := hashed(plain)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	c, found := s.codes[hash]
	if !found {
		s.tried(plain)
		return PageSession{}, ErrUnknown
	}
	delete(s.codes, hash)
	return s.begin(c.who, in, "", "")
}

// Spend consumes a login code of a person, who has shown it for something else than a login. Errors: unknown, also for the
// code of somebody else, which stays valid.
func (s *Store) Spend(person, word string) error {
	hash := hashed(plainCode(word))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	c, found := s.codes[hash]
	if !found || c.short || c.who.Name != person {
		return ErrUnknown
	}
	delete(s.codes, hash)
	return nil
}

// Begin begins a page session in a browser for a principal who has authenticated with a token. Errors: gone.
func (s *Store) Begin(p Principal, in Browser) (PageSession, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	if !s.counts(p.Credential) {
		return PageSession{}, ErrRevoked
	}
	return s.begin(p, in, "", "")
}

// BeginVouched begins a page session in a browser for a person whom the identity provider vouches for. It ends with the process, though it
// is in the file, where others list and end it: what a value of a claim gives may be another thing in the next process. Who is vouched
// for as unattended accepts nothing on it. Errors: no_role, unknown.
func (s *Store) BeginVouched(v Vouched, in Browser) (PageSession, error) {
	p, err := v.principal()
	if err != nil {
		return PageSession{}, err
	}
	p.Credential = ""
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	return s.begin(p, in, "", "")
}

// begin creates the session, of a browser or of the terminal with that key and name. The caller holds mu.
func (s *Store) begin(who Principal, in Browser, key, terminal string) (PageSession, error) {
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
	surface := pageSurface
	if terminal != "" { // it shows no secret: the server sees by itself which terminal it is
		cookie, hash, surface = "", terminalHash(who.Name, key), terminalSurface+terminal
	}
	now := s.now()
	pg := page{who: who, by: who.Credential, terminal: terminal, browser: Browser{Name: cut(in.Name), User: in.User}, begun: now, used: now, filed: now, expires: now.Add(PageLife)}
	pg.who.Credential, pg.who.Surface = sessionPrefix+id, surface
	if pg.who.Issuer == "" {
		pg.who.Unattended = ""
	} else {
		pg.who.Expires, pg.run = pg.expires, s.run
	}
	s.pages[hash] = pg
	if !pg.passing() {
		s.unsaved[hash] = &pg
		s.flush()
	}
	return PageSession{Cookie: cookie, Principal: pg.who, Expires: pg.expires}, nil
}

// passing reports whether a page session is in no file, because what it is based on is in none.
func (pg page) passing() bool { return strings.HasPrefix(pg.by, grantPrefix) }

// Page returns the principal of a cookie that the given local account presented (see [Browser]), and records the use.
// Errors: unknown, also if another account logged in with it.
func (s *Store) Page(cookie, user string) (Principal, error) {
	hash := hashed(cookie)
	s.mu.Lock()
	defer s.mu.Unlock()
	pg, found := s.pages[hash]
	if !found || pg.terminal != "" || !s.counts(pg.who.Credential) || pg.browser.User != "" && pg.browser.User != user {
		return Principal{}, ErrUnknown
	}
	pg.used = s.now()
	s.pages[hash] = pg
	s.touched = s.touched || pg.used.Sub(pg.filed) >= usedEvery
	return s.entitled(pg.who), nil
}

// Logout ends the page session of a cookie, and its streams. An unknown cookie is not an error.
func (s *Store) Logout(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hash := hashed(cookie)
	if pg, found := s.pages[hash]; found && pg.terminal == "" {
		s.end(hash)
		s.flush()
		s.notify()
	}
}

// end ends a page session. The caller holds mu.
func (s *Store) end(hash string) {
	delete(s.pages, hash)
	if s.unsaved[hash] != nil {
		delete(s.unsaved, hash) // it was never stored
		return
	}
	s.unsaved[hash] = nil
}

// sweep removes what has expired, and reports whether a page session has. The caller holds mu.
func (s *Store) sweep() bool {
	now, before := s.now(), len(s.pages)
	maps.DeleteFunc(s.codes, func(_ string, c code) bool { return !now.Before(c.expires) })
	maps.DeleteFunc(s.shown, func(_ string, c shownCode) bool { return !now.Before(c.expires) })
	maps.DeleteFunc(s.vouched, func(_ string, p Principal) bool { return !now.Before(p.Expires) })
	maps.DeleteFunc(s.pages, func(_ string, pg page) bool {
		return !now.Before(pg.expires) || (pg.by != "" && !s.counts(pg.by))
	})
	return len(s.pages) != before
}

// newCode creates a code of digits: they are easy to distinguish by ear in every language, need no capitals, and can be
// typed on any keypad.
func newCode(from io.Reader, digits int) (string, error) {
	const even = 250 // below it every digit is equally likely
	word := make([]byte, 0, digits+digits/codeGroup)
	raw := make([]byte, 1)
	for n := 0; n < digits; {
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

// plainCode normalizes a typed code to ASCII digits, from any script. The digits of a script are consecutive, from zero
// to nine.
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

// oldest makes room for one more entry if an owner has reached the limit: it removes those of the owner's entries that
// expire first, and returns their keys.
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
