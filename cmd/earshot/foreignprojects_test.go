package main_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/utp"
)

// foreigner is a third-party worker of a project, which has a turn.
type foreigner struct {
	*scene

	*bus.Client

	project string
	rung    chan struct{}
	turn    api.ClaimAnswer
	run     *process
}

// foreigner comes with the credentials of its project, and claims a turn that was asked for there.
func (s *scene) foreigner(project string) *foreigner {
	s.t.Helper()
	peer, err := s.comes(bus.Principal{Kind: bus.External, Name: "peer"})
	must(s.t, err)
	w := &foreigner{scene: s, Client: peer, project: project, rung: make(chan struct{}, 64)}
	_, err = peer.SubscribeWakeups(s.t.Context(), func(context.Context, bus.Message) { w.rung <- struct{}{} })
	must(s.t, err)
	w.run = start(s.t, options{verb: "run", data: s.data, args: []string{"peer", `{}`}})
	for w.turn.Turn == "" {
		w.waits()
		must(s.t, rpc.Ask(s.t.Context(), peer, api.OpClaim, api.ClaimRequest{Agent: "peer", Worker: "seat"}, &w.turn))
	}
	return w
}

func (w *foreigner) waits() {
	w.t.Helper()
	select {
	case <-w.rung:
	case <-time.After(patience):
		w.t.Fatalf("%s: no wakeup has come", w.project)
	}
}

// calls asks in v1r4's form for the files of the project's folder, under an id of its own.
func (w *foreigner) calls(id string) api.CommandAnswer {
	w.t.Helper()
	args, err := json.Marshal(map[string]string{"root": w.folder})
	must(w.t, err)
	call := utp.CallCard{
		ID: "card_of_" + id, Project: w.project, AuthorID: "peer", CreatedAt: time.Now(), ToolCallID: id, ToolName: "files.scan", Arguments: args,
		TargetSubject: "cg.v1r4." + w.project + ".public.cmd.tool.files.scan",
		Lineage:       utp.Lineage{TurnID: w.turn.Turn, StepID: "step_1", TraceID: strings.Repeat("a", 32)},
	}
	card, err := utp.NewToolCall(call)
	must(w.t, err)
	raw, err := utp.EncodeCard(card)
	must(w.t, err)
	must(w.t, rpc.Ask(w.t.Context(), w, api.OpCard, api.CardRequest{Card: raw}, nil))
	header, err := utp.EncodeHeader(utp.Context{
		ProjectID: w.project, ChannelID: "public", AgentID: "peer", TurnID: w.turn.Turn, TurnEpoch: w.turn.Epoch, StepID: "step_1", ToolCallID: id,
		Traceparent: "00-" + call.Lineage.TraceID + "-bbbbbbbbbbbbbbbb-01",
	}, utp.Stamp{At: time.Now(), Sender: "cg-nats-client"})
	must(w.t, err)
	payload, err := utp.EncodeCommand(utp.Command{ToolName: call.ToolName, AfterExecution: utp.Suspend, ToolCallCardID: call.ID})
	must(w.t, err)
	answer, err := w.Send(w.t.Context(), bus.Message{Subject: call.TargetSubject, Header: header, Payload: payload})
	must(w.t, err)
	var made api.CommandAnswer
	must(w.t, api.DecodeAnswer(answer, &made))
	return made
}

// result waits for the report on a call and reads its result.
func (w *foreigner) result(id string) utp.ResultCard {
	w.t.Helper()
	var inbox api.InboxAnswer
	for {
		must(w.t, rpc.Ask(w.t.Context(), w, api.OpInbox, api.InboxRequest{Turn: w.turn.Turn, Calls: []string{id}}, &inbox))
		if len(inbox.Rows) > 0 {
			break
		}
		w.waits()
	}
	row, err := utp.DecodeInboxRow(inbox.Rows[0])
	must(w.t, err)
	var read api.CardRequest
	must(w.t, rpc.Ask(w.t.Context(), w, api.OpRead, api.ReadRequest{Card: row.Report.ToolResultCardID}, &read))
	card, err := utp.DecodeCard(read.Card)
	must(w.t, err)
	result, err := utp.DecodeToolResult(card)
	must(w.t, err)
	return result
}

// TestForeignInTwoProjects: third-party workers of two projects, on the one message server, ask under the same id for the same tool. They
// get two calls, each with the files of its own project, and neither can read what the other one's call has left.
func TestForeignInTwoProjects(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	billing := s.project("billing")
	billing.write("only-in-billing.txt", "one")
	for _, one := range []*scene{s, billing} {
		one.does(0, "credential", "add", "peer", "--role", "foreign")
	}
	up := s.up("--nats-listen", "127.0.0.1:0")
	workers := []*foreigner{s.foreigner("default"), billing.foreigner("billing")}
	made := map[string]bool{}
	for _, w := range workers {
		made[w.calls("tc_same").Call] = true
	}
	if len(made) != 2 {
		t.Errorf("the calls are %v, expected two", made)
	}
	results := make([]utp.ResultCard, len(workers))
	for i, w := range workers {
		results[i] = w.result("tc_same")
		if has := strings.Contains(string(results[i].Result), "only-in-billing.txt"); results[i].Status != utp.StatusSuccess || has != (w.project == "billing") {
			t.Errorf("%s got %s: %s", w.project, results[i].Status, results[i].Result)
		}
		if results[i].Project != w.project || results[i].Lineage.TurnID != w.turn.Turn {
			t.Errorf("%s got a result of %s, of the turn %s", w.project, results[i].Project, results[i].Lineage.TurnID)
		}
	}
	for i, w := range workers {
		other := 1 - i
		if err := rpc.Ask(t.Context(), w, api.OpRead, api.ReadRequest{Card: results[other].ID}, nil); err == nil {
			t.Errorf("%s can read the result of %s", w.project, workers[other].project)
		}
		if _, err := w.Send(t.Context(), bus.Message{Subject: "cg.v1r4." + workers[other].project + ".public.cmd.tool.files.scan"}); err == nil {
			t.Errorf("%s can send commands to %s", w.project, workers[other].project)
		}
		must(t, rpc.Ask(t.Context(), w, api.OpDeliver, api.DeliverRequest{
			WorkerRequest: api.WorkerRequest{Turn: w.turn.Turn, Epoch: w.turn.Epoch, Worker: "seat"}, Status: utp.StatusSuccess, Summary: "Done in " + w.project + ".",
		}, nil))
		w.run.hears("Done in " + w.project + ".")
		w.run.ends(0)
	}
	up.signal(os.Interrupt)
	up.ends(0)
}
