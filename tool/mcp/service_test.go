package mcp_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// kernel plays the kernel for a service of one server. It grants everything, and stops a call that has told how far it is.
type kernel struct {
	t        *testing.T
	call     api.StartAnswer
	finished chan api.FinishRequest

	mu         sync.Mutex
	registered map[string]utp.Definition
	fractions  []float64
	listens    chan func()
}

func (k *kernel) Request(_ context.Context, op string, request []byte) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	read := func(into any) {
		if err := json.Unmarshal(request, into); err != nil {
			k.t.Error(err)
		}
	}
	var answer any = struct{}{}
	switch op {
	case api.OpRegister:
		var q api.RegisterRequest
		read(&q)
		k.registered[q.Definition.Tool] = q.Definition
	case api.OpStart:
		answer = k.call
	case api.OpHeartbeat:
		var q api.HeartbeatRequest
		read(&q)
		if q.Fraction != nil {
			k.fractions = append(k.fractions, *q.Fraction)
		}
		answer = api.HeartbeatAnswer{LeaseMS: 30_000, Stop: q.Fraction != nil}
	case api.OpFinish:
		var q api.FinishRequest
		read(&q)
		k.finished <- q
	}
	return api.EncodeAnswer(answer, nil), nil
}

func (k *kernel) Commands(ctx context.Context, handle func(context.Context, tool.Message)) (func(), error) {
	k.listens <- func() {
		handle(ctx, tool.Message{
			Subject: "cg.v1r4.p.c.cmd.tool.scene.call", Header: map[string][]string{utp.HeaderToolCallID: {k.call.Call}}, Payload: []byte(`{}`),
		})
	}
	return func() {}, nil
}

// TestService: as the source of a service, a server has its tools registered without a class; its progress is told with the lease,
// and the stop that comes back with that reaches the server.
func TestService(t *testing.T) {
	t.Parallel()
	placeholder := ownFolder(t)
	s := newScene(t, section(t, "usual", placeholder, ""))
	s.place = placeholder
	k := &kernel{
		t: t, registered: map[string]utp.Definition{}, finished: make(chan api.FinishRequest, 1), listens: make(chan func(), 1),
		call: api.StartAnswer{
			Call: "tc_1", Turn: "turn_1", Tool: "scene.slow", Class: utp.Read, Args: api.Body{Inline: jsontext.Value(`{}`)}, Fence: 1, StartWithinMS: 60_000, LeaseMS: 30_000,
		},
	}
	offered := make(chan struct{}, 1)
	source := func(ctx context.Context, offer tool.Offer) error {
		return s.server.Run(ctx, func(ctx context.Context, tools []tool.Tool) error {
			err := offer(ctx, tools)
			offered <- struct{}{}
			return err
		})
	}
	service, err := tool.New(tool.Options{Conn: k, Source: source, Target: s.server.Target()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx) }()
	ring := <-k.listens
	<-offered
	k.mu.Lock()
	if d, there := k.registered["scene.slow"]; !there || d.Class != "" || d.Risk != "" {
		t.Errorf("it is registered as %+v", d)
	}
	k.mu.Unlock()
	ring()
	select {
	case q := <-k.finished:
		if q.Error == nil || q.Error.Code != utp.CodeStopped {
			t.Errorf("it finished with %+v", q)
		}
	case <-time.After(connectTimeout):
		t.Fatal("it does not finish")
	}
	s.awaits("cancelled")
	k.mu.Lock()
	if len(k.fractions) == 0 || k.fractions[0] != 0.3 {
		t.Errorf("it was told to be at %v", k.fractions)
	}
	k.mu.Unlock()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
