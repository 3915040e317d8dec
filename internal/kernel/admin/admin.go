package admin

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// Admin maintains a ledger: everything but the dispatch of calls. Make it with [New], and keep [Admin.Run] running.
// It is safe for concurrent use.
type Admin struct {
	o Options
	// scrubbed: no erased content is left in the store's files. False at first: an earlier process may
	// have died after it erased something.
	scrubbed atomic.Bool
}

// Options are what an [Admin] works with. All are required; the functions are consulted inside
// transactions.
type Options struct {
	// MaxActive is how many turns of an agent may be under way at once; 0 is any number.
	MaxActive func(agent string) int
	Ledger    store.Ledger
	Now       func() time.Time
	// Timestamp returns the current time on both clocks.
	Timestamp func() turn.Timestamp
	Logger    *slog.Logger
	// Operator is the name in the audit chain for acts that name no operator; "" is unknown.
	Operator  string
	Retention Retention
	// Salt makes 128 random bits, in hex.
	Salt func() (string, error)
	// Decide returns what the policy says about a tool, whatever the agent.
	Decide func(store.Tool) turn.Decision
	// Connected returns whether a service of the tool is connected; nil if that is unknown.
	Connected func(store.Tool) *bool
	// Active reports whether this process works on the turn.
	Active func(turn string) bool
	// EndSession makes the events that end the session of an imported turn that had not ended.
	EndSession func(store.Record) ([]store.Event, error)
}

// New fills in the defaults of the retention.
func New(o Options) *Admin {
	o.Retention.fill()
	return &Admin{o: o}
}
