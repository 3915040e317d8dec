package subscribe_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/manifest"
	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/internal/testkit/scripted"
)

// signer is who signs manifests.
type signer struct {
	t       *testing.T
	private *ecdsa.PrivateKey
	keys    manifest.Keys
}

func newSigner(t *testing.T) signer {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := manifest.NewKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	return signer{t, private, manifest.Keys{key}}
}

// answer is subscription.accepted of the agent other, with the manifest of an agent.
func (s signer) answer(agent string, by ...aaep.Transport) string {
	s.t.Helper()
	document, err := aaep.Manifest{
		AgentID: agent, AAEPVersionsSupported: []string{aaep.Version}, TransportsSupported: by, EventTypesEmitted: []string{"aaep:agent.*"},
	}.Encode()
	if err != nil {
		s.t.Fatal(err)
	}
	signed, err := manifest.Sign(document, s.private)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSuffix(scripted.Accepted, "}") + `,"signed_manifest":"` + signed + `"}`
}

// TestKeys: with keys, a producer is heard whose signed manifest holds and has the transport by which it is heard, on each transport. Of any other
// not one event is passed on, and nothing is answered (CAP-13, JWS-06, JWS-07, SEC-12).
func TestKeys(t *testing.T) {
	t.Parallel()
	maker, stranger := newSigner(t), newSigner(t)
	for scheme, by := range map[string]aaep.Transport{
		"http": aaep.TransportSSE, "ws": aaep.TransportWebSocket, "grpc": aaep.TransportGRPC, "unix": aaep.TransportUnix,
	} {
		for name, row := range map[string]struct {
			answer string
			says   string // "" if it is heard
		}{
			"the maker's":             {maker.answer("other", by, aaep.TransportStdio), ""},
			"a stranger's":            {stranger.answer("other", by), "not trusted"},
			"none":                    {scripted.Accepted, "no signed manifest"},
			"of another agent":        {maker.answer("someone", by), "someone"},
			"of another transport":    {maker.answer("other", aaep.TransportStdio), string(by)},
			"altered":                 {strings.Replace(maker.answer("other", by), `"signed_manifest":"eyJ`, `"signed_manifest":"eyK`, 1), "manifest does not hold"},
			"an event before it":      {started, "before its signed manifest"},
			"an answer with no sense": {`{"type":"subscription.accepted"}`, "cannot be read"},
		} {
			if scheme == "http" && (name == "an event before it" || name == "an answer with no sense") {
				continue // there the answer is one to a request of its own, and is read before
			}
			t.Run(scheme+", "+name, func(t *testing.T) {
				t.Parallel()
				p := scripted.New(t, []string{started, ended})
				p.Answer = row.answer
				heard, failure := hearOrFail(t, subscribe.Options{URL: p.Serve(scheme), Keys: maker.keys})
				if row.says == "" {
					if failure != nil || !slices.Equal(heard, []string{"evt_1", "evt_9"}) {
						t.Errorf("heard %q, %v", heard, failure)
					}
				} else if failure == nil || failure.Code != subscribe.CodeUntrusted || !strings.Contains(failure.Message, row.says) || failure.Hint == "" || len(heard) > 0 {
					t.Errorf("heard %q, %v; expected nothing, and %q", heard, failure, row.says)
				}
				request, err := aaep.DecodeSubscriptionRequest([]byte(p.Got()[0]))
				if only := request.Capabilities.AcceptSignedManifestsOnly; err != nil || only == nil || !*only {
					t.Errorf("it asks for %s, %v", p.Got()[0], err)
				}
			})
		}
	}
	_, err := subscribe.New(subscribe.Options{URL: "http://localhost/events", Keys: maker.keys})
	if e, is := errors.AsType[*subscribe.Error](err); !is || e.Code != subscribe.CodeUsage || e.Hint == "" {
		t.Errorf("a stream without subscriptions: %v", err)
	}
}

// TestKeysAgain: who answers after a lost connection shows the manifest again, on each transport.
func TestKeysAgain(t *testing.T) {
	t.Parallel()
	maker := newSigner(t)
	for _, scheme := range transports {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			p := scripted.New(t, []string{started}, []string{ended})
			p.Answer = maker.answer("other", aaep.TransportSSE, aaep.TransportWebSocket, aaep.TransportGRPC, aaep.TransportUnix)
			heard, failure := hearOrFail(t, subscribe.Options{URL: p.Serve(scheme), Keys: maker.keys})
			if failure != nil || !slices.Equal(heard, []string{"evt_1", "evt_9"}) {
				t.Errorf("heard %q, %v", heard, failure)
			}
			if asked := strings.Count(strings.Join(p.Got(), "\n"), aaep.TypeSubscriptionRequest); asked != 2 && (scheme != "http" || asked != 3) { // there, a third request hears that it has ended
				t.Errorf("it was asked for a manifest %d times, expected once a connection: %q", asked, p.Got())
			}
		})
	}
}

// hearOrFail returns the ids of the events, and the error that ends them.
func hearOrFail(t *testing.T, o subscribe.Options) (heard []string, failure *subscribe.Error) {
	t.Helper()
	s, err := subscribe.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for event, err := range s.Events(t.Context()) {
		if err == nil {
			heard = append(heard, event.ID)
		} else if e, is := errors.AsType[*subscribe.Error](err); !is {
			t.Fatal(err)
		} else if !e.Passing() {
			failure = e
		}
	}
	return heard, failure
}
