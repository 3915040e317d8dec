package serve_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform/producer"
	"github.com/earshot-dev/earshot/aaep/conform/report"
	"github.com/earshot-dev/earshot/aaep/serve"
	"github.com/earshot-dev/earshot/aaep/serve/grpc"
	"github.com/earshot-dev/earshot/aaep/session"
)

// work is a session with everything in it: tools, text, progress, a clarification and a question that is open for so many seconds.
func work(ctx context.Context, p *serve.Producer, seconds int64) error {
	s, err := p.Begin(aaep.SessionStarted{SummaryNormal: "Tidying up."})
	if err != nil {
		return err
	}
	scan, err := s.Tool(aaep.ToolInvoked{Tool: "files.scan", SummaryNormal: "Looking."})
	if err != nil {
		return err
	}
	err = errors.Join(
		s.Progress(aaep.ProgressUpdated{SummaryNormal: "Half of the files are read.", Progress: aaep.Progress{Description: "reading"}}),
		scan.Complete(aaep.ToolCompleted{Status: aaep.ToolSuccess, SummaryNormal: "Found 3 files."}),
	)
	if err != nil {
		return err
	}
	if _, err := s.Clarify(ctx, aaep.AwaitingClarification{Question: "Which of the two?", SummaryNormal: "Which of the two?", TimeoutSeconds: 1}); err != nil {
		return err
	}
	answer, err := s.Confirm(ctx, "files.delete", aaep.AwaitingConfirmation{
		Action: "Delete 3 files.", Consequence: "They cannot be brought back.", SummaryNormal: "Delete 3 files?",
		RiskLevel: aaep.RiskHigh, Irreversible: true, TimeoutSeconds: seconds,
	})
	if err != nil {
		return err
	}
	if answer.Accepted() {
		call, err := answer.Tool(aaep.ToolInvoked{SummaryNormal: "Deleting."})
		if err != nil {
			return err
		}
		if err := call.Complete(aaep.ToolCompleted{Status: aaep.ToolSuccess, SummaryNormal: "Deleted 3 files."}); err != nil {
			return err
		}
	}
	text := s.Output(session.TextOptions{Boundary: aaep.BoundarySentence})
	if _, err := fmt.Fprint(text, "Three files were equal. One copy is left. That is all."); err != nil {
		return err
	}
	return s.Complete(aaep.SessionCompleted{SummaryNormal: "Done."})
}

// TestConform: a producer of this package is judged at level 3, over each transport of HTTP and over gRPC, with an accept and with a reject,
// and over one with silence, and breaks no rule. Those about replies that do not count, and about the end of the time to answer, came up.
func TestConform(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http", "ws", "grpc"} {
		for _, decision := range []aaep.Decision{aaep.DecisionAccept, aaep.DecisionReject, producer.Silence} {
			if decision == producer.Silence && scheme != "http" {
				continue // what a producer does then has nothing to do with its transport
			}
			t.Run(scheme+" "+string(decision), func(t *testing.T) {
				t.Parallel()
				p := tidy(t, serve.Options{Allow: serve.Token("a secret"), Transports: []serve.Transport{grpc.Transport{}}})
				server := httptest.NewUnstartedServer(p)
				grpc.Configure(server.Config)
				server.Start()
				t.Cleanup(server.Close)
				ended, seconds, keeps := make(chan error, 1), int64(120), []string{"CONF-51", "CONF-53", "CONF-61", "SEC-04", "TR-12", "HS-67", "I18N-18"}
				if decision == producer.Silence {
					seconds, keeps = 1, []string{"CONF-70", "CLA-11"}
				}
				r, err := producer.Judge(t.Context(), producer.Options{
					URL: scheme + strings.TrimPrefix(server.URL, "http"), Token: "a secret", Fresh: true, Sessions: 1, For: 2 * time.Minute, Answer: decision,
					Ready: func() { go func() { ended <- work(t.Context(), p, seconds) }() },
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := <-ended; err != nil {
					t.Error(err)
				}
				var text strings.Builder
				if err := r.WriteText(&text, false); err != nil {
					t.Fatal(err)
				}
				if !r.Passed(true) {
					t.Errorf("judged as\n%s", text.String())
				}
				for _, v := range r.Verdicts {
					if slices.Contains(keeps, v.Rule) && v.State != report.Passed {
						t.Errorf("%s is %s, expected kept", v.Rule, v.State)
					}
				}
			})
		}
	}
}

// tidy returns a producer that ends with the test.
func tidy(t testing.TB, o serve.Options) *serve.Producer {
	t.Helper()
	o.Producer.AgentID = "tidy"
	p, err := serve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}
