package access

import (
	"crypto/rand"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options of a store. Path is required.
type Options struct {
	// Path is the token file. It need not exist; its folder must.
	Path string
	// Poll, if set, makes Watch poll the file at this interval instead of using file notifications.
	Poll time.Duration
	Now  func() time.Time // default time.Now
	Rand io.Reader        // default crypto/rand
	// Provider verifies the tokens of an identity provider. Default: there is none.
	Provider Provider
}

// Store authenticates principals. Create it with [Open].
type Store struct {
	path string
	poll time.Duration
	now  func() time.Time
	rand io.Reader

	provider Provider // nil if there is none
	run      string   // identifies this run in the file; "" without a provider

	mu      sync.Mutex
	state   fileState
	tokens  []Token
	ids     map[string]Token     // the tokens, by id
	broken  error                // why the file cannot be read; then no token is valid
	grants  map[string]Principal // by hash
	granted map[string]struct{}  // the ids of grants
	silent  map[string]struct{}  // the ids of grants that are unattended
	codes   map[string]code      // by hash
	shown   map[string]shownCode // by the key of the terminal that may use it
	pages   map[string]page      // by hash
	others  map[string]page      // by hash: those in the file that count in another process alone
	vouched map[string]Principal // of an identity provider, by credential
	unsaved map[string]*page     // by hash: logins, and logouts (nil), that are not in the file yet
	touched bool                 // last-used times are not in the file yet
	changed map[chan struct{}]struct{}
	lookout *lookout // shared by all watchers; nil if there are none
}

// Open reads the token file. Errors: damaged, unreadable, unsafe.
func Open(o Options) (*Store, error) {
	if o.Path == "" {
		return nil, invalid("no path for the token file")
	}
	s := &Store{
		path: o.Path, poll: o.Poll, now: o.Now, rand: o.Rand, provider: o.Provider, vouched: map[string]Principal{},
		grants: map[string]Principal{}, granted: map[string]struct{}{}, silent: map[string]struct{}{}, shown: map[string]shownCode{},
		codes: map[string]code{}, pages: map[string]page{}, unsaved: map[string]*page{},
		changed: map[chan struct{}]struct{}{},
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.rand == nil {
		s.rand = rand.Reader
	}
	if s.provider != nil {
		var err error
		if s.run, err = newID(s.rand); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	return s, s.broken
}

// read loads the current file. The caller holds mu.
func (s *Store) read() {
	c, m, err := load(s.path)
	s.tokens, s.state, s.broken = c.Tokens, m, err
	s.ids = make(map[string]Token, len(s.tokens))
	for _, t := range s.tokens {
		s.ids[t.ID] = t
	}
	if err == nil {
		s.pages, s.others = s.openPages(c.Pages)
	}
}

// refresh reloads the file if it has changed. The caller holds mu.
func (s *Store) refresh() (changed bool) {
	m, err := stat(s.path)
	if err == nil && m == s.state && !errors.Is(s.broken, ErrUnreadable) {
		return false
	}
	before, pages, broken := s.tokens, s.pages, s.broken
	s.read()
	return !sameKeys(pages, s.pages) || !reflect.DeepEqual(before, s.tokens) || (broken == nil) != (s.broken == nil)
}

// Add creates a token and returns its secret, which cannot be shown again. Errors: invalid, exists, busy, and those of
// [Open].
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

// List returns the tokens, oldest first, without secrets. Errors: those of [Open].
func (s *Store) List() ([]Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refresh() {
		s.notify()
	}
	return slices.Clone(s.tokens), s.broken
}

// Revoke revokes a token. It takes effect at once in this process, and within a second in others. Errors: not_found,
// busy, and those of [Open].
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

// change rewrites the file under the lock that all processes share, for which it waits.
func (s *Store) change(fn func([]Token) ([]Token, error)) error {
	locked, err := awaitLock(s.path)
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

// save replaces the file. The caller holds mu and the file lock, and has read the file under both.
func (s *Store) save(tokens []Token) error {
	if err := save(s.path, content{Version: fileVersion, Tokens: tokens, Pages: storedPages(s.pages, s.others)}); err != nil {
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

// Authenticate returns the principal of a token's or grant's secret, or of a token of the identity provider. Errors: unknown; if the
// file cannot be used, the error of [Open]; those of [Provider].
func (s *Store) Authenticate(secret string) (Principal, error) {
	if s.provider != nil && !strings.HasPrefix(secret, secretPrefix) {
		return s.vouch(secret)
	}
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

// Grant creates a secret for a principal that is valid as long as this store. It sets the principal's Credential.
// Errors: invalid.
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
	s.granted[p.Credential] = struct{}{}
	if p.Unattended != "" {
		s.silent[p.Credential] = struct{}{}
	}
	return secret, nil
}

func checkPrincipal(p Principal) error {
	return Token{Name: p.Name, Person: p.Name, Surface: p.Surface, Roles: p.Roles, Owners: p.Owners, Projects: p.Projects}.check()
}

// Current implements hub.Rights: it returns the principal with its rights now. It answers from memory, with the state of the last
// refresh. Errors: gone.
func (s *Store) Current(p Principal) (Principal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.counts(p.Credential) || p.Issuer != "" && !s.now().Before(p.Expires) {
		return Principal{}, ErrRevoked
	}
	return s.entitled(p), nil
}

// entitled returns a principal with the rights that its token has now, or the token that its login was begun with. The caller holds mu,
// and does not change the rights.
func (s *Store) entitled(p Principal) Principal {
	by := p.Credential
	if strings.HasPrefix(by, sessionPrefix) {
		for _, pg := range s.pages {
			if pg.who.Credential == p.Credential {
				by = pg.by
			}
		}
	}
	if id, is := strings.CutPrefix(by, tokenPrefix); is {
		t := s.ids[id]
		if t.Person != p.Name { // it is somebody else's now
			t = Token{}
		}
		p.Roles, p.Projects, p.Owners = t.Roles, t.Projects, t.Owners
	}
	return p
}

// counts reports whether a credential is valid. It runs for every delivery to every subscriber. The caller holds mu.
func (s *Store) counts(credential string) bool {
	if id, is := strings.CutPrefix(credential, tokenPrefix); is {
		_, known := s.ids[id]
		return known
	}
	if strings.HasPrefix(credential, grantPrefix) {
		_, known := s.granted[credential]
		return known
	}
	if strings.HasPrefix(credential, providerPrefix) {
		p, known := s.vouched[credential]
		return known && s.now().Before(p.Expires)
	}
	for _, pg := range s.pages {
		if pg.who.Credential == credential {
			return s.now().Before(pg.expires) && (pg.by == "" || s.counts(pg.by))
		}
	}
	return false
}

// MayApprove implements kernel.Approvers. One of the person's valid credentials must have the right, none may belong to
// an agent or a tool, and the presented credential must still be valid. The end of a process ends its grants without
// revoking them.
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

// MayAccept implements kernel.Approvers: nothing is accepted with a credential behind which no person is known to be.
func (s *Store) MayAccept(credential string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasPrefix(credential, providerPrefix) {
		return s.counts(credential) && s.vouched[credential].Unattended == ""
	}
	for _, pg := range s.pages {
		if pg.who.Credential == credential {
			return pg.who.Unattended == ""
		}
	}
	_, silent := s.silent[credential]
	return !silent
}

// principals returns the principals of all valid credentials. The caller holds mu.
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
			all = append(all, s.entitled(pg.who))
		}
	}
	for credential, p := range s.vouched {
		if s.counts(credential) {
			all = append(all, p)
		}
	}
	return all
}

// notify wakes all watchers. The caller holds mu.
func (s *Store) notify() {
	for wakeup := range s.changed {
		select {
		case wakeup <- struct{}{}:
		default:
		}
	}
}
