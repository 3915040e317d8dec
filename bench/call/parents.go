package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

const (
	// below is the agent of the turns that others wait for.
	below = "below"
	// children is how many turns each parent waits for.
	children = 3
	// limit is how many turns the agent may have under way where it has a limit.
	limit = 16
)

// crowd is a ledger with parents that wait, or without any, and the kernel on it.
type crowd struct {
	*parts

	ledger  store.Ledger
	session string // of the last parent; "" where there is none
	defined bool   // the agent with a limit of open turns
	close   func() error
	settle  func(context.Context) error // has the database write what it has changed
}

// parentsWait measures claims among so many suspended turns that wait for three others each, beside those of a ledger that has
// none, in turns: of an agent that may have any number of turns under way, and of one with a limit, whose claims are
// measured with the ends that give their places back. Beside them, how long it takes to see what is due.
func (f *field) parentsWait(ctx context.Context, many int) (err error) {
	for _, who := range f.only {
		if who != onSQLite && who != onPostgres {
			continue
		}
		var both [2]*crowd
		for i, n := range []int{0, many} {
			c, err := f.gather(ctx, who, n)
			if err != nil {
				return fmt.Errorf("%s: %w", who, err)
			}
			defer func() { err = errors.Join(err, c.close()) }()
			both[i] = c
		}
		for _, m := range []struct {
			what   string
			active int64
			run    func(context.Context, *crowd, int) (float64, error)
		}{
			{"claims with their ends/s, limit 16", limit, func(ctx context.Context, c *crowd, n int) (float64, error) { return c.claimAndEnd(ctx, n) }},
			{"claims/s", 0, func(ctx context.Context, c *crowd, n int) (float64, error) { return claimAll(ctx, c.parts, n) }},
			{"looks at what is due/s", 0, func(ctx context.Context, c *crowd, _ int) (float64, error) { return c.looks(ctx) }},
			{"starts of an agent with a limit of open turns/s", 0, func(ctx context.Context, c *crowd, n int) (float64, error) { return c.starts(ctx, n) }},
		} {
			if err := f.besides(ctx, who, m.what, many, both, func(ctx context.Context, c *crowd, n int) (float64, error) {
				c.active.Store(m.active)
				return m.run(ctx, c, n)
			}); err != nil {
				return fmt.Errorf("%s: %s: %w", who, m.what, err)
			}
		}
		if err := both[1].stops(ctx, who); err != nil {
			return err
		}
	}
	return nil
}

// besides measures in both ledgers in turns, the other one first each time. Each finds all pages written: after a checkpoint
// PostgreSQL's log has each page whole once, and one that falls between filling a ledger and measuring it would slow down only
// that ledger.
func (f *field) besides(ctx context.Context, who, what string, many int, both [2]*crowd, run func(context.Context, *crowd, int) (float64, error)) error {
	var rates [2][]float64
	for n := range f.rounds {
		for i := range both {
			i = (i + n) % len(both)
			f.progress("round %d of %d: %s", n+1, f.rounds, what)
			if err := both[i].settle(ctx); err != nil {
				return err
			}
			rate, err := run(ctx, both[i], n)
			if err != nil {
				return err
			}
			rates[i] = append(rates[i], rate)
		}
	}
	slices.Sort(rates[0])
	slices.Sort(rates[1])
	alone, among := rates[0], rates[1]
	m := len(alone) / 2
	fmt.Printf("%-10s %7d parents: %6.0f %s (%.0f to %.0f), with none %.0f (%.0f to %.0f): %.2f x\n",
		who, many, among[m], what, among[0], among[len(among)-1], alone[m], alone[0], alone[len(alone)-1], among[m]/alone[m])
	return nil
}

// gather makes a ledger with so many parents, and the turns that are claimed in it.
func (f *field) gather(ctx context.Context, who string, many int) (*crowd, error) {
	c := &crowd{}
	var run func(context.Context, []string) error
	var d dialect
	var err error
	if who == onSQLite {
		d = sqliteDialect
		run, err = f.openFile(ctx, c)
	} else {
		d = postgresDialect
		run, err = f.openServer(ctx, c)
	}
	if err == nil && many > 0 {
		f.progress("seeding %d parents with %d children each", many, children)
		err = c.seed(ctx, d, many, run)
	}
	if err == nil {
		began := time.Now()
		c.parts, err = raise(ctx, c.ledger, 1, nil)
		f.progress("%s: a kernel starts in %s among %d parents", who, short(time.Since(began)), many)
	}
	if err == nil { // enough for the claims of both agents
		err = c.fill(ctx, 2*(claimed+claimers)*f.rounds)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	shut := c.close
	c.close = func() error { return errors.Join(c.end(), shut()) }
	return c, nil
}

// fill begins as many turns that may be claimed, some at once.
func (c *crowd) fill(ctx context.Context, turns int) error {
	const each, atOnce = 100, 16 // one person may have some more open
	var all sync.WaitGroup
	var people atomic.Int64
	failures := make([]error, atOnce)
	for i := range atOnce {
		all.Go(func() {
			for person := people.Add(1); failures[i] == nil && person <= int64(turns/each+1); person = people.Add(1) {
				request := api.EnqueueRequest{Agent: agent, Args: jsontext.Value(`{}`), Request: "do nothing", Owner: fmt.Sprint("filler", person)}
				for range each {
					failures[i] = errors.Join(failures[i], rpc.Ask(ctx, c.hub, api.OpEnqueue, request, nil))
				}
			}
		})
	}
	all.Wait()
	return errors.Join(failures...)
}

func (f *field) openFile(ctx context.Context, c *crowd) (run func(context.Context, []string) error, err error) {
	f.made++
	path := filepath.Join(f.dir, fmt.Sprintf("parents%d.db", f.made))
	s, err := sqlite.Open(ctx, sqlite.Options{Path: path})
	if err != nil {
		return nil, err
	}
	c.ledger, c.close, c.settle = s, s.Close, func(context.Context) error { return nil }
	return func(ctx context.Context, statements []string) error {
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(60000)&_pragma=synchronous(OFF)")
		if err != nil {
			return err
		}
		for _, st := range statements {
			if _, err := db.ExecContext(ctx, st); err != nil {
				return errors.Join(err, db.Close())
			}
		}
		return db.Close()
	}, nil
}

func (f *field) openServer(ctx context.Context, c *crowd) (run func(context.Context, []string) error, err error) {
	dsn, err := f.server.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	s, err := postgres.Open(ctx, postgres.Options{DSN: fmt.Sprintf("%s&pool_max_conns=%d", dsn, f.connections)})
	if err != nil {
		return nil, err
	}
	c.ledger = s
	c.settle = func(ctx context.Context) error { return f.server.Do(ctx, "CHECKPOINT") }
	c.close = func() error { return errors.Join(s.Close(), dropSchema(context.WithoutCancel(ctx), dsn)) }
	return func(ctx context.Context, statements []string) error {
		pg, err := pgx.Connect(ctx, dsn)
		if err != nil {
			return err
		}
		for _, table := range familyTables { // or autovacuum, which comes soon after so many new rows, works beside what is measured
			statements = append(statements, "VACUUM (ANALYZE) "+table)
		}
		for _, st := range statements {
			if _, err := pg.Exec(ctx, st); err != nil {
				return errors.Join(err, pg.Close(ctx))
			}
		}
		return pg.Close(ctx)
	}, nil
}

// seed has a turn wait for three others, two of which wait for a call that nobody serves, and copies the rows of all four.
func (c *crowd) seed(ctx context.Context, d dialect, many int, run func(context.Context, []string) error) error {
	p, err := raise(ctx, c.ledger, 1, nil)
	if err != nil {
		return err
	}
	session, err := p.model(ctx)
	if err = errors.Join(err, p.end()); err != nil {
		return err
	}
	f, err := readFamily(ctx, c.ledger, d)
	if err != nil {
		return err
	}
	c.session = f.session(session, many-1)
	return run(ctx, f.copies(many-1))
}

// model begins a turn that waits for three others for a day.
func (p *parts) model(ctx context.Context) (session string, err error) {
	const day = 86400
	var a api.EnqueueAnswer
	request := api.EnqueueRequest{Agent: agent, Args: jsontext.Value(`{}`), Request: "have it done", Owner: ownerOfModel, Deadline: 2 * day}
	if err := rpc.Ask(ctx, p.hub, api.OpEnqueue, request, &a); err != nil {
		return "", err
	}
	one := `{"target_strategy":"new","target_ref":"` + below + `","instruction":"do a part of it"}`
	args := fmt.Sprintf(`{"tasks":[%s,%s,%s],"deadline_seconds":%d}`, one, one, one, day)
	if err := p.claimAndCall(agent, "wrk_model", "fork_join", args); err != nil {
		return "", err
	}
	for i := range children - 1 {
		if err := p.claimAndCall(below, fmt.Sprint("wrk_model", i), name, `{"n":1}`); err != nil {
			return "", err
		}
	}
	return a.Session, nil
}

func (p *parts) claimAndCall(who, seat, tool, args string) error {
	var c api.ClaimAnswer
	if err := p.askAs(who, api.OpClaim, api.ClaimRequest{Agent: who, Worker: seat}, &c); err != nil || c.Turn == "" {
		return errors.Join(err, fmt.Errorf("the model: %s has claimed %q", who, c.Turn))
	}
	return p.askAs(who, api.OpCall, api.CallRequest{
		WorkerRequest: c.WorkerRequest(seat), Step: c.Step + 1,
		Calls: []api.ToolCall{{Key: "c1", Tool: tool, Args: api.Body{Inline: jsontext.Value(args)}}},
	}, nil)
}

// askAs asks the kernel as an agent, past the bus.
func (p *parts) askAs(who, op string, request, into any) error {
	raw, err := json.Marshal(request)
	if err != nil {
		return err
	}
	return api.DecodeAnswer(p.kernel.Handle(context.Background(), kernel.Caller{Kind: kernel.AgentCaller, Name: who}, op, raw), into)
}

// claimAndEnd claims turns and ends each at once.
func (c *crowd) claimAndEnd(ctx context.Context, n int) (float64, error) {
	var all sync.WaitGroup
	var got atomic.Int64
	failures := make([]error, claimers)
	began := time.Now()
	for i := range claimers {
		all.Go(func() {
			for j := 0; failures[i] == nil && got.Add(1) <= claimed; j++ {
				var a api.ClaimAnswer
				seat := fmt.Sprintf("end_%d_%d_%d", n, i, j)
				failures[i] = c.ask(ctx, api.OpClaim, api.ClaimRequest{Agent: agent, Worker: seat}, &a)
				if failures[i] == nil && a.Turn == "" {
					failures[i] = errors.New("there was no turn to claim")
				}
				if failures[i] == nil {
					failures[i] = c.ask(ctx, api.OpDeliver, api.DeliverRequest{WorkerRequest: a.WorkerRequest(seat), Status: utp.StatusSuccess}, nil)
				}
			}
		})
	}
	all.Wait()
	return claimed / time.Since(began).Seconds(), errors.Join(failures...)
}

// looks reads what is due, as the kernel does each second.
func (c *crowd) looks(ctx context.Context) (float64, error) {
	const times, page = 5000, 64
	began := time.Now()
	for range times {
		err := c.ledger.View(ctx, func(tx store.Tx) error {
			_, err := tx.Turns(store.TurnFilter{Due: time.Now().Add(time.Second), Limit: page})
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return times / time.Since(began).Seconds(), nil
}

// starts begins turns of an agent of which only so many may be open.
func (c *crowd) starts(ctx context.Context, n int) (float64, error) {
	const times, most = 30, 200
	definition := api.AgentDefinition{Name: "rare", MaxOpen: most}
	if !c.defined {
		if err := rpc.Ask(ctx, c.hub, api.OpDefineAgent, api.DefineAgentRequest{Definition: definition, By: "operator"}, nil); err != nil {
			return 0, fmt.Errorf("defining the agent: %w", err)
		}
		c.defined = true
	}
	began := time.Now()
	for range times {
		request := api.EnqueueRequest{Agent: definition.Name, Args: jsontext.Value(`{}`), Owner: fmt.Sprint("starter", n)}
		if err := rpc.Ask(ctx, c.hub, api.OpEnqueue, request, nil); err != nil {
			return 0, err
		}
	}
	return times / time.Since(began).Seconds(), nil
}

// stops has the last parent stopped: it ends with its children, so the copies are turns like others.
func (c *crowd) stops(ctx context.Context, who string) error {
	if c.session == "" {
		return nil
	}
	var row []api.SessionRow
	if err := rpc.Ask(ctx, c.hub, api.OpSessions, api.SessionsRequest{Session: c.session, Parts: true}, &row); err != nil {
		return err
	}
	if len(row) != 1 || len(row[0].Parts) != children {
		return fmt.Errorf("the last parent is %+v; expected %d children", row, children)
	}
	began := time.Now()
	if err := rpc.Ask(ctx, c.hub, api.OpStop, api.ReplyRequest{Session: c.session, By: row[0].Owner}, nil); err != nil {
		return err
	}
	took := time.Since(began)
	if err := rpc.Ask(ctx, c.hub, api.OpSessions, api.SessionsRequest{Session: c.session, Parts: true}, &row); err != nil {
		return err
	}
	for _, part := range row[0].Parts {
		if part.Result == "" {
			return fmt.Errorf("the last parent was stopped, and of its children %+v is left", part)
		}
	}
	fmt.Printf("%-10s a stop ends one of the parents and its %d children in %s\n", who, children, short(took))
	return nil
}
