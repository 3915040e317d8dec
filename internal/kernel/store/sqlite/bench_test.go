package sqlite_test

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// submit shares b.N updates among submitters and reports how many were durable in a
// second.
func submit(b *testing.B, submitters int, update func(submitter, n int) error) {
	b.Helper()
	var next atomic.Int64
	var all sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for i := range submitters {
		all.Go(func() {
			for {
				n := next.Add(1)
				if n > int64(b.N) {
					return
				}
				if err := update(i, int(n)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "durable/s")
}

// BenchmarkUpdate is the least that is durable: one counter.
func BenchmarkUpdate(b *testing.B) {
	for _, submitters := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("submitters=%d", submitters), func(b *testing.B) {
			s := open(b, b.TempDir())
			submit(b, submitters, func(i, _ int) error {
				return s.Update(b.Context(), func(tx store.Tx) error {
					_, err := tx.Count("n"+strconv.Itoa(i), 1)
					return err
				})
			})
		})
	}
}

// BenchmarkStep is a typical step as the kernel takes it: read the turn by its session,
// save it with one call, two events, a card and a message.
func BenchmarkStep(b *testing.B) {
	for _, submitters := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("submitters=%d", submitters), func(b *testing.B) {
			s := open(b, b.TempDir())
			for i := range submitters {
				r := *record(i)
				r.State.Calls = []turn.Call{{ID: "tc_" + strconv.Itoa(i), Tool: "files.delete", Target: "files", State: turn.Started, Class: utp.Irreversible}}
				r.Args = jsontext.Value(`{"root":"/home/ann/pictures"}`)
				if err := save(b.Context(), s, store.Batch{Turn: &r}); err != nil {
					b.Fatal(err)
				}
			}
			submit(b, submitters, func(i, n int) error {
				return s.Update(b.Context(), func(tx store.Tx) error { return step(tx, i, n) })
			})
		})
	}
}

func step(tx store.Tx, submitter, n int) error {
	r, err := tx.Turn(store.TurnRef{Session: "sess_" + strconv.Itoa(submitter)})
	if err != nil {
		return err
	}
	r.State.Calls[0].Fence = n
	r.Narration = text(400)
	name := strconv.Itoa(n)
	now := time.UnixMicro(int64(n))
	event := store.Event{Session: r.State.Session, ID: "evt_" + name, Type: "agent.tool.completed", Body: text(600), Template: "tool.completed", Params: text(100), At: now}
	second := event
	second.ID += "b"
	return tx.Save(store.Batch{
		Turn: &r, Events: []store.Event{event, second},
		Cards: []utp.Card{{ID: "card_" + name, Project: "default", Type: utp.CardToolResult, AuthorID: "tool.files", ToolCallID: "tc_" + name, CreatedAt: now, Content: text(500), Metadata: text(300)}},
		Outbox: []store.Outgoing{{
			Session: r.State.Session, Subject: "cg.v1r4.default.public.cmd.tool.files.delete",
			Header: map[string][]string{"CG-Turn-Id": {r.State.Turn}}, Payload: text(400), Call: "tc_" + name,
		}},
	})
}

// text is JSON of about n bytes.
func text(n int) jsontext.Value {
	return jsontext.Value(`{"text":"` + string(bytes.Repeat([]byte("x"), n)) + `"}`)
}

// BenchmarkView reads a turn.
func BenchmarkView(b *testing.B) {
	s := open(b, b.TempDir())
	if err := save(b.Context(), s, twoEvents(1)); err != nil {
		b.Fatal(err)
	}
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			err := s.View(b.Context(), func(tx store.Tx) error {
				_, err := tx.Turn(store.TurnRef{Session: "sess_1"})
				return err
			})
			if err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkOpen opens a ledger that is there, and closes it.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	shut(b, open(b, dir))
	for b.Loop() {
		shut(b, open(b, dir))
	}
}

// BenchmarkCreate makes a new ledger, with all migrations, and closes it.
func BenchmarkCreate(b *testing.B) {
	for b.Loop() {
		shut(b, open(b, b.TempDir()))
	}
}
