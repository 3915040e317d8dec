package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres/cluster"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
)

// The contenders.
const (
	onSQLite   = "sqlite"
	oneByOne   = "sqlite-alone"
	onPostgres = "postgres"
	onRiver    = "river"
	bareSQL    = "pgbench"
)

func contenders() []string { return []string{onSQLite, oneByOne, onPostgres, onRiver, bareSQL} }

// field is where contenders meet: one server, one file system.
type field struct {
	settings
	dir        string
	server     *cluster.Cluster
	postmaster int
	made       int
	bare       *script // what pgbench runs; nil before it is made
}

func newField(ctx context.Context, s settings) (f *field, err error) {
	f = &field{settings: s}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	if f.dir, err = os.MkdirTemp("", "earshot-call-"); err != nil {
		return f, err
	}
	if s.profile != "" {
		if err := os.MkdirAll(s.profile, 0o700); err != nil {
			return f, err
		}
	}
	if f.server, err = cluster.Start(ctx); err != nil {
		return f, err
	}
	dsn, err := f.server.Ledger(ctx)
	if err != nil {
		return f, err
	}
	if f.postmaster, err = postmaster(ctx, dsn); err != nil {
		return f, err
	}
	if s.where {
		if err := readable(ctx, f.server); err != nil {
			return f, err
		}
	}
	if slices.Contains(s.only, bareSQL) {
		f.progress("recording the statements of a call")
		f.bare, err = f.record(ctx)
	}
	if err == nil && s.script != "" && f.bare != nil {
		err = os.WriteFile(s.script, []byte(f.bare.text), 0o600)
	}
	return f, err
}

func (f *field) close() error {
	var err error
	if f.server != nil {
		err = f.server.Stop()
	}
	return errors.Join(err, os.RemoveAll(f.dir))
}

// progress says what is being done.
func (f *field) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

// figures are the medians of a contender's rounds under one load.
type figures struct {
	Contender     string        `json:"contender"`
	Workers       int           `json:"workers"`
	Asked         int           `json:"rate"`
	Rate          float64       `json:"calls_per_second"`
	Low           float64       `json:"lowest"`
	High          float64       `json:"highest"`
	P50           time.Duration `json:"p50_ns"`
	P99           time.Duration `json:"p99_ns"`
	Commits       float64       `json:"commits_per_call"`
	Syncs         float64       `json:"syncs_per_call"`
	Rows          float64       `json:"rows_per_call"`
	Bytes         float64       `json:"log_bytes_per_call"`
	Own           time.Duration `json:"own_processor_ns"`
	Server        time.Duration `json:"server_processor_ns"`
	RatioToRiver  float64       `json:"ratio_to_river,omitempty"`
	RatioToAlone  float64       `json:"ratio_to_alone,omitempty"`
	Requests      string        `json:"requests_per_call,omitempty"`
	LatencyRivers float64       `json:"p50_to_rivers,omitempty"`
}

func (f figures) String() string {
	var b strings.Builder
	how := fmt.Sprintf("%d workers", f.Workers)
	if f.Asked > 0 {
		how = fmt.Sprintf("%d calls/s", f.Asked)
	}
	fmt.Fprintf(&b, "%-11s %-12s %7.0f calls/s (%.0f to %.0f)  p50 %s p99 %s", how, f.Contender, f.Rate, f.Low, f.High, short(f.P50), short(f.P99))
	fmt.Fprintf(&b, "  processors %s own %s server", short(f.Own), short(f.Server))
	if f.Commits > 0 {
		fmt.Fprintf(&b, "  %.2f commits %.2f syncs %.1f rows %.0f bytes", f.Commits, f.Syncs, f.Rows, f.Bytes)
	}
	for _, r := range []struct {
		of string
		is float64
	}{{"River's rate", f.RatioToRiver}, {"the rate alone", f.RatioToAlone}, {"River's p50", f.LatencyRivers}} {
		if r.is > 0 {
			fmt.Fprintf(&b, "  %.2f x %s", r.is, r.of)
		}
	}
	if f.Requests != "" {
		fmt.Fprintf(&b, "\n            requests: %s", f.Requests)
	}
	return b.String()
}

func short(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 2, 64) + " ms"
}

// compare has the contenders take turns under one load, each second round in the other order.
func (f *field) compare(ctx context.Context, l load) ([]figures, error) {
	order := slices.Clone(f.only)
	if l.Rate > 0 {
		order = slices.DeleteFunc(order, func(who string) bool { return who == oneByOne || who == bareSQL })
	}
	found := map[string][]round{}
	for n := range f.rounds {
		for _, who := range order {
			f.progress("round %d of %d: %s, %d workers, rate %d", n+1, f.rounds, who, l.Workers, l.Rate)
			r, err := f.measure(ctx, who, l, n)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", who, err)
			}
			found[who] = append(found[who], r)
		}
		slices.Reverse(order)
	}
	var all []figures
	for _, who := range f.only {
		if len(found[who]) > 0 {
			all = append(all, sum(who, l, found[who]))
		}
	}
	relate(all, l)
	return all, nil
}

// sum takes the medians.
func sum(who string, l load, rounds []round) figures {
	slices.SortFunc(rounds, func(a, b round) int { return cmp.Compare(a.Rate, b.Rate) })
	middle := rounds[len(rounds)/2]
	return figures{
		Contender: who, Workers: l.Workers, Asked: l.Rate, Rate: middle.Rate, Low: rounds[0].Rate, High: rounds[len(rounds)-1].Rate,
		P50: median(rounds, func(r round) time.Duration { return r.P50 }), P99: median(rounds, func(r round) time.Duration { return r.P99 }),
		Commits: median(rounds, func(r round) float64 { return r.Counted.Commits }), Syncs: median(rounds, func(r round) float64 { return r.Counted.Syncs }),
		Rows: median(rounds, func(r round) float64 { return r.Counted.Rows }), Bytes: median(rounds, func(r round) float64 { return r.Counted.Bytes }),
		Own: median(rounds, func(r round) time.Duration { return r.Own }), Server: median(rounds, func(r round) time.Duration { return r.Server }),
		Requests: middle.Asked,
	}
}

func median[T cmp.Ordered](rounds []round, of func(round) T) T {
	var all []T
	for _, r := range rounds {
		all = append(all, of(r))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// relate fills the ratios in.
func relate(all []figures, l load) {
	by := map[string]figures{}
	for _, f := range all {
		by[f.Contender] = f
	}
	for i := range all {
		if r := by[onRiver]; r.Rate > 0 && all[i].Contender != onRiver {
			if l.Rate > 0 {
				all[i].LatencyRivers = float64(all[i].P50) / float64(max(r.P50, 1))
			} else {
				all[i].RatioToRiver = all[i].Rate / r.Rate
			}
		}
		if a := by[oneByOne]; a.Rate > 0 && all[i].Contender == onSQLite {
			all[i].RatioToAlone = all[i].Rate / a.Rate
		}
	}
}

func (f *field) measure(ctx context.Context, who string, l load, n int) (round, error) {
	profile := ""
	if f.profile != "" {
		profile = filepath.Join(f.profile, fmt.Sprintf("%s-%d-%d-%d-%d.cpu", who, l.Workers, l.Rate, l.Join, n+1))
	}
	switch who {
	case onSQLite:
		return f.onSQLite(ctx, l, 0, profile)
	case oneByOne:
		return f.onSQLite(ctx, l, 1, profile)
	case bareSQL:
		return f.onBare(ctx, l)
	}
	dsn, err := f.server.Ledger(ctx)
	if err != nil {
		return round{}, err
	}
	defer func() { _ = dropSchema(context.WithoutCancel(ctx), dsn) }()
	before, err := server(ctx, dsn)
	if err != nil {
		return round{}, err
	}
	pooled := fmt.Sprintf("%s&pool_max_conns=%d", dsn, f.connections)
	var r round
	var from string
	if f.where {
		if from, err = position(ctx, dsn); err != nil {
			return r, err
		}
	}
	if who == onRiver {
		r, err = rivers(ctx, l, pooled, profile)
	} else {
		r, err = onServer(ctx, l, pooled, profile)
	}
	if err != nil {
		return r, err
	}
	after, err := server(ctx, dsn)
	r.Counted = after.minus(before).over(r.All)
	if err == nil && f.where {
		err = whereServer(ctx, dsn, from, r.All)
	}
	return r, err
}

func onServer(ctx context.Context, l load, dsn, profile string) (round, error) {
	s, err := postgres.Open(ctx, postgres.Options{DSN: dsn})
	if err != nil {
		return round{}, err
	}
	r, err := ours(ctx, l, s, profile)
	return r, errors.Join(err, s.Close())
}

func (f *field) onSQLite(ctx context.Context, l load, together int, profile string) (round, error) {
	f.made++
	dir := filepath.Join(f.dir, strconv.Itoa(f.made))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return round{}, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the whole folder is removed at the end
	s, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "ledger.db"), Together: together})
	if err != nil {
		return round{}, err
	}
	before, err := embedded(ctx, s)
	var from int64
	if err == nil && f.where {
		if err = keepLog(ctx, s); err == nil {
			from, err = whereEmbedded(ctx, s, 0, 0)
		}
	}
	if err != nil {
		return round{}, errors.Join(err, s.Close())
	}
	r, err := ours(ctx, l, s, profile)
	if err == nil {
		var after counted
		after, err = embedded(ctx, s)
		r.Counted = after.minus(before).over(r.All)
	}
	if err == nil && f.where {
		_, err = whereEmbedded(ctx, s, from, r.All)
	}
	return r, errors.Join(err, s.Close())
}
