// Command store measures what one durable step of the kernel costs in each ledger, side by
// side in one run: SQLite in a file, and a private PostgreSQL that is started for it, reached
// by its Unix socket and flushing what it commits. Both lie in the same temporary folder's
// file system.
//
//	go run ./store -for 3s -runs 3
//
// A step is what the kernel does most: read a turn by its session, save it with a call, two
// events, a card and a message. Each submitter has a turn of its own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres/cluster"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

func main() {
	last := flag.Duration("for", 3*time.Second, "how long each measurement lasts")
	runs := flag.Int("runs", 3, "how many of each; the median counts")
	flag.Parse()
	if err := measure(context.Background(), *last, *runs); err != nil {
		log.Fatal(err)
	}
}

func measure(ctx context.Context, last time.Duration, runs int) (err error) {
	dir, err := os.MkdirTemp("", "earshot-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	server, err := cluster.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	made := 0
	stores := []struct {
		name string
		open func() (store.Ledger, error)
	}{
		{"SQLite", func() (store.Ledger, error) {
			made++
			return sqlite.Open(ctx, sqlite.Options{Path: fmt.Sprintf("%s/%d.db", dir, made)})
		}},
		{"PostgreSQL", func() (store.Ledger, error) {
			dsn, err := server.Ledger(ctx)
			if err != nil {
				return nil, err
			}
			return postgres.Open(ctx, postgres.Options{DSN: dsn + "&pool_max_conns=32"})
		}},
	}
	for _, submitters := range []int{1, 8, 32} {
		rates := make([][]float64, len(stores))
		for range runs { // in turns, so that both meet the same others on the machine
			for i, s := range stores {
				store, err := s.open()
				if err != nil {
					return err
				}
				rate, err := steps(ctx, store, submitters, last)
				if err := errors.Join(err, store.Close()); err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
				rates[i] = append(rates[i], rate)
			}
		}
		for i, s := range stores {
			slices.Sort(rates[i])
			fmt.Printf("%2d submitters, %-10s  %6.0f steps/s (median of %d; %.0f to %.0f)\n",
				submitters, s.name, rates[i][runs/2], runs, rates[i][0], rates[i][runs-1])
		}
	}
	return nil
}

// steps has submitters take steps for a while and returns how many were durable in a second.
func steps(ctx context.Context, s store.Ledger, submitters int, last time.Duration) (float64, error) {
	for i := range submitters {
		r := store.Record{State: turn.State{Turn: id("turn", i), Session: id("sess", i), Project: "default", Agent: "tidy", Status: turn.Running}}
		r.State.Calls = []turn.Call{{ID: id("tc", i), Tool: "files.delete", Target: "files", State: turn.Started, Class: utp.Irreversible}}
		r.Args = jsontext.Value(`{"root":"/home/ann/pictures"}`)
		if err := s.Update(ctx, func(tx store.Tx) error { return tx.Save(store.Batch{Turn: &r}) }); err != nil {
			return 0, err
		}
	}
	var all sync.WaitGroup
	var done atomic.Int64
	failures := make([]error, submitters)
	began := time.Now()
	for i := range submitters {
		all.Go(func() {
			for n := 0; time.Since(began) < last && failures[i] == nil; n++ {
				failures[i] = s.Update(ctx, func(tx store.Tx) error { return step(tx, i, n) })
				done.Add(1)
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / time.Since(began).Seconds(), errors.Join(failures...)
}

func step(tx store.Tx, submitter, n int) error {
	r, err := tx.Turn(store.TurnRef{Session: id("sess", submitter)})
	if err != nil {
		return err
	}
	r.State.Calls[0].Fence, r.Narration = n, text(400)
	name := fmt.Sprintf("%d_%d", submitter, n)
	now := time.UnixMicro(int64(n))
	event := store.Event{Session: r.State.Session, ID: "evt_" + name, Type: "agent.tool.completed", Body: text(600), Template: "tool.completed", Params: text(100), At: now}
	second := event
	second.ID += "b"
	return tx.Save(store.Batch{
		Turn: &r, Events: []store.Event{event, second},
		Cards: []utp.Card{{
			ID: "card_" + name, Project: "default", Type: utp.CardToolResult, AuthorID: "tool.files", ToolCallID: "tc_" + name, CreatedAt: now,
			Content: text(500), Metadata: text(300),
		}},
		Outbox: []store.Outgoing{{
			Session: r.State.Session, Subject: "cg.v1r4.default.public.cmd.tool.files.delete",
			Header: map[string][]string{"CG-Turn-Id": {r.State.Turn}}, Payload: text(400), Call: "tc_" + name,
		}},
	})
}

func id(kind string, n int) string { return kind + "_" + strconv.Itoa(n) }

// text is JSON of about n bytes.
func text(n int) jsontext.Value {
	return jsontext.Value(`{"text":"` + strings.Repeat("x", n) + `"}`)
}
