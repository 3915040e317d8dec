package web_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

func confirmation(token, decision, subscription string) string {
	return fmt.Sprintf(`{"type":"confirmation.reply","reply_token":%q,"decision":%q,"subscription_id":%q,"timestamp":"2000-01-01T00:00:00.000Z"}`, token, decision, subscription)
}

// TestRepliesAnswer: who can be read gets the same empty answer, whatever the token is
// worth (TR-SSE-08, C-57, C-58, C-99).
func TestRepliesAnswer(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.subscribe("ada")
	s.subscribe("lis")
	const mine, hers, none = "sub_0000000000000001", "sub_0000000000000002", "sub_ffffffffffffffff"
	for name, tt := range map[string]struct {
		body string
		in   bool // it reaches the hub
	}{
		"a known token":               {confirmation(tokenA, "accept", mine), true},
		"again":                       {confirmation(tokenA, "accept", mine), true},
		"an unknown token":            {confirmation(tokenB, "reject", mine), true},
		"another's subscription":      {confirmation(tokenA, "accept", hers), false},
		"no subscription of anybody":  {confirmation(tokenA, "accept", none), false},
		"a clarification":             {`{"type":"clarification.reply","reply_token":"` + tokenA + `","response":"leave","subscription_id":"` + mine + `","timestamp":"2000-01-01T00:00:00.000Z"}`, true},
		"more time":                   {`{"type":"earshot:question.extend","reply_token":"` + tokenA + `","subscription_id":"` + mine + `","timestamp":"2000-01-01T00:00:00.000Z"}`, true},
		"more time for nobody's":      {`{"type":"earshot:question.extend","reply_token":"` + tokenB + `","subscription_id":"` + none + `","timestamp":"2000-01-01T00:00:00.000Z"}`, false},
		"no decision of AAEP":         {confirmation(tokenA, "maybe", mine), false},
		"a yes in another case":       {confirmation(tokenA, "ACCEPT", mine), false},
		"no word":                     {confirmation(tokenA, "", mine), false},
		"a modified action, read too": {strings.Replace(confirmation(tokenA, "accept", mine), `"decision"`, `"modified_action":{},"decision"`, 1), true},
	} {
		before := len(s.room.replies)
		w := s.do("POST", "/aaep/v1/replies", "ada", tt.body)
		if w.Code != 204 || w.Body.Len() != 0 {
			t.Errorf("%s: %d %q", name, w.Code, w.Body)
		}
		if in := len(s.room.replies) > before; in != tt.in {
			t.Errorf("%s: it reaches the hub: %v", name, in)
		}
	}
	wants(t, strings.Join(s.room.replies, "\n"), mine+" "+confirmation(tokenA, "accept", mine))
}

// TestRepliesUnread: what cannot be read is refused with a body, before anything is
// looked up (TR-SSE-08).
func TestRepliesUnread(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.subscribe("ada")
	for name, body := range map[string]string{
		"no JSON":          `{`,
		"a list":           `[]`,
		"no type":          `{}`,
		"another type":     `{"type":"aaep:agent.state.changed"}`,
		"a request":        wish,
		"no token":         `{"type":"confirmation.reply","decision":"accept"}`,
		"no decision":      strings.Replace(confirmation(tokenA, "accept", "sub_0000000000000001"), `"decision":"accept",`, ``, 1),
		"a decision of 1":  strings.Replace(confirmation(tokenA, "accept", "sub_0000000000000001"), `"accept"`, `1`, 1),
		"maybe, no token":  confirmation("", "maybe", "sub_0000000000000001"),
		"maybe, stray":     strings.Replace(confirmation(tokenA, "maybe", "sub_0000000000000001"), `"decision"`, `"mood":1,"decision"`, 1),
		"a member twice":   strings.Replace(confirmation(tokenA, "accept", "sub_0000000000000001"), `"decision"`, `"decision":"reject","decision"`, 1),
		"no such time":     strings.Replace(confirmation(tokenA, "accept", "sub_0000000000000001"), "2000-01-01", "2000-13-01", 1),
		"no close":         `{"type":"subscription.close"}`,
		"no renegotiation": `{"type":"subscription.renegotiate","subscription_id":"sub_0000000000000001"}`,
	} {
		w := s.do("POST", "/aaep/v1/replies", "ada", body)
		if w.Code != 400 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		wants(t, w.Body.String(), `{"error":{"code":"bad_request"`, `"hint"`)
	}
	if len(s.room.replies) != 0 {
		t.Errorf("the hub got %v", s.room.replies)
	}
}

// TestRepliesLost: only that nothing could be recorded is told; a reply that does not
// count is not.
func TestRepliesLost(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.subscribe("ada")
	for name, tt := range map[string]struct {
		fail error
		want int
	}{
		"on the merits": {errors.New("too late"), 204},
		"refused":       {&web.Refusal{Kind: api.KindNotFound, Message: "no such token"}, 204},
		"not recorded":  {&web.Refusal{Kind: api.KindUnavailable, Message: "no answer came in time"}, 503},
	} {
		s.room.fail = tt.fail
		w := s.do("POST", "/aaep/v1/replies", "ada", confirmation(tokenA, "accept", "sub_0000000000000001"))
		if w.Code != tt.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// TestRenegotiate: 200 with the terms that hold, or with the rejection (HS-61, C-82).
func TestRenegotiate(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.subscribe("ada")
	ask := func(id string) (int, string) {
		w := s.do("POST", "/aaep/v1/replies", "ada", `{"type":"subscription.renegotiate","subscription_id":"`+id+`","capabilities":{"max_events_per_second":7}}`)
		return w.Code, w.Body.String()
	}
	status, body := ask("sub_0000000000000001")
	if a, err := aaep.DecodeSubscriptionAccepted([]byte(body)); status != 200 || err != nil || a.HonoredCapabilities.MaxEventsPerSecond != 7 {
		t.Errorf("%d %s %v", status, body, err)
	}
	for name, prepare := range map[string]func() string{
		"not given": func() string {
			s.room.reject = &aaep.SubscriptionRejected{ReasonCode: aaep.ReasonRateLimit, ReasonMessage: "Too fast."}
			return "sub_0000000000000001"
		},
		"nobody's id": func() string { s.room.reject = nil; return "sub_ffffffffffffffff" },
	} {
		status, body := ask(prepare())
		if _, err := aaep.DecodeSubscriptionRejected([]byte(body)); status != 200 || err != nil {
			t.Errorf("%s: %d %s %v", name, status, body, err)
		}
	}
}

// TestHandshake: every request is answered with accepted or rejected, under the status
// that fits (HS-07, HS-48, TR-SSE-01, TR-SSE-02, C-53, C-82).
func TestHandshake(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.do("POST", "/aaep/v1/subscriptions", "ada", wish)
	accepted, err := aaep.DecodeSubscriptionAccepted(w.Body.Bytes())
	if w.Code != 201 || err != nil || w.Header().Get("Location") != "/aaep/v1/events?subscription_id="+accepted.SubscriptionID {
		t.Errorf("%d %v %s %v", w.Code, w.Header(), w.Body, err)
	}
	for _, tt := range []struct {
		name, as, body string
		reject         *aaep.SubscriptionRejected
		fail           error
		status         int
		reason         aaep.ReasonCode
	}{
		{"nobody", "", wish, nil, nil, 401, aaep.ReasonAuthenticationRequired},
		{"an agent", "bot", wish, nil, nil, 403, aaep.ReasonAuthorizationDenied},
		{"no JSON", "ada", "{", nil, nil, 400, aaep.ReasonUnknown},
		{"another message", "ada", confirmation(tokenA, "accept", "sub_1"), nil, nil, 400, aaep.ReasonUnknown},
		{"a capability", "ada", strings.Replace(wish, `{"supports_confirmation_reply":true}`, `{"max_events_per_second":"fast"}`, 1), nil, nil, 400, aaep.ReasonCapabilitiesIncompatible},
		{"a version", "ada", wish, &aaep.SubscriptionRejected{ReasonCode: aaep.ReasonVersionUnsupported, ReasonMessage: "No."}, nil, 409, aaep.ReasonVersionUnsupported},
		{"a signature", "ada", wish, &aaep.SubscriptionRejected{ReasonCode: aaep.ReasonManifestSignatureRequired, ReasonMessage: "No."}, nil, 409, aaep.ReasonManifestSignatureRequired},
		{"too many", "ada", wish, &aaep.SubscriptionRejected{ReasonCode: aaep.ReasonRateLimit, ReasonMessage: "No.", RetryAfterSeconds: 60}, nil, 429, aaep.ReasonRateLimit},
		{"the hub is gone", "ada", wish, nil, errors.New("no hub"), 503, aaep.ReasonTransportUnavailable},
	} {
		s.room.reject, s.room.fail = tt.reject, tt.fail
		w := s.do("POST", "/aaep/v1/subscriptions", tt.as, tt.body)
		got, err := aaep.DecodeSubscriptionRejected(w.Body.Bytes())
		if w.Code != tt.status || err != nil || got.ReasonCode != tt.reason {
			t.Errorf("%s: %d %s %v", tt.name, w.Code, w.Body, err)
		}
		if after := w.Header().Get("Retry-After"); (after != "") != (got.RetryAfterSeconds > 0) {
			t.Errorf("%s: Retry-After %q for %d", tt.name, after, got.RetryAfterSeconds)
		}
	}
}

// TestSubscribeUnknownToken: whose token nobody knows is not told to send one, which they did.
func TestSubscribeUnknownToken(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for as, want := range map[string]string{"": "Send a token as Authorization: Bearer.", "nobody": "The token is not valid, or no longer."} {
		w := s.do("POST", "/aaep/v1/subscriptions", as, wish)
		if got, err := aaep.DecodeSubscriptionRejected(w.Body.Bytes()); w.Code != 401 || err != nil || !strings.Contains(got.ReasonMessage, want) {
			t.Errorf("%q: %d %s %v, expected %q", as, w.Code, w.Body, err, want)
		}
	}
}

// TestManifest: at the well-known address, for everybody (MAN-01…03, MAN-05, C-93).
func TestManifest(t *testing.T) {
	t.Parallel()
	s := newScene(t, func(o *web.Options) {
		o.Manifest = aaep.Manifest{AgentID: "tidy", AgentName: "Tidy", LanguagesSupported: []string{"en"}, ConformanceLevelsSupported: []int{1, 2}}
	})
	w := s.do("GET", "/.well-known/aaep-manifest.json", "", "")
	if found := aaep.ValidateManifest(w.Body.Bytes(), aaep.ModeProducer); w.Code != 200 || len(found) > 0 {
		t.Fatalf("%d %s %v", w.Code, w.Body, found)
	}
	m, err := aaep.DecodeManifest(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if m.AgentID != "tidy" || m.AAEPVersionsSupported[0] != aaep.Version || m.TransportsSupported[0] != aaep.TransportSSE ||
		!strings.Contains(string(m.Extensions[aaep.PrefixEarshot]), `"path_prefix":"/aaep/v1"`) {
		t.Errorf("found %+v", m)
	}
	var refused *aaep.Error
	if _, err := web.New(web.Options{Hub: newRoom(), Access: newDoors(), Manifest: aaep.Manifest{LanguagesSupported: []string{"en_US"}}}); !errors.As(err, &refused) {
		t.Errorf("a manifest that breaks a rule is published: %v", err)
	}
}
