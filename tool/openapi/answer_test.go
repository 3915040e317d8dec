package openapi_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/openapi"
	"github.com/earshot-dev/earshot/utp"
)

func openAPIOptions() openapi.Options {
	return openapi.Options{LookupEnv: func(name string) (string, bool) { return "sesame-" + strings.ToLower(name), true }}
}

func serveFuzz(f *testing.F) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.got = append(s.got, request{method: r.Method, uri: r.RequestURI, header: r.Header})
		s.mu.Unlock()
	}))
	f.Cleanup(s.Close)
	return s
}

func (s *server) operation(method, class, more string) string {
	return s.section("tool: web.do\ndescription: Do.\nmethod: " + method + "\nclass: " + class + "\nurl: " + s.URL + "/x\n" + more)
}

// TestStatuses: each status becomes a code of UTP; what may be tried again
// depends on the class.
func TestStatuses(t *testing.T) {
	t.Parallel()
	var status atomic.Int32
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(int(status.Load()))
	})
	read, write := loaded(t, s.operation("GET", "read", "")), loaded(t, s.operation("POST", "irreversible", ""))
	for _, tt := range []struct {
		status    int
		code      utp.Code
		end       utp.Status
		ofRead    bool // may be tried again
		ofWriting bool
	}{
		{200, "", utp.StatusSuccess, false, false},
		{201, "", utp.StatusSuccess, false, false},
		{204, "", utp.StatusSuccess, false, false},
		{400, utp.CodeBadRequest, utp.StatusFailed, false, false},
		{401, utp.CodeAuthFailed, utp.StatusFailed, false, false},
		{403, utp.CodeAuthFailed, utp.StatusFailed, false, false},
		{404, utp.CodeNotFound, utp.StatusFailed, false, false},
		{405, utp.CodeBadRequest, utp.StatusFailed, false, false},
		{408, utp.CodeToolTimeout, utp.StatusTimeout, true, false},
		{409, utp.CodeConflict, utp.StatusFailed, false, false},
		{410, utp.CodeNotFound, utp.StatusFailed, false, false},
		{412, utp.CodeConflict, utp.StatusFailed, false, false},
		{413, utp.CodeTooLarge, utp.StatusFailed, false, false},
		{418, utp.CodeBadRequest, utp.StatusFailed, false, false},
		{422, utp.CodeBadRequest, utp.StatusFailed, false, false},
		{429, utp.CodeUpstreamUnavailable, utp.StatusFailed, true, true},
		{500, utp.CodeInternalError, utp.StatusFailed, false, false},
		{501, utp.CodeNotImplemented, utp.StatusFailed, false, false},
		{502, utp.CodeUpstreamUnavailable, utp.StatusFailed, true, false},
		{503, utp.CodeUpstreamUnavailable, utp.StatusFailed, true, true},
		{504, utp.CodeToolTimeout, utp.StatusTimeout, true, false},
		{599, utp.CodeInternalError, utp.StatusFailed, false, false},
		{307, utp.CodeUpstreamUnavailable, utp.StatusFailed, false, false},
	} {
		status.Store(int32(tt.status))
		for _, made := range []struct {
			said  said
			again bool
		}{{call(within(t), t, read, `{}`), tt.ofRead}, {call(within(t), t, write, `{}`), tt.ofWriting}} {
			got := made.said
			if got.code() != tt.code || got.status != tt.end || got.Status != tt.status && tt.status != 307 {
				t.Errorf("%d: %s, %+v", tt.status, got.status, got.err)
			}
			if got.err == nil {
				continue
			}
			if got.err.Retryable != made.again || got.err.HTTPStatus != tt.status || got.err.IsUntouched() || (string(got.err.Detail) == `{"retry_after_seconds":7}`) != made.again {
				t.Errorf("%d: %+v", tt.status, got.err)
			}
		}
	}
}

// TestMedia: JSON stays JSON, text is text, and the rest is refused or base64.
func TestMedia(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	for range 100 {
		_, _ = zip.Write(make([]byte, 1<<20))
	}
	_ = zip.Close()
	answers := map[string]func(w http.ResponseWriter){
		"json":     func(w http.ResponseWriter) { typed(w, "application/json; charset=utf-8", `{"a":[1,2.50]}`) },
		"problem":  func(w http.ResponseWriter) { typed(w, "application/problem+json", `{"title":"x"}`) },
		"broken":   func(w http.ResponseWriter) { typed(w, "application/json", `{"a":`) },
		"twice":    func(w http.ResponseWriter) { typed(w, "application/json", `{"a":1,"a":2}`) },
		"text":     func(w http.ResponseWriter) { typed(w, "text/html", "<p>ü</p>") },
		"latin":    func(w http.ResponseWriter) { typed(w, "text/plain; charset=latin1", "\xfc") },
		"nul":      func(w http.ResponseWriter) { typed(w, "text/plain", "a\x00b") },
		"json nul": func(w http.ResponseWriter) { typed(w, "application/json", `{"a":"\u0000"}`) },
		"long":     func(w http.ResponseWriter) { typed(w, "text/plain", strings.Repeat("x", 300)) },
		"big json": func(w http.ResponseWriter) { typed(w, "application/json", `"`+strings.Repeat("x", 300)+`"`) },
		"image":    func(w http.ResponseWriter) { typed(w, "image/png", "\x89PNG") },
		"big":      func(w http.ResponseWriter) { typed(w, "image/png", strings.Repeat("\x89", 300)) },
		"empty":    func(w http.ResponseWriter) { typed(w, "image/png", "") },
		"none":     func(w http.ResponseWriter) { typed(w, "", "\x00\x01") },
		"bomb": func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			typed(w, "application/json", packed.String())
		},
	}
	for _, tt := range []struct {
		name, more, want string
		code             utp.Code
		cut, base64      bool
	}{
		{"json", "", `{"a":[1,2.50]}`, "", false, false},
		{"problem", "", `{"title":"x"}`, "", false, false},
		{"broken", "", `{"a":`, "", false, false},
		{"twice", "", `{"a":1,"a":2}`, "", false, false},
		{"text", "", "<p>ü</p>", "", false, false},
		{"latin", "", "\uFFFD", "", false, false},
		{"nul", "", "a\uFFFDb", "", false, false},
		{"json nul", "", `{"a":"\u0000"}`, "", false, false},
		{"long", "", strings.Repeat("x", 256), "", true, false},
		{"big json", "", "", utp.CodeTooLarge, false, false},
		{"image", "", "", utp.CodeResultNotSerializable, false, false},
		{"image", "binary: true", base64.StdEncoding.EncodeToString([]byte("\x89PNG")), "", false, true},
		{"big", "binary: true", "", utp.CodeTooLarge, false, false},
		{"empty", "", "", "", false, false},
		{"none", "", "", utp.CodeResultNotSerializable, false, false},
		{"bomb", "", "", utp.CodeResultNotSerializable, false, false},
		{"bomb", "binary: true", "", utp.CodeResultNotSerializable, false, false},
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) { answers[tt.name](w) })
		for _, class := range []string{"read", "irreversible"} {
			got := call(within(t), t, loaded(t, s.operation("GET", class, "limits: {response: 256}\n"+tt.more)), `{}`)
			if got.text != tt.want || got.code() != tt.code || got.BodyCut != tt.cut || got.Base64 != tt.base64 {
				t.Errorf("%s %s: %q, %+v, %v", tt.name, class, got.text, got.Answer, got.err)
			}
			if value, is := got.Body.(jsontext.Value); is && tool.Keepable(value) != nil {
				t.Errorf("%s: %s is a value, and cannot be kept", tt.name, value)
			}
			want := utp.StatusSuccess
			if tt.code != "" { // what a request has done stays done, whatever its answer is
				want = map[string]utp.Status{"read": utp.StatusFailed, "irreversible": utp.StatusPartial}[class]
			}
			if got.status != want {
				t.Errorf("%s %s: it ended as %s", tt.name, class, got.status)
			}
		}
	}
}

func typed(w http.ResponseWriter, media, body string) {
	w.Header()["Content-Type"] = []string{media}
	_, _ = io.WriteString(w, body)
}

// raw is a server of bytes. It counts requests.
func raw(t *testing.T, answer func(c net.Conn)) (*server, *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var asked atomic.Int32
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					_, _ = io.Copy(io.Discard, r.Body)
					asked.Add(1)
					answer(c)
				}
			}()
		}
	}()
	return &server{Server: &httptest.Server{URL: "http://" + l.Addr().String()}}, &asked
}

// TestBroken: a request that may have been read, and has an effect that cannot be
// repeated, has not failed: nobody knows. And it is never sent a second time.
func TestBroken(t *testing.T) {
	t.Parallel()
	body := "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"id\":"
	for _, tt := range []struct {
		name, answer, class string
		status              utp.Status
		code                utp.Code
		again               bool
	}{
		{"nothing", "", "read", utp.StatusFailed, utp.CodeUpstreamUnavailable, true},
		{"nothing", "", "idempotent", utp.StatusFailed, utp.CodeUpstreamUnavailable, true},
		{"nothing", "", "reversible", utp.StatusFailed, utp.CodeOutcomeUnknown, false},
		{"nothing", "", "irreversible", utp.StatusFailed, utp.CodeOutcomeUnknown, false},
		{"half a status", "HTTP/1.1 20", "irreversible", utp.StatusFailed, utp.CodeOutcomeUnknown, false},
		{"nonsense", "SSH-2.0-x\r\n\r\n", "irreversible", utp.StatusFailed, utp.CodeOutcomeUnknown, false},
		{"large header", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 70<<10) + "\r\n\r\n", "irreversible", utp.StatusFailed, utp.CodeOutcomeUnknown, false},
		{"large header", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 70<<10) + "\r\n\r\n", "read", utp.StatusFailed, utp.CodeUpstreamUnavailable, true},
		{"half a body", body, "irreversible", utp.StatusPartial, utp.CodeUpstreamUnavailable, false},
		{"half a body", body, "read", utp.StatusFailed, utp.CodeUpstreamUnavailable, true},
		{"half an error", strings.Replace(body, "201 Created", "404 Not Found", 1), "irreversible", utp.StatusFailed, utp.CodeNotFound, false},
	} {
		s, asked := raw(t, func(c net.Conn) { _, _ = io.WriteString(c, tt.answer) })
		got := call(within(t), t, loaded(t, s.operation("POST", tt.class, "body: {}")), `{"body":{"x":1}}`)
		if got.status != tt.status || got.code() != tt.code || got.err.Retryable != tt.again || got.err.IsUntouched() {
			t.Errorf("%s %s: %s, %+v", tt.name, tt.class, got.status, got.err)
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("%s %s: sent %d times", tt.name, tt.class, n)
		}
	}
	gone, _ := raw(t, func(net.Conn) {})
	text := gone.operation("POST", "irreversible", "")
	const nobody = "http://127.0.0.1:1" // no port that another test is handed meanwhile
	got := call(within(t), t, loaded(t, strings.ReplaceAll(text, gone.URL, nobody)), `{}`)
	if got.code() != utp.CodeUpstreamUnavailable || !got.err.IsUntouched() || !got.err.Retryable {
		t.Errorf("nobody there: %+v", got.err)
	}
}

// TestOnOldConnections: net/http repeats a request by itself when an old connection is
// dead, and takes the idempotency key for leave to. A call is sent once all the same.
func TestOnOldConnections(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var asked atomic.Int32
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				from := bufio.NewReader(c)
				for first := true; ; first = false {
					r, err := http.ReadRequest(from)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					asked.Add(1)
					if !first {
						return // it was read, and nobody will ever know what came of it
					}
					_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				}
			}()
		}
	}()
	s := &server{Server: &httptest.Server{URL: "http://" + l.Addr().String()}}
	made := loaded(t, s.operation("POST", "irreversible", "body: {}"))
	const calls = 5
	for range calls {
		if got := call(within(t), t, made, `{"body":{"x":1}}`); got.err != nil {
			t.Errorf("got %+v", got.err)
		}
	}
	if n := asked.Load(); n != calls {
		t.Errorf("%d calls were sent as %d requests", calls, n)
	}
}

// TestSlow: the time counts from dialling to the last byte.
func TestSlow(t *testing.T) {
	testkit.Slow(t)
	t.Parallel()
	hold := make(chan struct{})
	t.Cleanup(func() { close(hold) })
	silent, _ := raw(t, func(net.Conn) { <-hold })
	trickle, _ := raw(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nx")
		<-hold
	})
	for _, tt := range []struct {
		s      *server
		class  string
		status utp.Status
		code   utp.Code
	}{
		{silent, "read", utp.StatusTimeout, utp.CodeToolTimeout},
		{silent, "idempotent", utp.StatusTimeout, utp.CodeToolTimeout},
		{silent, "irreversible", utp.StatusFailed, utp.CodeOutcomeUnknown},
		{trickle, "read", utp.StatusTimeout, utp.CodeToolTimeout},
		{trickle, "irreversible", utp.StatusPartial, utp.CodeUpstreamUnavailable},
	} {
		t.Run(tt.class+" "+string(tt.status), func(t *testing.T) {
			t.Parallel()
			got := call(within(t), t, loaded(t, tt.s.operation("POST", tt.class, "limits: {time: 8s}")), `{}`)
			if got.status != tt.status || got.code() != tt.code {
				t.Errorf("%s, %+v", got.status, got.err)
			}
		})
	}
}

// TestStop: a read ends at once; what has an effect and was sent is waited for a moment,
// for its answer says what has become of it.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		class  string
		after  bool // the server answers once the call was stopped
		status utp.Status
		code   utp.Code
	}{
		{"read", false, utp.StatusCanceled, utp.CodeStopped},
		{"irreversible", true, utp.StatusSuccess, ""},
		{"irreversible", false, utp.StatusFailed, utp.CodeOutcomeUnknown},
	} {
		t.Run(fmt.Sprint(tt.class, tt.after), func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(within(t))
			tooLong := make(chan struct{})
			defer close(tooLong)
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				stop()
				if !tt.after {
					select {
					case <-tooLong:
					case <-r.Context().Done():
					}
				}
				ok(w, r)
			})
			got := call(ctx, t, loaded(t, s.operation("POST", tt.class, "")), `{}`)
			if got.status != tt.status || got.code() != tt.code {
				t.Errorf("%s, %+v", got.status, got.err)
			}
			if got = call(ctx, t, loaded(t, s.operation("POST", tt.class, "")), `{}`); got.code() != utp.CodeStopped || !got.err.IsUntouched() {
				t.Errorf("stopped before it started: %+v", got.err)
			}
			if n := len(s.asked()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestSecretsAreNotTold: a server that echoes what it got, in whatever form, teaches the
// agent nothing; nor does an error.
func TestSecretsAreNotTold(t *testing.T) {
	t.Parallel()
	const secret = "sesame-key"
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		authorization := r.Header.Get("Authorization")
		echo := strings.Join([]string{
			r.RequestURI, authorization, base64.StdEncoding.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte(authorization)), r.URL.Query().Get("api_key"),
		}, " ")
		w.Header().Set("Location", "/next?"+r.URL.RawQuery)
		switch r.URL.Path {
		case "/json":
			typed(w, "application/json", `{"echo":"`+echo+`"}`)
		case "/binary":
			typed(w, "image/png", echo)
		case "/error":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, echo)
		case "/away":
			w.Header().Set("Location", "http://"+secret+".example.org/?"+r.URL.RawQuery)
			w.WriteHeader(http.StatusFound)
		case "/hangup":
			panic(http.ErrAbortHandler)
		default:
			typed(w, "text/plain; x="+secret, echo)
		}
	})
	for _, path := range []string{"json", "text", "binary", "error", "away", "hangup"} {
		text := s.section("tool: web.get\ndescription: Get.\nmethod: GET\nbinary: true\nurl: "+s.URL+"/"+path,
			"secrets: {key: {env: KEY}}\nauth: [{query: api_key, value: '{key}'}, {header: Authorization, value: 'Bearer {key}'}]")
		got := call(within(t), t, loaded(t, text), `{}`)
		decoded, _ := base64.StdEncoding.DecodeString(got.text)
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte("Bearer " + secret))} {
			if strings.Contains(got.all, form) || strings.Contains(string(decoded), form) {
				t.Errorf("%s: %q is in %s", path, form, got.all)
			}
		}
		if asked := s.asked(); !strings.HasSuffix(asked[len(asked)-1].uri, "?api_key="+secret) {
			t.Errorf("the server did not get it: %+v", asked)
		}
	}
	// Cut anywhere, no part of it stays.
	for n := 1; n < 40; n++ {
		text := s.section(fmt.Sprintf("tool: web.get\ndescription: Get.\nmethod: GET\nurl: %s/t\nlimits: {response: %d}", s.URL, n), "secrets: {key: {env: KEY}}\nauth: [{query: k, value: '{key}'}]")
		if got := call(within(t), t, loaded(t, text), `{}`); strings.Contains(got.text, "ses") || got.BodyCut && len(got.text) > n {
			t.Errorf("cut to %d it is %q", n, got.text)
		}
	}
}
