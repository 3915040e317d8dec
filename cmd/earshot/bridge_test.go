package main_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/bus/bustest"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// bridged is a server with an installation of CommonGround beside it.
type bridged struct {
	*scene
	*ground

	t      *testing.T
	server *process
	with   []string // its flags
}

func newBridged(t *testing.T, policy string) *bridged {
	t.Helper()
	return newBridgedTo(newGround(t, false), policy, groundTool)
}

// newBridgedTo is one whose bridge offers a tool of an installation.
func newBridgedTo(g *ground, policy, tool string) *bridged {
	t := g.t
	t.Helper()
	b := &bridged{scene: emptyScene(t), ground: g, t: t}
	b.does(0, "credential", "add", "commonground", "--role", "foreign", "--tools", tool)
	b.with = []string{"--nats-listen", bustest.Address(t), "--policy", b.policy(policy)}
	b.server = b.up(b.with...)
	return b
}

// bridge starts the bridge and waits until it works.
func (b *bridged) bridge(fault string, args ...string) *process {
	b.t.Helper()
	p := b.begins(fault, args...)
	p.hears("Control C ends the bridge.")
	return p
}

func (b *bridged) begins(fault string, args ...string) *process {
	b.t.Helper()
	return start(b.t, options{
		verb: "bridge", data: b.data, fault: fault, nobody: true, env: []string{"EARSHOT_COMMONGROUND_DSN=" + b.ground.bridge},
		args: append([]string{"commonground", "--nats", b.nats.ClientURL()}, args...),
	})
}

// reviewed has an operator review the tool as it is registered now.
func (b *bridged) reviewed(class string) {
	b.t.Helper()
	b.reviewedTool(groundTool, class)
}

func (b *bridged) reviewedTool(name, class string) {
	b.t.Helper()
	var tool struct {
		Digest string `json:"digest"`
	}
	b.reads(&tool, "tools", "show", name, "--json")
	b.does(0, "tools", "review", name, "--digest", tool.Digest, "--class", class, "--risk", "low")
}

// calls starts a call of the tool.
func (b *bridged) calls(args string) *process {
	b.t.Helper()
	return b.callsTool(groundTool, args)
}

func (b *bridged) callsTool(name, args string) *process {
	b.t.Helper()
	return start(b.t, options{verb: "tools", data: b.data, args: []string{"call", "--token-file", b.approver(), name, args, "--json"}})
}

// outcome is what a call came to.
type outcome struct {
	Status  string `json:"status"`
	Code    string `json:"code"`
	Content struct {
		Result struct {
			Words int `json:"total_tokens"`
		} `json:"result"`
	} `json:"result"`
}

func (p *process) comesTo(code int) outcome {
	p.t.Helper()
	p.ends(code)
	var o outcome
	if err := json.Unmarshal([]byte(p.out.String()), &o); err != nil {
		p.t.Fatalf("%v: %s\n%s", err, p.out, p.prompt)
	}
	return o
}

// counted demands that the call succeeded, that the service ran as often as it says, and that all is consumed.
func (b *bridged) counted(p *process, words, runs int) {
	b.t.Helper()
	if o := p.comesTo(0); o.Status != "success" || o.Content.Result.Words != words {
		b.t.Errorf("the call came to %+v, want %d words", o, words)
	}
	if got := b.ran(); got != runs {
		b.t.Errorf("the service ran %d times; want %d", got, runs)
	}
	b.waits("0", `SELECT count(*)::text FROM state.agent_inbox WHERE status <> 'consumed'`)
}

// TestBridge: a tool service of CommonGround serves a call of ours. A tool that nobody has reviewed is denied and never
// reaches its stream; a report that comes again is applied once. Their database and our server may be restarted.
func TestBridge(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	b := newBridged(t, "rules: []\n")
	p := b.bridge("")
	contains(t, p.out.String(), "CommonGround: project proj_1, as the agent earshot (worker target earshot).", "Offered to Earshot: word_count.")
	if o := b.calls(`{"text":"a b"}`).comesTo(3); o.Code != "denied_by_policy" {
		t.Errorf("a tool that nobody has reviewed: %+v", o)
	}
	if n, cards := b.commands(), b.cell(`SELECT count(*)::text FROM cards`); n != 0 || cards != "0" {
		t.Errorf("a denied call made %d commands and %s cards", n, cards)
	}
	b.reviewed("read")
	b.counted(b.calls(`{"text":"a b c","mode":"map"}`), 3, 1)
	if got := b.cell(`SELECT content->'arguments'->>'mode' FROM cards WHERE metadata->>'type' = 'tool.call'`); got != "map" {
		t.Errorf("an argument beside the schema is %q", got)
	}
	for range 2 {
		b.do(`UPDATE state.agent_inbox SET status = 'pending' WHERE message_type = 'tool_result'`)
		must(t, b.wake(t.Context(), groundCommand{agent: "earshot", channel: "public"}, "earshot"))
		b.waits("0", `SELECT count(*)::text FROM state.agent_inbox WHERE status <> 'consumed'`)
	}
	b.sets("failed")
	if o := b.calls(`{"text":"a"}`).comesTo(1); o.Status != "failed" || o.Code != "bad_request" {
		t.Errorf("a failure of the service: %+v", o)
	}
	l := readLedger(t, b.data)
	if got := l.one(`SELECT count(*) FROM results`); got != "3" {
		t.Errorf("%s results of three calls", got)
	}
	for table, want := range map[string]string{"state.execution_edges": "2", "cards": "4", "state.agent_inbox": "4"} {
		if got := b.cell(`SELECT count(*)::text FROM ` + table); got != want {
			t.Errorf("%s has %s rows; want %s", table, got, want)
		}
	}
	b.sets("")
	must(t, b.cluster.Restart(t.Context()))
	b.counted(b.calls(`{"text":"a b"}`), 2, 3)
	b.server.signal(os.Interrupt)
	b.server.ends(0)
	b.up(b.with...)
	b.counted(b.calls(`{"text":"a b"}`), 2, 4)
	p.signal(os.Interrupt)
	p.ends(0)
}

// TestBridgeKilled: the bridge dies between what it does at CommonGround and what it does here. The next one goes on, and
// nothing is done or applied twice.
func TestBridgeKilled(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, point := range testkit.Sample(t, []string{"bridge.inserted", "bridge.published", "bridge.reported", "bridge.kept"}, 1) {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			b := newBridged(t, "rules: []\n")
			b.tool(groundTool, `{"suspend_timeout_seconds":60}`) // on a busy machine, too, the next bridge comes within it
			p := b.bridge(point)
			b.reviewed("read")
			call := b.calls(`{"text":"a b c"}`)
			p.ends(killed)
			b.bridge("")
			b.counted(call, 3, 1)
			if got := readLedger(t, b.data).one(`SELECT count(*) FROM results`); got != "1" {
				t.Errorf("%s results of one call", got)
			}
		})
	}
}

// TestBridgeEffect: what cannot be undone is asked for, and sent once. A bridge that dies before it has sent it does not send
// it when it comes back: a person is asked what became of the call.
func TestBridgeEffect(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	b := newBridged(t, "rules: [{tool: word_count, decide: ask, broker_only: true, undo: 3s}]\n")
	b.tool(groundTool, `{"suspend_timeout_seconds":12}`) // as in TestBridgeSilent
	b.does(0, "set", "undo-time", "3s")
	p := b.bridge("bridge.inserted:2", "--project", groundProject)
	b.reviewed("irreversible")
	first := b.calls(`{"text":"a b"}`)
	first.await(asked)
	if n := b.commands(); n != 0 {
		t.Errorf("%d commands before the yes", n)
	}
	first.say("accept")
	b.counted(first, 2, 1)
	second := b.calls(`{"text":"a b"}`)
	second.await(asked)
	second.say("accept")
	p.ends(killed)
	b.bridge("")
	second.await(asked)
	second.say("leave")
	if o := second.comesTo(1); o.Code != "outcome_unknown" {
		t.Errorf("a command that was never sent: %+v", o)
	}
	if n := b.commands(); n != 1 || b.ran() != 1 {
		t.Errorf("%d commands, %d runs; want that of the first call alone", n, b.ran())
	}
}

// TestBridgeSilent: a service that says nothing, or nothing that can be read, ends a call in our time and our words. So does
// one that is not there, and a tool that has changed or is gone. One that comes onto the list is offered.
func TestBridgeSilent(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	b := newBridged(t, "rules: []\n")
	b.tool(groundTool, `{"suspend_timeout_seconds":12}`) // on a busy machine, too, a service that answers does so within it
	p := b.bridge("")
	b.reviewed("read")
	b.sets("silent")
	if o := b.calls(`{"text":"a b"}`).comesTo(1); o.Status != "timeout" || o.Code != "tool_timeout" || b.commands() == 0 {
		t.Errorf("a silent service: %+v, after %d commands", o, b.commands())
	}
	b.running()
	if o := b.calls(`{"text":"a b"}`).comesTo(1); o.Code != "upstream_unavailable" {
		t.Errorf("without a service: %+v", o)
	}
	b.serve()
	b.sets("untyped")
	call := b.calls(`{"text":"a b"}`)
	call.await(asked)
	call.say("leave")
	if o := call.comesTo(1); o.Code != "outcome_unknown" {
		t.Errorf("a card without a type: %+v", o)
	}
	b.waits("0", `SELECT count(*)::text FROM state.agent_inbox WHERE status <> 'consumed'`)
	b.sets("")
	before := b.called()
	b.tool(groundTool, `{"suspend_timeout_seconds":13}`) // before the bridge has looked again
	refused := func(code string) {
		t.Helper()
		p := b.calls(`{"text":"a b"}`)
		if p.wait(); !strings.Contains(p.out.String(), `"code": "`+code+`"`) && !strings.Contains(p.out.String(), `"code": "denied_by_policy"`) { // it has looked again
			t.Errorf("expected %s: %s", code, p.out)
		}
	}
	refused("conflict")
	b.do(`DELETE FROM resource.tools`)
	refused("not_found")
	if after := b.called(); after != before {
		t.Errorf("%d of them were sent", after-before)
	}
	b.does(0, "credential", "add", "commonground", "--role", "foreign", "--tools", "letter_count")
	b.tool("letter_count", "{}")
	p.hears("Offered to Earshot: letter_count.")
	p.hears("Left out: word_count: ") // a line of its own, written after it
}

// TestBridgeRefuses: what is not there is named, with what to do.
func TestBridgeRefuses(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	b := newBridged(t, "rules: []\n")
	says := func(code int, want string, args ...string) {
		t.Helper()
		p := b.begins("", args...)
		p.ends(code)
		contains(t, p.prompt.String(), want, "hint: ")
		if strings.Contains(p.prompt.String(), password(t, b.dsn)) {
			t.Error("the password is printed")
		}
	}
	says(2, "--dsn holds a password", "--dsn", b.dsn)
	says(2, "--nats holds a password", "--nats", "nats://a:b@127.0.0.1:4222")
	says(1, "cannot be reached", "--nats", "nats://"+bustest.Address(t))
	says(1, "the roster of the project proj_1 has no agent tidy", "--agent", "tidy")
	says(1, "is not there", "--credential", "absent.json")
	kept, err := b.js.Stream(t.Context(), "cg_cmd_v1r4")
	must(t, err)
	must(t, b.js.DeleteStream(t.Context(), "cg_cmd_v1r4"))
	says(1, "has no stream cg_cmd_v1r4")
	says(1, "start a service of CommonGround of v1r4 there first")
	_, err = b.js.CreateStream(t.Context(), kept.CachedInfo().Config)
	must(t, err)
	b.do(`INSERT INTO resource.tools SELECT 'proj_2', tool_name, description, parameters, target_subject, after_execution, options FROM resource.tools`)
	says(2, "several projects have tools: proj_1, proj_2")
	b.do(`ALTER TABLE state.agent_inbox DROP COLUMN context_headers`)
	says(1, "has no column context_headers: it is of another version", "--project", "proj_1")
	b.do(`DROP TABLE state.agent_inbox`)
	says(1, "has no table state.agent_inbox", "--project", "proj_1")
	must(t, b.cluster.Stop())
	says(1, "cannot be reached", "--project", "proj_1")
}
