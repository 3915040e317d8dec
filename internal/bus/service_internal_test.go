package bus

import (
	"context"
	"log/slog"
	"testing"

	"github.com/nats-io/nats.go"
)

// The server lets none of these through today; the responder does not rely on it.
func TestResponderDropsForeignRequests(t *testing.T) {
	t.Parallel()
	handled := 0
	s := &service{
		kernel:  &Kernel{project: "home", maxPayload: 1, log: slog.New(slog.DiscardHandler)},
		handler: func(context.Context, Principal, string, []byte) []byte { handled++; return nil },
	}
	for _, m := range []*nats.Msg{
		{Subject: "earshot.v1.home.kernel.agent.worker.claim", Reply: "$JS.ACK.a.b.1.1.1.1.1"},
		{Subject: "earshot.v1.home.kernel.agent.worker.claim", Reply: "cg.v1r4.home.public.cmd.tool.files.delete"},
		{Subject: "earshot.v1.home.kernel.agent.worker.start", Reply: "cg.v1r4.home.public.cmd.tool.files.delete"},
		{Subject: "earshot.v1.home.kernel.agent.worker.start"},
		{Subject: "earshot.v1.home.kernel.claim"},
	} {
		s.answer(t.Context(), m) // an answer would fail: there is no connection
	}
	if handled > 0 {
		t.Errorf("%d of them were handled", handled)
	}
	s.answer(t.Context(), &nats.Msg{Subject: "earshot.v1.home.kernel.agent.worker.claim"})
	if handled != 1 {
		t.Error("an honest request was not handled")
	}
}

// TestDispatcherNeverWrites: to write waits for others to read, and meanwhile the library would
// drop what comes. What finds no place is left to another goroutine, or dropped.
func TestDispatcherNeverWrites(t *testing.T) {
	t.Parallel()
	s := &service{
		kernel:  &Kernel{project: "home", maxPayload: 1, backlog: 1, log: slog.New(slog.DiscardHandler)},
		waiting: make(chan *nats.Msg, 1), excess: make(chan *nats.Msg, 1), shares: map[Principal]int{},
	}
	for range 3 {
		s.enqueue(&nats.Msg{Subject: "earshot.v1.home.kernel.agent.worker.claim", Reply: answerPrefix + "x"}) // there is no connection to write to
	}
	if len(s.waiting) != 1 || len(s.excess) != 1 {
		t.Errorf("%d wait and %d are to be refused; want one each", len(s.waiting), len(s.excess))
	}
}
