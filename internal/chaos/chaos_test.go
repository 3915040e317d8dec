package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/bus/bustest"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres/cluster"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// forVariable is how long the run lasts, callsVariable how many calls there are to be at
// least: it lasts longer where they take longer.
const (
	forVariable   = "EARSHOT_CHAOS_FOR"
	callsVariable = "EARSHOT_CHAOS_CALLS"
)

const (
	shortly  = 8 * time.Second
	rest     = 8 * time.Minute // for everything to come to its end, once nobody is killed any more
	busDeath = 6               // the bus is killed so much less often than the others are
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(play(role))
	}
	os.Exit(m.Run())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run is everything that is killed, and what kills it.
type run struct {
	t      *testing.T
	dir    string
	dsn    string
	bus    *process
	others []*process
	pg     *pgx.Conn
}

// TestChaos: all processes but the database's are killed again and again. Nothing that was
// taken is lost, nothing is applied twice, nothing irreversible starts twice, and what nobody
// can know is told to a person (call protocol, "Crash and fault table").
func TestChaos(t *testing.T) {
	testkit.Slow(t)
	long, calls := length(t)
	s := &run{t: t, dir: t.TempDir()}
	s.raise()
	p := &people{hub: s.hub(), wanted: min(120, calls/4), begun: map[string]task{}, said: map[string]bool{}, refuse: map[string]bool{}, accepted: map[string]bool{}}
	defer p.hub.Close()
	var under atomic.Int64
	p.open = func() int { return int(under.Load()) }

	living, enough := context.WithCancel(t.Context())
	beginning, full := context.WithCancel(living)
	var owned sync.WaitGroup
	owned.Go(func() { p.begin(beginning) })
	owned.Go(func() { p.answer(living) })
	began := time.Now()
	s.disturb(long, calls, &under)
	took := time.Since(began)
	full()
	s.come(&under)
	enough()
	owned.Wait()

	v := judge(t.Context(), t, s.dsn, s.dir, p)
	s.lower()
	t.Logf("%s of chaos; killed: %s. %s; %d turns begun and told, %d yes, %d no, %d fates left as they are",
		took.Round(time.Second), s.toll(), v, len(p.begun), len(p.accepted), p.refused, p.left)
	if v.calls < calls {
		t.Errorf("%d calls, want %d", v.calls, calls)
	}
}

func length(t *testing.T) (time.Duration, int) {
	t.Helper()
	long, calls := shortly, 100
	if text := os.Getenv(forVariable); text != "" {
		var err error
		long, err = time.ParseDuration(text)
		must(t, err)
	}
	if text := os.Getenv(callsVariable); text != "" {
		_, err := fmt.Sscan(text, &calls)
		must(t, err)
	}
	return long, calls
}

// raise starts the database and all processes. With CI=true a missing PostgreSQL is a failure.
func (s *run) raise() {
	s.t.Helper()
	server, err := cluster.Start(s.t.Context())
	if errors.Is(err, cluster.ErrMissing) && os.Getenv("CI") != "true" {
		s.t.Skip("left out: " + err.Error() + "; scripts/need postgres installs it")
	}
	must(s.t, err)
	s.t.Cleanup(func() { must(s.t, server.Stop()) })
	s.dsn, err = server.Ledger(s.t.Context())
	must(s.t, err)
	env := []string{dirVariable + "=" + s.dir, dsnVariable + "=" + s.dsn, atVariable + "=" + bustest.Address(s.t)}
	said := &words{}
	for _, role := range []string{"bus", "kernel", "tool", "worker"} {
		for n := 1; n <= 2; n++ {
			p := &process{t: s.t, role: role, name: fmt.Sprintf("%s-%d", role, n), env: env, said: said}
			if role == "bus" {
				p.name, s.bus, n = role, p, 2
			} else {
				s.others = append(s.others, p)
			}
			p.start()
		}
	}
	s.t.Setenv(dirVariable, s.dir)
	s.pg, err = pgx.Connect(s.t.Context(), s.dsn)
	must(s.t, err)
	s.t.Cleanup(func() { _ = s.pg.Close(context.Background()) })
}

func (s *run) hub() *bus.Client {
	s.t.Helper()
	c, err := dialled(s.t.Context(), func(a access) bus.Credentials { return a.Hub })
	must(s.t, err)
	return c
}

// disturb kills one process after the other, in an order that chance makes, for as long and
// until there have been so many calls.
func (s *run) disturb(long time.Duration, calls int, under *atomic.Int64) {
	s.t.Helper()
	const (
		rounds = 52 // of the longest run; a shorter one has fewer, as often
		breath = 500 * time.Millisecond
	)
	each := max(long/time.Duration(rounds*len(s.others)), breath)
	began, n := time.Now(), 0
	for time.Since(began) < long || s.made() < calls {
		for _, i := range rand.Perm(len(s.others)) {
			under.Store(s.unfinished())
			due := began.Add(time.Duration(n+1) * each) // a kill's own time is not added
			pause(s.t.Context(), max(time.Until(due), breath))
			s.others[i].kill()
			if n++; n%(rounds*len(s.others)/busDeath) == rounds*len(s.others)/busDeath/2 || n == len(s.others) {
				s.bus.kill()
			}
		}
		if time.Since(began) > 4*long+rest {
			s.t.Fatalf("after %s there are %d calls, want %d\n%s", time.Since(began), s.made(), calls, s.bus.said)
		}
	}
}

// come waits until every turn has ended and every message has left.
func (s *run) come(under *atomic.Int64) {
	s.t.Helper()
	for began := time.Now(); ; {
		left := s.unfinished()
		under.Store(left)
		if left == 0 && s.count(`SELECT count(*) FROM outbox WHERE published_at IS NULL AND dead_at IS NULL`) == 0 {
			return
		}
		if time.Since(began) > rest {
			s.t.Fatalf("%s after the last kill %d turns have not ended\n%s\n%s", rest, left, s.stuck(), s.bus.said)
		}
		pause(s.t.Context(), retry)
	}
}

// stuck shows a few turns that have not ended.
func (s *run) stuck() string {
	var out strings.Builder
	rows, err := s.pg.Query(s.t.Context(), `SELECT doc FROM turns WHERE status <> 'ended' LIMIT 3`)
	must(s.t, err)
	defer rows.Close()
	for rows.Next() {
		var doc string
		must(s.t, rows.Scan(&doc))
		out.WriteString(doc + "\n")
	}
	return out.String()
}

func (s *run) unfinished() int64 {
	s.t.Helper()
	return s.count(`SELECT count(*) FROM turns WHERE status <> 'ended'`)
}
func (s *run) made() int { s.t.Helper(); return int(s.count(`SELECT count(*) FROM calls`)) }

// count asks the ledger; 0 while it has no tables yet.
func (s *run) count(query string) int64 {
	s.t.Helper()
	var n int64
	if err := s.pg.QueryRow(s.t.Context(), query).Scan(&n); err != nil && !strings.Contains(err.Error(), "42P01") {
		s.t.Fatal(err)
	}
	return n
}

func (s *run) lower() {
	for _, p := range append(s.others, s.bus) {
		if err := p.end(); err != nil {
			s.t.Errorf("%s did not end in peace: %v\n%s", p.name, err, p.said)
		}
	}
}

func (s *run) toll() string {
	var all []string
	for _, p := range append([]*process{s.bus}, s.others...) {
		all = append(all, fmt.Sprintf("%s %d times", p.name, p.kills))
	}
	return strings.Join(all, ", ")
}
