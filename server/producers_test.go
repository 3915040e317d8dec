package server_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/session"
	aaepsubscribe "github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/gateway/local"
	"github.com/earshot-dev/earshot/internal/testkit/scripted"
	"github.com/earshot-dev/earshot/utp"
)

// numbered is an event with its number.
func numbered(kind string, n int, members string) []byte {
	return []byte(scripted.Event(kind, fmt.Sprint(n), fmt.Sprintf(`"sequence_number":%d,%s`, n, members)))
}

const foreignQuestion = `"action":"Delete 2 files.","consequence":"They are gone.","reply_token":"rpl_1","timeout_seconds":300,"default_decision":"reject",` +
	`"risk_level":"high","irreversible":true,"reversibility":"irreversible","urgency":"critical","summary_normal":"Delete 2 files?"`

// foreignSession is a session of a third-party producer. The person is asked in between.
var foreignSession = [][]byte{
	numbered("session.started", 0, `"summary_normal":"Tidying up.","request_text":"Tidy my pictures."`),
	numbered("state.changed", 1, `"from_state":"idle","to_state":"thinking","summary_normal":"Looking at the pictures."`),
	numbered("progress.updated", 2, `"progress":{"percent":40},"summary_normal":"40 percent."`),
	numbered("output.streaming", 3, `"chunk":"There are two copies. ","position":0,"complete":false,"coalesce_hint":"sentence"`),
	numbered("output.streaming", 4, `"chunk":"They are the same.","position":22,"complete":true,"coalesce_hint":"completion"`),
	numbered("state.changed", 5, `"from_state":"thinking","to_state":"awaiting_input","summary_normal":"Asking."`),
	numbered("awaiting.confirmation", 6, foreignQuestion),
	numbered("state.changed", 7, `"from_state":"awaiting_input","to_state":"calling_tool","summary_normal":"You said yes."`),
	numbered("tool.invoked", 8, `"tool":"files.delete","summary_normal":"Deleting 2 files.","risk_level":"high","irreversible":true,"tool_call_id":"call_1"`),
	numbered("tool.completed", 9, `"tool":"files.delete","status":"success","summary_normal":"Deleted 2 files.","tool_call_id":"call_1"`),
	numbered("state.changed", 10, `"from_state":"calling_tool","to_state":"idle"`),
	numbered("session.completed", 11, `"summary_normal":"Your pictures are tidy.","duration_ms":1`),
}

// producer is the client of the agent that sends a producer's events.
func (d *desk) producer() *client.Agent {
	return client.NewAgent(client.Options{URL: d.URL(), Token: d.token})
}

// agent is the client of another agent.
func (d *desk) agent(ctx context.Context, name string) *client.Agent {
	d.t.Helper()
	file, err := local.TokenFile(ctx, d.o.Data, name, time.Now)
	if err != nil {
		d.t.Fatal(err)
	}
	return client.NewAgent(client.Options{URL: d.URL(), TokenFile: file})
}

// sends sends events, and expects the same of each.
func (d *desk) sends(ctx context.Context, status string, events ...[]byte) api.Ingested {
	d.t.Helper()
	answer, err := d.producer().Ingest(ctx, "", events)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, e := range answer.Events {
		if e.Status != status {
			d.t.Fatalf("%s is %s, expected %s: %+v, %v", e.ID, e.Status, status, e.Error, e.Findings)
		}
	}
	return answer
}

// ear is a listener of level 3: it judges what it hears by the rules for producers, and says it.
type ear struct {
	t       *testing.T
	said    []string
	checker *session.Checker
	ended   chan struct{}

	question *aaep.AwaitingConfirmation
}

// plainly takes the marks around values away.
var plainly = strings.NewReplacer("\u2066", "", "\u2067", "", "\u2068", "", "\u2069", "")

// hear subscribes as the person, and listens until a session ends.
func (d *desk) hear(ctx context.Context) *ear {
	d.t.Helper()
	e := &ear{t: d.t, checker: session.NewChecker(), ended: make(chan struct{})}
	s, err := aaepsubscribe.New(aaepsubscribe.Options{URL: d.URL(), Token: d.PersonToken(), Request: aaep.SubscriptionRequest{Capabilities: aaep.Capabilities{
		SupportsConfirmationReply: new(true), SupportsClarificationReply: new(true),
	}}})
	if err != nil {
		d.t.Fatal(err)
	}
	accepted := make(chan struct{})
	go func() {
		defer close(e.ended)
		a := announce.New(announce.Preferences{Person: "test"})
		for m, err := range s.Messages(ctx) {
			if err != nil {
				e.t.Errorf("heard %v", err)
				return
			}
			if kind, _ := aaep.Read(m.Raw).Text("type"); kind == aaep.TypeSubscriptionAccepted {
				close(accepted)
				continue
			}
			for _, v := range append(aaep.Errors(aaep.Validate(m.Raw, aaep.ModeProducer)), aaep.Errors(e.checker.Check(m.Raw))...) {
				e.t.Errorf("heard what breaks a rule: %s\n%s", v, m.Raw)
			}
			event, err := aaep.DecodeEvent(m.Raw)
			if err != nil {
				e.t.Error(err)
				return
			}
			if q, is := event.Payload.(aaep.AwaitingConfirmation); is {
				e.question = &q
			}
			for _, one := range a.Event(event.Time, event, 0) {
				e.said = append(e.said, one.Text)
			}
			if event.IsTerminal() {
				return
			}
		}
	}()
	select {
	case <-accepted:
	case <-ctx.Done():
		d.t.Fatal("not subscribed")
	}
	return e
}

// TestIngest: what a third-party producer sends is heard here as a session of level 3, its question is asked here and marked as one that
// Earshot does not enforce, and the answer goes back to it.
func TestIngest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d := newDesk(ctx, t, asked)
	heard := d.hear(ctx)
	first := d.sends(ctx, api.IngestStatusAccepted, foreignSession[:7]...)
	question := first.Events[6]
	if question.Question != 1 || question.Token != "rpl_1" || question.As == question.Session {
		t.Errorf("the question is %+v", question)
	}
	person, q := d.question(ctx)
	if _, err := person.Arguments(ctx, q.Number); err != nil {
		t.Fatal(err)
	}
	if _, err := person.Reply(ctx, q.Number, api.Reply{Token: q.Token, Decision: "accept"}); err != nil {
		t.Fatal(err)
	}
	reply, err := d.producer().IngestReply(ctx, "sess_1", "rpl_1", time.Minute)
	if err != nil || reply.Outcome != api.IngestAccepted {
		t.Fatalf("found %+v, %v", reply, err)
	}
	message, err := aaep.DecodeConfirmationReply([]byte(reply.Reply))
	if err != nil || message.ReplyToken != "rpl_1" || message.Decision != aaep.DecisionAccept {
		t.Errorf("the producer is told %s, %v", reply.Reply, err)
	}
	d.sends(ctx, api.IngestStatusAccepted, foreignSession[7:]...)
	<-heard.ended
	want := []string{
		"claude, other has started on this request: “Tidy my pictures.”",
		"claude: “Tidying up.”",
		"claude: “Looking at the pictures.”",
		"40 percent done.",
		"claude: “40 percent.”",
		"The answer is ready: 1 line.",
		"claude: “Asking.”",
		"Question 1, claude, other: Let claude act by itself. action: “Delete 2 files.” consequence: “They are gone.” risk_level: “high”. " +
			"irreversible: true. Earshot cannot undo it. This is for the request “Tidy my pictures”.",
		"Question 1 was accepted by ",
		"claude: “You said yes.”",
		"claude reports: “Deleting 2 files. It cannot be undone.”",
		"claude reports: “Deleted 2 files.”",
		"Finished. The agent says: “Your pictures are tidy.”",
	}
	if len(heard.said) != len(want) {
		t.Fatalf("heard\n%s", strings.Join(heard.said, "\n"))
	}
	for i, said := range heard.said {
		if said = plainly.Replace(said); !strings.HasPrefix(said, want[i]) {
			t.Errorf("heard %q, expected %q", said, want[i])
		}
	}
	if asked := heard.question; asked == nil || !strings.Contains(plainly.Replace(asked.Consequence), "claude does this itself; Earshot can neither stop nor undo it.") ||
		asked.RiskLevel != aaep.RiskHigh || !asked.Irreversible {
		t.Errorf("the question is %+v", asked)
	}
}

// answers answers question number 1 as a person.
func (d *desk) answers(ctx context.Context, decision string) {
	d.t.Helper()
	person, q := d.question(ctx)
	if _, err := person.Arguments(ctx, q.Number); err != nil {
		d.t.Fatal(err)
	}
	if _, err := person.Reply(ctx, q.Number, api.Reply{Token: q.Token, Decision: decision}); err != nil {
		d.t.Fatal(err)
	}
}

// TestIngestAnswers: only a person's yes that the producer waits for is an accept; whatever else comes of a question is a reject.
func TestIngestAnswers(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		does    func(ctx context.Context, d *desk)
		outcome string
		accepts bool
	}{
		"accepted": {func(ctx context.Context, d *desk) { d.answers(ctx, "accept") }, api.IngestAccepted, true},
		"rejected": {func(ctx context.Context, d *desk) { d.answers(ctx, "reject") }, api.IngestRejected, false},
		"the producer goes on": {func(ctx context.Context, d *desk) {
			d.sends(ctx, api.IngestStatusAccepted, foreignSession[7])
		}, api.IngestWithdrawn, false},
		"the session is stopped": {func(ctx context.Context, d *desk) {
			person, q := d.question(ctx)
			if _, err := person.StopSession(ctx, q.Session); err != nil {
				d.t.Fatal(err)
			}
		}, api.IngestStopped, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			d := newDesk(ctx, t, asked)
			d.sends(ctx, api.IngestStatusAccepted, foreignSession[:7]...)
			row.does(ctx, d)
			var reply api.IngestReply
			for reply.Outcome == "" {
				var err error
				if reply, err = d.producer().IngestReply(ctx, "sess_1", "rpl_1", time.Minute); err != nil {
					t.Fatal(err)
				}
			}
			message, err := aaep.DecodeConfirmationReply([]byte(reply.Reply))
			if err != nil || reply.Outcome != row.outcome || (message.Decision == aaep.DecisionAccept) != row.accepts {
				t.Errorf("found %+v, %v", reply, err)
			}
		})
	}
}

// TestIngestExpires: where nobody answers in time, the producer is told no.
func TestIngestExpires(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d := newDesk(ctx, t, asked+"}, {tool: claude.unnamed, decide: ask, timeout: 1s")
	d.sends(ctx, api.IngestStatusAccepted, foreignSession[:7]...)
	d.question(ctx) // the time begins when somebody is shown the question
	reply, err := d.producer().IngestReply(ctx, "sess_1", "rpl_1", time.Minute)
	message, wrong := aaep.DecodeConfirmationReply([]byte(reply.Reply))
	if err != nil || wrong != nil || reply.Outcome != api.IngestExpired || message.Decision != aaep.DecisionReject {
		t.Errorf("found %+v, %v, %v", reply, err, wrong)
	}
}

// TestIngestClarifies: a question for information gets the answer of the kind that the producer asked for.
func TestIngestClarifies(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d := newDesk(ctx, t, asked)
	d.sends(ctx, api.IngestStatusAccepted, foreignSession[0], []byte(scripted.Event("awaiting.clarification", "c",
		`"sequence_number":1,"urgency":"critical","question":"How many?","reply_token":"rpl_c","timeout_seconds":300,"accepted_response_kinds":["numeric"],"summary_normal":"How many?"`)))
	person, q := d.question(ctx)
	if _, err := person.Reply(ctx, q.Number, api.Reply{Token: q.Token, Response: api.Response{Text: "7", Type: api.ResponseNumber}}); err != nil {
		t.Fatal(err)
	}
	reply, err := d.producer().IngestReply(ctx, "sess_1", "rpl_c", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	message, err := aaep.DecodeClarificationReply([]byte(reply.Reply))
	if number, is := message.Response.Number(); err != nil || reply.Outcome != api.IngestAnswered || !is || number != 7 {
		t.Errorf("found %+v, %v", reply, err)
	}
}

// TestIngestRefuses: whatever is wrong with an event has a code, is told with the rule, and costs nothing that came before or comes after.
func TestIngestRefuses(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d := newDesk(ctx, t, asked)
	text := func(n int, chunk string) []byte {
		return numbered("output.streaming", n, fmt.Sprintf(`"chunk":%q,"position":0,"complete":true`, chunk))
	}
	end := numbered("session.completed", 2, `"summary_normal":"Done."`)
	sent := []struct {
		event              []byte
		status, code, rule string
	}{
		{foreignSession[0], api.IngestStatusAccepted, "", ""},
		{[]byte("{"), api.IngestStatusRefused, api.IngestUnreadable, "ENV-02"},
		{[]byte(`"a text"`), api.IngestStatusRefused, api.IngestUnreadable, "ENV-01"},
		{[]byte(strings.Replace(string(text(1, "x")), `"aaep_version":"1.0.0"`, `"aaep_version":"2.0.0"`, 1)), api.IngestStatusRefused, api.IngestVersion, ""},
		{[]byte(strings.Replace(string(text(1, "x")), `"session_id":"sess_1",`, "", 1)), api.IngestStatusRefused, api.IngestUnreadable, "ENV-07"},
		{text(1, strings.Repeat("x", api.MaxIngestEvent)), api.IngestStatusRefused, api.IngestOversize, ""},
		{text(1, "Hello."), api.IngestStatusAccepted, "", ""},
		{text(1, "Hello."), api.IngestStatusRepeated, "", ""},
		{text(1, "Good bye."), api.IngestStatusRefused, api.IngestConflict, "ENV-19"},
		{end, api.IngestStatusAccepted, "", ""},
		{end, api.IngestStatusRepeated, "", ""},
		{numbered("state.changed", 3, `"from_state":"idle","to_state":"thinking"`), api.IngestStatusRefused, api.IngestEnded, "SEQ-04"},
	}
	var events [][]byte
	for _, one := range sent {
		events = append(events, one.event)
	}
	answer, err := d.producer().Ingest(ctx, "", events)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range answer.Events {
		want, code, rules := sent[i], "", ""
		if got.Error != nil {
			code = got.Error.Code
		}
		for _, f := range got.Findings {
			rules += " " + f.Rule + " " + strings.Join(f.Also, " ")
		}
		if got.Line != i+1 || got.Status != want.status || code != want.code || want.rule != "" && !strings.Contains(rules, want.rule) {
			t.Errorf("event %d is %s %s with%s, expected %s %s with %s: %.100s", i+1, got.Status, code, rules, want.status, want.code, want.rule, want.event)
		}
	}
}

// TestIngestTooMany: a session beyond those that the definition of its agent allows is refused, with a code and what to do, and holds up
// nothing else; once another has ended it is told, from the event on that comes then.
func TestIngestTooMany(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d := newDesk(ctx, t, asked)
	person, err := client.Dial(ctx, client.Options{URL: d.URL(), Token: d.PersonToken()})
	if err != nil {
		t.Fatal(err)
	}
	var defined api.AgentDetail
	if err := person.Operate(ctx, api.OpDefineAgent, api.DefineAgentRequest{Definition: api.AgentDefinition{Name: "claude", MaxOpen: 1}}, &defined); err != nil {
		t.Fatal(err)
	}
	other := func(event []byte) []byte {
		return []byte(strings.NewReplacer(`"session_id":"sess_1"`, `"session_id":"sess_2"`, `"event_id":"evt_`, `"event_id":"evt_2`).Replace(string(event)))
	}
	answer, err := d.producer().Ingest(ctx, "", [][]byte{foreignSession[0], other(foreignSession[0]), foreignSession[1]})
	if err != nil {
		t.Fatal(err)
	}
	second := answer.Events[1]
	if second.Status != api.IngestStatusRefused || second.Error == nil || second.Error.Code != string(utp.CodeTooManyTurns) || second.As != "" ||
		!strings.Contains(second.Error.Message, "1 turns of the agent claude have not ended") {
		t.Errorf("the second session is %+v, %+v", second, second.Error)
	}
	if answer.Refused != 1 || answer.Events[0].Status != api.IngestStatusAccepted || answer.Events[2].Status != api.IngestStatusAccepted {
		t.Errorf("beside it found %+v", answer)
	}
	d.sends(ctx, api.IngestStatusAccepted, foreignSession[11], other(foreignSession[1]), other(foreignSession[11]))
}

// TestIngestPrincipals: two producers with the same ids, each with a token of its own, never meet.
func TestIngestPrincipals(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d := newDesk(ctx, t, asked)
	mine := d.sends(ctx, api.IngestStatusAccepted, foreignSession[:7]...)
	other := d.agent(ctx, "gemini")
	if _, err := other.IngestReply(ctx, "sess_1", "rpl_1", 0); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("another agent's question is %v, expected not found", err)
	}
	theirs, err := other.Ingest(ctx, "", foreignSession[:1])
	if err != nil || theirs.Events[0].Status != api.IngestStatusAccepted || theirs.Events[0].As == mine.Events[0].As {
		t.Errorf("found %+v, %v", theirs, err)
	}
}

// TestIngestRights: nobody else sends events than an agent that is nothing else.
func TestIngestRights(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d := newDesk(ctx, t, asked)
	for name, token := range map[string]string{"a person": d.PersonToken(), "nobody": "x"} {
		if _, err := client.NewAgent(client.Options{URL: d.URL(), Token: token}).Ingest(ctx, "", foreignSession[:1]); err == nil {
			t.Errorf("%s may send events", name)
		}
	}
}

// TestIngestAgain: after the server was started again, the producer goes on in the same session, what it sends again is told once, an open
// question is answered, and a gap is said.
func TestIngestAgain(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d := newDesk(ctx, t, asked)
	before := d.sends(ctx, api.IngestStatusAccepted, foreignSession[:7]...)
	d.Close()
	d.open(ctx)
	again := d.sends(ctx, api.IngestStatusRepeated, foreignSession[:7]...)
	if again.Events[6].Question != before.Events[6].Question || again.Events[6].As != before.Events[6].As {
		t.Errorf("found %+v, expected %+v", again.Events[6], before.Events[6])
	}
	d.answers(ctx, "reject")
	if reply, err := d.producer().IngestReply(ctx, "sess_1", "rpl_1", time.Minute); err != nil || reply.Outcome != api.IngestRejected {
		t.Errorf("found %+v, %v", reply, err)
	}
	d.Close()
	if err := os.CopyFS(filepath.Join(d.o.Data, "before"), os.DirFS(filepath.Join(d.o.Data, "producers"))); err != nil {
		t.Fatal(err)
	}
	d.open(ctx)
	d.sends(ctx, api.IngestStatusAccepted, foreignSession[7], foreignSession[8])
	d.Close()
	if err := os.RemoveAll(filepath.Join(d.o.Data, "producers")); err != nil { // it dies before it has written down what was told
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(d.o.Data, "before"), filepath.Join(d.o.Data, "producers")); err != nil {
		t.Fatal(err)
	}
	d.open(ctx)
	d.sends(ctx, api.IngestStatusAccepted, foreignSession[7], foreignSession[8]) // the kernel knows them
	d.sends(ctx, api.IngestStatusAccepted, foreignSession[11])
	person, err := client.Dial(ctx, client.Options{URL: d.URL(), Token: d.PersonToken()})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for e, err := range person.PastEvents(ctx, before.Events[0].As) {
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(plainly.Replace(string(e.Raw)) + "\n")
	}
	for what, times := range map[string]int{
		`"chunk":"There are two copies. "`: 1, "agent.awaiting.confirmation": 1, `"summary_normal":"claude: “You said yes.”"`: 1,
		`"summary_normal":"claude reports: “Deleting 2 files. It cannot be undone.”"`: 1, `"summary_normal":"claude: messages are missing here: 2.`: 1,
		"agent.session.completed": 1,
	} {
		if n := strings.Count(text.String(), what); n != times {
			t.Errorf("heard %q %d times, expected %d, in\n%s", what, n, times, text.String())
		}
	}
}
