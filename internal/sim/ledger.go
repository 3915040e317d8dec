package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

var (
	errClosed  = errors.New("sim: the ledger is closed")
	errInvalid = errors.New("sim: what is to be written cannot be")
	errEnded   = errors.New("sim: the transaction has ended")
)

// Ledger is a [store.Ledger] in memory. Transactions run one after the other; what one has
// written is undone if its function fails. It can be copied as it is at an instant and put
// back, as a backup is.
type Ledger struct {
	mu     sync.Mutex
	closed bool
	rows   *tables
	now    func() time.Time
}

// NewLedger makes an empty one; now dates what the kernel gives no time for.
func NewLedger(now func() time.Time) *Ledger { return &Ledger{rows: newTables(), now: now} }

// tables are all rows. A row is never changed in place, so that copying the maps copies the
// ledger.
type tables struct {
	readers int // views that look at these very rows: an update leaves them alone

	turns         map[string]turnRow
	sessions      map[string]string // session: turn
	calls         map[string]string // call: turn
	callDocuments map[string]turn.Call
	questions     map[int]question
	tokens        map[string]int // token: question
	events        map[string][]store.Event
	eventRefs     map[string]eventRef // event: where it is
	order         []eventRef          // in which events were written
	cards         map[string]utp.Card
	ends          map[[2]string]string // project and call: its result's card
	results       map[string][]store.ResultRow
	reports       map[string]report
	late          map[string][]store.Report
	outbox        map[int64]outgoing    // what waits to leave
	dead          map[int64]outgoing    // what never will
	consents      map[string]consentRow // by their calls
	grants        map[startKey]store.Grant
	receipts      map[string][]store.Receipt // of a session
	audit         []api.AuditEntry           // without the receipts
	inForce       map[[2]string]store.InForce
	passkeys      map[string]store.Passkey
	agents        map[string]store.Agent
	boxes         map[[2]string][]api.BoxEntry // of an owner and an id
	sealed        map[string][]store.Sealed
	tools         map[string]store.Tool
	preferences   map[string]store.Preferences
	permissions   map[int]standing.Permission
	keys          map[[2]string]store.RequestKey
	counters      map[string]int64
	blobs         map[string]blob
}

type (
	turnRow struct {
		rec    store.Record
		seq    int64
		erased time.Time
	}
	question struct {
		turn  string
		state consent.State
	}
	eventRef struct {
		session, id string
		seq, row    int64
		at          time.Time
	}
	report struct {
		store.Report
		applied bool
	}
	consentRow struct {
		store.Consent
		used bool
	}
	startKey struct {
		call  string
		fence int
	}
	outgoing struct {
		store.Outgoing
		created time.Time
	}
	blob struct {
		size     int64
		data     []byte
		complete bool
		created  time.Time
	}
)

func newTables() *tables {
	return &tables{
		turns: map[string]turnRow{}, sessions: map[string]string{}, calls: map[string]string{}, callDocuments: map[string]turn.Call{}, questions: map[int]question{},
		tokens: map[string]int{}, events: map[string][]store.Event{}, eventRefs: map[string]eventRef{}, cards: map[string]utp.Card{}, ends: map[[2]string]string{},
		results: map[string][]store.ResultRow{}, reports: map[string]report{}, late: map[string][]store.Report{},
		outbox: map[int64]outgoing{}, dead: map[int64]outgoing{}, consents: map[string]consentRow{},
		grants: map[startKey]store.Grant{}, receipts: map[string][]store.Receipt{}, sealed: map[string][]store.Sealed{},
		tools: map[string]store.Tool{}, preferences: map[string]store.Preferences{}, permissions: map[int]standing.Permission{}, keys: map[[2]string]store.RequestKey{},
		inForce: map[[2]string]store.InForce{}, passkeys: map[string]store.Passkey{}, agents: map[string]store.Agent{},
		boxes: map[[2]string][]api.BoxEntry{}, counters: map[string]int64{}, blobs: map[string]blob{},
	}
}

// copied is the ledger as a backup has it.
func (r *tables) copied() *tables {
	c := *r
	c.readers = 0
	c.turns, c.sessions, c.calls, c.questions = maps.Clone(r.turns), maps.Clone(r.sessions), maps.Clone(r.calls), maps.Clone(r.questions)
	c.tokens, c.eventRefs, c.cards, c.reports = maps.Clone(r.tokens), maps.Clone(r.eventRefs), maps.Clone(r.cards), maps.Clone(r.reports)
	c.outbox, c.consents = maps.Clone(r.outbox), maps.Clone(r.consents)
	c.ends = maps.Clone(r.ends)
	c.grants, c.tools = maps.Clone(r.grants), maps.Clone(r.tools)
	c.callDocuments, c.dead, c.receipts = maps.Clone(r.callDocuments), maps.Clone(r.dead), clipped(r.receipts)
	c.preferences, c.keys, c.counters, c.blobs = maps.Clone(r.preferences), maps.Clone(r.keys), maps.Clone(r.counters), maps.Clone(r.blobs)
	c.events, c.results, c.late, c.sealed = clipped(r.events), clipped(r.results), clipped(r.late), clipped(r.sealed)
	c.permissions = maps.Clone(r.permissions)
	c.order, c.audit, c.inForce = slices.Clip(r.order), slices.Clip(r.audit), maps.Clone(r.inForce)
	c.passkeys, c.agents, c.boxes = maps.Clone(r.passkeys), maps.Clone(r.agents), clipped(r.boxes)
	return &c
}

// clipped copies a map of lists that are only ever appended to.
func clipped[K comparable, V any](m map[K][]V) map[K][]V {
	c := make(map[K][]V, len(m))
	for k, v := range m {
		c[k] = slices.Clip(v)
	}
	return c
}

// backup copies what is committed.
func (l *Ledger) backup() *tables {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rows.copied()
}

// restore puts a backup in the place of what is there.
func (l *Ledger) restore(rows *tables) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = rows.copied()
}

// Update implements [store.Ledger].
func (l *Ledger) Update(ctx context.Context, fn func(store.Tx) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.open(ctx); err != nil {
		return err
	}
	if l.rows.readers > 0 {
		l.rows = l.rows.copied()
	}
	t := &tx{rows: l.rows, writes: true, now: l.now}
	err := t.call(fn)
	if err == nil {
		return nil
	}
	for _, undo := range slices.Backward(t.undo) {
		undo()
	}
	for _, sha := range t.condemned {
		delete(l.rows.blobs, sha)
	}
	return err
}

// View implements [store.Ledger].
func (l *Ledger) View(ctx context.Context, fn func(store.Tx) error) error {
	l.mu.Lock()
	rows, err := l.rows, l.open(ctx)
	rows.readers++
	l.mu.Unlock()
	if err == nil {
		err = (&tx{rows: rows}).call(fn)
	}
	l.mu.Lock()
	rows.readers--
	l.mu.Unlock()
	return err
}

func (l *Ledger) open(ctx context.Context) error {
	if l.closed {
		return errClosed
	}
	return ctx.Err()
}

// Close implements [store.Ledger].
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}

// tx is one transaction.
type tx struct {
	rows   *tables
	writes bool
	now    func() time.Time
	used   bool
	ended  bool
	undo   []func()
	// failed is the first write that failed: after it nothing is done any more.
	failed error
	// condemned are blobs that are not what their name says.
	condemned []string
	toolsRead map[string]store.Tool // tools as they were read
}

var _ store.Tx = (*tx)(nil)

func (t *tx) call(fn func(store.Tx) error) (err error) {
	defer func() {
		t.ended = true
		if v := recover(); v != nil {
			err = fmt.Errorf("sim: panic in a transaction: %v", v)
		}
	}()
	if err := fn(t); err != nil {
		return err
	}
	return t.failed
}

func (t *tx) usable() error {
	if t.ended {
		return errEnded
	}
	t.used = true
	return t.failed
}

func (t *tx) writable() error {
	if err := t.usable(); err != nil {
		return err
	}
	if !t.writes {
		return store.ErrReadOnly
	}
	return nil
}

func (t *tx) fail(err error) error {
	if err != nil && t.failed == nil {
		t.failed = err
	}
	return err
}

// putRow writes a row so that it can be undone.
func putRow[K comparable, V any](t *tx, m map[K]V, k K, v V) {
	old, had := m[k]
	t.undo = append(t.undo, func() {
		if had {
			m[k] = old
		} else {
			delete(m, k)
		}
	})
	m[k] = v
}

// removeRow takes a row out so that it can be undone.
func removeRow[K comparable, V any](t *tx, m map[K]V, k K) {
	if old, had := m[k]; had {
		t.undo = append(t.undo, func() { m[k] = old })
		delete(m, k)
	}
}

func missing(what string, id any) error { return fmt.Errorf("%w: %s %v", store.ErrNotFound, what, id) }

func conflict(what string, id any) error {
	return fmt.Errorf("%w: %s %v", store.ErrConflict, what, id)
}

func found[K comparable, V any](t *tx, m map[K]V, k K, what string) (V, error) {
	var none V
	if err := t.usable(); err != nil {
		return none, err
	}
	v, is := m[k]
	if !is {
		return none, missing(what, k)
	}
	return v, nil
}

// recordOf copies a record, so that who holds one copy does not change the other.
func recordOf(r store.Record) store.Record {
	r.State = stateOf(r.State)
	r.Questions = slices.Clone(r.Questions)
	for i := range r.Questions {
		r.Questions[i] = questionOf(r.Questions[i])
	}
	r.Presented = slices.Clone(r.Presented)
	return r
}

func stateOf(s turn.State) turn.State {
	s.Calls = slices.Clone(s.Calls)
	for i := range s.Calls {
		c := &s.Calls[i]
		c.Consent, c.Outcome, c.Batch = pointed(c.Consent), pointed(c.Outcome), pointed(c.Batch)
		if c.Batch != nil {
			c.Batch.Children = slices.Clone(c.Batch.Children)
		}
	}
	s.Delegated = slices.Clone(s.Delegated)
	s.Stop, s.End = pointed(s.Stop), pointed(s.End)
	return s
}

func questionOf(q consent.Question) consent.Question {
	q.SpentTokens = slices.Clip(q.SpentTokens)
	return q
}

func pointed[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
