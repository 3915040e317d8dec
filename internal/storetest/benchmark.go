package storetest

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Benchmark measures what is durable in a second, by 1, 8 and 32 submitters at once: the least update, one counter; and a
// step as the kernel takes it most, which reads a turn by its session and saves it with a call, two events, a card and a
// message. open makes an empty store, and closes it with the benchmark.
func Benchmark(b *testing.B, open func(b *testing.B) store.Ledger) {
	b.Helper()
	for _, submitters := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("update/submitters=%d", submitters), func(b *testing.B) {
			s := open(b)
			submit(b, s, submitters, func(tx store.Tx, i, _ int) error {
				_, err := tx.Count(numbered("n", i), 1)
				return err
			})
		})
	}
	for _, submitters := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("step/submitters=%d", submitters), func(b *testing.B) {
			s := open(b)
			for i := range submitters {
				r := runningTurn(i)
				if err := s.Update(b.Context(), func(tx store.Tx) error { return tx.Save(store.Batch{Turn: &r}) }); err != nil {
					b.Fatal(err)
				}
			}
			submit(b, s, submitters, typicalStep)
		})
	}
}

// submit shares b.N updates among submitters and reports how many were durable in a second.
func submit(b *testing.B, s store.Ledger, submitters int, update func(tx store.Tx, submitter, n int) error) {
	b.Helper()
	var next atomic.Int64
	var all sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for i := range submitters {
		all.Go(func() {
			for n := int(next.Add(1)); n <= b.N; n = int(next.Add(1)) {
				if err := s.Update(b.Context(), func(tx store.Tx) error { return update(tx, i, n) }); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "durable/s")
}

// runningTurn is the turn of a submitter.
func runningTurn(n int) store.Record {
	r := store.Record{State: turn.State{Turn: numbered("turn", n), Session: numbered("sess", n), Project: "default", Agent: "tidy", Status: turn.Running}}
	r.State.Calls = []turn.Call{{ID: numbered("tc", n), Tool: "files.delete", Target: "files", State: turn.Started, Class: utp.Irreversible}}
	r.Args = jsontext.Value(`{"root":"/home/ann/pictures"}`)
	return r
}

func typicalStep(tx store.Tx, submitter, n int) error {
	r, err := tx.Turn(store.TurnRef{Session: numbered("sess", submitter)})
	if err != nil {
		return err
	}
	r.State.Calls[0].Fence, r.Narration = n, textOf(400)
	name := strconv.Itoa(n)
	now := time.UnixMicro(int64(n))
	event := store.Event{
		Session: r.State.Session, ID: "evt_" + name, Type: "agent.tool.completed", Body: textOf(600), Template: "tool.completed", Params: textOf(100), At: now,
	}
	second := event
	second.ID += "b"
	return tx.Save(store.Batch{
		Turn: &r, Events: []store.Event{event, second},
		Cards: []utp.Card{{
			ID: "card_" + name, Project: "default", Type: utp.CardToolResult, AuthorID: "tool.files", ToolCallID: "tc_" + name, CreatedAt: now,
			Content: textOf(500), Metadata: textOf(300),
		}},
		Outbox: []store.Outgoing{{
			Session: r.State.Session, Subject: "cg.v1r4.default.public.cmd.tool.files.delete",
			Header: map[string][]string{"CG-Turn-Id": {r.State.Turn}}, Payload: textOf(400), Call: "tc_" + name,
		}},
	})
}

func numbered(kind string, n int) string { return kind + "_" + strconv.Itoa(n) }

// textOf is JSON of about n bytes.
func textOf(n int) jsontext.Value { return jsontext.Value(`{"text":"` + strings.Repeat("x", n) + `"}`) }
