package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/earshot-dev/earshot/internal/cause"
)

const callbackPath = "/callback"

// Callback listens on this machine for the one answer of a browser.
type Callback struct {
	listener net.Listener
	answers  chan url.Values // of one place
}

// Listen listens at a port of this machine; 0 is any.
func Listen(port int) (*Callback, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))) //nolint:noctx // it does not wait
	if err != nil {
		return nil, cause.Fail(err, "the browser could not be sent back here", "name another port with --port, or leave it out")
	}
	return &Callback{listener: listener, answers: make(chan url.Values, 1)}, nil
}

// Redirect is the address that the browser is sent back to.
func (c *Callback) Redirect() string { return "http://" + c.listener.Addr().String() + callbackPath }

// Close ends the listening without an answer.
func (c *Callback) Close() { _ = c.listener.Close() }

// closing is how long the browser has to read its page.
const closing = 2 * time.Second

// Wait returns the answer, and listens no longer.
func (c *Callback) Wait(ctx context.Context) (url.Values, error) {
	server := &http.Server{Handler: c, ReadTimeout: closing, WriteTimeout: closing, MaxHeaderBytes: maxHeader}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(c.listener) // it ends when it is told to
	}()
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		if server.Shutdown(last) != nil {
			_ = server.Close()
		}
		<-ended
	}()
	select {
	case answer := <-c.answers:
		return answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ServeHTTP implements [http.Handler].
func (c *Callback) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	answer := q.URL.Query()
	if q.Method != http.MethodGet || q.URL.Path != callbackPath || q.Host != c.listener.Addr().String() || !answer.Has("state") {
		w.WriteHeader(http.StatusNotFound)
		page(w, "Nothing is here", "This address is only for the end of a login.")
		return
	}
	select {
	case c.answers <- answer:
		page(w, "The answer has arrived", "Earshot says in the terminal whether you are logged in. You can close this page.")
	default:
		w.WriteHeader(http.StatusConflict)
		page(w, "There was an answer already", "Earshot says in the terminal what became of it. You can close this page.")
	}
}

func page(w io.Writer, title, text string) {
	_, _ = fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\"><head><title>%s - Earshot</title></head><body><main><h1>%s</h1><p>%s</p></main></body></html>\n", title, title, text)
}

// FreePort returns a port of this machine that nobody listens at now, for the answer that a person pastes.
func FreePort() (int, error) {
	c, err := Listen(0)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	at, is := c.listener.Addr().(*net.TCPAddr)
	if !is {
		return 0, errors.New("the address has no port")
	}
	return at.Port, nil
}

// RedirectTo is the address for a port that nothing listens at.
func RedirectTo(port int) string {
	return "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) + callbackPath
}
