package browser_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/earshot-dev/earshot/worker"
	"github.com/earshot-dev/earshot/worker/agent"
)

// asker is the name of the agent of these tests.
const asker = "asker"

// serveAgent starts the program with an agent of one's own, which plans so.
func serveAgent(t *testing.T, plan func(context.Context, worker.Transcript) (worker.Decision, error)) *server {
	t.Helper()
	s := prepare(t, 0)
	if out, code := s.terminal("credential", "add", asker, "--role", "agent"); code != 0 {
		t.Fatal(out)
	}
	s.args = []string{"--nats-listen", "127.0.0.1:0"}
	s.start()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		ended <- agent.Run(ctx, agent.Options{Credentials: filepath.Join(s.data, "credentials", "agent."+asker+".json")}, worker.Agent{
			Name: asker, Plan: worker.PlanFunc(plan),
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// asks is an agent that asks a question and ends with the answer.
func asks(q worker.Question) func(context.Context, worker.Transcript) (worker.Decision, error) {
	q.Key = "ask"
	return func(_ context.Context, t worker.Transcript) (worker.Decision, error) {
		r, asked := t.Find("ask")
		if !asked {
			return worker.Decision{Question: &q}, nil
		}
		a, _ := r.Answered()
		return worker.Decision{Answer: &worker.Answer{Summary: "The answer was " + string(a.Answer) + "."}}, nil
	}
}

// answers is an agent that writes an answer and ends.
func answers(text string) func(context.Context, worker.Transcript) (worker.Decision, error) {
	return func(ctx context.Context, _ worker.Transcript) (worker.Decision, error) {
		if _, err := worker.Output(ctx).Write([]byte(text)); err != nil {
			return worker.Decision{}, err
		}
		return worker.Decision{Answer: &worker.Answer{Summary: "Done."}}, nil
	}
}
