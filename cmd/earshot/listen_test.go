//go:build !faults

package main_test

import (
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/serve"
	"github.com/earshot-dev/earshot/aaep/serve/grpc"
	"github.com/earshot-dev/earshot/internal/testkit/scripted"
)

// foreign is what a third-party producer sends, which numbers no questions and knows none of Earshot's extensions.
var foreign = []string{
	scripted.Event("session.started", "1", `"summary_normal":"Tidying up."`),
	scripted.Event("state.changed", "2", `"from_state":"idle","to_state":"awaiting_input","summary_normal":"Asking."`),
	scripted.Event("awaiting.confirmation", "3", `"action":"Delete 2 files.","consequence":"They are gone.","reply_token":"rpl_1","timeout_seconds":300,`+
		`"default_decision":"reject","risk_level":"high","irreversible":true,"urgency":"critical","summary_normal":"Delete 2 files?"`),
	scripted.Await,
	scripted.Event("state.changed", "4", `"from_state":"awaiting_input","to_state":"deciding","summary_normal":"Nothing is deleted."`),
	scripted.Event("session.completed", "5", `"summary_normal":"Done: nothing was deleted.","duration_ms":1`),
}

// TestListen: on each transport, a person hears a third-party producer, and a typed answer reaches it and counts once it has gone on.
func TestListen(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http", "ws", "unix"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			producer := scripted.New(t, foreign)
			p := start(t, options{verb: "listen", args: []string{producer.Serve(scheme), "--rate", "5", "--lang", "en", "--load", "low"}})
			p.hears("Question 1: Delete 2 files.")
			p.say("reject")
			p.hears("Recorded: question 1 is rejected.")
			p.hears("Done: nothing was deleted.")
			p.ends(0)
			if text := p.prompt.String(); !strings.Contains(text, "0 errors") || strings.Contains(text, "Finding") {
				t.Errorf("it was judged as\n%s", text)
			}
			got := producer.Got()
			request, err := aaep.DecodeSubscriptionRequest([]byte(got[0]))
			if err != nil || request.Capabilities.MaxEventsPerSecond != 5 || request.Capabilities.CognitiveLoad != aaep.LoadLow || request.Capabilities.Languages[0] != "en" {
				t.Errorf("asked with %s, %v", got[0], err)
			}
			reply, err := aaep.DecodeConfirmationReply([]byte(got[1]))
			if err != nil || reply.Decision != aaep.DecisionReject || reply.ReplyToken != "rpl_1" {
				t.Errorf("answered with %s, %v", got[1], err)
			}
		})
	}
}

// TestListenEnding: a producer that ends the subscription says so in a message of its own, which is nothing to be told of.
func TestListenEnding(t *testing.T) {
	t.Parallel()
	closing := []string{
		scripted.Event("session.started", "1", `"summary_normal":"Tidying up."`),
		scripted.Event("session.completed", "2", `"summary_normal":"Done: nothing was deleted.","duration_ms":1`),
		`{"type":"subscription.close","subscription_id":"sub_1","reason_code":"producer_shutdown"}`,
	}
	p := start(t, options{verb: "listen", args: []string{scripted.New(t, closing).Serve("unix"), "--no-input"}})
	p.hears("Done: nothing was deleted.")
	p.ends(0)
	if text := p.prompt.String(); strings.Contains(text, "Missing") {
		t.Errorf("it was told of as\n%s", text)
	}
}

// TestListenAddress: without an address, the hint is that of the server that runs here, and where none runs, the help.
func TestListenAddress(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	says := func(parts ...string) {
		t.Helper()
		p := start(t, options{verb: "listen", env: []string{"EARSHOT_DATA=" + s.data}, nobody: true})
		p.ends(2)
		contains(t, p.prompt.String(), parts...)
	}
	says("expected one argument, the address of a producer", "hint: see `earshot listen --help`")
	s.up()
	says("hint: `earshot listen", "aaep.sock", "` hears the server that runs here")
}

// TestListenServed: a producer of the library numbers no questions, and says of each by its token how it ended.
func TestListenServed(t *testing.T) {
	t.Parallel()
	agent, err := serve.New(serve.Options{Producer: aaep.Producer{AgentID: "tidy"}, Allow: func(string) serve.Rights { return serve.Rights{Hears: true, Answers: true} }})
	must(t, err)
	server := httptest.NewServer(agent)
	t.Cleanup(server.Close)
	p := start(t, options{verb: "listen", args: []string{server.URL}})
	s, err := agent.Begin(aaep.SessionStarted{SummaryNormal: "Tidying up."})
	must(t, err)
	ended := make(chan error, 1)
	go func() {
		answer, err := s.Confirm(t.Context(), "files.delete", aaep.AwaitingConfirmation{
			Action: "Delete 2 files.", Consequence: "They are gone.", SummaryNormal: "Delete 2 files?", RiskLevel: aaep.RiskHigh, Irreversible: true,
		})
		if err == nil && !answer.Accepted() {
			err = errors.New("it is not accepted")
		}
		call, failed := answer.Tool(aaep.ToolInvoked{SummaryNormal: "Deleting."})
		if failed == nil {
			failed = call.Complete(aaep.ToolCompleted{Status: aaep.ToolSuccess, SummaryNormal: "Deleted 2 files."})
		}
		ended <- errors.Join(err, failed)
	}()
	p.hears("Question 1: Delete 2 files.")
	p.say("accept")
	p.hears("Recorded: question 1 is accepted.")
	must(t, <-ended)
	must(t, s.Complete(aaep.SessionCompleted{SummaryNormal: "Done."}))
	p.hears("Done.")
	p.signal(os.Interrupt)
	p.ends(0)
	if text := p.prompt.String(); !strings.Contains(text, "0 errors") || strings.Contains(text, "Not recorded") {
		t.Errorf("it was judged as\n%s", text)
	}
}

// TestListenResumes: a broken connection is made again, what comes twice is told once, and a gap is told in its place.
func TestListenResumes(t *testing.T) {
	t.Parallel()
	said := scripted.Event("state.changed", "2", `"from_state":"idle","to_state":"thinking","urgency":"normal","summary_normal":"Looking."`)
	done := scripted.Event("session.completed", "5", `"summary_normal":"Done.","duration_ms":1`)
	for _, row := range []struct {
		name, scheme string
		second       []string
		code         int
		lost         bool
	}{
		{"goes on", "http", []string{foreign[0], said, done}, 0, false},
		{"repeats", "ws", []string{foreign[0], said, done}, 0, false},
		{"leaves a gap", "unix", []string{said, done}, 1, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := plain(t, "listen", scripted.New(t, foreign[:1], row.second).Serve(row.scheme), "--no-input")
			p.ends(row.code)
			if text := p.out.String(); strings.Count(text, "Tidying up.") != 1 || !strings.Contains(text, "Done.") {
				t.Errorf("heard\n%s", text)
			}
			if text := p.prompt.String(); strings.Contains(text, "Missing: Messages may be missing") != row.lost {
				t.Errorf("said\n%s", text)
			}
		})
	}
}

// TestListenJudges: what is wrong is told with the rule, once for each place, and --json writes every message as it came.
func TestListenJudges(t *testing.T) {
	t.Parallel()
	wrong := strings.Replace(foreign[0], `"timestamp":"2026-11-21T12:00:00.000Z"`, `"timestamp":"yesterday"`, 1)
	again := strings.Replace(wrong, "evt_1", "evt_9", 1)
	p := plain(t, "listen", scripted.New(t, []string{wrong, again}).Serve("ws"), "--no-input", "--json")
	p.ends(1)
	if got, want := p.out.String(), scripted.Accepted+"\n"+wrong+"\n"+again+"\n"; got != want {
		t.Errorf("wrote\n%s\nwant\n%s", got, want)
	}
	if text := p.prompt.String(); strings.Count(text, "Finding in evt_1: ENV-") != 1 || strings.Contains(text, "evt_9: ENV-09") {
		t.Errorf("said\n%s", text)
	}
}

// TestListenRefuses: what can never work is said at once, with what to do.
func TestListenRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range [][]string{
		{"ftp://localhost", `the address begins with "ftp"`},
		{"events", "not the address of a stream"},
		{"unix:x", "--load", "much", "--load is much"},
		{"unix:x", "--rate", "-1", "--rate is -1"},
	} {
		p := plain(t, append([]string{"listen"}, row[:len(row)-1]...)...)
		p.ends(2)
		if text := squeeze(p.prompt.String()); !strings.Contains(text, row[len(row)-1]) || !strings.Contains(text, "hint: ") {
			t.Errorf("%q: said\n%s", row, text)
		}
	}
}

// TestListenToken: who comes without a token is told how to give one, and not to get another.
func TestListenToken(t *testing.T) {
	t.Parallel()
	agent, err := serve.New(serve.Options{
		Producer: aaep.Producer{AgentID: "tidy"}, Allow: serve.Token("a secret"), Transports: []serve.Transport{grpc.Transport{}},
	})
	must(t, err)
	server := httptest.NewUnstartedServer(agent)
	grpc.Configure(server.Config)
	server.Start()
	t.Cleanup(server.Close)
	host := server.Listener.Addr().String()
	for _, address := range []string{"http://" + host, "ws://" + host + "/aaep/v1/ws", "grpc://" + host} {
		p := plain(t, "listen", address, "--no-input")
		p.ends(1)
		if text := squeeze(p.prompt.String()); !strings.Contains(text, "hint: name a file with a token of the producer: --token-file FILE") {
			t.Errorf("%s: said\n%s", address, text)
		}
	}
}

// TestListenNobody: a producer that is not there is named at once, with what to do, and is not waited for.
func TestListenNobody(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://127.0.0.1:1", "http://127.0.0.1:1/events", "ws://127.0.0.1:1", "unix:" + t.TempDir() + "/none.sock"} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			p := plain(t, "listen", address, "--no-input")
			p.ends(1)
			text := p.prompt.String()
			if !strings.Contains(text, "cannot be reached") || !strings.Contains(text, "see that the producer runs") || strings.Contains(text, "Connection:") || strings.Contains(text, "0 messages") {
				t.Errorf("said\n%s", text)
			}
		})
	}
}

// TestListenKeys: with the keys of its maker, a producer is heard only with a manifest that they have signed; of any other nothing is told, and it is
// not answered. A gateway passes on nothing of it.
func TestListenKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key, others := filepath.Join(dir, "manifest.pem"), filepath.Join(dir, "others.pem")
	manifestSays(t, 0, "keygen", key)
	manifestSays(t, 0, "keygen", others)
	document := filepath.Join(dir, "manifest.json")
	must(t, os.WriteFile(document, []byte(strings.Replace(unsignedManifest, `"tidy"`, `"other","transports_supported":["websocket"]`, 1)), 0o600))
	signed := strings.TrimSpace(manifestSays(t, 0, "sign", "--key", key, document))
	serving := func() string {
		p := scripted.New(t, []string{foreign[0], foreign[5]})
		p.Answer = strings.TrimSuffix(scripted.Accepted, "}") + `,"signed_manifest":"` + signed + `"}`
		return p.Serve("ws")
	}
	p := plain(t, "listen", serving(), "--no-input", "--keys", key+".jwks")
	p.ends(0)
	contains(t, p.out.String(), "Tidying up.", "Done: nothing was deleted.")
	for _, args := range [][]string{
		{"listen", serving(), "--no-input", "--keys", others + ".jwks"},
		{"listen", scripted.New(t, foreign).Serve("unix"), "--keys", key + ".jwks"},
	} {
		p := plain(t, args...)
		p.ends(1)
		if contains(t, p.prompt.String(), "cannot be trusted: ", "hint: check the address, and whether its maker has changed the keys"); strings.Contains(p.out.String(), "Tidying up.") {
			t.Errorf("%q: it is told\n%s", args, p.out.String())
		}
	}
	s := emptyScene(t)
	s.up()
	gateway := start(t, options{verb: "gateway", args: []string{"--from", serving(), "--from-keys", others + ".jwks", "--agent", "other", "--data", s.data}})
	gateway.ends(1)
	contains(t, gateway.prompt.String(), "cannot be trusted: ")
	remote := s.dials()
	if all, err := remote.Sessions(t.Context(), false); err != nil || len(all) > 0 {
		t.Errorf("the gateway has passed on %+v, %v", all, err)
	}
	p = plain(t, "listen", "http://localhost:1/events", "--keys", key+".jwks")
	p.ends(2)
	contains(t, squeeze(p.prompt.String()), "is a stream without subscriptions, which brings no signed manifest")
	p = plain(t, "listen", "ws://localhost:1", "--keys", document)
	p.ends(1)
	contains(t, squeeze(p.prompt.String()), "the public keys in", "name a JWK set")
}
