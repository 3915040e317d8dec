// Command call measures one whole call that does nothing, from the worker's request to the
// applied result, on the real parts: a bus in this process, a kernel, a tool service, and
// workers whose planner asks for one call of a reading tool after the other. Every event is
// narrated, kept and broadcast. The ledger is SQLite in a file, or a private PostgreSQL by its
// Unix socket, both flushing what they commit.
//
// Beside it, in the same run and in turns: SQLite with one update in a commit; River on the
// same server, where a call is three chained jobs (command, result, resume), each inserted in
// the transaction that completes the one before; and the bare SQL of one call in pgbench, from
// a script that is made of the statements which the kernel was seen to run.
//
//	go run ./call                          everything but the claims: about 10 minutes
//	go run ./call -only postgres,river -workers 64
//	go run ./call -only postgres -workers 64 -profile /tmp/prof
//	go run ./call -claims 1000,1000000     claims per second among so many suspended turns
//	go run ./call -parents 100000          claims among so many turns that wait for three others each, beside none
//	go run ./call -join 8                  calls that 8 turns do each, beside calls of the tool
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// settings are what the flags say.
type settings struct {
	last, warm  time.Duration
	rounds      int
	workers     []int
	rate        int
	connections int
	only        []string
	claims      []int
	join        int
	parents     int
	profile     string
	script      string
	where, json bool
}

func main() {
	s, err := parse()
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s); err != nil {
		log.Fatal(err) //nolint:gocritic // nothing is left to stop
	}
}

func parse() (s settings, err error) {
	workers := flag.String("workers", "1,8,64", "how many workers, each with one turn in hand")
	only := flag.String("only", strings.Join(contenders(), ","), "which contenders")
	claims := flag.String("claims", "", "instead of calls, measure claims among so many suspended turns, for example 1000,1000000")
	flag.IntVar(&s.join, "join", 0, "instead of calls alone, measure calls that so many turns do each, beside them; at most 64")
	flag.IntVar(&s.parents, "parents", 0, "instead of calls, measure claims among so many suspended turns that wait for three others each, beside none")
	flag.DurationVar(&s.last, "for", 5*time.Second, "how long each measurement lasts")
	flag.DurationVar(&s.warm, "warm", 2*time.Second, "how long each contender runs before it")
	flag.IntVar(&s.rounds, "rounds", 3, "how many of each, in alternating order; the median counts")
	flag.IntVar(&s.rate, "rate", 100, "calls per second of the measurement of latency; 0 leaves it out")
	flag.IntVar(&s.connections, "connections", 32, "connections to PostgreSQL, for anyone who uses it")
	flag.StringVar(&s.profile, "profile", "", "a folder for a processor profile of each measurement")
	flag.StringVar(&s.script, "script", "", "where to keep the script of pgbench")
	flag.BoolVar(&s.where, "where", false, "say which tables and indexes the log of a call is about")
	flag.BoolVar(&s.json, "json", false, "print the figures as JSON")
	flag.Parse()
	s.only = strings.Split(*only, ",")
	for _, name := range s.only {
		if !slices.Contains(contenders(), name) {
			return s, fmt.Errorf("-only names %q; expected some of %s", name, strings.Join(contenders(), ", "))
		}
	}
	if s.workers, err = numbers(*workers); err != nil {
		return s, fmt.Errorf("-workers: %w", err)
	}
	s.claims, err = numbers(*claims)
	if s.rounds < 1 || flag.NArg() > 0 {
		return s, errors.New("expected at least one round, and no arguments beside the flags")
	}
	return s, err
}

func numbers(list string) (all []int, err error) {
	for _, one := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(one)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a number above 0", one)
		}
		all = append(all, n)
	}
	return all, nil
}

func run(ctx context.Context, s settings) (err error) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // as `earshot up` does, and for River as well
	}
	f, err := newField(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	if len(s.claims) > 0 {
		return f.claims(ctx)
	}
	if s.parents > 0 {
		return f.parentsWait(ctx, s.parents)
	}
	if s.join > 0 {
		return f.joins(ctx, min(s.join, joinWorkers))
	}
	var all []figures
	for _, workers := range s.workers {
		found, err := f.compare(ctx, load{Workers: workers, Warm: s.warm, For: s.last, Postmaster: f.postmaster})
		if err != nil {
			return err
		}
		all = append(all, found...)
		show(s, found)
	}
	if s.rate > 0 {
		found, err := f.compare(ctx, load{Workers: 64, Rate: s.rate, Warm: s.warm, For: s.last, Postmaster: f.postmaster})
		if err != nil {
			return err
		}
		all = append(all, found...)
		show(s, found)
	}
	if s.json {
		return json.NewEncoder(os.Stdout).Encode(all)
	}
	return nil
}

// show prints figures as soon as they are known.
func show(s settings, found []figures) {
	if s.json {
		return
	}
	for _, f := range found {
		fmt.Println(f)
	}
}
