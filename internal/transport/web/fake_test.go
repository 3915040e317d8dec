package web_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/transport/web"
	"github.com/earshot-dev/earshot/utp"
)

// noon is when every story begins: the clock of a bubble.
var noon = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// room is a hub in memory.
type room struct {
	mu        sync.Mutex
	changed   chan struct{} // closed at every change
	sessions  []api.Session
	log       []entry
	urgency   aaep.Urgency // of the events that are told
	questions []api.OpenQuestion
	arguments map[int]string
	looked    []bool // of each time that arguments were asked for
	operated  []string
	operates  func(op string, request jsontext.Value) (jsontext.Value, error)
	wish      api.Preferences
	wisher    string                       // whose wish it is; "" is everybody's
	languages map[string]*strings.Replacer // what it says in other languages; none: it speaks English

	permissions []api.StandingPermission
	listed      []api.PermissionsRequest
	revoked     []string
	noticed     []string
	words       []web.Reply
	who         []web.Principal // of the words
	replies     []string
	subs        map[string]*sub
	streaming   int  // Deliveries that have not ended
	hang        bool // it does not answer
	turns       []api.TurnStart
	asked       int           // how often it was asked for anything
	read        int           // events that were read
	readers     int           // that read now
	held        chan struct{} // readers wait until it is closed; nil: none waits
	fail        error
	reject      *aaep.SubscriptionRejected
	won         map[string]string // the decision on each token
}

type entry struct {
	session string
	seq     int64
	id      string
	raw     []byte
}

type sub struct {
	room   *room
	id     string
	who    web.Principal
	closed bool
	terms  aaep.Capabilities
}

func newRoom() *room {
	return &room{changed: make(chan struct{}), subs: map[string]*sub{}, arguments: map[int]string{}, won: map[string]string{}}
}

func (h *room) change(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
	close(h.changed)
	h.changed = make(chan struct{})
}

// in is an event in a language.
func (h *room) in(language string, raw []byte) []byte {
	if other := h.languages[language]; other != nil {
		return []byte(other.Replace(string(raw)))
	}
	return raw
}

func (h *room) hangs() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hang
}

// begin adds a session with its first event.
func (h *room) begin(id, request string) {
	h.change(func() {
		h.sessions = append(h.sessions, api.Session{ID: id, Turn: "turn_" + id[5:], Agent: "tidy", Name: strings.Replace(request, " ", ", ", 1), Owner: "ada", Request: request, Status: "running", Created: noon})
	})
	h.tell(id, aaep.SessionStarted{SummaryNormal: "Tidy has started.", RequestText: request})
}

// tell adds an event to a session and returns its id.
func (h *room) tell(session string, payload aaep.Payload) string {
	return h.extended(session, payload, nil)
}

func (h *room) extended(session string, payload aaep.Payload, members map[string]any) string {
	var id string
	h.change(func() {
		i := slices.IndexFunc(h.sessions, func(s api.Session) bool { return s.ID == session })
		h.sessions[i].Last++
		id = fmt.Sprintf("evt_%s%d", session[5:], h.sessions[i].Last)
		e := aaep.Event{
			ID: id, SessionID: session, Time: time.Now().UTC(), Producer: aaep.Producer{AgentID: "tidy"}, Payload: payload, Urgency: h.urgency,
			Hints: &aaep.LocalizationHints{PrimaryLanguage: "en", TextDirection: aaep.DirectionLTR},
		}
		var err error
		for name, value := range members {
			if e, err = e.Extend(aaep.PrefixEarshot, name, value); err != nil {
				panic(err)
			}
		}
		raw, err := e.Encode()
		if err != nil {
			panic(err)
		}
		if e.IsTerminal() {
			h.sessions[i].Ended, h.sessions[i].Status, h.sessions[i].Summary = true, "ended", "Done."
		}
		h.log = append(h.log, entry{session, h.sessions[i].Last, id, raw})
	})
	return id
}

// ask opens a question in a session.
func (h *room) ask(session string, number int, token string) string {
	return h.askAbout(session, number, token, map[string]any{})
}

// askAbout opens one whose event has these members of ours too.
func (h *room) askAbout(session string, number int, token string, members map[string]any) string {
	members = maps.Clone(members)
	members["question"] = number
	id := h.extended(session, aaep.AwaitingConfirmation{
		Action: "Delete 5 files in Downloads.", Consequence: "They do not go to the trash.", ReplyToken: token, TimeoutSeconds: 300,
		DefaultDecision: aaep.DecisionReject, Irreversible: true, RiskLevel: aaep.RiskHigh, Reversibility: aaep.Irreversible,
		SummaryNormal: fmt.Sprintf("Question %d. Delete 5 files in Downloads.", number),
	}, members)
	h.change(func() {
		h.questions = append(h.questions, api.OpenQuestion{
			Number: number, Session: session, Token: token, Call: "tc_1", Tool: "files.delete", Kind: "confirmation", Title: "Delete 5 files in Downloads.",
			Name: "tidy, Downloads", Request: "tidy my downloads", Owner: "ada", Asked: noon, Deadline: noon.Add(5 * time.Minute), Event: jsontext.Value(h.log[len(h.log)-1].raw),
		})
	})
	return id
}

// settle ends a question, as the kernel does.
func (h *room) settle(session string, number int, resolution string) {
	h.change(func() {
		h.questions = slices.DeleteFunc(h.questions, func(q api.OpenQuestion) bool { return q.Number == number })
	})
	h.extended(session, aaep.StateChanged{FromState: aaep.StateAwaitingInput, ToState: aaep.StateDeciding, SummaryNormal: "Recorded: " + resolution + "."},
		map[string]any{"question": number, "resolution": resolution, "by": "ada"})
}

func (h *room) Subscribe(_ context.Context, who web.Principal, r aaep.SubscriptionRequest) (web.Subscription, *aaep.SubscriptionRejected, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reject != nil || h.fail != nil {
		return nil, h.reject, h.fail
	}
	s := &sub{room: h, id: fmt.Sprintf("sub_%016d", len(h.subs)+1), who: who, terms: r.Capabilities}
	h.subs[s.id] = s
	return s, nil, nil
}

func (h *room) Subscription(who web.Principal, id string) (web.Subscription, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, ok := h.subs[id]
	if !ok || s.closed || s.who.Name != who.Name {
		return nil, false
	}
	return s, true
}

func (h *room) Sessions(ctx context.Context, _ web.Principal, w web.ListOptions) (web.Page, error) {
	if h.hangs() {
		<-ctx.Done()
		return web.Page{}, ctx.Err()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked++
	l := web.Page{}
	behind := w.Before == ""
	for _, one := range slices.Backward(h.sessions) {
		switch {
		case !behind:
			behind = one.ID == w.Before
		case w.Open && one.Ended, w.Ended && !one.Ended:
		case len(l.Sessions) == w.Limit:
			l.More = true
			return l, h.fail
		default:
			l.Sessions = append(l.Sessions, one)
		}
	}
	if !behind {
		return l, &web.Refusal{Kind: api.KindNotFound, Message: "there is no such session"}
	}
	return l, h.fail
}

func (h *room) Session(_ context.Context, _ web.Principal, id string) (api.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked++
	if i := slices.IndexFunc(h.sessions, func(s api.Session) bool { return s.ID == id }); i >= 0 {
		one := h.sessions[i]
		if one.Ended {
			one.End = &api.SessionEnd{Status: utp.StatusSuccess, Tally: api.Tally{Invoked: 3, Effects: 1}}
		}
		return one, h.fail
	}
	return api.Session{}, &web.Refusal{Kind: api.KindNotFound, Message: "there is no such session"}
}

func (h *room) Events(_ context.Context, _ web.Principal, session string, after int64, language string) iter.Seq2[api.EventRow, error] {
	return func(yield func(api.EventRow, error) bool) {
		h.mu.Lock()
		log, fail := slices.Clone(h.log), h.fail
		h.asked++
		known := slices.ContainsFunc(h.sessions, func(s api.Session) bool { return s.ID == session })
		h.mu.Unlock()
		if fail == nil && !known {
			fail = &web.Refusal{Kind: api.KindNotFound, Message: "there is no such session"}
		}
		if fail != nil {
			yield(api.EventRow{}, fail)
			return
		}
		h.change(func() { h.readers++ })
		defer h.change(func() { h.readers-- })
		if h.held != nil {
			<-h.held
		}
		for _, e := range log {
			if e.session != session || e.seq <= after {
				continue
			}
			h.change(func() { h.read++ })
			if !yield(api.EventRow{Seq: e.seq, Body: h.in(language, e.raw)}, nil) {
				return
			}
		}
	}
}

func (h *room) Newest(context.Context, web.Principal) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked++
	if len(h.log) == 0 {
		return "", h.fail
	}
	return h.log[len(h.log)-1].id, h.fail
}

func (h *room) Questions(ctx context.Context, who web.Principal, w web.QuestionListOptions) (web.QuestionList, error) {
	if h.hangs() {
		<-ctx.Done()
		return web.QuestionList{}, ctx.Err()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked++
	h.looked = append(h.looked, w.Peek)
	l := web.QuestionList{Total: len(h.questions), Waiting: map[string]bool{}}
	for _, q := range h.questions {
		l.Waiting[q.Session] = l.Waiting[q.Session] || who.Approves(q.Owner)
		if q.Number > w.After {
			if h.languages[w.Language] != nil {
				q.English = q.Title
			}
			q.Title, q.Event = string(h.in(w.Language, []byte(q.Title))), h.in(w.Language, q.Event)
			l.Questions = append(l.Questions, q)
		}
	}
	if w.Limit > 0 && len(l.Questions) > w.Limit {
		l.Questions, l.More = l.Questions[:w.Limit], true
	}
	return l, h.fail
}

func (h *room) Arguments(_ context.Context, _ web.Principal, q api.ArgumentsRequest) ([]byte, int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text, ok := h.arguments[q.Question]
	h.looked = append(h.looked, q.Peek)
	if !ok {
		return nil, 0, &web.Refusal{Kind: api.KindNotFound, Message: "no live question has that number"}
	}
	from := min(q.Offset, int64(len(text)))
	return []byte(text[from:min(from+min(20<<10, cmp.Or(q.Limit, 20<<10)), int64(len(text)))]), int64(len(text)), nil
}

func (h *room) Enqueue(_ context.Context, who web.Principal, t api.TurnStart) (api.EnqueueAnswer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fail != nil {
		return api.EnqueueAnswer{}, h.fail
	}
	repeated := t.Key != "" && slices.ContainsFunc(h.turns, func(before api.TurnStart) bool { return before.Key == t.Key })
	h.turns = append(h.turns, t)
	return api.EnqueueAnswer{Turn: "turn_9", Session: "sess_9", Repeated: repeated}, nil
}

func (h *room) Operate(_ context.Context, who web.Principal, op string, request jsontext.Value) (jsontext.Value, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fail != nil {
		return nil, h.fail
	}
	h.operated = append(h.operated, who.Name+" "+op+" "+string(request))
	if h.operates != nil {
		return h.operates(op, request)
	}
	return jsontext.Value(`{"done":true}`), nil
}

func (h *room) Permissions(_ context.Context, _ web.Principal, q api.PermissionsRequest) (api.PermissionsAnswer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listed = append(h.listed, q)
	return api.PermissionsAnswer{Permissions: h.permissions}, h.fail
}

func (h *room) Revoke(_ context.Context, who web.Principal, number int) (api.StandingPermission, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.revoked = append(h.revoked, fmt.Sprintf("%d by %s", number, who.Name))
	return api.StandingPermission{Number: number, Ended: "revoked", EndedBy: who.Name}, h.fail
}

func (h *room) Prefer(_ context.Context, who web.Principal, w api.Preferences) (api.Preferences, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fail != nil {
		return api.Preferences{}, h.fail
	}
	if w.SetsTimes() && !who.May(api.Answer) {
		return api.Preferences{}, &web.Refusal{Kind: api.KindForbidden, Message: "the times of questions are for those who answer"}
	}
	if h.wisher != "" && h.wisher != who.Name {
		return api.Preferences{}, nil
	}
	h.wish = h.wish.With(w)
	return h.wish, nil
}

func (h *room) Reply(_ context.Context, who web.Principal, w web.Reply) (api.ReplyAnswer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.Verb == web.VerbNoticed {
		h.noticed = append(h.noticed, fmt.Sprintf("%d by %s on %s", w.Question, who.Name, who.Surface))
		return api.ReplyAnswer{}, nil
	}
	if h.fail != nil {
		return api.ReplyAnswer{}, h.fail
	}
	h.words, h.who = append(h.words, w), append(h.who, who)
	if w.Verb == web.VerbStop {
		return api.ReplyAnswer{Resolution: "stopped"}, nil
	}
	if slices.ContainsFunc(h.questions, func(q api.OpenQuestion) bool { return w.Token == q.Token && w.Question != q.Number }) {
		return api.ReplyAnswer{}, &web.Refusal{
			Kind: api.KindConflict, Message: fmt.Sprintf("the reply token does not belong to question %d", w.Question),
			Hint: "nothing was changed",
		}
	}
	i := slices.IndexFunc(h.questions, func(q api.OpenQuestion) bool {
		return q.Number == w.Question && (w.Token == "" || w.Token == q.Token)
	})
	if i < 0 && w.Verb != web.VerbUndo {
		return api.ReplyAnswer{}, &web.Refusal{Kind: api.KindNotFound, Message: "no open question has that number"}
	}
	switch w.Verb {
	case web.VerbExtend:
		return api.ReplyAnswer{Question: w.Question, Resolution: "extended", Deadline: noon.Add(10 * time.Minute)}, nil
	case web.VerbUndo:
		return api.ReplyAnswer{Question: w.Question, Resolution: "stopped"}, nil
	case web.VerbAnswer, web.VerbStop, web.VerbNoticed:
	}
	token := h.questions[i].Token
	if _, decided := h.won[token]; !decided {
		h.won[token] = map[string]string{"accept": "accepted", "reject": "rejected", "": "answered"}[w.Decision]
	}
	return api.ReplyAnswer{Question: w.Question, Resolution: h.won[token]}, nil
}

func (s *sub) ID() string { return s.id }

func (s *sub) Accepted() aaep.SubscriptionAccepted {
	return aaep.SubscriptionAccepted{SubscriptionID: s.id, AAEPVersion: aaep.Version, Producer: aaep.Producer{AgentID: "earshot"}, HonoredCapabilities: s.terms}
}

func (s *sub) Deliveries(ctx context.Context, lastEventID string) iter.Seq2[hub.Delivery, error] {
	return func(yield func(hub.Delivery, error) bool) {
		h := s.room
		h.change(func() { h.streaming++ })
		defer h.change(func() { h.streaming-- })
		h.mu.Lock()
		next := len(h.log)
		if i := slices.IndexFunc(h.log, func(e entry) bool { return e.id == lastEventID }); i >= 0 {
			next = i + 1
		}
		h.mu.Unlock()
		for {
			h.mu.Lock()
			changed, closed, more := h.changed, s.closed, next+1 < len(h.log)
			var e entry
			if next < len(h.log) {
				e = h.log[next]
			}
			h.mu.Unlock()
			switch {
			case closed:
				yield(hub.Delivery{}, hub.ErrClosed)
				return
			case e.id != "":
				next++
				if !yield(hub.Delivery{Delivery: pacing.Delivery{Session: e.session, First: e.seq, Last: e.seq, EventID: e.id, Raw: e.raw}, Resumable: true, More: more}, nil) {
					return
				}
			default:
				select {
				case <-ctx.Done():
					return
				case <-changed:
				}
			}
		}
	}
}

func (s *sub) Reply(_ context.Context, raw []byte) error {
	s.room.change(func() { s.room.replies = append(s.room.replies, s.id+" "+string(raw)) })
	return s.room.fail
}

func (s *sub) Renegotiate(_ context.Context, r aaep.SubscriptionRenegotiate) (aaep.SubscriptionAccepted, *aaep.SubscriptionRejected, error) {
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	if s.room.reject == nil {
		s.terms = r.Capabilities
	}
	return s.Accepted(), s.room.reject, s.room.fail
}

func (s *sub) Close() { s.room.change(func() { s.closed = true }) }

// scene is a server with its fakes.
type scene struct {
	*testing.T

	room   *room
	doors  *doors
	server *web.Server
	form   string
}

func newScene(t *testing.T, change ...func(*web.Options)) *scene {
	t.Helper()
	s := &scene{T: t, room: newRoom(), doors: newDoors()}
	o := web.Options{PageURL: pageURL, Hub: s.room, Access: s.doors, Zone: time.UTC, Now: func() time.Time { return noon }}
	for _, c := range change {
		c(&o)
	}
	server, err := web.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.server = server
	t.Cleanup(server.Close)
	return s
}

// The page of every scene.
const (
	pageName = "0123456789abcdef0123456789abcdef.localhost"
	pageHost = pageName + ":7411"
	pageURL  = "http://" + pageHost
)

// request makes a request under the name of the page; as is the name behind a token, a leading "@" one behind a
// cookie.
func request(method, target, as, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, pageURL+target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if name, page := strings.CutPrefix(as, "@"); page {
		r.AddCookie(&http.Cookie{Name: "earshot_page", Value: "cookie-of-" + name})
	} else if as != "" {
		r.Header.Set("Authorization", "Bearer secret-"+as)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func (s *scene) do(method, target, as, body string, headers ...string) *httptest.ResponseRecorder {
	s.Helper()
	return record(s, request(method, target, as, body, headers...))
}

// login lets a person in on the page and remembers the token of its forms.
func (s *scene) login(name string) {
	s.Helper()
	s.doors.mu.Lock()
	s.doors.pages["cookie-of-"+name] = name
	s.doors.mu.Unlock()
	page := s.do("GET", "/", "@"+name, "", "Accept", "text/html").Body.String()
	if s.form = formOf(page); len(s.form) != 64 {
		s.Fatalf("no form token in the page:\n%s", page)
	}
}

// formOf finds the token of the forms in a page.
func formOf(page string) string {
	_, rest, _ := strings.Cut(page, `name="form" value="`)
	form, _, _ := strings.Cut(rest, `"`)
	return form
}

// submit sends a form of the page, as a browser without scripts does.
func (s *scene) submit(target, as, fields string, headers ...string) *httptest.ResponseRecorder {
	s.Helper()
	headers = append([]string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html", "Origin", pageURL}, headers...)
	return s.do("POST", target, as, fields, headers...)
}

// reader is the other end of a stream.
type reader struct {
	mu     sync.Mutex
	head   http.Header
	status int
	got    bytes.Buffer
	broken bool
	limits []time.Duration
	done   chan struct{}
	leave  context.CancelFunc
}

func (s *scene) stream(target, as string, headers ...string) *reader {
	s.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &reader{head: http.Header{}, done: make(chan struct{}), leave: cancel}
	q := request("GET", target, as, "", headers...).WithContext(ctx)
	go func() {
		defer close(r.done)
		s.server.ServeHTTP(r, q)
	}()
	synctest.Wait()
	return r
}

func (r *reader) Header() http.Header { return r.head }

func (r *reader) WriteHeader(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status == 0 {
		r.status = status
	}
}

func (r *reader) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken {
		return 0, errors.New("the reader has gone")
	}
	return r.got.Write(b)
}

func (r *reader) Flush() {}

func (r *reader) SetWriteDeadline(at time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limits = append(r.limits, time.Until(at))
	return nil
}

// text is all that has come.
func (r *reader) text() string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got.String()
}

// ended answers whether the server has let go of the stream.
func (r *reader) ended() bool {
	synctest.Wait()
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// close leaves, as a browser does, and waits until the server has noticed.
func (r *reader) close() {
	r.leave()
	<-r.done
}

func bubble(t *testing.T, play func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, play)
}

func mustRead(t *testing.T, from io.Reader) string {
	t.Helper()
	all, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// wants fails with what was found when a text lacks any of the parts.
func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("found no %q in:\n%s", part, text)
		}
	}
}

func lacks(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("found %q in:\n%s", part, text)
		}
	}
}

const (
	tokenA = "rpl_0123456789abcdef0123456789abcdef"
	tokenB = "rpl_fedcba9876543210fedcba9876543210"
	tokenC = "rpl_00000000000000000000000000000000" // of no question
)

func record(s *scene, r *http.Request) *httptest.ResponseRecorder {
	s.Helper()
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, r)
	isDescribed(s, r, w, s.room.fail != nil)
	return w
}
