package compat

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/serve"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
	"github.com/earshot-dev/earshot/aaep/transport/stream"
)

// kindPrompt is the kind of a message that starts a session.
const kindPrompt = "user_input"

// Agent does what a prompt says, in a session that has begun, and ends it.
type Agent func(ctx context.Context, s *serve.Session, prompt string) error

// Options configure a [Mount]. All are required.
type Options struct {
	Producer aaep.Producer
	Agent    Agent
	// Failed is called when an agent could not do what it wanted to, by its goroutine.
	Failed func(prompt string, err error)
}

// Mount is the handler. Create it with [New].
type Mount struct {
	o       Options
	channel *channel
	ctx     context.Context //nolint:containedctx // its own life
	stop    context.CancelFunc
	owned   sync.WaitGroup

	mu       sync.Mutex
	producer *serve.Producer
	conn     *conn
	sessions []string
}

// New returns a mount whose listener has no terms yet: it hears everything, without a limit, and can answer.
func New(o Options) (*Mount, error) {
	m := &Mount{o: o, channel: newChannel()}
	m.ctx, m.stop = context.WithCancel(context.Background())
	yes := true
	request, err := aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "channel", Capabilities: aaep.Capabilities{
		SupportsConfirmationReply: &yes, SupportsClarificationReply: &yes, SupportedConformanceLevels: []int{1, 2, 3},
	}}.Encode()
	if err == nil {
		err = m.subscribe(request, true)
	}
	if err != nil {
		m.stop()
		return nil, fmt.Errorf("beginning the channel: %w", err)
	}
	return m, nil
}

// Close ends the agents and the channel, and waits for them.
func (m *Mount) Close() {
	m.stop()
	m.owned.Wait()
}

// subscribe begins with a producer of its own for new terms.
func (m *Mount) subscribe(request []byte, quiet bool) error {
	p, err := serve.New(serve.Options{Producer: m.o.Producer, Allow: func(string) serve.Rights { return serve.Rights{Hears: true, Answers: true} }})
	if err != nil {
		return err
	}
	c := newConn(m.channel, quiet)
	c.pass(request)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != nil {
		m.conn.drop()
	}
	m.producer, m.conn = p, c
	m.owned.Go(func() {
		defer p.Close()
		p.ServeConn(m.ctx, c, "")
		<-m.ctx.Done() // sessions may go on without a listener
	})
	select {
	case <-c.answered:
	case <-c.gone:
	}
	return nil
}

// prompt starts a session.
func (m *Mount) prompt(text string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.begin()
	if err != nil {
		return err
	}
	m.sessions = append(m.sessions, s.ID())
	m.owned.Go(func() {
		if err := m.o.Agent(m.ctx, s, text); err != nil && m.ctx.Err() == nil {
			m.o.Failed(text, err)
		}
	})
	return nil
}

// begin begins a session, and says which before its first event.
func (m *Mount) begin() (*serve.Session, error) {
	m.channel.mu.Lock() // what the session says is sent after that
	defer m.channel.mu.Unlock()
	s, err := m.producer.Begin(aaep.SessionStarted{SummaryNormal: "Working on it."})
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(map[string]string{"kind": "session", "session_id": s.ID()}, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("naming the session: %w", err)
	}
	m.channel.put(raw)
	return s, nil
}

// take takes a message of the listener. What it does not know it ignores.
func (m *Mount) take(raw []byte) error {
	message := aaep.Read(raw)
	if kind, _ := message.Text("kind"); kind == kindPrompt {
		text, _ := message.Text("text")
		return m.prompt(text)
	}
	kind, _ := message.Text("type")
	switch kind {
	case aaep.TypeSubscriptionRequest:
		return m.subscribe(raw, false)
	case aaep.TypeConfirmationReply, aaep.TypeClarificationReply:
		m.reply(kind, raw)
	}
	return nil
}

// reply passes a reply on, as one of the subscription that there is: this form has no ids of subscriptions.
func (m *Mount) reply(kind string, raw []byte) {
	m.mu.Lock()
	c := m.conn
	m.mu.Unlock()
	var named []byte
	var err error
	if kind == aaep.TypeConfirmationReply {
		var r aaep.ConfirmationReply
		if r, err = aaep.DecodeConfirmationReply(raw); err == nil {
			r.SubscriptionID = c.id()
			named, err = r.Encode()
		}
	} else {
		var r aaep.ClarificationReply
		if r, err = aaep.DecodeClarificationReply(raw); err == nil {
			r.SubscriptionID = c.id()
			named, err = r.Encode()
		}
	}
	if err == nil {
		c.pass(named)
	}
}

// ServeHTTP implements [http.Handler]. Only names of this machine are served.
func (m *Mount) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !stream.IsLocal(r) || r.Header.Get("Origin") != "" {
		http.Error(w, "this is for programs on this machine only", http.StatusForbidden)
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /events":
		_ = stream.Open(w).Run(r.Context(), m.frames, always{}) // how it ends is not told
	case "POST /messages":
		raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, transport.MessageLimit))
		if err == nil {
			err = m.take(raw)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	case "GET /sessions":
		m.list(w)
	case "GET /healthz":
		w.WriteHeader(http.StatusNoContent)
	case "GET /":
		m.socket(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (m *Mount) list(w http.ResponseWriter) {
	m.mu.Lock()
	raw, err := json.Marshal(map[string][]string{"sessions": m.sessions}, json.FormatNilSliceAsNull(false))
	m.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw)
}

// frames streams the channel.
func (m *Mount) frames(ctx context.Context, send func([]stream.Frame) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	for {
		messages := m.channel.take(ctx)
		group := make([]stream.Frame, len(messages))
		for i, raw := range messages {
			group[i].Data = raw
		}
		if len(group) == 0 || !send(group) {
			return nil
		}
	}
}

// socket serves a WebSocket.
func (m *Mount) socket(w http.ResponseWriter, r *http.Request) {
	c, err := socket.Accept(w, r, socket.Options{Limit: transport.MessageLimit})
	if err != nil {
		return // it has answered
	}
	defer c.Drop()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	var sends sync.WaitGroup
	defer sends.Wait()
	defer cancel()
	sends.Go(func() {
		defer c.Drop()
		_ = m.frames(ctx, func(group []stream.Frame) bool {
			for _, f := range group {
				if c.Send(f.Data) != nil {
					return false
				}
			}
			return true
		})
	})
	for {
		raw, err := c.Receive()
		if err != nil || m.take(raw) != nil {
			return
		}
	}
}

// always lets the listener hear.
type always struct{}

func (always) Changes(context.Context) <-chan struct{} { return nil }
func (always) Valid() bool                             { return true }
