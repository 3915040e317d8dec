package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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
)

const (
	// claimed is how many turns are claimed in a measurement, by claimers side by side.
	claimed  = 1000
	claimers = 8
)

// claims measures how many turns are claimed in a second among so many suspended ones.
func (f *field) claims(ctx context.Context) error {
	for _, who := range f.only {
		var first float64
		for _, suspended := range f.settings.claims {
			var rates []float64
			var err error
			switch who {
			case onSQLite:
				rates, err = f.claimsOnSQLite(ctx, suspended)
			case onPostgres:
				rates, err = f.claimsOnServer(ctx, suspended)
			default:
				continue
			}
			if err != nil {
				return fmt.Errorf("%s: %w", who, err)
			}
			slices.Sort(rates)
			rate := rates[len(rates)/2]
			if first == 0 {
				first = rate
			}
			fmt.Printf("%-10s %8d suspended turns: %6.0f claims/s (median of %d; %.0f to %.0f), %.2f x the first\n",
				who, suspended, rate, len(rates), rates[0], rates[len(rates)-1], rate/first)
		}
	}
	return nil
}

func (f *field) claimsOnSQLite(ctx context.Context, suspended int) ([]float64, error) {
	f.made++
	path := filepath.Join(f.dir, fmt.Sprintf("claims%d.db", f.made))
	s, err := sqlite.Open(ctx, sqlite.Options{Path: path})
	if err != nil {
		return nil, err
	}
	rates, err := f.claimAmong(ctx, s, suspended, func(ctx context.Context, statements []string) error {
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
	}, `SELECT name FROM pragma_table_info('%s')`, `printf('%032x', g)`, `(WITH RECURSIVE n(g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM n WHERE g < %d) SELECT g FROM n)`)
	return rates, errors.Join(err, s.Close())
}

func (f *field) claimsOnServer(ctx context.Context, suspended int) ([]float64, error) {
	dsn, err := f.server.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dropSchema(context.WithoutCancel(ctx), dsn) }()
	s, err := postgres.Open(ctx, postgres.Options{DSN: fmt.Sprintf("%s&pool_max_conns=%d", dsn, f.connections)})
	if err != nil {
		return nil, err
	}
	rates, err := f.claimAmong(ctx, s, suspended, func(ctx context.Context, statements []string) error {
		pg, err := pgx.Connect(ctx, dsn)
		if err != nil {
			return err
		}
		for _, st := range append(statements, "ANALYZE turns", "ANALYZE turn_inputs", "ANALYZE agenda", "ANALYZE calls") {
			if _, err := pg.Exec(ctx, st); err != nil {
				return errors.Join(err, pg.Close(ctx))
			}
		}
		return pg.Close(ctx)
	}, `SELECT column_name::text FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = '%s' AND is_generated = 'NEVER'`,
		`lpad(to_hex(g), 32, '0')`, `generate_series(1, %d) AS s(g)`)
	return rates, errors.Join(err, s.Close())
}

// claimAmong makes one turn that waits for a call, copies it in the database, and claims new
// ones. The copies are made in the database's own words: columns lists those of a table, hex
// makes an id of the number g, series gives the numbers.
func (f *field) claimAmong(ctx context.Context, s store.Ledger, suspended int, run func(context.Context, []string) error,
	columns, hex, series string,
) (rates []float64, err error) {
	p, err := raise(ctx, s, 1, nil)
	if err != nil {
		return nil, err
	}
	model, err := suspend(ctx, p)
	if err == nil {
		err = p.enqueue(ctx, (claimed+claimers)*f.rounds) // before there are many: what beginning a turn costs is not the question
	}
	if err = errors.Join(err, p.end()); err != nil {
		return nil, err
	}
	f.progress("seeding %d suspended turns", suspended)
	var statements []string
	for _, table := range []string{"turns", "turn_inputs", "agenda", "calls"} {
		names, err := list(ctx, s, fmt.Sprintf(columns, table))
		if err != nil {
			return nil, err
		}
		statements = append(statements, copies(table, names, model, hex, fmt.Sprintf(series, suspended-1)))
	}
	if err := run(ctx, statements); err != nil {
		return nil, err
	}
	if p, err = raise(ctx, s, 1, nil); err != nil {
		return nil, err
	}
	for n := range f.rounds {
		f.progress("round %d of %d: claims among %d", n+1, f.rounds, suspended)
		rate, err := claimAll(ctx, p, n)
		if err != nil {
			return nil, errors.Join(err, p.end())
		}
		rates = append(rates, rate)
	}
	return rates, p.end()
}

// copies is the statement that copies a turn's row in a table, with other ids. What is due in
// the turn is due a day later, so that nobody attends to a million of them.
func copies(table string, columns []string, model, hex, series string) string {
	var values []string
	for _, c := range columns {
		switch {
		case c == "due_at":
			values = append(values, c+" + 86400000000")
		case c == "created" || c == "imported" || c == "version" || c == "seq" || c == "fence" || c == "question" || strings.HasSuffix(c, "_at"):
			values = append(values, c)
		case c == "call_id":
			values = append(values, "'tc_' || "+hex)
		default:
			values = append(values, "replace("+c+", '"+model+"', "+hex+")")
		}
	}
	return "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") SELECT " + strings.Join(values, ", ") +
		" FROM " + table + ", " + series + " WHERE turn_id = 'turn_" + model + "'"
}

// list reads one column of texts.
func list(ctx context.Context, s store.Ledger, query string) (names []string, err error) {
	err = s.View(ctx, func(tx store.Tx) error {
		return inside(tx).Each(query, nil, func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			names = append(names, name)
			return err
		})
	})
	return names, err
}

// suspend begins a turn that waits for a call which nobody serves, and returns its id.
func suspend(ctx context.Context, p *parts) (string, error) {
	var a api.EnqueueAnswer
	if err := rpc.Ask(ctx, p.hub, api.OpEnqueue, api.EnqueueRequest{Agent: agent, Args: jsontext.Value(`{}`)}, &a); err != nil {
		return "", err
	}
	var c api.ClaimAnswer
	if err := p.ask(ctx, api.OpClaim, api.ClaimRequest{Agent: agent, Worker: "wrk_model"}, &c); err != nil {
		return "", err
	}
	request := api.CallRequest{
		WorkerRequest: c.WorkerRequest("wrk_model"), Step: c.Step + 1,
		Calls: []api.ToolCall{{Key: "c1", Tool: name, Args: api.Body{Inline: jsontext.Value(`{"n":1}`)}}},
	}
	return strings.TrimPrefix(a.Turn, "turn_"), p.ask(ctx, api.OpCall, request, nil)
}

// ask asks the kernel as the agent, past the bus.
func (p *parts) ask(ctx context.Context, op string, request, into any) error {
	raw, err := json.Marshal(request)
	if err != nil {
		return err
	}
	return api.DecodeAnswer(p.kernel.Handle(ctx, kernel.Caller{Kind: kernel.AgentCaller, Name: agent}, op, raw), into)
}

// claimAll claims turns, each for a seat of its own.
func claimAll(ctx context.Context, p *parts, n int) (float64, error) {
	var all sync.WaitGroup
	var got atomic.Int64
	failures := make([]error, claimers)
	began := time.Now()
	for i := range claimers {
		all.Go(func() {
			for j := 0; failures[i] == nil && got.Load() < claimed; j++ {
				var a api.ClaimAnswer
				seat := fmt.Sprintf("wrk_%d_%d_%d", n, i, j)
				if failures[i] = p.ask(ctx, api.OpClaim, api.ClaimRequest{Agent: agent, Worker: seat}, &a); a.Turn == "" {
					return
				}
				if got.Add(1) >= claimed {
					return
				}
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	if err := errors.Join(failures...); err != nil {
		return 0, err
	}
	if got.Load() < claimed {
		return 0, fmt.Errorf("claimed %d of %d turns", got.Load(), claimed)
	}
	return float64(got.Load()) / took.Seconds(), nil
}
