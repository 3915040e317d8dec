package memory

import (
	"slices"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// tables are all rows. What a pointer or a slice in them refers to never changes; a slice may be appended to.
type tables struct {
	turns       table[string, *turnRow]
	open        table[string, struct{}]  // turns that have not ended, or have to be listed as if
	names       table[[2]string, string] // project and name: the open turn
	sessions    table[string, string]    // session: turn
	calls       table[string, *callRow]
	questions   table[int, question]
	tokens      table[string, int] // token: question
	events      table[string, []store.Event]
	eventRefs   table[string, eventRef]
	cards       table[string, *cardRow]
	ends        table[[2]string, string] // project and call: the card of its result
	blobRefs    table[string, int]       // blob: how many cards refer to it
	reports     table[string, report]
	results     table[string, []store.ResultRow] // of a turn
	late        table[string, []store.Report]    // of a turn
	outbox      table[int64, *outgoing]          // unsent
	dead        table[int64, *outgoing]
	consents    table[string, Consent] // by their calls
	grants      table[startKey, store.Grant]
	receipts    table[string, []store.Receipt] // of a session
	inForce     table[[2]string, store.InForce]
	passkeys    table[string, store.Passkey]
	agents      table[string, store.Agent]
	boxes       table[[2]string, []api.BoxEntry] // of an owner and an id
	sealed      table[string, []store.Sealed]    // of a call
	tools       table[string, *store.Tool]
	preferences table[string, store.Preferences]
	permissions table[int, standing.Permission]
	keys        table[[2]string, store.RequestKey]
	counters    table[string, int64]
	blobs       table[string, blob]

	order []eventRef       // in which events were written
	audit []api.AuditEntry // without the receipts

	lastEvent, lastOutgoing int64
	commits                 int
}

type (
	turnRow struct {
		rec store.Record
		// name, topic and imported are as they were when the turn was saved first.
		name, topic string
		imported    bool
		seq         int64
		applied     int // results so far, erased ones included
		calls       []string
		erased      time.Time
	}
	callRow struct {
		call          turn.Call
		turn, session string
		card          string // also after the erasure
	}
	question struct {
		turn, token string
		state       consent.State
	}
	eventRef struct {
		session, id string
		seq, row    int64
		at          time.Time
	}
	cardRow struct {
		card utp.Card
		turn string
	}
	report struct {
		store.Report
		applied bool
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

// each calls fn for every table.
func (r *tables) each(fn func(anyTable)) {
	fn(&r.turns)
	fn(&r.open)
	fn(&r.names)
	fn(&r.sessions)
	fn(&r.calls)
	fn(&r.questions)
	fn(&r.tokens)
	fn(&r.events)
	fn(&r.eventRefs)
	fn(&r.cards)
	fn(&r.ends)
	fn(&r.blobRefs)
	fn(&r.reports)
	fn(&r.results)
	fn(&r.late)
	fn(&r.outbox)
	fn(&r.dead)
	fn(&r.consents)
	fn(&r.grants)
	fn(&r.receipts)
	fn(&r.inForce)
	fn(&r.passkeys)
	fn(&r.agents)
	fn(&r.boxes)
	fn(&r.sealed)
	fn(&r.tools)
	fn(&r.preferences)
	fn(&r.permissions)
	fn(&r.keys)
	fn(&r.counters)
	fn(&r.blobs)
}

// copied returns the committed rows as another ledger may go on from them. Both share the maps until either changes them, and
// no list, because both would append to it.
func (r *tables) copied() *tables {
	r.each(func(t anyTable) {
		t.share()
	})
	c := *r
	c.events, c.results, c.late = clipped(r.events), clipped(r.results), clipped(r.late)
	c.receipts, c.boxes, c.sealed = clipped(r.receipts), clipped(r.boxes), clipped(r.sealed)
	c.blobs.rows = make(map[string]blob, len(r.blobs.rows))
	for sha, b := range r.blobs.rows {
		b.data = slices.Clip(b.data)
		c.blobs.rows[sha] = b
	}
	c.order, c.audit = slices.Clip(r.order), slices.Clip(r.audit)
	return &c
}

func clipped[K comparable, V any](t table[K, []V]) table[K, []V] {
	c := table[K, []V]{rows: make(map[K][]V, len(t.rows))}
	for k, list := range t.rows {
		c.rows[k] = slices.Clip(list)
	}
	return c
}

// micro returns a time as the ledgers store it.
func micro(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()).UTC() }

// optionalMicro is micro for a time that may be missing.
func optionalMicro(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return micro(t)
}
