package kernel_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/worker"
)

// deciding runs a hub that decides what nobody who is connected can answer.
func (w *world) deciding(t *testing.T) *hub.Hub {
	t.Helper()
	h := hub.Open(hub.Options{Conn: w.person, Offer: pacing.Offer{Producer: aaep.Producer{AgentID: "earshot"}}, Decides: true})
	ctx, cancel := context.WithCancel(w.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := h.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return h
}

// connect has the person listen, who can answer confirmations or not. It returns how the connection is lost.
func (w *world) connect(t *testing.T, h *hub.Hub, confirms bool) (lose func()) {
	t.Helper()
	sub, rejected, err := h.Subscribe(w.ctx, access.Principal{Name: person, Roles: []access.Role{access.Approver}, Surface: "page"}, aaep.SubscriptionRequest{
		AAEPVersion: aaep.Version, SubscriberID: "test",
		Capabilities: aaep.Capabilities{SupportsConfirmationReply: &confirms, SupportsClarificationReply: new(true)},
	})
	if err != nil || rejected != nil {
		t.Fatal(rejected, err)
	}
	ctx, cancel := context.WithCancel(w.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range sub.Deliveries(ctx, "") { //nolint:errcheck // it only is there
		}
	}()
	synctest.Wait()
	return func() {
		cancel()
		<-done
	}
}

// decidedAfter returns how long the last question of a session was open.
func (w *world) decidedAfter(t *testing.T, session string) time.Duration {
	t.Helper()
	var asked, ended time.Time
	for _, body := range w.bodies(session) {
		e, err := aaep.DecodeEvent([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		switch e.Payload.(type) {
		case aaep.AwaitingConfirmation, aaep.AwaitingClarification:
			asked = e.Time
		default:
			if e.Extension(aaep.PrefixEarshot, "resolution") != "" {
				ended = e.Time
			}
		}
	}
	return ended.Sub(asked)
}

// TestNobodyCanAnswer: where policy decides, the default of a question that nobody who is connected can answer holds within 100 ms.
// It is never a yes; the person hears later that nobody was there, and the receipt says so
// (CONF-82, CONF-83, CLA-12, C-66).
func TestNobodyCanAnswer(t *testing.T) {
	const soon = 100 * time.Millisecond
	for name, play := range map[string]struct {
		tool                string
		patient             bool
		connected, confirms bool
	}{
		"irreversible, nobody connected":              {tool: burn},
		"irreversible, where questions wait":          {tool: burn, patient: true},
		"reversible, nobody connected":                {tool: paint},
		"irreversible, who listens cannot answer":     {tool: burn, connected: true},
		"irreversible, the connection is lost":        {tool: burn, connected: true, confirms: true},
		"reversible, the connection is lost, waiting": {tool: paint, patient: true, connected: true, confirms: true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) { w.patient = play.patient }, func(t *testing.T, w *world) {
				h, lose := w.deciding(t), func() {}
				if play.connected {
					lose = w.connect(t, h, play.confirms)
				}
				w.work(one(play.tool))
				a := w.begin()
				open := soon
				if play.connected && play.confirms {
					w.asked()
					w.pass(time.Minute)
					w.asked()
					open += time.Minute + soon // that the test itself takes to notice the question
					lose()
				}
				w.over(a.Turn)
				if after := w.decidedAfter(t, a.Session); after > open || after < open-2*soon {
					t.Errorf("it was decided after %v, expected at most %v", after, open)
				}
				w.effectsAre(0)
				if all, _ := w.receipts(); !slices.Equal(all, []string{"nobody   en"}) {
					t.Errorf("the receipts are %q", all)
				}
				if all := strings.Join(w.bodies(a.Session), "\n"); !strings.Contains(all, "Nobody is there to answer question 1") {
					t.Errorf("it was told as\n%s", all)
				}
				lose()
			})
		})
	}
}

// TestNobodyToAsk: the default of the agent's own question holds at once, and it is told that nobody has given it (CLA-11, CLA-12).
func TestNobodyToAsk(t *testing.T) {
	for name, row := range map[string]struct {
		ask  worker.Question
		want string
	}{
		"a default":  {worker.Question{Text: "Now?", Kinds: []worker.Kind{worker.YesNo}, Default: "false"}, `success true by : false `},
		"no default": {worker.Question{Text: "Which?"}, `canceled false by : null consent_expired`},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.deciding(t)
				w.loop(asksOnce(row.ask))
				a := w.begin()
				if end := w.over(a.Turn).End; end.Message != row.want {
					t.Errorf("the agent was told %q; want %q", end.Message, row.want)
				}
				if after := w.decidedAfter(t, a.Session); after > 100*time.Millisecond {
					t.Errorf("it was decided after %v", after)
				}
			})
		})
	}
}
