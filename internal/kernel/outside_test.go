package kernel_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// program is an agent that is a program outside: it speaks by way of a hub.
type program struct {
	w       *world
	session string
	turn    string
}

const programName = "claude"

func (w *world) program(change ...func(*api.OpenRequest)) *program {
	w.t.Helper()
	q := api.OpenRequest{Agent: programName, Owner: person, Request: "tidy up", Label: "photos"}
	for _, c := range change {
		c(&q)
	}
	var a api.OpenAnswer
	if err := rpc.Ask(w.ctx, w.person, api.OpOpen, q, &a); err != nil {
		w.t.Fatal(err)
	}
	if !a.Repeated {
		w.follow(a.Session)
	}
	return &program{w: w, session: a.Session, turn: a.Turn}
}

func (p *program) speaks() api.OutsideRequest {
	return api.OutsideRequest{Session: p.session, Agent: programName}
}

const awaits = 15_000

// asks is a request for a call, which counts as open for a while.
func (p *program) asks(name string, change ...func(*api.InvokeRequest)) (api.CallStatus, error) {
	q := api.InvokeRequest{OutsideRequest: p.speaks(), Tool: name, Args: api.Body{Inline: jsontext.Value(`{"name":"x"}`)}, AwaitMS: awaits}
	for _, c := range change {
		c(&q)
	}
	var a api.CallStatus
	err := rpc.Ask(p.w.ctx, p.w.person, api.OpInvoke, q, &a)
	return a, err
}

func (p *program) asked(name string, change ...func(*api.InvokeRequest)) api.CallStatus {
	p.w.t.Helper()
	a, err := p.asks(name, change...)
	if err != nil {
		p.w.t.Fatalf("%s: %v", name, err)
	}
	return a
}

func key(text string) func(*api.InvokeRequest) { return func(q *api.InvokeRequest) { q.Key = text } }

func host(text string) func(*api.InvokeRequest) {
	return func(q *api.InvokeRequest) { q.HostCall = text }
}

func named(name string) func(*api.InvokeRequest) {
	return func(q *api.InvokeRequest) { q.Args.Inline = jsontext.Value(`{"name":"` + name + `"}`) }
}

func (p *program) await(q api.AwaitRequest) api.CallStatus {
	p.w.t.Helper()
	q.OutsideRequest = p.speaks()
	var a api.CallStatus
	if err := rpc.Ask(p.w.ctx, p.w.person, api.OpAwait, q, &a); err != nil {
		p.w.t.Fatal(err)
	}
	return a
}

// waits is what a host does that waits for its result, and gets it.
func (p *program) waits(id string) api.CallStatus {
	p.w.t.Helper()
	a := p.ends(id)
	p.received(id)
	return a
}

// ends waits for the end of a call whose result is not handed over.
func (p *program) ends(id string) api.CallStatus {
	p.w.t.Helper()
	var a api.CallStatus
	p.w.until("the call "+id+" is to end", func() bool {
		a = p.await(api.AwaitRequest{Call: id, AwaitMS: awaits})
		return a.Ended()
	})
	return a
}

func (p *program) goes(id string) { p.await(api.AwaitRequest{Call: id}) }

func (p *program) received(id string) { p.await(api.AwaitRequest{Call: id, Received: true}) }

func (p *program) says(op string, q any) error { return rpc.Ask(p.w.ctx, p.w.person, op, q, nil) }

func (p *program) closes() {
	p.w.t.Helper()
	if err := p.says(api.OpClose, api.CloseRequest{OutsideRequest: p.speaks(), Summary: "Tidied."}); err != nil {
		p.w.t.Fatal(err)
	}
	p.w.over(p.turn)
}

func (w *world) isStatus(a api.CallStatus, status utp.Status, code utp.Code) {
	w.t.Helper()
	if !a.Ended() || a.Status != status || a.Code != code {
		w.t.Errorf("the call is %+v; want %s %s", a, status, code)
	}
}

// TestOutside: calls come one by one, run side by side, and each has its own result.
func TestOutside(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.program()
		if st := w.turn(p.turn); st.Name != "claude, photos" || st.Owner != person || st.Agent != programName {
			t.Errorf("the session is %q of %q by %q", st.Name, st.Owner, st.Agent)
		}
		burns, looks := p.asked(burn, named("a")), p.asked(poller)
		if burns.State != api.CallWaiting || burns.Question != 1 || burns.AnswerBy.IsZero() {
			t.Errorf("the first is %+v", burns)
		}
		read := p.waits(looks.Call)
		w.isStatus(read, utp.StatusSuccess, "")
		if got := string(read.Result.Inline); got != `{"did":"look"}` {
			t.Errorf("the result is %s", got)
		}
		if st := w.turn(p.turn); st.Status != turn.Suspended {
			t.Errorf("with an open question the turn is %s", st.Status)
		}
		w.accepts()
		w.isStatus(p.waits(burns.Call), utp.StatusSuccess, "")
		w.effectsAre(1)
		rejected := p.asked(burn)
		w.say(w.asked(), "reject")
		w.isStatus(p.waits(rejected.Call), utp.StatusCanceled, utp.CodeConsentDeclined)
		w.isStatus(p.asked("no.such.tool"), utp.StatusFailed, utp.CodeUnknownTool)
		w.isStatus(p.asked(poller, func(q *api.InvokeRequest) { q.Args.Inline = jsontext.Value(`{"other":1}`) }), utp.StatusFailed, utp.CodeBadRequest)
		p.closes()
		_, err := p.asks(poller)
		wantFault(t, err, utp.CodeTurnEnded)
		w.effectsAre(1)
	})
}

// TestOutsideKeys: the same key gives the same call and its result, also after a restart, when the session has ended, and when
// others have followed; another request with it is a conflict.
func TestOutsideKeys(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.program()
		first := p.asked(burn, key("k1"))
		again := p.asked(burn, key("k1"))
		if again.Call != first.Call || !again.Joined || first.Joined {
			t.Errorf("the second is %+v; the first was %+v", again, first)
		}
		_, err := p.asks(burn, key("k1"), named("other"))
		wantFault(t, err, utp.CodeConflict)
		w.restart()
		if again := p.asked(burn, key("k1")); again.Call != first.Call || again.Question != 1 {
			t.Errorf("after a restart it is %+v", again)
		}
		w.accepts()
		w.isStatus(p.waits(first.Call), utp.StatusSuccess, "")
		for range 3 {
			p.waits(p.asked(poller).Call)
		}
		if again := p.asked(burn, key("k1")); again.Call != first.Call || again.Status != utp.StatusSuccess || string(again.Result.Inline) != `{"did":"burn"}` {
			t.Errorf("later it is %+v", again)
		}
		p.closes()
		if again := p.asked(burn, key("k1")); again.Call != first.Call || again.Status != utp.StatusSuccess {
			t.Errorf("after the end it is %+v", again)
		}
		w.effectsAre(1)
	})
}

// TestOutsideJoins: without a key a repeat joins a call that nobody waits for, or takes a result that nobody has got. While a
// request is open the same is another call, but by the host's own id; what was received is not served again.
func TestOutsideJoins(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.program()
		first := p.asked(burn, host("h1"))
		if same := p.asked(burn, host("h1")); same.Call != first.Call {
			t.Errorf("the host's own id gave %s and %s", first.Call, same.Call)
		}
		if other := p.asked(burn, host("h2")); other.Call == first.Call {
			t.Error("two ids side by side are one call")
		} else {
			w.say(w.questions()[1], "reject")
			w.isStatus(p.waits(other.Call), utp.StatusCanceled, utp.CodeConsentDeclined)
		}
		p.goes(first.Call)
		if joined := p.asked(burn, host("h3")); joined.Call != first.Call || joined.Question != first.Question {
			t.Errorf("a repeat of what was cut is %+v", joined)
		}
		w.accepts()
		p.ends(first.Call)
		if taken := p.asked(burn, host("h4")); taken.Call != first.Call || taken.Status != utp.StatusSuccess {
			t.Errorf("the result that nobody has got is %+v", taken)
		}
		p.received(first.Call)
		second := p.asked(burn, host("h5"))
		if second.Call == first.Call || second.State != api.CallWaiting {
			t.Errorf("after that it is %+v", second)
		}
		w.say(w.asked(), "reject")
		p.waits(second.Call)
		p.closes()
		w.effectsAre(1)
	})
}

// TestOutsideHolder: another process that speaks for the program joins what the one before it had asked for, at once.
func TestOutsideHolder(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		held := func(holder string) func(*api.OpenRequest) {
			return func(q *api.OpenRequest) { q.Key, q.Holder = "host-1", holder }
		}
		p := w.program(held("a"))
		first := p.asked(burn)
		next := w.program(held("b"))
		if next.session != p.session {
			t.Fatalf("the sessions are %s and %s", p.session, next.session)
		}
		if joined := next.asked(burn); joined.Call != first.Call {
			t.Errorf("the next process got %+v", joined)
		}
		w.accepts()
		next.waits(first.Call)
		w.effectsAre(1)
		next.closes()
	})
}

// TestOutsideGone: a yes starts nothing for a program that waits no more, and the person hears why; one that comes back in
// time gets its call.
func TestOutsideGone(t *testing.T) {
	for name, class := range map[string]string{"irreversible": burn, "reversible": paint} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) { w.rules = []rulebook.Rule{{Tool: "*", Decide: turn.Ask}} }, func(t *testing.T, w *world) {
				p := w.program()
				gone := p.asked(class)
				p.goes(gone.Call)
				w.accepts()
				w.pass(turn.DefaultUndo + 5*time.Second)
				w.tells(p.session, "claude, which asked for it, does not wait for it any more")
				w.pass(5 * time.Minute)
				w.effectsAre(0)
				w.isStatus(p.await(api.AwaitRequest{Call: gone.Call, Peek: true}), utp.StatusCanceled, utp.CodeConsentStale)
				w.tells(p.session, "claude did not wait for it any more")
				if len(w.questions()) != 0 {
					t.Error("it is asked again")
				}
				back := p.asked(class, named("b"))
				p.goes(back.Call)
				w.accepts()
				w.pass(30 * time.Second)
				w.effectsAre(0)
				w.isStatus(p.waits(back.Call), utp.StatusSuccess, "")
				w.effectsAre(1)
				lapsed := p.asked(class, named("c")) // its process dies: nobody says that it has gone
				w.pass(time.Minute)
				w.accepts()
				w.pass(5 * time.Minute)
				w.isStatus(p.await(api.AwaitRequest{Call: lapsed.Call, Peek: true}), utp.StatusCanceled, utp.CodeConsentStale)
				w.effectsAre(1)
				p.closes()
			})
		})
	}
}

// TestOutsideGoneBeforeTheStart: the command has left, and nobody waits any more when a service comes.
func TestOutsideGoneBeforeTheStart(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.program()
		w.services[0].conn.cut.Store(true)
		a := p.asked(burn)
		w.accepts()
		w.until("it is to be dispatched", func() bool {
			return p.await(api.AwaitRequest{Call: a.Call, AwaitMS: awaits}).State == api.CallRunning
		})
		p.goes(a.Call)
		w.services[0].conn.cut.Store(false)
		w.pass(5 * time.Minute)
		w.isStatus(p.await(api.AwaitRequest{Call: a.Call, Peek: true}), utp.StatusCanceled, utp.CodeConsentStale)
		w.effectsAre(0)
		p.closes()
	})
}

// TestOutsideRestart: a question outlives the kernel and the program; the yes belongs to one generation.
func TestOutsideRestart(t *testing.T) {
	inWorld(t, func(w *world) { w.sole = true }, func(t *testing.T, w *world) {
		p := w.program()
		a := p.asked(burn)
		w.accepts()
		w.restart()
		joined := p.asked(burn)
		if joined.Call != a.Call {
			t.Errorf("the repeat is %+v; it was %+v", joined, a)
		}
		w.accepts() // it is asked again, for the yes was the generation's before
		w.isStatus(p.waits(a.Call), utp.StatusSuccess, "")
		w.effectsAre(1)
		p.closes()
	})
}

// TestOutsidePermission: a yes and a no to what the program does by itself have a receipt, and start nothing.
func TestOutsidePermission(t *testing.T) {
	rules := []rulebook.Rule{
		{Tool: "claude.Read", Decide: turn.Allow}, {Tool: "claude.Kill", Decide: turn.Deny},
	}
	inWorld(t, func(w *world) { w.rules = rules }, func(t *testing.T, w *world) {
		p := w.program()
		may := func(name string) api.CallStatus {
			t.Helper()
			return p.asked(name, func(q *api.InvokeRequest) {
				q.Permission, q.Args.Inline = true, jsontext.Value(`{"command":"rm -rf build","note":"é"}`)
			})
		}
		yes := may("Bash")
		q := w.asked()
		for _, word := range []string{"claude", "Bash", "rm -rf build", "Earshot can neither stop nor undo it"} {
			if !strings.Contains(string(q.Body), word) {
				t.Errorf("the question lacks %q: %s", word, q.Body)
			}
		}
		w.say(q, "accept")
		w.isStatus(p.waits(yes.Call), utp.StatusSuccess, "")
		no := may("Bash")
		if no.Call == yes.Call {
			t.Error("what was waited for is served again")
		}
		w.say(w.asked(), "reject")
		w.isStatus(p.waits(no.Call), utp.StatusCanceled, utp.CodeConsentDeclined)
		w.isStatus(may("Read"), utp.StatusPartial, "")
		w.isStatus(may("Kill"), utp.StatusCanceled, utp.CodeDeniedByPolicy)
		w.effectsAre(0)
		for table, want := range map[string]string{"receipts": "2", "grants": "0"} {
			if got := w.cell(`SELECT count(*) FROM ` + table); got != want {
				t.Errorf("%s %s; want %s", got, table, want)
			}
		}
		p.closes()
	})
}

// TestOutsidePermissionGone: a yes counts only while a request for it is open, and for nobody else.
func TestOutsidePermissionGone(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.program()
		may := func(id string) api.CallStatus {
			t.Helper()
			return p.asked("Bash", host(id), func(q *api.InvokeRequest) { q.Permission = true })
		}
		isUnused := func(a api.CallStatus) {
			t.Helper()
			w.isStatus(p.await(api.AwaitRequest{Call: a.Call, Peek: true}), utp.StatusCanceled, utp.CodeConsentStale)
		}
		left := may("h1") // its connection ends
		p.goes(left.Call)
		w.accepts()
		isUnused(left)
		w.tells(p.session, "Your yes to question 1 was not used: claude was no longer waiting for it")

		killed := may("h2") // nobody says that it has gone
		if killed.Call == left.Call || killed.State != api.CallWaiting {
			t.Fatalf("after an unused yes the same is not asked again: %+v", killed)
		}
		w.pass(time.Minute)
		w.accepts()
		isUnused(killed)

		cut := may("h3")
		p.goes(cut.Call)
		if joined := may("h4"); joined.Call != cut.Call || joined.Question != cut.Question {
			t.Errorf("a repeat of what is still asked is %+v, expected %+v", joined, cut)
		}
		w.accepts()
		w.isStatus(p.waits(cut.Call), utp.StatusSuccess, "")

		unread := may("h5") // it is killed after the yes, before it has read it
		w.accepts()
		p.ends(unread.Call)
		other := may("h6")
		if other.Call == unread.Call || other.State != api.CallWaiting {
			t.Errorf("another use takes the yes that was not its own: %+v", other)
		}
		if same := may("h5"); same.Call != unread.Call || same.Status != utp.StatusSuccess {
			t.Errorf("the same use does not get its yes: %+v", same)
		}
		w.say(w.asked(), "reject")
		w.isStatus(p.waits(other.Call), utp.StatusCanceled, utp.CodeConsentDeclined)
		if got := w.cell(`SELECT count(*) FROM receipts`); got != "5" {
			t.Errorf("%s receipts; want 5: what was answered is recorded, used or not", got)
		}
		p.closes()
	})
}

// TestOutsidePermissionLeft: the question of a program that has gone for good goes with it. A late yes finds none, and the same use is
// asked about again.
func TestOutsidePermissionLeft(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.program()
		may := func(id string) api.CallStatus {
			t.Helper()
			return p.asked("Bash", host(id), func(q *api.InvokeRequest) { q.Permission = true })
		}
		left := may("h1")
		asked := w.asked()
		if still := p.await(api.AwaitRequest{Call: left.Call, Abandoned: true}); still.State != api.CallWaiting {
			t.Errorf("a request is open for it, and it is %+v", still)
		}
		p.await(api.AwaitRequest{Call: left.Call})
		w.isStatus(p.await(api.AwaitRequest{Call: left.Call, Abandoned: true}), utp.StatusCanceled, utp.CodeConsentWithdrawn)
		w.tells(p.session, "Question 1 is withdrawn: claude does not wait for the answer any more. If it asks again, you are asked again.")
		if a, err := w.reply(asked, "accept"); err == nil && a.Resolution == "accepted" {
			t.Errorf("a late yes counts: %+v", a)
		}
		if got := w.cell(`SELECT count(*) FROM receipts`); got != "0" {
			t.Errorf("%s receipts; want none", got)
		}
		p.received(left.Call)
		again := may("h1")
		if again.Call == left.Call || again.State != api.CallWaiting || again.Question == left.Question {
			t.Errorf("asked again: %+v, after %+v", again, left)
		}
		w.accepts()
		w.isStatus(p.waits(again.Call), utp.StatusSuccess, "")
		p.closes()
	})
}

// TestOutsidePermissionForbidden: a rule that forbids what is asked about withdraws the question, and no yes gets past it.
func TestOutsidePermissionForbidden(t *testing.T) {
	for name, watched := range map[string]bool{"the rules are watched": true, "somebody says yes": false} {
		t.Run(name, func(t *testing.T) {
			inPlace(t, func(t *testing.T, w *world, laws *lawbook) {
				p := w.program()
				asked := p.asked("Bash", func(q *api.InvokeRequest) { q.Permission = true })
				question := w.asked()
				laws.now(rulebook.Rule{Tool: "claude.Bash", Decide: turn.Deny})
				if watched {
					if err := w.now.kernel.Rejudge(w.ctx); err != nil {
						t.Fatal(err)
					}
				} else {
					w.say(question, "accept")
				}
				w.isStatus(p.waits(asked.Call), utp.StatusCanceled, utp.CodeDeniedByPolicy)
				w.tells(p.session, "It is told, and question 1 is withdrawn.")
				if got := w.cell(`SELECT count(*) FROM receipts`); got != "0" {
					t.Errorf("%s receipts; want 0", got)
				}
				p.closes()
			})
		})
	}
}

// TestOutsidePermissionAsk: a rule that allows leaves what a program does by itself to the program, unless that asks for a person.
func TestOutsidePermissionAsk(t *testing.T) {
	inPlace(t, func(t *testing.T, w *world, laws *lawbook) {
		p := w.program()
		laws.now(rulebook.Rule{Tool: "claude.Bash", Decide: turn.Allow})
		left, err := p.asks("Bash", func(q *api.InvokeRequest) { q.Permission = true })
		if err != nil || left.Status != utp.StatusPartial {
			t.Errorf("found %+v (%v), expected the program's own rules to decide", left, err)
		}
		asked := p.asked("Bash", func(q *api.InvokeRequest) { q.Permission, q.Ask = true, true })
		w.accepts()
		w.isStatus(p.waits(asked.Call), utp.StatusSuccess, "")
		p.closes()
	})
}

// TestOutsidePermissionRestart: a question to what the program does by itself outlives the kernel, and its yes the one that asks again.
func TestOutsidePermissionRestart(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.program()
		may := func() api.CallStatus {
			t.Helper()
			return p.asked("Bash", host("h1"), func(q *api.InvokeRequest) { q.Permission = true })
		}
		first := may()
		w.restart()
		if again := may(); again.Call != first.Call || again.Question != first.Question {
			t.Errorf("after a restart it is %+v, expected %+v", again, first)
		}
		w.accepts()
		w.isStatus(p.waits(first.Call), utp.StatusSuccess, "")
		p.closes()
	})
}

// TestOutsideQuestion: the program asks the person, and gets what they say.
func TestOutsideQuestion(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.program()
		a := p.asked("", func(q *api.InvokeRequest) {
			q.Args, q.Question = api.Body{}, &api.Question{Text: "Which folder?"}
		})
		w.say(w.asked(), "the new one")
		got := p.waits(a.Call)
		w.isStatus(got, utp.StatusSuccess, "")
		if !strings.Contains(string(got.Result.Inline), `"answer":"the new one"`) {
			t.Errorf("the answer is %s", got.Result.Inline)
		}
		p.closes()
	})
}

// TestOutsideTold: what a program says is told once, in its own words.
func TestOutsideTold(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.program()
		tell := func(q api.AgentReportRequest) {
			t.Helper()
			q.OutsideRequest = p.speaks()
			if err := p.says(api.OpAgentReport, q); err != nil {
				t.Fatal(err)
			}
		}
		tell(api.AgentReportRequest{Doing: "Reading."})
		tell(api.AgentReportRequest{Doing: "Leyendo.", Lang: "es"})
		for range 2 {
			tell(api.AgentReportRequest{Observed: "It ran make.", Key: "o1"})
		}
		if n := w.cell(`SELECT count(*) FROM events WHERE body LIKE '%"agent_language":"es"%'`); n != "1" {
			t.Errorf("the language of what it does is in %s events", n)
		}
		tell(api.AgentReportRequest{Text: "Encontrado. ", Lang: "es"})
		tell(api.AgentReportRequest{Text: "Found it. "})
		tell(api.AgentReportRequest{Progress: 40})
		w.tells(p.session, "claude reports: “It ran make.”", "Reading.", "Found it. ", "40 percent done.")
		if n := w.cell(`SELECT count(*) FROM events WHERE template = 'agent.observed'`); n != "1" {
			t.Errorf("it is told %s times", n)
		}
		for what, q := range map[string]api.AgentReportRequest{
			"nothing":        {},
			"two things":     {Text: "a", Doing: "b"},
			"more than done": {Progress: 101},
			"less than none": {Progress: -1, Text: "a"},
			"a wrong tag":    {Text: "Hola.", Lang: "spanish"},
			"no text":        {Progress: 50, Lang: "es"},
		} {
			q.OutsideRequest = p.speaks()
			if err := p.says(api.OpAgentReport, q); err == nil {
				t.Errorf("%s was told", what)
			}
		}
		wantFault(t, p.says(api.OpClose, api.CloseRequest{OutsideRequest: p.speaks(), Output: "Hecho.", Lang: "es_ES"}), utp.CodeBadRequest)
		if err := p.says(api.OpClose, api.CloseRequest{OutsideRequest: p.speaks(), Output: "Hecho.", Lang: "es-MX"}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, chunk := range heardOf[aaep.OutputStreaming](w, p.session) {
			got = append(got, chunk.Language+":"+chunk.Chunk)
		}
		if list := strings.Join(got, "|"); list != "es:Encontrado. |:Found it. |es-MX:Hecho.|es-MX:" {
			t.Errorf("told %q", list)
		}
	})
}

// TestOutsideStop: a stop ends it, and the program is told.
func TestOutsideStop(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		running := w.gate()
		w.effects.at("begun", func(_ context.Context, s *service, c *tool.Call) error {
			return running.pass(context.Background(), s, c)
		})
		p := w.program()
		waits, runs := p.asked(burn), p.asked(poller)
		w.until("it is to run", func() bool { return w.last(p.turn).State == turn.Started })
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: p.session, By: person}); err != nil {
			t.Fatal(err)
		}
		w.isStatus(p.await(api.AwaitRequest{Call: waits.Call, Peek: true}), utp.StatusCanceled, utp.CodeStopped)
		if a := p.await(api.AwaitRequest{Call: runs.Call, Peek: true}); !a.Stopping {
			t.Errorf("the running one is %+v", a)
		}
		_, err := p.asks(poller, named("later"))
		wantFault(t, err, utp.CodeStopped)
		running.open()
		w.cancelled(p.turn)
		_, err = p.asks(poller, named("much later"))
		wantFault(t, err, utp.CodeStopped)
	})
}

// TestOutsideUndo: a yes that is taken back ends its call; the session goes on.
func TestOutsideUndo(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.program()
		a := p.asked(burn)
		q := w.accepts()
		if _, err := w.hub.Undo(w.ctx, api.ReplyRequest{Question: q.Number, By: person, Surface: "terminal"}); err != nil {
			t.Fatal(err)
		}
		w.isStatus(p.waits(a.Call), utp.StatusCanceled, utp.CodeStopped)
		w.isStatus(p.waits(p.asked(poller).Call), utp.StatusSuccess, "")
		w.tells(p.session, "Taken back in time")
		p.closes()
		w.effectsAre(0)
	})
}

// TestOutsideClosing: what runs is waited for.
func TestOutsideClosing(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		running := w.gate()
		w.effects.at("begun", running.pass)
		p := w.program()
		a := p.asked(poller)
		w.until("it is to run", func() bool { return w.last(p.turn).State == turn.Started })
		q := api.CloseRequest{OutsideRequest: p.speaks(), Summary: "Done with it.", Output: "All of it."}
		for range 2 {
			if err := p.says(api.OpClose, q); err != nil {
				t.Fatal(err)
			}
		}
		w.pass(time.Second)
		if st := w.turn(p.turn); st.Status == turn.Ended {
			t.Error("it has ended while a call runs")
		}
		running.open()
		w.over(p.turn)
		w.isStatus(p.await(api.AwaitRequest{Call: a.Call, Peek: true}), utp.StatusSuccess, "")
		w.tells(p.session, "All of it.", "The agent says: “Done with it.”")
	})
}

// TestOutsideIsNobodyElses: another agent, a worker of the same name and a request that makes no sense get nothing.
func TestOutsideIsNobodyElses(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.program()
		a := p.asked(poller)
		p.waits(a.Call)
		other := &program{w: w, session: p.session}
		_, err := other.asks(poller, func(q *api.InvokeRequest) { q.Agent = "other" })
		wantFault(t, err, utp.CodeNotFound)
		wantFault(t, p.says(api.OpAwait, api.AwaitRequest{OutsideRequest: api.OutsideRequest{Session: p.session}, Call: a.Call}), utp.CodeNotFound)
		conn := w.bus.connect(kernel.AgentCaller, programName)
		var claimed api.ClaimAnswer
		if err := rpc.Ask(w.ctx, conn, api.OpClaim, api.ClaimRequest{Agent: programName, Worker: "seat"}, &claimed); err != nil || claimed.Turn != "" {
			t.Errorf("a worker claimed %+v, %v", claimed, err)
		}
		wantFault(t, rpc.Ask(w.ctx, conn, api.OpRenew, api.WorkerRequest{Turn: p.turn}, nil), utp.CodeConflict)
		wantFault(t, rpc.Ask(w.ctx, conn, api.OpInvoke, api.InvokeRequest{OutsideRequest: p.speaks(), Tool: poller}, nil), utp.CodeAuthFailed)
		worker := w.begin()
		foreign := &program{w: w, session: worker.Session}
		_, err = foreign.asks(poller, func(q *api.InvokeRequest) { q.Agent = agentName })
		wantFault(t, err, utp.CodeNotFound)
		for what, change := range map[string]func(*api.InvokeRequest){
			"no tool":            func(q *api.InvokeRequest) { q.Tool = "" },
			"a tool, a question": func(q *api.InvokeRequest) { q.Question = &api.Question{Text: "?"} },
			"a long wait":        func(q *api.InvokeRequest) { q.AwaitMS = api.MaxAwaitMS + 1 },
			"a strange tool":     func(q *api.InvokeRequest) { q.Permission, q.Tool = true, "rm -rf" },
			"a strange key":      func(q *api.InvokeRequest) { q.Key = "a b" },
		} {
			if _, err := p.asks(poller, change); err == nil {
				t.Errorf("%s was taken", what)
			}
		}
		if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: worker.Session, By: person}); err != nil {
			t.Fatal(err)
		}
		p.closes()
	})
}

// TestOffered: an agent sees what the policy lets it ask for, and what of that a person is asked about.
func TestOffered(t *testing.T) {
	rules := []rulebook.Rule{{Tool: shred, Decide: turn.Deny}, {Tool: put, Agent: programName, Decide: turn.Allow}}
	inWorld(t, func(w *world) { w.rules = rules }, func(t *testing.T, w *world) {
		var a api.OfferedAnswer
		if err := rpc.Ask(w.ctx, w.person, api.OpOffered, api.OfferedRequest{Agent: programName}, &a); err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, one := range a.Tools {
			got[one.Tool] = one.Asks
			if len(one.Parameters) == 0 || one.Description == "" {
				t.Errorf("%s has no schema or no description", one.Tool)
			}
		}
		want := map[string]bool{burn: true, paint: true, put: false, poller: false}
		for name, asks := range want {
			if is, there := got[name]; !there || is != asks {
				t.Errorf("%s: there %v, asks %v; want asks %v", name, there, is, asks)
			}
		}
		if _, there := got[shred]; there || a.Next != "" {
			t.Errorf("the offer is %v, next %q", got, a.Next)
		}
	})
}

// TestOfferedArguments: an agent is not asked for what the tool's definition or the operator's environment fills in.
func TestOfferedArguments(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.serve("post", func(s *service) []tool.Tool {
			d := definition(mail, utp.Irreversible, `{"args":{"defaults":{"n":3},"fixed":{"text":"fixed"}},"envs":{"name":"WHO"}}`)
			d.Target = strings.Replace(d.Target, "tool."+target, "tool.post", 1)
			return []tool.Tool{s.tool(d)}
		})
		var a api.OfferedAnswer
		w.until("the tool is to be offered", func() bool {
			err := rpc.Ask(w.ctx, w.person, api.OpOffered, api.OfferedRequest{Agent: programName}, &a)
			return err == nil && slices.ContainsFunc(a.Tools, func(t api.OfferedTool) bool { return t.Tool == mail })
		})
		at := slices.IndexFunc(a.Tools, func(t api.OfferedTool) bool { return t.Tool == mail })
		const want = `{"type":"object","properties":{"n":{"type":"integer","default":3},"more":{"type":"object"}}}`
		if got := string(a.Tools[at].Parameters); got != want {
			t.Errorf("offered %s\nwant    %s", got, want)
		}
	})
}

// tells checks that the session's events say all of this.
func (w *world) tells(session string, texts ...string) {
	w.t.Helper()
	told := w.cell(`SELECT group_concat(body, char(10)) FROM (SELECT body FROM events WHERE session_id = ? ORDER BY seq)`, session)
	for _, text := range texts {
		if !strings.Contains(told, text) {
			w.t.Errorf("nothing says %q in\n%s", text, told)
		}
	}
}
