package main_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/bus/bustest"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/service"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
	"github.com/earshot-dev/earshot/worker/agent"
)

// TestCredentials: a tool service from outside comes to `up --nats-listen` with its file, an
// operator finds it with nothing but theirs, and the same files count after a restart at the
// same address. Others cannot read them, and one that is revoked lets nobody in.
func TestCredentials(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	contains(t, s.does(0, "credential", "list"), "There are no credentials.")
	contains(t, s.does(0, "credential", "add", "words", "--role", "tool"), "Credentials of tool/words: "+s.data)
	s.does(0, "credential", "add", "me", "--role", "operator")
	for _, wrong := range [][]string{
		{"add", "words", "--role", "tool"},
		{"add", "files", "--role", "tool"},
		{"add", "x", "--role", "king"},
		{"add", "x"},
		{"add", "words", "--role", "foreign"}, // it would hear the service's messages
		{"add", "tidy", "--role", "foreign"},
		{"add", "a.b", "--role", "tool"},
		{"add", "../x", "--role", "tool"},
	} {
		if out := s.does(2, "credential", wrong...); !strings.Contains(out, "error: ") || !strings.Contains(out, "hint: ") {
			t.Errorf("%q: %s", wrong, out)
		}
	}
	for _, none := range []string{"nobody", "../tokens"} {
		contains(t, s.does(1, "credential", "revoke", none), "hint: ")
	}
	file := filepath.Join(s.data, "credentials", "tool.words.json")
	info, err := os.Stat(file)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %s", info.Mode())
	}
	var listed []struct {
		Role string `json:"role"`
		Name string `json:"name"`
		File string `json:"file"`
	}
	must(t, json.Unmarshal([]byte(s.does(0, "credential", "list", "--json")), &listed))
	if len(listed) != 2 || listed[1].Role != "tool" || listed[1].Name != "words" || listed[1].File != file {
		t.Errorf("listed: %+v", listed)
	}

	listen := bustest.Address(t)
	first := s.up("--nats-listen", listen)
	first.hears("Tool services: those with a credential can come to nats://" + listen)
	credentials, err := bus.ReadCredentials(file)
	must(t, err)
	s.serves(file)
	first.signal(os.Interrupt)
	first.ends(0)

	second := s.up("--nats-listen", listen)
	s.serves(file)
	second.signal(os.Interrupt)
	second.ends(0)

	s.does(0, "credential", "revoke", "words")
	third := s.up("--nats-listen", listen)
	if _, err := bus.Dial(t.Context(), credentials, bus.DialOptions{}); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("with revoked credentials: %v", err)
	}
	third.signal(os.Interrupt)
	third.ends(0)
}

// serves has a service come and be found.
func (s *scene) serves(file string) {
	s.t.Helper()
	made := tool.Must(tool.Func(utp.Definition{Tool: "words.count", Description: "Count.", Class: utp.Read},
		func(_ context.Context, _ *tool.Call, a struct {
			Text string `json:"text"`
		},
		) (int, error) {
			return len(strings.Fields(a.Text)), nil
		}))
	ctx, stop := context.WithCancel(s.t.Context())
	done := make(chan error, 1)
	go func() { done <- service.Run(ctx, service.Options{Credentials: file, Version: "1.2.3"}, made) }()
	operator, err := bus.ReadCredentials(filepath.Join(s.data, "credentials", "operator.me.json"))
	must(s.t, err)
	nc, err := nats.Connect(operator.URL, nats.UserInfo(operator.Request.User, operator.Request.Password), nats.CustomInboxPrefix(operator.Request.Inbox), nats.Timeout(patience))
	must(s.t, err)
	defer nc.Close()
	var found micro.Info
	for end := time.Now().Add(patience); found.Name == "" && time.Now().Before(end); {
		if m, err := nc.Request("$SRV.INFO", nil, time.Second); err == nil {
			must(s.t, json.Unmarshal(m.Data, &found))
		}
	}
	if found.Name != "words" || found.Version != "1.2.3" || len(found.Endpoints) != 1 {
		s.t.Errorf("found: %+v", found)
	}
	stop()
	if err := <-done; err != nil {
		s.t.Error(err)
	}
}

// TestCredentialsDamaged: the server does not start with credentials that it cannot trust,
// and says which.
func TestCredentialsDamaged(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.does(0, "credential", "add", "words", "--role", "tool")
	file := filepath.Join(s.data, "credentials", "tool.words.json")
	must(t, os.Chmod(file, 0o644))
	contains(t, s.does(1, "up", "--root", s.folder, "--http", "127.0.0.1:0", "--nats-listen", "127.0.0.1:0"), "others may read the credentials")
	must(t, os.Chmod(file, 0o600))
	raw, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte(strings.Replace(string(raw), "_INBOX_", "", 1)), 0o600))
	contains(t, s.does(1, "up", "--root", s.folder, "--http", "127.0.0.1:0", "--nats-listen", "127.0.0.1:0"), "are damaged")
	must(t, os.Remove(file))
	contains(t, s.does(1, "up", "--root", s.folder, "--http", "127.0.0.1:0", "--nats-listen", "0.0.0.0:0"), "is not loopback")
}

// TestForeignFromOutside: a third-party worker comes with credentials of its own and works on a
// turn that is asked for by its name. What it says on the wire is tested in the kernel.
func TestForeignFromOutside(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.does(0, "credential", "add", "peer", "--role", "foreign")
	contains(t, s.does(2, "credential", "add", "peer", "--role", "agent"), "foreign/peer")
	server := s.up("--nats-listen", "127.0.0.1:0")
	credentials, err := bus.ReadCredentials(filepath.Join(s.data, "credentials", "foreign.peer.json"))
	must(t, err)
	peer, err := bus.Dial(t.Context(), credentials, bus.DialOptions{})
	must(t, err)
	defer peer.Close()
	rung := make(chan struct{}, 64)
	_, err = peer.SubscribeWakeups(t.Context(), func(context.Context, bus.Message) { rung <- struct{}{} })
	must(t, err)
	run := start(t, options{verb: "run", data: s.data, args: []string{"peer", `{}`}})
	select {
	case <-rung:
	case <-time.After(patience):
		t.Fatal("the doorbell has not rung")
	}
	var held api.ClaimAnswer
	must(t, rpc.Ask(t.Context(), peer, api.OpClaim, api.ClaimRequest{Agent: "peer", Worker: "seat"}, &held))
	must(t, rpc.Ask(t.Context(), peer, api.OpDeliver, api.DeliverRequest{
		WorkerRequest: api.WorkerRequest{Turn: held.Turn, Epoch: held.Epoch, Worker: "seat"}, Status: utp.StatusSuccess, Summary: "It is done elsewhere.",
	}, nil))
	run.hears("It is done elsewhere.")
	run.ends(0)
	server.signal(os.Interrupt)
	server.ends(0)
}

// TestAgentFromOutside: an agent of one's own, in a process of its own, is asked by the command
// line for a turn at the server, asks for calls of a tool of one's own, and the person is asked for those.
func TestAgentFromOutside(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.does(0, "credential", "add", "counter", "--role", "agent")
	s.does(0, "credential", "add", "words", "--role", "tool")
	contains(t, s.does(1, "run", "counter", "{}"), `error: there is no agent "counter" here`, "hint: the agents are: tidy; for one of your own, start `earshot up")
	server := s.up("--nats-listen", "127.0.0.1:0")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() {
		ended <- service.Run(ctx, service.Options{Credentials: filepath.Join(s.data, "credentials", "tool.words.json")}, tool.Must(tool.Func(
			utp.Definition{Tool: "words.count", Description: "Count.", Class: utp.Read},
			func(_ context.Context, _ *tool.Call, a struct {
				Text string `json:"text"`
			},
			) (int, error) {
				return len(strings.Fields(a.Text)), nil
			})))
	}()
	go func() {
		ended <- agent.Run(ctx, agent.Options{Credentials: filepath.Join(s.data, "credentials", "agent.counter.json")}, worker.Agent{
			Name: "counter", Plan: worker.PlanFunc(func(_ context.Context, t worker.Transcript) (worker.Decision, error) {
				counted, done := t.Find("count")
				if !done {
					return worker.Decision{Calls: []worker.Call{{Key: "count", Tool: "words.count", Args: t.Args}}}, nil
				}
				return worker.Decision{Answer: &worker.Answer{Summary: "Words: " + string(counted.Value)}}, nil
			}),
		})
	}()
	for end := time.Now().Add(patience); !strings.Contains(s.does(0, "tools", "list"), "words.count"); {
		if time.Now().After(end) {
			t.Fatal("the tool has not come")
		}
	}
	contains(t, s.does(2, "run", "counter", "[1]"), "are not one JSON object")
	contains(t, s.does(1, "run", "nobody", "{}"), `there is no agent "nobody"`, "the agents are: tidy, operator, counter")
	run := start(t, options{verb: "run", data: s.data, args: s.answering([]string{"counter", `{"text":"one two three"}`, "--request", "Count them"})})
	run.hears("Question 1") // nobody has looked at the tool, so it is asked for
	run.say("accept")
	run.hears("Words: 3")
	run.ends(0)
	contains(t, run.prompt.String()+run.out.String(), "Count them")
	stop()
	for range 2 {
		must(t, <-ended)
	}
	server.signal(os.Interrupt)
	server.ends(0)
}
