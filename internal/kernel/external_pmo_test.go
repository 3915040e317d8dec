package kernel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// toPMO is the command for a tool of the PMO, as a v1r4 worker sends it.
func (s *stranger) toPMO(turnID, call, name string, args map[string]any) utp.CallCard {
	s.world.t.Helper()
	raw, err := json.Marshal(args, json.Deterministic(true))
	if err != nil {
		s.world.t.Fatal(err)
	}
	c := s.wanted(turnID, call, name)
	c.Arguments, c.TargetSubject = jsontext.Value(raw), "cg.v1r4.home.public.cmd.sys.pmo.internal."+name
	s.keeps(utp.NewToolCall(c))
	return c
}

// TestForeignForkJoin: a third-party worker has other agents do something with the tools of the PMO, on their own subjects:
// its call ends with their turns, whose results its row refers to. The same command again begins no other.
func TestForeignForkJoin(t *testing.T) {
	inWorld(t, func(w *world) { w.unended, w.starts = true, []string{clerk} }, func(t *testing.T, w *world) {
		peer := w.stranger("peer")
		c := peer.holds()
		m := peer.commanded(peer.toPMO(c.Turn, "tc_theirs", "fork_join", tasks(2, nil)), c.Epoch)
		for range 2 {
			if a, err := peer.sends(m); err != nil || a.State != api.CommandAdopted {
				t.Fatalf("%+v, %v", a, err)
			}
		}
		for _, name := range []string{"c1", "c2"} {
			one := w.clerkClaims(name)
			if one.ParentTurn != c.Turn || one.ParentAgent != "peer" || one.ParentStep != "step_9" {
				t.Fatalf("the task is %+v", one)
			}
			w.clerkEnds(one, name, utp.StatusSuccess, "")
		}
		if more := w.clerkClaims("c3"); more.Turn != "" {
			t.Errorf("another task: %+v", more)
		}
		w.settle()
		row, result, is := peer.row(c.Turn, "tc_theirs")
		if !is || row.Report.Status != utp.StatusSuccess || strings.Count(string(result.Result), `"agent_turn_id"`) != 2 {
			t.Errorf("the row %+v of %+v", row, result)
		}
		peer.delivers(c)
		w.over(c.Turn)
	})
}

// TestForeignForkJoinWrong: a command to the PMO that is none is answered, and begins nothing: another tool than its subject
// names, one that a service serves, one that nobody serves, an agent that it may not ask, and malformed arguments.
func TestForeignForkJoinWrong(t *testing.T) {
	for name, tt := range map[string]struct {
		tool, subject string
		args          map[string]any
		code          utp.Code
	}{
		"another tool":     {"ask_expert", "fork_join", map[string]any{"expert_profile": clerk, "question": "?"}, utp.CodeBadRequest},
		"of a service":     {poller, poller, map[string]any{"name": "x"}, utp.CodeAuthFailed},
		"of nobody":        {"provision_agent", "provision_agent", map[string]any{"action": "ensure", "agent_id": "x"}, utp.CodeUnknownTool},
		"no tasks":         {"fork_join", "fork_join", map[string]any{"tasks": []any{}}, utp.CodeBadRequest},
		"to a tool's lane": {"fork_join", "", tasks(1, nil), utp.CodeAuthFailed},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) { w.unended, w.starts = true, []string{clerk} }, func(t *testing.T, w *world) {
				peer := w.stranger("peer")
				c := peer.holds()
				m := peer.commanded(peer.toPMO(c.Turn, "tc_theirs", tt.tool, tt.args), c.Epoch)
				m.Subject = "cg.v1r4.home.public.cmd.sys.pmo.internal." + tt.subject
				if tt.subject == "" {
					m.Subject = "cg.v1r4.home.public.cmd.tool." + target + ".run"
				}
				_, err := peer.sends(m)
				wantFault(t, err, tt.code)
				w.pass(time.Second)
				if _, result, is := peer.row(c.Turn, "tc_theirs"); !is || result.Status != utp.StatusFailed || result.Error.Code != tt.code {
					t.Errorf("the result is %+v, %t", result, is)
				}
				if n := w.cell(`SELECT count(*) FROM turns`); n != "1" {
					t.Errorf("%s turns; want 1", n)
				}
				peer.delivers(c)
				w.over(c.Turn)
			})
		})
	}
}
