package access

import (
	"errors"
	"time"
)

const (
	// TerminalCodeLife is the lifetime of a code for a terminal.
	TerminalCodeLife = 5 * time.Minute
	// terminalSurface begins the surface of answers that are given in a logged-in terminal.
	terminalSurface = "terminal:"
	// shownDigits is the length of a code for one terminal. It is short, because it is read in one terminal and typed
	// in another: only that terminal can try it, and only maxTries times.
	shownDigits = 8
	maxTries    = 3
)

// Terminal is a session of a terminal, as the server itself has found it. Nobody proves it by a secret.
type Terminal struct {
	// Key identifies the session for ever. It is not secret.
	Key string
	// Name is the name of the device, for people.
	Name string
}

// shownCode is a code that was shown elsewhere for one terminal.
type shownCode struct {
	hash    string
	who     Principal
	expires time.Time
	tries   int
}

// terminalHash returns the key of a terminal's login. No cookie has that hash: a cookie contains no line ends.
func terminalHash(person, key string) string { return hashed("terminal\n" + person + "\n" + key) }

// TerminalCode creates a short code with which that terminal alone can log the principal in. A new one replaces the
// former. Errors: invalid.
func (s *Store) TerminalCode(p Principal, t Terminal) (string, error) {
	if err := checkPrincipal(p); err != nil {
		return "", err
	}
	word, err := newCode(s.rand, shownDigits)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	if _, again := s.shown[t.Key]; !again && len(s.shown) >= maxCodes {
		return "", invalid("too many codes for terminals are out; wait until one has run out")
	}
	s.shown[t.Key] = shownCode{hash: hashed(plainCode(word)), who: independent(p), expires: s.now().Add(TerminalCodeLife)}
	return word, nil
}

// LoginTerminal logs a terminal in, with the code that was shown for it or with a login code for any browser. The login
// is good for that person only. Errors: unknown, also for a code that was used, has expired or was tried too often.
func (s *Store) LoginTerminal(person, word string, t Terminal) (Principal, time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	who, err := s.consume(hashed(plainCode(word)), person, t)
	if err != nil {
		return Principal{}, time.Time{}, err
	}
	begun, err := s.begin(who, Browser{}, t.Key, t.Name)
	return begun.Principal, begun.Expires, err
}

// consume uses up a code. The caller holds mu.
func (s *Store) consume(hash, person string, t Terminal) (Principal, error) {
	if c, found := s.codes[hash]; found && !c.short && c.who.Name == person {
		delete(s.codes, hash)
		return c.who, nil
	}
	c, found := s.shown[t.Key]
	if !found || c.who.Name != person {
		return Principal{}, ErrUnknown
	}
	if c.hash == hash {
		delete(s.shown, t.Key)
		return c.who, nil
	}
	if c.tries++; c.tries >= maxTries {
		delete(s.shown, t.Key)
		return Principal{}, ErrUnknown
	}
	s.shown[t.Key] = c
	return Principal{}, ErrUnknown
}

// AtTerminal returns the principal of the person who has logged in at a terminal, for a principal behind which nobody
// is known to be. Errors: unknown if nobody of that name has, or no longer.
func (s *Store) AtTerminal(p Principal, t Terminal) (Principal, error) {
	hash := terminalHash(p.Name, t.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	pg, found := s.pages[hash]
	if !found || pg.terminal == "" || pg.who.Name != p.Name || !s.counts(pg.who.Credential) {
		return Principal{}, ErrUnknown
	}
	pg.used = s.now()
	s.pages[hash] = pg
	s.touched = s.touched || pg.used.Sub(pg.filed) >= usedEvery
	return s.entitled(pg.who), nil
}

// LogoutTerminal ends the login of a terminal. Errors: unknown if there is none.
func (s *Store) LogoutTerminal(p Principal, t Terminal) error {
	if _, err := s.AtTerminal(p, t); err != nil {
		return errors.Join(ErrUnknown)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(terminalHash(p.Name, t.Key))
	s.flush()
	s.notify()
	return nil
}
