package subscribe_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/internal/testkit/scripted"
)

const question = `"action":"Delete 2 files.","consequence":"They are gone.","reply_token":"rpl_1","timeout_seconds":300,"default_decision":"reject",` +
	`"risk_level":"high","irreversible":true,"urgency":"critical"`

var (
	started = scripted.Event("session.started", "1", `"summary_normal":"Started."`)
	asked   = scripted.Event("awaiting.confirmation", "2", question)
	thinks  = scripted.Event("state.changed", "4", `"from_state":"idle","to_state":"thinking"`)
	ended   = scripted.Event("session.completed", "9", `"summary_normal":"Done.","duration_ms":1`)
)

// transports are the schemes of the addresses on which each promise is proved.
var transports = []string{"http", "ws", "grpc", "unix"}

// hear ranges over the events, and returns their ids and the codes of the errors. on is called for each event.
func hear(t *testing.T, o subscribe.Options, on func(*subscribe.Subscription, subscribe.Event)) (heard []string) {
	t.Helper()
	s, err := subscribe.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for event, err := range s.Events(t.Context()) {
		if e, is := errors.AsType[*subscribe.Error](err); is {
			heard = append(heard, string(e.Code))
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		heard = append(heard, event.ID)
		if on != nil {
			on(s, event)
		}
	}
	return heard
}

// TestAnswers: on each transport, a subscriber hears the events of a third-party producer, answers its question, and hears it end.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, scheme := range transports {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			p := scripted.New(t, []string{started, asked, scripted.Await, ended})
			heard := hear(t, subscribe.Options{URL: p.Serve(scheme)}, func(s *subscribe.Subscription, e subscribe.Event) {
				if q, is := e.Payload.(aaep.AwaitingConfirmation); is {
					if err := s.Confirm(t.Context(), aaep.ConfirmationReply{ReplyToken: q.ReplyToken, Decision: aaep.DecisionReject}); err != nil {
						t.Error(err)
					}
				}
			})
			if want := []string{"evt_1", "evt_2", "evt_9"}; !slices.Equal(heard, want) {
				t.Errorf("heard %q, want %q", heard, want)
			}
			if reply, err := aaep.DecodeConfirmationReply([]byte(p.Got()[1])); err != nil || reply.Decision != aaep.DecisionReject || reply.SubscriptionID != "sub_1" {
				t.Errorf("the producer got %q, %v", p.Got(), err)
			}
		})
	}
}

// TestResumes: a connection that breaks is made again. Repeats are heard once, and where something may be missing, that is said in its
// place (TR-06, TR-SSE-09).
func TestResumes(t *testing.T) {
	t.Parallel()
	point := func(id string) string { return `{"type":"earshot:resume_point","event_id":"` + id + `"}` }
	for name, row := range map[string]struct {
		scheme        string
		first, second []string
		want          []string
	}{
		"server-sent events go on":        {"http", []string{started}, []string{started, thinks, ended}, []string{"evt_1", "evt_4", "evt_9"}},
		"a WebSocket repeats":             {"ws", []string{started, thinks}, []string{thinks, ended}, []string{"evt_1", "evt_4", "evt_9"}},
		"a WebSocket leaves a gap":        {"ws", []string{started}, []string{thinks, ended}, []string{"evt_1", "messages_lost", "evt_4", "evt_9"}},
		"a Unix socket leaves a gap":      {"unix", []string{started}, []string{thinks, ended}, []string{"evt_1", "messages_lost", "evt_4", "evt_9"}},
		"a WebSocket goes on at a point":  {"ws", []string{started, point("evt_1")}, []string{thinks, ended}, []string{"evt_1", "evt_4", "evt_9"}},
		"gRPC leaves a gap":               {"grpc", []string{started}, []string{thinks, ended}, []string{"evt_1", "messages_lost", "evt_4", "evt_9"}},
		"gRPC goes on at a point":         {"grpc", []string{started, point("evt_1")}, []string{thinks, ended}, []string{"evt_1", "evt_4", "evt_9"}},
		"a Unix socket goes on at one":    {"unix", []string{started, point("evt_1")}, []string{thinks, ended}, []string{"evt_1", "evt_4", "evt_9"}},
		"an event that cannot be read":    {"ws", nil, []string{started, `{"type":"aaep:agent.session.completed"}`, ended}, []string{"evt_1", "unreadable", "evt_9"}},
		"a reply is refused by a message": {"ws", nil, []string{started, `{"type":"earshot:reply.refused","error":{"message":"no"}}`, ended}, []string{"evt_1", "reply_refused", "evt_9"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := [][]string{row.second}
			if row.first != nil {
				script = [][]string{row.first, row.second}
			}
			p := scripted.New(t, script...)
			if heard := hear(t, subscribe.Options{URL: p.Serve(row.scheme)}, nil); !slices.Equal(heard, row.want) {
				t.Errorf("heard %q, want %q", heard, row.want)
			}
			got := strings.Join(p.Got(), "\n")
			if resumed := strings.Contains(got, "after evt_1") || strings.Contains(got, `"resume":{"after":"evt_1"}`); resumed != (row.scheme == "http" || strings.Contains(name, "goes on")) {
				t.Errorf("asked with\n%s", got)
			}
		})
	}
}

// TestClose: where a message says that the subscription ends, it is the last of its connection for those who hear messages, on each
// transport; the next connection does not have to repeat it.
func TestClose(t *testing.T) {
	t.Parallel()
	const away = `{"type":"subscription.close","subscription_id":"sub_1","reason_code":"try_again_later","reason_message":"Soon."}`
	for scheme, last := range map[string]string{"ws": "", "grpc": " subscription.close", "unix": " subscription.close"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			s, err := subscribe.New(subscribe.Options{URL: scripted.New(t, []string{started, away}, []string{started, ended}).Serve(scheme)})
			if err != nil {
				t.Fatal(err)
			}
			var kinds []string
			for m, err := range s.Messages(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if kind, _ := aaep.Read(m.Raw).Text("type"); kind != "" {
					kinds = append(kinds, aaep.CompactType(kind))
				}
				if kinds[len(kinds)-1] == aaep.TypeSubscriptionClose && len(kinds) == 3 && string(m.Raw) != away {
					t.Errorf("heard %s, expected it as it came", m.Raw)
				}
			}
			want := "subscription.accepted agent.session.started subscription.close subscription.accepted agent.session.completed" + last
			if got := strings.Join(kinds, " "); got != strings.ReplaceAll(want, "agent.", "aaep:agent.") {
				t.Errorf("heard %s, expected %s", got, want)
			}
		})
	}
}

// TestPosition: a subscriber that is started again goes on where it was.
func TestPosition(t *testing.T) {
	t.Parallel()
	for _, scheme := range transports {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			point := `{"type":"earshot:resume_point","event_id":"evt_1"}`
			if scheme == "http" {
				point = started // its id is that of the frame
			}
			p := scripted.New(t, []string{started, point, thinks, scripted.Await}, []string{started, ended})
			address := p.Serve(scheme)
			position := ""
			first, err := subscribe.New(subscribe.Options{URL: address})
			if err != nil {
				t.Fatal(err)
			}
			for e, err := range first.Events(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if e.ID == "evt_4" {
					position = first.Position()
					break
				}
			}
			if heard := hear(t, subscribe.Options{URL: address, After: position}, nil); position != "evt_1" || !slices.Equal(heard, []string{"evt_1", "evt_9"}) {
				t.Errorf("after %q it heard %q", position, heard)
			}
			got := strings.Join(p.Got(), "\n")
			if !strings.Contains(got, "after evt_1") && !strings.Contains(got, `"resume":{"after":"evt_1"}`) {
				t.Errorf("it asked with\n%s", got)
			}
		})
	}
}

// TestRenegotiates: other terms are asked for on the living subscription, and again after a break (HS-60, HS-65).
func TestRenegotiates(t *testing.T) {
	t.Parallel()
	for _, scheme := range transports {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			p := scripted.New(t, []string{started, scripted.Await}, []string{started, ended})
			hear(t, subscribe.Options{URL: p.Serve(scheme)}, func(s *subscribe.Subscription, e subscribe.Event) {
				if e.ID == "evt_1" {
					if err := s.Renegotiate(t.Context(), aaep.Capabilities{MaxEventsPerSecond: 3}); err != nil {
						t.Error(err)
					}
				}
			})
			got := p.Got()
			if m, err := aaep.DecodeSubscriptionRenegotiate([]byte(got[1])); err != nil || m.Capabilities.MaxEventsPerSecond != 3 || m.SubscriptionID != "sub_1" {
				t.Errorf("the producer got %q, %v", got, err)
			}
			if again, err := aaep.DecodeSubscriptionRequest([]byte(got[2])); scheme != "http" && (err != nil || again.Capabilities.MaxEventsPerSecond != 3) {
				t.Errorf("after the break it got %q, %v", got, err)
			}
		})
	}
}

// TestMoves: a producer that is found elsewhere after a break, as a server that was started again is, is subscribed to there, after the
// last event that was heard.
func TestMoves(t *testing.T) {
	t.Parallel()
	for _, scheme := range transports {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			before, after := scripted.New(t, []string{started}, []string{}), scripted.New(t, []string{ended})
			addresses := []string{before.Serve(scheme), after.Serve(scheme)}
			dialled := 0
			heard := hear(t, subscribe.Options{Target: func() (string, string, error) {
				at := addresses[min(dialled, 1)]
				dialled++
				return at, "", nil
			}}, nil)
			if len(heard) < 2 || heard[0] != "evt_1" || heard[len(heard)-1] != "evt_9" || len(after.Got()) == 0 {
				t.Errorf("heard %q; the second got %q", heard, after.Got())
			}
		})
	}
}

// TestCloses: the side that closes says why, and the events end without an error; a consumer that stops ranging leaves too (HS-66).
func TestCloses(t *testing.T) {
	t.Parallel()
	for _, scheme := range transports {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			p := scripted.New(t, []string{started, scripted.Await, scripted.Await, ended})
			heard := hear(t, subscribe.Options{URL: p.Serve(scheme)}, func(s *subscribe.Subscription, _ subscribe.Event) { s.Close(t.Context(), "enough heard") })
			if !slices.Equal(heard, []string{"evt_1"}) {
				t.Errorf("heard %q", heard)
			}
			if scheme == "ws" {
				return // the reason is in the frame that closes
			}
			if got := p.Await(2); len(got) != 2 || !strings.Contains(got[1], `"reason_message":"enough heard"`) {
				t.Errorf("the producer got %q", got)
			}
		})
	}
}

// TestRefused: what another attempt cannot make better is an error at once, and a token is not sent where others can read it.
func TestRefused(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]subscribe.Code{
		"ftp://localhost": subscribe.CodeUsage, "events": subscribe.CodeUsage, "unix:": subscribe.CodeUsage, "http://192.0.2.1": subscribe.CodeInsecure,
		"grpc://192.0.2.1": subscribe.CodeInsecure,
	} {
		_, err := subscribe.New(subscribe.Options{URL: address, Token: "secret"})
		if e, is := errors.AsType[*subscribe.Error](err); !is || e.Code != want || e.Hint == "" {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, scheme := range []string{"ws", "grpc", "unix"} {
		p := scripted.New(t, []string{`{"type":"subscription.rejected","reason_code":"authorization_denied","reason_message":"not you"}`, scripted.Await})
		if heard := hear(t, subscribe.Options{URL: p.Serve(scheme)}, nil); !slices.Equal(heard, []string{"authorization_denied"}) {
			t.Errorf("%s: heard %q", scheme, heard)
		}
	}
}

// TestNoStream: a path at which there is nothing is left out, says the hint, whatever the server says.
func TestNoStream(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNotFound, http.StatusMethodNotAllowed} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"error":{"code":"not_found","message":"there is nothing at this address","hint":"the API is below /api/v1"}}`)
		}))
		t.Cleanup(server.Close)
		s, err := subscribe.New(subscribe.Options{URL: server.URL + "/aaep"})
		if err != nil {
			t.Fatal(err)
		}
		want := "give the address without a path, " + server.URL + ", or with the path of a stream"
		for _, err := range s.Events(t.Context()) {
			if e, is := errors.AsType[*subscribe.Error](err); !is || e.Hint != want || e.Message != "there is nothing at this address" {
				t.Errorf("%d: %#v", status, err)
			}
		}
	}
}

// TestUnreadable: the message about an event that cannot be read names the rule that it breaks, and where.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	wrong := strings.Replace(ended, `"duration_ms":1`, `"duration_ms":"1"`, 1)
	p := scripted.New(t, []string{started, wrong, ended})
	s, err := subscribe.New(subscribe.Options{URL: p.Serve("ws")})
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, err := range s.Events(t.Context()) {
		if e, is := errors.AsType[*subscribe.Error](err); is {
			said = e.Message
		}
	}
	if !strings.HasPrefix(said, "the producer sends an event that cannot be read: ") || !strings.Contains(said, "; it breaks the rule COMP-") || !strings.Contains(said, " at /duration_ms: ") {
		t.Errorf("it says %q", said)
	}
}

// TestUnsent: an answer for which there is no connection is an error, and is not kept for a later one.
func TestUnsent(t *testing.T) {
	t.Parallel()
	s, err := subscribe.New(subscribe.Options{URL: "unix:/nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Confirm(t.Context(), aaep.ConfirmationReply{ReplyToken: "rpl_1", Decision: aaep.DecisionAccept})
	if e, is := errors.AsType[*subscribe.Error](err); !is || e.Code != subscribe.CodeUnreachable {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range s.Events(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// TestDirect: a stream that wants no subscription takes answers where it is said to, with the token; where nothing is said, or the
// producer refuses one, that is an error that another attempt does not mend. The token goes to the host of the stream only.
func TestDirect(t *testing.T) {
	t.Parallel()
	var got []string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(body))
		w.WriteHeader(status)
	}))
	defer server.Close()
	says := func(to string) error {
		s, err := subscribe.New(subscribe.Options{URL: server.URL + "/events", Token: "secret", RepliesTo: to})
		if err != nil {
			return err
		}
		return s.Confirm(t.Context(), aaep.ConfirmationReply{ReplyToken: "rpl_1", Decision: aaep.DecisionAccept})
	}
	if err := says("/messages"); err != nil {
		t.Error(err)
	}
	if len(got) != 1 || !strings.HasPrefix(got[0], `POST /messages Bearer secret {`) || !strings.Contains(got[0], `"reply_token":"rpl_1"`) {
		t.Errorf("the producer got %q", got)
	}
	for to, want := range map[string]subscribe.Code{
		"": subscribe.CodeUnanswerable, "http://localhost:1/messages": subscribe.CodeUsage, "https://" + server.Listener.Addr().String() + "/messages": subscribe.CodeUsage,
	} {
		if e, is := errors.AsType[*subscribe.Error](says(to)); !is || e.Code != want || e.Hint == "" {
			t.Errorf("%q: got %v", to, e)
		}
	}
	if _, err := subscribe.New(subscribe.Options{URL: server.URL, RepliesTo: "/messages"}); !errors.Is(err, &subscribe.Error{Code: subscribe.CodeUsage}) {
		t.Errorf("got %v", err)
	}
	status = http.StatusBadRequest
	if err := says("/messages"); !errors.Is(err, &subscribe.Error{Code: subscribe.CodeReplyRefused}) || len(got) != 2 {
		t.Errorf("got %v after %d messages", err, len(got))
	}
}

// TestSubscribedMeanwhile: an answer that is given while the producer accepts the subscription is of that subscription, or is
// an error after which it can be sent again; it is never taken for one that breaks a rule.
func TestSubscribedMeanwhile(t *testing.T) {
	t.Parallel()
	p := scripted.New(t, []string{started, asked, scripted.Await, ended})
	var confirming atomic.Bool
	halfway, accepted := make(chan struct{}), make(chan struct{})
	s, err := subscribe.New(subscribe.Options{URL: p.Serve("unix"), Now: func() time.Time {
		if confirming.CompareAndSwap(true, false) {
			close(halfway)
			<-accepted
		}
		return time.Now()
	}})
	if err != nil {
		t.Fatal(err)
	}
	confirmed := make(chan error, 1)
	confirming.Store(true)
	go func() {
		confirmed <- s.Confirm(t.Context(), aaep.ConfirmationReply{ReplyToken: "rpl_1", Decision: aaep.DecisionReject})
	}()
	<-halfway
	for e, err := range s.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if _, asks := e.Payload.(aaep.AwaitingConfirmation); asks {
			close(accepted)
			if err := <-confirmed; err != nil {
				t.Error(err)
			}
		}
	}
	got := p.Got()
	if r, err := aaep.DecodeConfirmationReply([]byte(got[len(got)-1])); err != nil || r.SubscriptionID != "sub_1" || r.Decision != aaep.DecisionReject {
		t.Errorf("the producer was told %q, %v", got, err)
	}
}

// TestWaits: after the loss is reported, each further attempt that fails is told with the time of the loss, so that a program can say that it
// still waits.
func TestWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		lost, waits := 0, 0
		s, err := subscribe.New(subscribe.Options{
			URL: "http://localhost/", Transport: nobody{}, ReconnectTimeout: time.Minute,
			OnConnection: func(subscribe.Connection) { lost++ },
			OnWait: func(since time.Time) {
				if waits++; lost != 1 || !since.Equal(began) {
					t.Errorf("lost %d times, since %v", lost, since)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range s.Messages(t.Context()) {
			if err == nil {
				t.Error("nobody has sent a message")
			}
		}
		if waits < 8 || waits > 16 {
			t.Errorf("told %d times within a minute", waits)
		}
	})
}

// nobody is a transport that never answers.
type nobody struct{}

func (nobody) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("nobody there")
}
