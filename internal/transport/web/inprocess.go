package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// InProcess sends the requests of a client in the server's own process: through the same API, without a connection. It
// is for answers that end; a stream is returned only when it is complete.
func InProcess(server func() http.Handler) http.RoundTripper { return inProcess{server} }

type inProcess struct{ server func() http.Handler }

// RoundTrip implements http.RoundTripper.
func (t inProcess) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	defer func() { // this stands for the end of a connection
		if p := recover(); p != nil {
			answer, err = nil, fmt.Errorf("web: the request has failed: %v", p)
		}
	}()
	asked := r.Clone(r.Context())
	asked.RequestURI, asked.Host = r.URL.RequestURI(), r.URL.Host
	if asked.Body == nil {
		asked.Body = http.NoBody
	}
	defer func() { _ = asked.Body.Close() }()
	w := &recorder{head: http.Header{}}
	t.server().ServeHTTP(w, asked)
	if err := r.Context().Err(); err != nil {
		return nil, errors.Join(err, errors.New("web: given up"))
	}
	w.WriteHeader(http.StatusOK)
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.head, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// recorder buffers an answer.
type recorder struct {
	head   http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *recorder) Header() http.Header { return w.head }

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p) //nolint:wrapcheck // it never fails
}
