package service_test

import (
	"bytes"
	"context"
	"crypto/rand"
	stdjson "encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"go.uber.org/goleak"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/bus/bustest"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/service"
	"github.com/earshot-dev/earshot/utp"
)

// asExample has the test's program be the program of the example.
const asExample = "EARSHOT_TEST_EXAMPLE"

func TestMain(m *testing.M) {
	if os.Getenv(asExample) != "" {
		os.Args = os.Args[:1]
		Example()
		return
	}
	goleak.VerifyTestMain(m)
}

const (
	project  = "home"
	patience = 3 * time.Minute
)

func words() bus.Principal    { return bus.Principal{Kind: bus.Tool, Name: "words"} }
func overseer() bus.Principal { return bus.Principal{Kind: bus.Operator, Name: "me"} }

// kernel is a bus that listens, with a kernel on it that grants every start.
type kernel struct {
	t      *testing.T
	known  bus.Credentials // of the service
	path   string          // of its file
	listen string
	server *bus.Server
	end    *bus.Kernel
	heard  chan heard

	mu   sync.Mutex
	args string
}

type heard struct {
	op      string
	request jsontext.Value
}

func newKernel(t *testing.T) *kernel {
	t.Helper()
	k := &kernel{t: t, listen: bustest.Address(t), heard: make(chan heard, 1024), args: `{"text":"one two  three"}`, path: filepath.Join(t.TempDir(), "words.json")}
	var err error
	k.known, err = bus.NewCredentials(rand.Reader, project, words())
	must(t, err)
	k.open()
	k.write(k.known)
	t.Cleanup(func() {
		if k.server != nil { // it could be opened again
			k.server.Close()
		}
	})
	return k
}

// open starts the bus, again at the place where it was.
func (k *kernel) open() {
	k.t.Helper()
	k.server = bustest.Start(k.t, bus.Options{
		Project: project, Known: []bus.Credentials{k.known}, Principals: []bus.Principal{overseer()}, Listen: k.listen, Timeout: patience,
	})
	var err error
	k.known.URL = k.server.URL()
	k.end, err = k.server.Kernel(k.t.Context())
	must(k.t, err)
	must(k.t, k.end.Serve(k.t.Context(), k.answer))
}

func (k *kernel) write(c bus.Credentials) {
	k.t.Helper()
	raw, err := json.Marshal(c)
	must(k.t, err)
	must(k.t, os.WriteFile(k.path, raw, 0o600))
}

func (k *kernel) answer(_ context.Context, _ bus.Principal, op string, request []byte) []byte {
	k.mu.Lock()
	args := k.args
	k.mu.Unlock()
	k.heard <- heard{op, slices.Clone(request)}
	switch op {
	case api.OpStart:
		var q api.StartRequest
		_ = json.Unmarshal(request, &q)
		return api.EncodeAnswer(api.StartAnswer{
			Call: q.Call, Turn: "turn_1", Tool: "words.count", Args: api.Body{Inline: jsontext.Value(args)}, Fence: 1,
			StartWithinMS: 60_000, LeaseMS: 30_000,
		}, nil)
	case api.OpHeartbeat:
		return api.EncodeAnswer(api.HeartbeatAnswer{LeaseMS: 30_000}, nil)
	default:
		return api.EncodeAnswer(struct{}{}, nil)
	}
}

// ring publishes the command of a call.
func (k *kernel) ring(call, payload string) {
	k.t.Helper()
	must(k.t, k.end.Publish(k.t.Context(), "cg.v1r4.home.public.cmd.tool.words.count", map[string][]string{utp.HeaderToolCallID: {call}}, []byte(payload)))
}

// await is the next request of the operation.
func (k *kernel) await(op string, into any) {
	k.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var others []string
	for {
		select {
		case h := <-k.heard:
			if h.op == op {
				must(k.t, json.Unmarshal(h.request, into))
				return
			}
			others = append(others, h.op+" "+string(h.request))
		case <-timer.C:
			k.t.Fatalf("waited for %s in vain; heard %q", op, others)
		}
	}
}

// listening waits until the service hears its commands.
func (k *kernel) listening() {
	k.t.Helper()
	nc, login := k.operator()
	inbox := make(chan *nats.Msg, 16)
	_, err := nc.ChanSubscribe(login.Inbox+".x", inbox)
	must(k.t, err)
	for end := time.Now().Add(patience); time.Now().Before(end); {
		must(k.t, nc.PublishRequest("$SRV.PING", login.Inbox+".x", nil))
		select {
		case m := <-inbox:
			if m.Header.Get("Status") == "" {
				return
			}
		case <-time.After(20 * time.Millisecond):
		}
	}
	k.t.Fatal("the service is not found")
}

func (k *kernel) operator() (*nats.Conn, bus.Login) {
	k.t.Helper()
	c, err := k.server.Credentials(overseer())
	must(k.t, err)
	nc, err := nats.Connect(c.URL, nats.UserInfo(c.Request.User, c.Request.Password), nats.CustomInboxPrefix(c.Request.Inbox), nats.Timeout(patience))
	must(k.t, err)
	k.t.Cleanup(nc.Close)
	return nc, c.Request
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestExample compiles and runs the program of the documentation, as a process of its own
// on a real connection: its tool is registered with the derived schema, `$SRV` finds it, a
// call gets its result, bad ones get bad_request, and SIGTERM ends it.
func TestExample(t *testing.T) {
	t.Parallel()
	k := newKernel(t)
	program, err := os.Executable()
	must(t, err)
	c := exec.CommandContext(t.Context(), program)
	c.Env = append(os.Environ(), asExample+"=1", service.Variable+"="+k.path)
	var log bytes.Buffer
	c.Stderr = &log
	must(t, c.Start())
	var r api.RegisterRequest
	k.await(api.OpRegister, &r)
	want := `{"$schema":"https://json-schema.org/draft/2020-12/schema","additionalProperties":false,"properties":{"text":{"description":"The text whose words are counted.","maxLength":100000,"type":"string"}},"required":["text"],"type":"object"}`
	if d := r.Definition; d.Tool != "words.count" || string(d.Parameters) != want || d.Class != utp.Read || d.Risk != utp.RiskLow {
		t.Errorf("registered: %+v", d)
	}
	k.listening()
	nc, _ := k.operator()
	m, err := nc.Request("$SRV.INFO.words", nil, patience)
	must(t, err)
	var info micro.Info
	must(t, stdjson.Unmarshal(m.Data, &info))
	if info.Name != "words" || len(info.Endpoints) != 1 || info.Endpoints[0].Metadata["tool"] != "words.count" || info.Endpoints[0].Metadata["class"] != "read" {
		t.Errorf("info: %s", m.Data)
	}
	var f api.FinishRequest
	k.ring("tc_1", `{"tool_name":"words.count","after_execution":"suspend","tool_call_card_id":"c"}`)
	if k.await(api.OpFinish, &f); f.Call != "tc_1" || f.Status != utp.StatusSuccess || string(f.Result.Inline) != `{"words":3}` {
		t.Errorf("finished: %+v", f)
	}
	k.ring("tc_2", `{"arguments":{"text":"x"}}`)
	if k.await(api.OpFinish, &f); f.Call != "tc_2" || f.Status != utp.StatusFailed || f.Error.Code != utp.CodeBadRequest {
		t.Errorf("finished: %+v %+v", f, f.Error)
	}
	m, err = nc.Request("$SRV.STATS.words", nil, patience)
	must(t, err)
	var stats micro.Stats
	must(t, stdjson.Unmarshal(m.Data, &stats))
	if e := stats.Endpoints[0]; e.Name != "words_count" || e.NumRequests != 2 {
		t.Errorf("stats: %s", m.Data)
	}
	must(t, c.Process.Signal(os.Interrupt))
	if err := c.Wait(); err != nil {
		t.Errorf("it ended with %v\n%s", err, log.String())
	}
	if said, want := log.String(), `msg=Serving. tools=words.count connected_to=`+k.known.URL; strings.Count(said, "Serving") != 1 || !strings.Contains(said, want) {
		t.Errorf("it said %q, expected %s", said, want)
	}
}

func counting(t *testing.T, run func(context.Context, *tool.Call) (tool.Result, error)) tool.Tool {
	t.Helper()
	return tool.Tool{Definition: utp.Definition{Tool: "words.count", Description: "Count."}, Run: run}
}

// begin runs a service in this process until end is called, which returns what it ended with.
func begin(t *testing.T, k *kernel, made ...tool.Tool) (end func() error) {
	t.Helper()
	return beginLogged(t, k, nil, made...)
}

// lines is what is written, line by line.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// await waits for a line with a text.
func (l lines) await(t *testing.T, text string) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case line := <-l:
			if strings.Contains(line, text) {
				return
			}
		case <-timer.C:
			t.Fatalf("%q was not logged", text)
		}
	}
}

func beginLogged(t *testing.T, k *kernel, log *slog.Logger, made ...tool.Tool) (end func() error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- service.Run(ctx, service.Options{Credentials: k.path, Logger: log}, made...) }()
	return func() error {
		stop()
		return <-done
	}
}

// TestBusGoesAndComes: a service that is there before its bus waits for it, and one that
// has lost it goes on when it is back: what it did meanwhile is told, and new calls come.
func TestBusGoesAndComes(t *testing.T) {
	t.Parallel()
	k := newKernel(t)
	k.server.Close()
	begun, release := make(chan struct{}), make(chan struct{})
	log := make(lines, 1024)
	end := beginLogged(t, k, slog.New(slog.NewTextHandler(log, nil)), counting(t, func(_ context.Context, c *tool.Call) (tool.Result, error) {
		if c.ID == "tc_long" {
			close(begun)
			<-release
		}
		return tool.Result{Value: c.ID}, nil
	}))
	k.open()
	var r api.RegisterRequest
	k.await(api.OpRegister, &r)
	k.listening()
	k.ring("tc_long", `{}`)
	<-begun
	log.await(t, "msg=Serving. tools=words.count connected_to=")
	k.server.Close()
	log.await(t, "The connection to the server is lost; trying again.")
	close(release)
	k.open()
	log.await(t, "The connection to the server is back.")
	var f api.FinishRequest
	if k.await(api.OpFinish, &f); f.Call != "tc_long" || string(f.Result.Inline) != `"tc_long"` {
		t.Errorf("finished: %+v", f)
	}
	k.listening()
	for end := time.Now().Add(patience); f.Call != "tc_new" && time.Now().Before(end); {
		k.ring("tc_new", `{}`) // its ear may come back after its face
		select {
		case h := <-k.heard:
			if h.op == api.OpFinish {
				must(t, json.Unmarshal(h.request, &f))
			}
		case <-time.After(50 * time.Millisecond):
		}
	}
	if f.Call != "tc_new" {
		t.Error("a new call did not come")
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

// TestRefusals: what cannot work is said at once, with what to do.
func TestRefusals(t *testing.T) {
	t.Parallel()
	k := newKernel(t)
	run := func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{}, nil }
	tests := []struct {
		name   string
		change func(c *bus.Credentials)
		made   tool.Tool
		want   string
	}{
		{"no address", func(c *bus.Credentials) { c.URL = "" }, counting(t, run), "--nats-listen"},
		{"another password", func(c *bus.Credentials) { c.Request.Password = strings.Repeat("x", 43) }, counting(t, run), "refused the credentials"},
		{"another service", func(*bus.Credentials) {}, tool.Tool{Definition: utp.Definition{Tool: "other.x"}, Run: run}, "holds the credentials of tool/words; those of tool/other are wanted"},
		{"no tool", func(*bus.Credentials) {}, tool.Tool{}, "tool_name"},
	}
	for _, tt := range tests {
		c := k.known
		tt.change(&c)
		k.write(c)
		if err := service.Run(t.Context(), service.Options{Credentials: k.path}, tt.made); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want ...%s...", tt.name, err, tt.want)
		}
	}
	if err := service.Run(t.Context(), service.Options{Credentials: filepath.Join(t.TempDir(), "none")}, counting(t, run)); err == nil {
		t.Error("a file that is not there is taken")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	k.write(k.known)
	if err := service.Run(ctx, service.Options{Credentials: k.path}, counting(t, run)); err != nil {
		t.Errorf("told to end before it began: %v", err)
	}
}

// TestRevoked: a service that is not let in any more ends and says why.
func TestRevoked(t *testing.T) {
	t.Parallel()
	k := newKernel(t)
	ended := make(chan error, 1)
	run := func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{}, nil }
	go func() { ended <- service.Run(t.Context(), service.Options{Credentials: k.path}, counting(t, run)) }()
	k.listening()
	k.server.Close()
	var err error
	k.known, err = bus.NewCredentials(rand.Reader, project, words())
	must(t, err)
	k.open()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "does not take the credentials any more") {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(patience):
		t.Fatal("it goes on")
	}
}

// TestFlood: among many malformed commands the good ones are done, and nothing stalls.
func TestFlood(t *testing.T) {
	t.Parallel()
	k := newKernel(t)
	end := begin(t, k, counting(t, func(_ context.Context, c *tool.Call) (tool.Result, error) { return tool.Result{Value: c.ID}, nil }))
	k.listening()
	bad := []string{"", "{", "[]", `{"args":{}}`, "\x00\xff", `{"tool_name":1}`, strings.Repeat("x", 100_000)}
	for i := range 40 {
		must(t, k.end.Publish(t.Context(), "cg.v1r4.home.public.cmd.tool.words.count", nil, []byte(bad[i%len(bad)])))
		k.ring("tc_bad_"+string(rune('a'+i%26)), `{"result":1}`)
		if i%10 == 9 {
			k.ring("tc_good_"+strconv.Itoa(i), `{}`)
		}
	}
	for good := 0; good < 4; {
		var f api.FinishRequest
		k.await(api.OpFinish, &f)
		switch {
		case strings.HasPrefix(f.Call, "tc_good_") && f.Status == utp.StatusSuccess:
			good++
		case f.Error == nil || f.Error.Code != utp.CodeBadRequest:
			t.Errorf("finished %+v with %+v", f, f.Error)
		}
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}
