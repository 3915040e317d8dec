package server_test

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/manifest"
	"github.com/earshot-dev/earshot/internal/manifestkey"
	"github.com/earshot-dev/earshot/server"
)

// subscribe asks the server for a subscription, and returns the answer.
func subscribe(t *testing.T, s *server.Server, signedOnly bool) []byte {
	t.Helper()
	raw, err := aaep.SubscriptionRequest{
		AAEPVersion: aaep.Version, SubscriberID: "reader-1",
		Capabilities: aaep.Capabilities{AcceptSignedManifestsOnly: &signedOnly, SupportedConformanceLevels: []int{1, 2}, Languages: []string{"en-GB"}},
	}.Encode()
	must(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/aaep/v1/subscriptions", bytes.NewReader(raw))
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+s.Token())
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	must(t, err)
	return body
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSignedManifest: a subscriber that accepts signed manifests only gets one that verifies, and agrees with the
// answer that it came in; without a key it is refused (JWS-01, JWS-03, JWS-06, JWS-07, JWS-08).
func TestSignedManifest(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "manifest.pem")
	key, err := manifestkey.Make(file, manifest.ES256)
	must(t, err)
	s, err := server.New(t.Context(), server.Options{Data: t.TempDir(), HTTP: "127.0.0.1:0", ManifestKey: file, Contact: "help@example.org"})
	must(t, err)
	defer s.Close()
	answer, err := aaep.DecodeSubscriptionAccepted(subscribe(t, s, true))
	must(t, err)
	v, err := manifest.Expected{
		Keys: manifest.Keys{key}, Now: time.Now(), AgentID: answer.Producer.AgentID, Offer: manifest.OfferOf(answer, aaep.TransportSSE),
	}.Verify(answer.SignedManifest)
	must(t, err)
	if v.Manifest.Contact != "help@example.org" || len(v.Manifest.ConformanceLevelsSupported) != 3 || v.Manifest.MaxConcurrentSubscriptions != server.DefaultSubscriptions ||
		!slices.Contains(v.Manifest.TransportsSupported, aaep.TransportGRPC) {
		t.Errorf("found %+v", v.Manifest)
	}
	if answer, err = aaep.DecodeSubscriptionAccepted(subscribe(t, s, false)); err != nil || answer.SignedManifest != "" {
		t.Errorf("nobody asked: %v: %q", err, answer.SignedManifest)
	}

	unsigned, err := server.New(t.Context(), server.Options{Data: t.TempDir(), HTTP: "127.0.0.1:0"})
	must(t, err)
	defer unsigned.Close()
	refused, err := aaep.DecodeSubscriptionRejected(subscribe(t, unsigned, true))
	if err != nil || refused.ReasonCode != aaep.ReasonManifestSignatureRequired {
		t.Errorf("without a key: %v: %+v", err, refused)
	}
}
