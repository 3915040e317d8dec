package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/capture"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
	"github.com/earshot-dev/earshot/api"
)

// recorded is a recording of n events, each a second after the one before.
func recorded(n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, "{\"event_id\":\"evt_%d\",\"timestamp\":%q}\n", i+1, time.Date(2026, 5, 1, 10, 0, i, 0, time.UTC).Format(time.RFC3339))
	}
	return all.String()
}

func opens(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

// TestRecordingPace: messages come at their pace, at the speed that is asked for; time
// that runs backwards, or stands in no message, holds nothing up.
func TestRecordingPace(t *testing.T) {
	t.Parallel()
	odd := "{\"timestamp\":\"2026-05-01T10:00:04Z\"}\n{\"a\":1}\n{\"timestamp\":\"2026-05-01T10:00:01Z\"}\n{\"timestamp\":\"2026-05-01T12:00:03+02:00\"}\n"
	for name, row := range map[string]struct {
		text  string
		speed float64
		want  []time.Duration
	}{
		"as recorded":     {recorded(3), 1, []time.Duration{0, time.Second, 2 * time.Second}},
		"twice as fast":   {recorded(3), 2, []time.Duration{0, time.Second / 2, time.Second}},
		"without a pause": {recorded(3), 0, []time.Duration{0, 0, 0}},
		"odd times":       {odd, 1, []time.Duration{0, 0, 0, 2 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := NewRecording(RecordingOptions{Open: opens(row.text), Speed: row.speed})
				began := time.Now()
				var at []time.Duration
				heard := make(chan error)
				go func() {
					heard <- r.play(t.Context(), func([]byte) bool {
						at = append(at, time.Since(began))
						return true
					})
				}()
				if n, err := r.Play(t.Context()); n != len(row.want) || err != nil {
					t.Errorf("played %d, %v", n, err)
				}
				if err := errors.Join(<-heard, r.WaitPlayed(t.Context())); err != nil || !slices.Equal(at, row.want) {
					t.Errorf("heard at %v, %v; expected %v", at, err, row.want)
				}
			})
		})
	}
}

// TestRecordingLate: who comes late hears all from the start at once, then the rest at
// its pace.
func TestRecordingLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := NewRecording(RecordingOptions{Open: opens(recorded(5)), Speed: 1})
		done := make(chan error)
		go func() {
			_, err := r.Play(ctx)
			done <- err
		}()
		<-time.After(2500 * time.Millisecond)
		var heard []string
		_ = r.play(ctx, func(raw []byte) bool {
			heard = append(heard, string(raw))
			if len(heard) == 3 && time.Since(synctestEpoch) != 2500*time.Millisecond {
				t.Errorf("what had been played came after %v", time.Since(synctestEpoch))
			}
			return len(heard) < 4
		})
		if strings.Join(heard, "\n")+"\n" != strings.Join(strings.SplitAfter(recorded(5), "\n")[:4], "") {
			t.Errorf("heard %q", heard)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

var synctestEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // where each bubble's time begins

func served(t *testing.T, text string) (*Recording, *httptest.Server, *[]string) {
	t.Helper()
	var skipped []string
	r := NewRecording(RecordingOptions{Open: opens(text), Skipped: func(e *capture.BrokenError) { skipped = append(skipped, e.Error()) }})
	if _, err := r.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(r.Handler())
	t.Cleanup(server.Close)
	return r, server, &skipped
}

func getEvents(t *testing.T, address, after string) (int, string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if after != "" {
		q.Header.Set("Last-Event-ID", after)
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(bufio.NewReader(answer.Body))
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(raw)
}

// TestRecordingEvents: the frames are those of a live stream; a reader goes on behind the
// event that it names, and is told when there is no more.
func TestRecordingEvents(t *testing.T) {
	t.Parallel()
	text := recorded(1) + "{\"broken\":\"\n{\"type\":\"confirmation.reply\"}\n42\n" + strings.Split(recorded(2), "\n")[1]
	_, server, skipped := served(t, text)
	reply := "data: {\"type\":\"confirmation.reply\"}\n\n"
	first := "id: evt_1\ndata: {\"event_id\":\"evt_1\",\"timestamp\":\"2026-05-01T10:00:00Z\"}\n\n"
	second := "id: evt_2\ndata: {\"event_id\":\"evt_2\",\"timestamp\":\"2026-05-01T10:00:01Z\"}\n\n"
	for name, row := range map[string]struct {
		path, after string
		code        int
		want        string
	}{
		"from the start":      {"/events", "", 200, ": connected\n\n" + first + reply + second},
		"of Appendix B":       {"/aaep/v1/events?subscription_id=sub_x", "evt_1", 200, ": connected\n\nevent: aaep.event\n" + reply + "event: aaep.event\n" + second},
		"behind one":          {"/events", "evt_1", 200, ": connected\n\n" + reply + second},
		"behind the last":     {"/events", "evt_2", 204, ""},
		"behind an other one": {"/events", "evt_9", 200, ": connected\n\n" + first + reply + second},
	} {
		if code, got := getEvents(t, server.URL+row.path, row.after); code != row.code || got != row.want {
			t.Errorf("%s: found %d %q, expected %d %q", name, code, got, row.code, row.want)
		}
	}
	if len(*skipped) != 2 || !strings.Contains((*skipped)[0], "line 2, byte 67") || !strings.Contains((*skipped)[1], "line 4") {
		t.Errorf("left out: %q", *skipped)
	}
}

// TestRecordingSocket: a WebSocket hears one message a frame, is greeted where the
// protocol has it, and is closed with the code for a clean end.
func TestRecordingSocket(t *testing.T) {
	t.Parallel()
	_, server, _ := served(t, recorded(2))
	request, err := aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "a", SubscriberName: "a"}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		path  string
		first string
		want  []string
		code  transport.Code
	}{
		"at once":             {"/ws", "", []string{"evt_1", "evt_2"}, transport.Clean},
		"after a handshake":   {"/aaep/v1/ws", string(request), []string{aaep.TypeSubscriptionAccepted, "evt_1", "evt_2"}, transport.Clean},
		"without a handshake": {"/aaep/v1/ws", "{}", []string{aaep.TypeSubscriptionRejected}, transport.Rejected},
	} {
		ws, _, err := websocket.Dial(t.Context(), server.URL+row.path, &websocket.DialOptions{Subprotocols: []string{socket.Subprotocol}}) //nolint:bodyclose // the library closes it
		if err != nil {
			t.Fatal(err)
		}
		if ws.Subprotocol() != socket.Subprotocol {
			t.Errorf("%s: the subprotocol is %q", name, ws.Subprotocol())
		}
		if row.first != "" {
			if err := ws.Write(t.Context(), websocket.MessageText, []byte(row.first)); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for {
			_, raw, err := ws.Read(t.Context())
			if err != nil {
				if transport.Code(websocket.CloseStatus(err)) != row.code {
					t.Errorf("%s: ended with %v, expected the code %d", name, err, row.code)
				}
				break
			}
			id, ok := aaep.Read(raw).Text("event_id")
			if !ok {
				id, _ = aaep.Read(raw).Text("type")
			}
			got = append(got, id)
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: heard %q, expected %q", name, got, row.want)
		}
		_ = ws.CloseNow()
	}
}

// TestRecordingToSubscriber: who subscribes where the recording is played at once is not let go for it.
func TestRecordingToSubscriber(t *testing.T) {
	t.Parallel()
	r := NewRecording(RecordingOptions{Open: opens(recorded(2))})
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	ws, _, err := websocket.Dial(t.Context(), server.URL+"/ws", nil) //nolint:bodyclose // the library closes it
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }()
	for _, answer := range []string{aaep.TypeSubscriptionRequest, aaep.TypeSubscriptionRenegotiate} {
		if err := ws.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, `{"type":%q}`, answer)); err != nil {
			t.Fatal(err)
		}
	}
	heard := make(chan string)
	go func() {
		defer close(heard)
		for {
			_, raw, err := ws.Read(t.Context())
			if err != nil {
				heard <- websocket.CloseStatus(err).String()
				return
			}
			id, _ := aaep.Read(raw).Text("event_id")
			heard <- id
		}
	}()
	if err := ws.Ping(t.Context()); err != nil { // what was said before it has been read
		t.Fatal(err)
	}
	if _, err := r.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for id := range heard {
		got = append(got, id)
	}
	if want := []string{"evt_1", "evt_2", websocket.StatusCode(transport.Clean).String()}; !slices.Equal(got, want) {
		t.Errorf("heard %q, expected %q", got, want)
	}
}

// TestRecordingRefusesReplies (call protocol, "Operators do not bypass the gate"): whoever
// answers a question that is only played is told that the answer does not count.
func TestRecordingRefusesReplies(t *testing.T) {
	t.Parallel()
	const reply = `{"type":"confirmation.reply","reply_token":"rpl_1","decision":"accept","subscription_id":"sub_1","timestamp":"2026-05-01T10:00:00.000Z"}`
	r := NewRecording(RecordingOptions{Open: opens(recorded(1)), Speed: 1})
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/aaep/v1/replies", strings.NewReader(reply))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	isRefusal, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusConflict || !strings.Contains(string(isRefusal), `"message":"this is a recording: `) || !strings.Contains(string(isRefusal), `"safe_to_retry":false`) {
		t.Errorf("a reply gets %d %s, %v", answer.StatusCode, isRefusal, err)
	}
	ws, _, err := websocket.Dial(t.Context(), server.URL+"/ws", nil) //nolint:bodyclose // the library closes it
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }()
	if err := ws.Write(t.Context(), websocket.MessageText, []byte(reply)); err != nil {
		t.Fatal(err)
	}
	if _, raw, err := ws.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("a reply on a WebSocket is followed by %q, %v", raw, err)
	}
}

// TestRecordingHost: a recording is played under the names of this machine alone. A page whose own name was pointed at
// the loopback reads nothing.
func TestRecordingHost(t *testing.T) {
	t.Parallel()
	r := NewRecording(RecordingOptions{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }})
	for host, want := range map[string]int{
		"127.0.0.1:7412": http.StatusConflict, "localhost:7412": http.StatusConflict, "[::1]:7412": http.StatusConflict, "LOCALHOST": http.StatusConflict,
		"evil.example": http.StatusMisdirectedRequest, "127.0.0.1.evil.example:7412": http.StatusMisdirectedRequest, "": http.StatusMisdirectedRequest,
		"192.168.0.2:7412": http.StatusMisdirectedRequest,
	} {
		q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, api.AAEPRoot+"/replies", nil)
		q.Host = host
		w := httptest.NewRecorder()
		r.Handler().ServeHTTP(w, q)
		if w.Code != want {
			t.Errorf("%q: %d %s; want %d", host, w.Code, w.Body, want)
		}
	}
}
