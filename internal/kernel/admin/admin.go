package admin

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// Admin looks after a ledger beside the life of its calls. Make it with [New], and keep
// [Admin.Run] running. It is safe for concurrent use.
type Admin struct {
	o Options
	// scrubbed: of what was erased nothing is left in the store's files. At first nobody knows:
	// the process that has erased it may have died.
	scrubbed atomic.Bool
}

// Options are what an [Admin] works with. All are required; the functions are consulted inside
// transactions.
type Options struct {
	Ledger store.Ledger
	Now    func() time.Time
	Logger *slog.Logger
	// Operator is who does what no operator is named for, for the audit chain; "" is nobody known.
	Operator  string
	Retention Retention
	// Salt makes 128 random bits, in hex.
	Salt func() (string, error)
	// Decide is what the policy says of a tool, whatever the agent.
	Decide func(store.Tool) turn.Decision
	// Connected reports whether a service of the tool is there; nil where nobody can tell.
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
