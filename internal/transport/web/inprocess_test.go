package web_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/transport/web"
)

// TestInProcess: a request without a connection is answered like one with, and what goes wrong with it is its error.
func TestInProcess(t *testing.T) {
	t.Parallel()
	reach := web.InProcess(func() http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/panic":
				panic("no")
			case "/waits":
				<-r.Context().Done()
			case "/nothing":
			default:
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				w.Header().Set("Location", r.Host)
				w.WriteHeader(http.StatusAccepted)
				w.WriteHeader(http.StatusTeapot) // too late
				_, _ = io.WriteString(w, r.Method+" "+r.RequestURI+" "+string(body))
			}
		})
	})
	ask := func(ctx context.Context, path string) (status int, location, body string, err error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:7411"+path, strings.NewReader("hello"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := (&http.Client{Transport: reach}).Do(r)
		if err != nil {
			return 0, "", "", err
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		return answer.StatusCode, answer.Header.Get("Location"), string(text), err
	}
	status, location, body, err := ask(t.Context(), "/there?a=b")
	if err != nil || status != http.StatusAccepted || location != "127.0.0.1:7411" || body != "POST /there?a=b hello" {
		t.Errorf("%d %q %q %v", status, location, body, err)
	}
	if status, _, body, err = ask(t.Context(), "/nothing"); err != nil || status != http.StatusOK || body != "" {
		t.Errorf("nothing: %d %q %v", status, body, err)
	}
	if _, _, _, err = ask(t.Context(), "/panic"); err == nil {
		t.Error("a request that has panicked has an answer")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err = ask(ctx, "/waits"); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}
