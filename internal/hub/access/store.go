package access

import (
	"crypto/rand"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options of a store. Path is required.
type Options struct {
	// Path is the token file. It need not exist; its folder must.
	Path string
	// Poll, where set, has Watch look at the file so often, rather than be told by the
	// system when it changes.
	Poll time.Duration
	Now  func() time.Time // default time.Now
	Rand io.Reader        // default crypto/rand
}

// Store knows the principals. Make it with [Open].
type Store struct {
	path string
	poll time.Duration
	now  func() time.Time
	rand io.Reader

	mu      sync.Mutex
	state   fileState
	tokens  []Token
	broken  error                // why the file cannot be read; then no token counts
	grants  map[string]Principal // by hash
	codes   map[string]code      // by hash
	pages   map[string]page      // by hash
	unsaved map[string]*page     // by hash: logins and, nil, logouts that the file does not know of yet
	touched bool                 // the file is behind with when a login was used
	changed map[chan struct{}]struct{}
	lookout *lookout // of all who watch; nil while nobody does
}

// Open reads the token file. Errors: damaged, unreadable, unsafe.
func Open(o Options) (*Store, error) {
	if o.Path == "" {
		return nil, invalid("no path for the token file")
	}
	s := &Store{
		path: o.Path, poll: o.Poll, now: o.Now, rand: o.Rand,
		grants: map[string]Principal{}, codes: map[string]code{}, pages: map[string]page{}, unsaved: map[string]*page{},
		changed: map[chan struct{}]struct{}{},
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.rand == nil {
		s.rand = rand.Reader
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	return s, s.broken
}

// read takes the file in as it is now. The caller holds mu.
func (s *Store) read() {
	c, m, err := load(s.path)
	s.tokens, s.state, s.broken = c.Tokens, m, err
	if err == nil {
		s.pages = s.openPages(c.Pages)
	}
}

// refresh takes the file in if it has changed. The caller holds mu.
func (s *Store) refresh() (changed bool) {
	m, err := stat(s.path)
	if err == nil && m == s.state && !errors.Is(s.broken, ErrUnreadable) {
		return false
	}
	before, pages, broken := s.tokens, s.pages, s.broken
	s.read()
	return !sameKeys(pages, s.pages) || !slices.EqualFunc(before, s.tokens, func(a, b Token) bool { return a.ID == b.ID }) || (broken == nil) != (s.broken == nil)
}

// Add makes a token and returns its secret, which is shown this once. Errors: invalid,
// exists, busy, and those of [Open].
func (s *Store) Add(n NewToken) (secret string, t Token, err error) {
	if t, err = n.token(s.now()); err != nil {
		return "", Token{}, err
	}
	if t.ID, err = newID(s.rand); err != nil {
		return "", Token{}, err
	}
	if secret, t.SHA256, err = newSecret(s.rand, secretPrefix); err != nil {
		return "", Token{}, err
	}
	err = s.change(func(tokens []Token) ([]Token, error) {
		if find(tokens, t.Name) >= 0 {
			return nil, &Error{Code: CodeExists, Message: "a token named " + t.Name + " exists", Hint: "revoke it first, or choose another name"}
		}
		return append(slices.Clone(tokens), t), nil
	})
	if err != nil {
		return "", Token{}, err
	}
	return secret, t, nil
}

// List returns the tokens, oldest first, without anything secret. Errors: those of
// [Open].
func (s *Store) List() ([]Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refresh() {
		s.notify()
	}
	return slices.Clone(s.tokens), s.broken
}

// Revoke takes a token away: from this moment it counts no more, here; within a second
// elsewhere. Errors: not_found, busy, and those of [Open].
func (s *Store) Revoke(name string) (Token, error) {
	var removed Token
	err := s.change(func(tokens []Token) ([]Token, error) {
		i := find(tokens, name)
		if i < 0 {
			return nil, &Error{Code: CodeNotFound, Message: "there is no token named " + name, Hint: "see `earshot token list`"}
		}
		removed = tokens[i]
		return slices.Delete(slices.Clone(tokens), i, i+1), nil
	})
	return removed, err
}

// change writes the file again under the lock of all processes.
func (s *Store) change(fn func([]Token) ([]Token, error)) error {
	locked, err := lock(s.path)
	if err != nil {
		return err
	}
	defer unlock(locked)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read(); s.broken != nil {
		return s.broken
	}
	tokens, err := fn(s.tokens)
	if err != nil {
		return err
	}
	if err := s.save(tokens); err != nil {
		return err
	}
	s.notify()
	return s.broken
}

// save replaces the file. The caller holds mu and the lock of all processes, and has
// read the file under both.
func (s *Store) save(tokens []Token) error {
	if err := save(s.path, content{Version: fileVersion, Tokens: tokens, Pages: storedPages(s.pages)}); err != nil {
		return err
	}
	clear(s.unsaved)
	s.touched = false
	s.read()
	return nil
}

func find(tokens []Token, name string) int {
	return slices.IndexFunc(tokens, func(t Token) bool { return t.Name == name })
}

// Authenticate returns whom a secret, of a token or of a grant, stands for. Errors:
// unknown; where the file cannot be used, the error of [Open].
func (s *Store) Authenticate(secret string) (Principal, error) {
	hash := hashed(secret)
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, found := s.grants[hash]; found {
		return p, nil
	}
	if s.refresh() {
		s.notify()
	}
	if s.broken != nil {
		return Principal{}, s.broken
	}
	i := slices.IndexFunc(s.tokens, func(t Token) bool { return t.SHA256 == hash })
	if i < 0 {
		return Principal{}, ErrUnknown
	}
	return s.tokens[i].principal(), nil
}

// Grant makes a secret that stands for a principal as long as this store lives. The
// principal's Credential is set here. Errors: invalid.
func (s *Store) Grant(p Principal) (string, error) {
	if err := checkPrincipal(p); err != nil {
		return "", err
	}
	id, err := newID(s.rand)
	if err != nil {
		return "", err
	}
	secret, hash, err := newSecret(s.rand, secretPrefix)
	if err != nil {
		return "", err
	}
	p.Credential = grantPrefix + id
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grants[hash] = p
	return secret, nil
}

func checkPrincipal(p Principal) error {
	return Token{Name: p.Name, Person: p.Name, Surface: p.Surface, Roles: p.Roles, Owners: p.Owners, Projects: p.Projects}.check()
}

// Current implements hub.Rights: it answers from memory, with what the last look at the
// file has found. Errors: gone.
func (s *Store) Current(p Principal) (Principal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts(p.Credential) {
		return p, nil
	}
	return Principal{}, ErrRevoked
}

// counts tells whether a credential is one that counts. The caller holds mu.
func (s *Store) counts(credential string) bool {
	if id, is := strings.CutPrefix(credential, tokenPrefix); is {
		return slices.ContainsFunc(s.tokens, func(t Token) bool { return t.ID == id })
	}
	if strings.HasPrefix(credential, grantPrefix) {
		for _, g := range s.grants {
			if g.Credential == credential {
				return true
			}
		}
		return false
	}
	for _, pg := range s.pages {
		if pg.who.Credential == credential {
			return s.now().Before(pg.expires) && (pg.by == "" || s.counts(pg.by))
		}
	}
	return false
}

// MayApprove implements kernel.Approvers: one of the person's credentials that count has
// to have the right, none may be an agent's or a tool's, and what they have shown has to
// count still. A grant ends with its process, which revokes nothing.
func (s *Store) MayApprove(person, credential, owner string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if credential != "" && !strings.HasPrefix(credential, grantPrefix) && !s.counts(credential) {
		return false
	}
	may := false
	for _, p := range s.principals() {
		if p.Name != person {
			continue
		}
		if p.Has(Agent, Tool) {
			return false
		}
		may = may || p.Approves(owner)
	}
	return may
}

// principals are all whose credentials count. The caller holds mu.
func (s *Store) principals() []Principal {
	var all []Principal
	for _, t := range s.tokens {
		all = append(all, t.principal())
	}
	for _, g := range s.grants {
		all = append(all, g)
	}
	for _, pg := range s.pages {
		if s.counts(pg.who.Credential) {
			all = append(all, pg.who)
		}
	}
	return all
}

// notify rings everybody who watches. The caller holds mu.
func (s *Store) notify() {
	for wakeup := range s.changed {
		select {
		case wakeup <- struct{}{}:
		default:
		}
	}
}
