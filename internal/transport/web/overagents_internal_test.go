package web

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/utp"
)

// TestAgentUncertain: a session that may have been opened is not safe to open again, unless the request has a key.
func TestAgentUncertain(t *testing.T) {
	t.Parallel()
	agent := Principal{Name: "helper", Roles: []access.Role{access.Agent}, Surface: "helper"}
	for name, tt := range map[string]struct {
		fail  error
		kind  api.Kind
		keyed api.Kind
	}{
		"no answer":     {errors.New("the wire is cut"), api.KindUncertain, api.KindUnavailable},
		"certainly not": {&api.Fault{Code: utp.CodeStorageError, Message: "no", Retry: true}, api.KindUnavailable, api.KindUnavailable},
		"it is wrong":   {&api.Fault{Code: utp.CodeBadRequest, Message: "no", Retry: true}, api.KindInvalid, api.KindInvalid},
	} {
		h := AgentsFromHub(hub.New(&kernel{fail: tt.fail}, 0))
		for key, want := range map[string]api.Kind{"": tt.kind, "k1": tt.keyed} {
			_, err := h.Open(t.Context(), agent, api.OpenRequest{Key: key})
			var got *Refusal
			if !errors.As(err, &got) || got.Kind != want || got.SafeToRetry() != (want == api.KindUnavailable) {
				t.Errorf("%s, with the key %q: %+v; want %s", name, key, err, want)
			}
		}
	}
}

// TestEchoes: what only repeats the error is not a result of the tool's.
func TestEchoes(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		`{"error_code":"x","error_message":"y","error":{"code":"x"}}`: true,
		`{"error_code":"x","error_message":"y","error_detail":{}}`:    true,
		`{"error_code":"x","exit_code":1}`:                            false,
		`{"exit_code":1}`:                                             false,
		`{"error":"none"}`:                                            false,
		`[]`:                                                          false,
		``:                                                            false,
	} {
		if got := echoes(jsontext.Value(raw)); got != want {
			t.Errorf("%s: %v; want %v", raw, got, want)
		}
	}
}
