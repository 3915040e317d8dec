package producer_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
)

// fake is a small producer of one session, sess_1. It does everything right, unless a test says otherwise. It is an
// [http.Handler], and an [http.RoundTripper] that needs no network.
type fake struct {
	before   []string            // events up to the question
	behind   map[string][]string // events after the decision
	pause    time.Duration       // before the events, once everybody is there
	accept   func(r aaep.SubscriptionRequest, status *int, body string) string
	passes   func(s *subscription, event string, passes bool) bool
	shape    func(s *subscription, event string) string
	frame    func(s *subscription, event, frame string) string
	spacing  time.Duration // between the events
	replied  int           // the status for a reply; 0 is 204
	repeated int           // the same for one whose token is used
	again    []string      // events after such a reply
	deaf     bool          // replies change nothing
	careless string        // the rule about replies that it does not keep
	tells    int           // the status for a reply that does not count; 0 is 204
	lapses   time.Duration // after the question it goes on by itself; 0 is never
	forgets  bool          // those whose connection breaks
	restarts bool          // a stream that comes back starts from now
	lasting  bool          // a close ends nothing
	renews   func(before, after *aaep.SubscriptionAccepted) string

	mu            sync.Mutex
	once          sync.Once
	changed       chan struct{}
	log           []string
	subscriptions map[string]*subscription
	answered      bool
	asked         time.Time
}

type subscription struct {
	name     string
	accepted aaep.SubscriptionAccepted
	closed   bool
	streams  int
}

func newFake() *fake {
	return &fake{before: slices.Clone(opening), behind: map[string][]string{"reject": slices.Clone(refused), "accept": slices.Clone(granted)}, changed: make(chan struct{}), subscriptions: map[string]*subscription{}}
}

// event is one event; @ stands for its time, # for its number.
func event(kind, members string) string {
	urgency, rest, _ := strings.Cut(members, ",")
	return `{"@context":"https://aaep-protocol.org/context/v1","aaep_version":"1.0.0","type":"aaep:agent.` + kind + `","event_id":"evt_#","session_id":"sess_1",` +
		`"timestamp":"@","producer":{"agent_id":"fake"},"verbosity":"normal",` + urgency + `,"localization_hints":{"primary_language":"en-US"},` + rest + `}`
}

var (
	opening = []string{
		event("session.started", `"urgency":"normal","summary_terse":"Go.","summary_normal":"It has started.","summary_detailed":"It has started to work."`),
		event("state.changed", `"urgency":"background","from_state":"idle","to_state":"thinking","summary_normal":"It thinks."`),
		event("state.changed", `"urgency":"background","from_state":"thinking","to_state":"calling_tool","summary_normal":"It looks."`),
		event("tool.invoked", `"urgency":"normal","tool":"look","tool_call_id":"call_1","risk_level":"low","irreversible":false,"summary_normal":"It looks."`),
		event("tool.completed", `"urgency":"normal","tool":"look","tool_call_id":"call_1","status":"success","summary_normal":"It has looked."`),
		event("state.changed", `"urgency":"background","from_state":"calling_tool","to_state":"awaiting_input","summary_normal":"It asks."`),
		event("awaiting.confirmation", `"urgency":"critical","action":"Delete a file.","consequence":"It is gone.","reply_token":"rpl_1","timeout_seconds":300,`+
			`"default_decision":"reject","risk_level":"high","irreversible":true,"extra_context":{"tool":"delete","tool_call_id":"call_2"},"summary_normal":"May it delete a file?"`),
	}
	refused = []string{
		event("state.changed", `"urgency":"background","from_state":"awaiting_input","to_state":"thinking","summary_normal":"It does not."`),
		ending,
	}
	granted = []string{
		event("state.changed", `"urgency":"background","from_state":"awaiting_input","to_state":"calling_tool","summary_normal":"It deletes."`),
		deleting, deleted,
		event("state.changed", `"urgency":"background","from_state":"calling_tool","to_state":"thinking","summary_normal":"It thinks."`),
		ending,
	}
	deleting = event("tool.invoked", `"urgency":"normal","tool":"delete","tool_call_id":"call_2","risk_level":"high","irreversible":true,"summary_normal":"It deletes."`)
	deleted  = event("tool.completed", `"urgency":"normal","tool":"delete","tool_call_id":"call_2","status":"success","summary_normal":"It has deleted."`)
	ending   = event("session.completed", `"urgency":"normal","summary_terse":"Done.","summary_normal":"It is done.","summary_detailed":"It is done, all of it."`)
)

// RoundTrip implements [http.RoundTripper].
func (p *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	from, to := io.Pipe()
	w := &piped{to: to, header: http.Header{}, begun: make(chan struct{})}
	stop := context.AfterFunc(r.Context(), func() { _ = from.CloseWithError(r.Context().Err()) })
	go func() {
		defer stop()
		p.ServeHTTP(w, r)
		w.WriteHeader(http.StatusOK)
		_ = to.Close()
	}()
	select {
	case <-w.begun:
		return &http.Response{StatusCode: w.status, Status: http.StatusText(w.status), Header: w.header, Body: from, Request: r}, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// piped is a response that is read while it is written.
type piped struct {
	to     *io.PipeWriter
	header http.Header
	once   sync.Once
	status int
	begun  chan struct{}
}

func (w *piped) Header() http.Header { return w.header }
func (w *piped) Flush()              { w.WriteHeader(http.StatusOK) }
func (w *piped) WriteHeader(status int) {
	w.once.Do(func() {
		w.status = status
		close(w.begun)
	})
}

func (w *piped) Write(raw []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.to.Write(raw)
}

// ServeHTTP implements [http.Handler].
func (p *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/aaep/v1/subscriptions":
		p.subscribe(w, r)
	case "/aaep/v1/events":
		p.mu.Lock()
		s := p.subscriptions[r.URL.Query().Get("subscription_id")]
		p.mu.Unlock()
		p.stream(w, r, s)
	case "/aaep/v1/replies":
		p.reply(w, r)
	case "/stream":
		p.stream(w, r, &subscription{name: "main"})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (p *fake) subscribe(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	request, err := aaep.DecodeSubscriptionRequest(raw)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	var body string
	status := http.StatusCreated
	id := "sub_" + strings.ReplaceAll(strings.TrimPrefix(request.SubscriberID, "earshot-conform-"), "-", "")
	switch {
	case request.AAEPVersion != aaep.Version:
		status, body = http.StatusBadRequest, `{"type":"subscription.rejected","reason_code":"version_unsupported","reason_message":"Version 1.0.0 only."}`
	case request.Capabilities.AcceptSignedManifestsOnly != nil:
		status, body = http.StatusBadRequest, `{"type":"subscription.rejected","reason_code":"manifest_signature_required","reason_message":"Nothing is signed."}`
	default:
		body = p.accepts(id, request)
	}
	if p.accept != nil {
		body = p.accept(request, &status, body)
	}
	if accepted, err := aaep.DecodeSubscriptionAccepted([]byte(body)); err == nil {
		p.mu.Lock()
		p.subscriptions[accepted.SubscriptionID] = &subscription{name: strings.TrimPrefix(request.SubscriberName, "Conformance: "), accepted: accepted}
		p.mu.Unlock()
		w.Header().Set("Location", "/aaep/v1/events?subscription_id="+accepted.SubscriptionID)
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (p *fake) accepts(id string, request aaep.SubscriptionRequest) string {
	honored := request.Capabilities
	honored.Extensions, honored.SupportedExtensions = nil, nil
	if !slices.Contains(honored.Languages, "en-US") {
		honored.Languages = nil // nobody speaks what it asks for
	}
	raw, err := aaep.SubscriptionAccepted{SubscriptionID: id, AAEPVersion: aaep.Version, Producer: aaep.Producer{AgentID: "fake"}, HonoredCapabilities: honored}.Encode()
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// append adds events to what is sent.
func (p *fake) append(events ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range events {
		e = strings.ReplaceAll(e, "evt_#", fmt.Sprintf("evt_%d", len(p.log)+1))
		if strings.Contains(e, "awaiting.confirmation") {
			p.asked = time.Now()
		}
		p.log = append(p.log, strings.ReplaceAll(e, `"@"`, `"`+aaep.FormatTime(time.Now())+`"`))
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *fake) stream(w http.ResponseWriter, r *http.Request, s *subscription) {
	next := 0
	if after := r.Header.Get("Last-Event-ID"); after != "" {
		if p.forgets {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		p.mu.Lock()
		for i, e := range p.log {
			if id, _ := aaep.Read([]byte(e)).Text("event_id"); id == after {
				next = i + 1
			}
		}
		if p.restarts {
			next = len(p.log)
		}
		p.mu.Unlock()
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.(http.Flusher).Flush()
	if s.name == "main" {
		p.once.Do(func() { go p.begin(r.Context()) })
	}
	for {
		p.mu.Lock()
		log, changed, closed := p.log[next:], p.changed, s.closed
		next = len(p.log)
		p.mu.Unlock()
		for _, e := range log {
			if text := p.framed(s, e); !closed && text != "" {
				if _, err := io.WriteString(w, text); err != nil {
					return
				}
				w.(http.Flusher).Flush()
			}
		}
		if closed {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// begin makes the events up to the question.
func (p *fake) begin(ctx context.Context) {
	for _, e := range append([]string{""}, p.before...) {
		wait := p.pause
		if e != "" {
			p.append(e)
			wait = p.spacing
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
	if p.lapses == 0 {
		return
	}
	select {
	case <-time.After(p.lapses):
		p.append(p.behind["reject"]...)
	case <-ctx.Done():
	}
}

func (p *fake) framed(s *subscription, e string) string {
	d := aaep.Read([]byte(e))
	kind, _ := d.Text("type")
	urgency, _ := d.Text("urgency")
	terms := s.accepted.HonoredCapabilities
	passes := urgency == "critical" || terms.EventFilters.Passes(kind, nil)
	switch kind {
	case aaep.TypeAwaitingClarification:
		passes = terms.SupportsClarificationReply != nil && *terms.SupportsClarificationReply
	case aaep.TypeAwaitingConfirmation:
		passes = s.accepted.SubscriptionID == "" || terms.SupportsConfirmationReply != nil && *terms.SupportsConfirmationReply
	}
	if p.passes != nil {
		passes = p.passes(s, e, passes)
	}
	if !passes {
		return ""
	}
	if p.shape != nil {
		e = p.shape(s, e)
	}
	id, _ := aaep.Read([]byte(e)).Text("event_id")
	text := "event: aaep.event\nid: " + id + "\ndata: " + e + "\n\n"
	if p.frame != nil {
		text = p.frame(s, e, text)
	}
	return text
}

func (p *fake) reply(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var m struct {
		Type         string            `json:"type"`
		Decision     string            `json:"decision"`
		ID           string            `json:"subscription_id"`
		Capabilities aaep.Capabilities `json:"capabilities"`
	}
	_ = json.Unmarshal(raw, &m)
	p.mu.Lock()
	s, first := p.subscriptions[m.ID], !p.answered
	p.mu.Unlock()
	if rule := p.unfit(r, raw, m.Type, s); rule != "" && rule != p.careless {
		w.WriteHeader(cmp.Or(map[string]int{"CONF-54": http.StatusUnauthorized, "CONF-50": http.StatusBadRequest}[rule], p.tells, http.StatusNoContent))
		return
	}
	p.take(w, s, m.Type, m.Decision, m.Capabilities, first)
}

// unfit is the rule by which a reply does not count, or "".
func (p *fake) unfit(r *http.Request, raw []byte, kind string, s *subscription) string {
	if kind != aaep.TypeConfirmationReply && kind != aaep.TypeClarificationReply {
		return ""
	}
	d := aaep.Read(raw)
	token, _ := d.Text("reply_token")
	text, _ := d.Text("timestamp")
	at, dated := aaep.ParseTime(text)
	decision, _ := d.Text("decision")
	switch {
	case r.Header.Get("Authorization") != "Bearer secret":
		return "CONF-54"
	case !dated:
		return "CONF-50"
	case token != "rpl_1":
		return "CONF-51"
	case kind != aaep.TypeConfirmationReply:
		return "CONF-61"
	case decision != "accept" && decision != "reject":
		return "CONF-55"
	case !at.Before(p.asked.Add(300 * time.Second)):
		return "CONF-53"
	case s == nil || s.accepted.HonoredCapabilities.SupportsConfirmationReply == nil:
		return "SEC-04"
	}
	return ""
}

func (p *fake) take(w http.ResponseWriter, s *subscription, kind, decision string, asked aaep.Capabilities, first bool) {
	switch kind {
	case aaep.TypeSubscriptionClose:
		p.mu.Lock()
		if s != nil && !p.lasting {
			s.closed = true
			close(p.changed)
			p.changed = make(chan struct{})
		}
		p.mu.Unlock()
	case aaep.TypeSubscriptionRenegotiate:
		p.mu.Lock()
		before := s.accepted
		s.accepted.HonoredCapabilities.EventFilters = asked.EventFilters
		raw, _ := s.accepted.Encode()
		body := string(raw)
		if p.renews != nil {
			body = p.renews(&before, &s.accepted)
		}
		p.mu.Unlock()
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, body)
		return
	case aaep.TypeConfirmationReply, aaep.TypeClarificationReply:
		if first && !p.deaf {
			p.mu.Lock()
			p.answered = true
			p.mu.Unlock()
			p.append(p.behind[cmp.Or(map[string]string{"accept": "accept"}[decision], "reject")]...)
		}
		if !first {
			p.append(p.again...)
		}
		if status := map[bool]int{true: p.replied, false: p.repeated}[first]; status != 0 {
			w.WriteHeader(status)
			return
		}
	}
	w.WriteHeader(http.StatusNoContent)
}
