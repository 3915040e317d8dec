package subscriber_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/earshot-dev/earshot/aaep/conform/report"
	"github.com/earshot-dev/earshot/aaep/conform/subscriber"
)

// runner is a subscriber under test: it runs until ctx ends.
type runner interface {
	run(ctx context.Context, url string, client *http.Client)
}

// judged runs the judge against a subscriber in virtual time.
func judged(t *testing.T, f runner, o subscriber.Options) report.Report {
	t.Helper()
	p := newPipes()
	client := p.client()
	defer client.CloseIdleConnections()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	o.Listener, o.Stop = p, stop
	o.Ready = func(url string) {
		go func() {
			defer close(done)
			f.run(ctx, url, client)
		}()
	}
	r, err := subscriber.Judge(t.Context(), o)
	stop()
	_ = p.Close()
	client.CloseIdleConnections()
	<-done
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func broken(r report.Report) []string {
	var rules []string
	for _, v := range r.Verdicts {
		for _, f := range v.Findings {
			if !slices.Contains(rules, f.Rule) {
				rules = append(rules, f.Rule)
			}
		}
	}
	return rules
}

func overSocket() *socketFake {
	return &socketFake{fake: newFake(), protocols: []string{"aaep.v1"}, code: 4005}
}

// TestKept: a subscriber that does everything right breaks nothing, at each level and over each transport.
func TestKept(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		o     subscriber.Options
		over  string
		keeps []string
	}{
		"level 1":          {o: subscriber.Options{Level: 1}, keeps: []string{"L1S-1", "ENV-17", "ENV-43", "VER-03", "TR-SSE-09"}},
		"level 2":          {o: subscriber.Options{Level: 2}, keeps: []string{"CONF-81", "L2S-2"}},
		"level 3":          {keeps: []string{"HS-71", "BP-09", "HS-01"}},
		"with a person":    {o: subscriber.Options{Person: true}, keeps: []string{"CONF-31", "TR-06", "CONF-77", "CLA-03", "ENV-06", "ENV-10", "GD-08"}},
		"over a WebSocket": {o: subscriber.Options{Person: true}, over: "ws", keeps: []string{"TR-WS-02", "TR-WS-06", "TR-WS-07", "CONF-31", "HS-71"}},
		"over gRPC":        {o: subscriber.Options{Person: true}, over: "grpc", keeps: []string{"TR-GRPC-02", "TR-GRPC-04", "TR-GRPC-05", "CONF-31", "HS-71", "TR-08"}},
		"over gRPC, alone": {over: "grpc", keeps: []string{"CONF-81", "ENV-54"}},
		"on a socket":      {o: subscriber.Options{Person: true}, over: "unix", keeps: []string{"TR-UDS-03", "CONF-31", "HS-71", "TR-08"}},
		"a socket, alone":  {over: "unix", keeps: []string{"CONF-81", "ENV-54"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.mute = !row.o.Person
				var r report.Report
				switch row.over {
				case "ws":
					r = judged(t, overSocket(), row.o)
				case "grpc":
					r = judged(t, &connFake{fake: f, dial: dialGRPC}, row.o)
				case "unix":
					p := newPipes()
					row.o.SocketListener = p
					r = judged(t, &connFake{fake: f, dial: dialUnix(p), says: true}, row.o)
				default:
					r = judged(t, f, row.o)
				}
				var b strings.Builder
				_ = r.WriteText(&b, false)
				if !r.Passed(true) {
					t.Errorf("found broken %v\n%s", broken(r), &b)
				}
				for _, v := range r.Verdicts {
					if slices.Contains(row.keeps, v.Rule) && v.State != report.Passed {
						t.Errorf("%s is %s, expected kept\n%s", v.Rule, v.State, &b)
					}
				}
				t.Log(r.Tally())
			})
		})
	}
}

func leavesAt(text string) func(f *fake) {
	return func(f *fake) {
		f.leaves = func(event string) bool {
			return strings.Contains(event, text) && !f.seen[text] && func() bool { f.seen[text] = true; return true }()
		}
	}
}

func rewrites(old, with string) func(f *fake) {
	return func(f *fake) { f.shape = func(reply string) string { return strings.Replace(reply, old, with, 1) } }
}

// wrong are subscribers with one fault, and the rule that it breaks.
var wrong = []struct {
	name, rule string
	breaks     func(f *fake)
}{
	{"a request without capabilities", "HS-04", func(f *fake) {
		before, _, _ := strings.Cut(rightRequest, `,"capabilities"`)
		f.request = before + "}"
	}},
	{"a member of its own in the request", "HS-06", func(f *fake) {
		f.request = strings.Replace(rightRequest, `"subscriber_id"`, `"colour":"red","subscriber_id"`, 1)
	}},
	{"a request without a name", "HS-03", func(f *fake) { f.request = strings.Replace(rightRequest, `"fake"`, `""`, 1) }},
	{"a request that cannot answer", "L2S-2", func(f *fake) {
		f.request = strings.Replace(rightRequest, `"supports_confirmation_reply":true`, `"supports_confirmation_reply":false`, 1)
	}},
	{"something else before the request", "HS-08", func(f *fake) {
		f.request = strings.Replace(rightRequest, "subscription.request", "subscription.renegotiate", 1)
	}},
	{"another token", "CONF-31", rewrites("TOKEN", "TOKENx")},
	{"a third decision", "CONF-32", rewrites(`"accept"`, `"maybe"`)},
	{"another decision than the person's", "CONF-81", rewrites(`"accept"`, `"reject"`)},
	{"another subscription", "CONF-33", rewrites(`"accept","subscription_id":"SUB"`, `"accept","subscription_id":"sub_other"`)},
	{"the time of another day", "CONF-34", rewrites("NOW", "1999-12-31T10:00:00Z")},
	{"a member of its own in a reply", "CONF-40", rewrites(`"decision"`, `"colour":"red","decision"`)},
	{"two replies", "GD-08", func(f *fake) { f.times = 2 }},
	{"a reply to each repetition", "TR-06", func(f *fake) { f.forgets = true }},
	{"an answer by itself", "CONF-81", func(f *fake) { f.eager = true }},
	{"a reply to a withdrawn question", "CONF-77", func(f *fake) { f.late = 3 * time.Second }},
	{"no reply", "L2S-3", func(f *fake) { f.mute = true }},
	{"a word in place of yes or no", "CLA-03", rewrites(`"response":true`, `"response":"yes"`)},
	{"a choice that there is not", "CLA-03", rewrites(`"red"`, `"green"`)},
	{"an empty answer", "CLA-04", rewrites(`"Words."`, `""`)},
	{"an end at an indented event", "ENV-03", leavesAt("\n  ")},
	{"an end at a missing member", "ENV-48", leavesAt(`"to_state":"deciding"`)},
	{"an end at an unknown type", "ENV-17", leavesAt("agent.grease")},
	{"an end at an unknown extension", "ENV-43", leavesAt(`"extensions":{"grease"`)},
	{"an end at a later version", "VER-03", leavesAt(`"1.2.0"`)},
	{"an end at an unknown word", "ENV-61", leavesAt("daydreaming")},
	{"an end at a large event", "ENV-54", leavesAt(strings.Repeat("It goes on. ", 1000))},
	{"an end at other letters", "I18N-15", leavesAt(`"yo"`)},
	{"an end at a burst", "BP-09", func(f *fake) {
		f.leaves = func(event string) bool {
			if strings.Contains(event, `"summary_normal":"It goes on."`) {
				f.plain++
			}
			return f.plain == 15 // fewer come before the burst
		}
	}},
	{"an end at what is not an event", "L1S-2", leavesAt("[1,2]")},
	{"a question without its context", "ENV-10", func(f *fake) { f.naive = true }},
	{"no Last-Event-ID", "TR-SSE-09", func(f *fake) { f.amnesia = true }},
	{"a new subscription for a lost connection", "TR-SSE-09", func(f *fake) { f.fresh = true }},
	{"a stream of another type", "TR-SSE-11", func(f *fake) { f.accept = "application/json" }},
	{"posts plain text", "TR-SSE-12", func(f *fake) { f.media = "text/plain" }},
	{"no close", "HS-71", func(f *fake) { f.curt = true }},
	{"a reply after the close", "TR-08", func(f *fake) {
		f.after = `{"type":"confirmation.reply","reply_token":"TOKEN","decision":"accept","subscription_id":"SUB","timestamp":"NOW"}`
	}},
	{"new terms for another subscription", "HS-60", func(f *fake) {
		f.extra = `{"type":"subscription.renegotiate","subscription_id":"sub_other","capabilities":{}}`
	}},
}

// also are further rules that a fault cannot help breaking.
var also = map[string][]string{"ENV-10": {"ENV-06"}}

// TestWrong: each of these subscribers has one fault, and is found to break that rule and no other.
func TestWrong(t *testing.T) {
	t.Parallel()
	for _, row := range wrong {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				row.breaks(f)
				caught(t, judged(t, f, subscriber.Options{Person: true}), row.rule)
			})
		})
	}
}

// caught demands that a rule is broken, and no other.
func caught(t *testing.T, r report.Report, rule string) {
	t.Helper()
	found := false
	for _, v := range r.Verdicts {
		for _, f := range v.Findings {
			switch {
			case f.Rule == rule || slices.Contains(f.Also, rule):
				found = true
			case !slices.Contains(also[rule], f.Rule):
				t.Errorf("found also %s %v", v.Rule, f)
			}
		}
	}
	if !found || r.Passed(true) {
		t.Errorf("%s: found %t, passed %t", rule, found, r.Passed(true))
	}
}

// TestWrongSocket: what only a WebSocket can break.
func TestWrongSocket(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		rule   string
		breaks func(f *socketFake)
	}{
		"without the subprotocol":           {"TR-WS-02", func(f *socketFake) { f.protocols = nil }},
		"something else before the request": {"TR-WS-04", func(f *socketFake) { f.before = `{"type":"subscription.close","subscription_id":"sub_1"}` }},
		"binary messages":                   {"TR-WS-03", func(f *socketFake) { f.binary = true }},
		"the close code of a producer":      {"TR-WS-07", func(f *socketFake) { f.code = websocket.StatusCode(4000) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := overSocket()
				row.breaks(f)
				caught(t, judged(t, f, subscriber.Options{Person: true}), row.rule)
			})
		})
	}
}

// TestWrongConn: what can be broken over gRPC and on a Unix socket.
func TestWrongConn(t *testing.T) {
	t.Parallel()
	large := `{"type":"confirmation.reply","reply_token":"` + strings.Repeat("x", 1<<20) + `"}`
	for name, row := range map[string]struct {
		grpc, unix string // the rule; "" is not tried
		breaks     func(f *connFake)
	}{
		"something else before the request": {"TR-GRPC-05", "", func(f *connFake) { f.before = `{"type":"subscription.close","subscription_id":"sub_1"}` }},
		"a message larger than any":         {"TR-GRPC-04", "TR-UDS-03", func(f *connFake) { f.shape = func(string) string { return large } }},
		"no close":                          {"HS-71", "HS-71", func(f *connFake) { f.curt = true }},
		"another decision":                  {"CONF-81", "CONF-81", func(f *connFake) { rewrites(`"accept"`, `"reject"`)(f.fake) }},
	} {
		for transport, rule := range map[string]string{"gRPC": row.grpc, "unix": row.unix} {
			if rule == "" {
				continue
			}
			t.Run(name+" over "+transport, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					f, o := &connFake{fake: newFake(), dial: dialGRPC}, subscriber.Options{Person: true}
					if transport == "unix" {
						p := newPipes()
						o.SocketListener = p
						f.dial, f.says = dialUnix(p), true
					}
					row.breaks(f)
					caught(t, judged(t, f, o), rule)
				})
			})
		}
	}
}
