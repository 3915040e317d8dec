package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/utp"
)

// comes connects the process of a credential.
func (s *scene) comes(who bus.Principal) (*bus.Client, error) {
	s.t.Helper()
	c, err := bus.ReadCredentials(s.credential(who))
	must(s.t, err)
	remote, err := bus.Dial(s.t.Context(), c, bus.DialOptions{})
	if err == nil {
		s.t.Cleanup(remote.Close)
	}
	return remote, err
}

func (s *scene) credential(who bus.Principal) string {
	return filepath.Join(s.data, "credentials", string(who.Kind)+"."+who.Name+".json")
}

// registers has a client register a tool of that name, as a service of its own.
func registers(t *testing.T, c *bus.Client, name string) error {
	t.Helper()
	return rpc.Ask(t.Context(), c, api.OpRegister, api.RegisterRequest{Definition: utp.Definition{
		Tool: name, Description: "Count.", Parameters: []byte(`{"type":"object"}`), AfterExecution: utp.Suspend, Class: utp.Read, Risk: utp.RiskLow,
		Target: "cg.v1r4.{project_id}.{channel_id}.cmd.tool." + c.Principal().Name + ".call",
	}}, nil)
}

// TestCredentialsAtOnce: at a server that runs, credentials count as soon as the command that makes
// them returns, and count no more once they are revoked: the connection is cut, and others go on.
func TestCredentialsAtOnce(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	words, counter := bus.Principal{Kind: bus.Tool, Name: "words"}, bus.Principal{Kind: bus.Agent, Name: "counter"}
	contains(t, s.does(0, "credential", "add", "me", "--role", "operator"), "They count from the next start of `earshot up --nats-listen ADDRESS`.")
	server := s.up("--nats-listen", "127.0.0.1:0")
	contains(t, s.does(0, "credential", "add", "words", "--role", "tool"), "They count now: it can come to nats://127.0.0.1:")
	contains(t, s.does(1, "run", "counter", "{}"), `there is no agent "counter"`)
	s.does(0, "credential", "add", "counter", "--role", "agent")
	service, err := s.comes(words)
	must(t, err)
	must(t, registers(t, service, "words.count"))
	s.serves(s.credential(words)) // an operator who was there before finds it
	agent, err := s.comes(counter)
	must(t, err)
	rung := make(chan struct{}, 64)
	_, err = agent.SubscribeWakeups(t.Context(), func(context.Context, bus.Message) { rung <- struct{}{} })
	must(t, err)
	run := start(t, options{verb: "run", data: s.data, args: []string{"counter", `{}`}})
	select {
	case <-rung:
	case <-time.After(patience):
		t.Fatal("the agent that came later is not rung")
	}

	kept, err := os.ReadFile(s.credential(words))
	must(t, err)
	contains(t, s.does(0, "credential", "revoke", "words"), "The credentials of tool/words are revoked, and its connections are cut.")
	if err := registers(t, service, "words.sum"); err == nil {
		t.Error("it registers a tool once it is revoked")
	}
	select {
	case <-service.Life().Done():
	case <-time.After(patience):
		t.Fatal("the connection of the revoked credentials lives on")
	}
	var revoked bus.Credentials
	must(t, json.Unmarshal(kept, &revoked))
	if _, err := bus.Dial(t.Context(), revoked, bus.DialOptions{}); !errors.Is(err, bus.ErrRefused) {
		t.Errorf("the revoked credentials: %v", err)
	}
	s.does(0, "credential", "add", "words", "--role", "tool")
	if _, err := bus.Dial(t.Context(), revoked, bus.DialOptions{}); !errors.Is(err, bus.ErrRefused) {
		t.Errorf("the revoked credentials, beside new ones of that name: %v", err)
	}
	if _, err := s.comes(words); err != nil {
		t.Errorf("the new ones: %v", err)
	}
	var held api.ClaimAnswer
	must(t, rpc.Ask(t.Context(), agent, api.OpClaim, api.ClaimRequest{Agent: "counter", Worker: "seat"}, &held))
	must(t, rpc.Ask(t.Context(), agent, api.OpDeliver, api.DeliverRequest{
		WorkerRequest: api.WorkerRequest{Turn: held.Turn, Epoch: held.Epoch, Nonce: held.Nonce, Worker: "seat"}, Status: utp.StatusSuccess, Summary: "All of it is counted.",
	}, nil))
	run.hears("All of it is counted.")
	run.ends(0)
	server.signal(os.Interrupt)
	server.ends(0)
}

// TestRevokeBesideDamage: what is wrong with one file keeps nobody from being revoked, and does not
// cut off the process that has come with it.
func TestRevokeBesideDamage(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	words, sums := bus.Principal{Kind: bus.Tool, Name: "words"}, bus.Principal{Kind: bus.Tool, Name: "sums"}
	for _, who := range []bus.Principal{words, sums} {
		s.does(0, "credential", "add", who.Name, "--role", "tool")
	}
	server := s.up("--nats-listen", "127.0.0.1:0")
	bad, err := s.comes(words)
	must(t, err)
	good, err := s.comes(sums)
	must(t, err)
	must(t, os.Chmod(s.credential(words), 0o644))
	contains(t, s.does(0, "credential", "revoke", "sums"), "are cut", "Not taken up: tool.words.json: others may read the credentials")
	if err := registers(t, good, "sums.add"); err == nil {
		t.Error("the revoked one still registers")
	}
	must(t, registers(t, bad, "words.count"))
	server.signal(os.Interrupt)
	server.ends(0)
}

// TestCredentialsOfNoBus: a server that lets nobody in says so, and what it serves itself is not
// given to another process.
func TestCredentialsOfNoBus(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	server := s.up("--tools", s.toolsFile(asItIs))
	contains(t, s.does(0, "credential", "add", "words", "--role", "tool"), "The server that runs lets no processes in; they count once it is started with --nats-listen ADDRESS.")
	contains(t, s.does(0, "credential", "revoke", "words"), "The credentials of tool/words are revoked.")
	server.signal(os.Interrupt)
	server.ends(0)
	server = s.up("--tools", s.toolsFile(asItIs), "--nats-listen", "127.0.0.1:0")
	desk := bus.Principal{Kind: bus.Tool, Name: "desk"}
	contains(t, s.does(2, "credential", "add", "desk", "--role", "tool"), "the server that runs does not take them: the service desk runs inside the server by --tools")
	if _, err := os.Stat(s.credential(desk)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of refused credentials: %v", err)
	}
	server.signal(os.Interrupt)
	server.ends(0)
}

// TestCredentialTools: a credential registers tools of its own prefix and those of its list, and the
// refusal of any other names the command that allows it. Nobody takes the name of another, nor one
// that the operator's file serves.
func TestCredentialTools(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	words := bus.Principal{Kind: bus.Tool, Name: "words"}
	s.does(0, "credential", "add", "words", "--role", "tool", "--tools", "word_count,desk.say")
	for _, tt := range []struct{ args, says string }{
		{"add sums --role tool --tools word_count", "the tool word_count is a name of tool/words"},
		{"add sums --role tool --tools words.sum", "the tool words.sum is a name of tool/words"},
		{"add sums --role tool --tools files.delete", "the tool files.delete is a name of tool/files"},
		{"add word_count --role tool", "the tool word_count is on the list of tool/words"},
		{"add desk --role foreign", "the tool desk.say is on the list of tool/words"},
		{"add sums --role tool --tools a/b", `"a/b" is not a tool name`},
		{"add sums --role agent --tools a", "--tools goes with the roles tool and foreign"},
		{"add words --role tool", "there are credentials of tool/words already"},
	} {
		contains(t, s.does(2, "credential", strings.Fields(tt.args)...), tt.says)
	}
	server := s.up("--nats-listen", "127.0.0.1:0", "--tools", s.toolsFile(asItIs))
	service, err := s.comes(words)
	must(t, err)
	for _, name := range []string{"words", "words.count", "word_count"} {
		if err := registers(t, service, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	refused := registers(t, service, "word_sum")
	command := "earshot credential add words --role tool --tools word_sum"
	if !rpc.Code(refused, utp.CodeAuthFailed) || !strings.Contains(refused.Error(), command) || !strings.Contains(refused.Error(), "tool/words") {
		t.Errorf("a name that is not its own: %v", refused)
	}
	if err := registers(t, service, "desk.say"); !rpc.Code(err, utp.CodeConflict) {
		t.Errorf("a name of the operator's file, on its list: %v", err)
	}
	contains(t, s.does(0, "credential", strings.Fields(command)[2:]...), "beside words.…: word_count, desk.say, word_sum", "They count now")
	must(t, registers(t, service, "word_sum")) // with the connection that it has
	contains(t, s.does(0, "credential", "list"), "word_count, desk.say, word_sum")
	server.signal(os.Interrupt)
	server.ends(0)
}

// TestCredentialOfBefore: credentials of an earlier program list nothing, and the tools that they
// have registered stay theirs; where the operator's file names one of them, the file wins.
func TestCredentialOfBefore(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	words := bus.Principal{Kind: bus.Tool, Name: "words"}
	s.does(0, "credential", "add", "words", "--role", "tool", "--tools", "say,stay")
	server := s.up("--nats-listen", "127.0.0.1:0")
	service, err := s.comes(words)
	must(t, err)
	must(t, registers(t, service, "say"))
	must(t, registers(t, service, "stay"))
	server.signal(os.Interrupt)
	server.ends(0)

	file := s.credential(words)
	var raw map[string]any
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, json.Unmarshal(text, &raw))
	delete(raw, "tools")
	text, err = json.Marshal(raw)
	must(t, err)
	must(t, os.WriteFile(file, text, 0o600))
	named := s.toolsFile(func(text string) string { return strings.Replace(text, "desk.say", "say", 1) })
	server = s.up("--nats-listen", "127.0.0.1:0", "--tools", named)
	service, err = s.comes(words)
	must(t, err)
	must(t, registers(t, service, "stay"))
	if err := registers(t, service, "say"); !rpc.Code(err, utp.CodeConflict) || !strings.Contains(err.Error(), "belongs to the service desk") {
		t.Errorf("what the operator's file names: %v", err)
	}
	contains(t, s.does(0, "tools", "list"), "say: read")
	server.signal(os.Interrupt)
	server.ends(0)
}
