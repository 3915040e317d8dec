package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
)

// TestStartIsSentAgain: a turn whose answer is lost is asked for again under the same key, with
// the same body, and each turn has a key of its own.
func TestStartIsSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var keys, bodies []string
		answers := []int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusCreated}
		c, err := client.Dial(t.Context(), client.Options{URL: "http://127.0.0.1:7411", Token: "t", Transport: within{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/v1/me" {
				_, _ = io.WriteString(w, me)
				return
			}
			body, _ := io.ReadAll(r.Body)
			keys, bodies = append(keys, r.Header.Get("Idempotency-Key")), append(bodies, string(body))
			status := answers[(len(keys)-1)%len(answers)]
			w.WriteHeader(status)
			if status == http.StatusServiceUnavailable {
				_, _ = io.WriteString(w, `{"error":{"code":"unavailable","message":"not now","safe_to_retry":true}}`)
				return
			}
			_, _ = io.WriteString(w, `{"turn_id":"turn_1","session_id":"sess_1"}`)
		})}})
		if err != nil {
			t.Fatal(err)
		}
		turn := api.TurnStart{Agent: "tidy", Args: jsontext.Value(`{"root":"/a"}`)}
		for range 2 {
			started, err := c.Start(t.Context(), turn)
			if err != nil || started.Session != "sess_1" {
				t.Errorf("%+v, %v", started, err)
			}
		}
		if len(keys) != 8 || len(slices.Compact(slices.Clone(bodies))) != 1 {
			t.Fatalf("sent %q with %q", bodies, keys)
		}
		if got := slices.Compact(slices.Clone(keys)); len(got) != 2 || keys[3] != keys[0] || keys[7] != keys[4] || len(keys[0]) < 26 {
			t.Errorf("the keys are %q; want one for each turn", keys)
		}
		turn.Key = "mine"
		if _, err := c.Start(t.Context(), turn); err != nil || keys[8] != "mine" || keys[11] != "mine" {
			t.Errorf("%v, the keys are %q", err, keys[8:])
		}
	})
}

// TestStartGivesUp: what was refused is not sent again; a server that stays away is tried for
// half a minute. So is a proxy that speaks in its place: the key makes it one turn.
func TestStartGivesUp(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		code   string
		retry  bool
		want   client.Code
		most   time.Duration
		again  bool
	}{
		"away":              {http.StatusBadGateway, "", false, client.CodeUnreachable, 30 * time.Second, true},
		"wrong":             {http.StatusBadRequest, "bad_request", false, "bad_request", 0, false},
		"the key of anyone": {http.StatusConflict, "conflict", false, client.CodeConflict, 0, false},
		"too many":          {http.StatusTooManyRequests, "too_many_turns", true, "too_many_turns", 0, false},
		"logged out":        {http.StatusUnauthorized, "authentication_required", false, client.CodeUnauthenticated, 0, false},
		"uncertain":         {http.StatusGatewayTimeout, "outcome_unknown", false, "outcome_unknown", 30 * time.Second, true},
		"a proxy's timeout": {http.StatusGatewayTimeout, "gateway_timeout", false, "gateway_timeout", 30 * time.Second, true},
		"a proxy alone":     {http.StatusServiceUnavailable, "no_upstream", false, "no_upstream", 30 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				c, err := client.Dial(t.Context(), client.Options{URL: "http://127.0.0.1:7411", Token: "t", Transport: within{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/api/v1/me" {
						_, _ = io.WriteString(w, me)
						return
					}
					sent++
					w.WriteHeader(tt.status)
					_, _ = fmt.Fprintf(w, `{"error":{"code":%q,"message":"no","safe_to_retry":%v}}`, tt.code, tt.retry)
				})}})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				_, err = c.Start(t.Context(), api.TurnStart{Agent: "tidy"})
				var e *client.Error
				if !errors.As(err, &e) || e.Code != tt.want || sent > 1 != tt.again || time.Since(began) != tt.most {
					t.Errorf("%v after %v and %d requests", err, time.Since(began), sent)
				}
			})
		})
	}
}
