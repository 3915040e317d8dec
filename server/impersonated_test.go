package server_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/manifest"
	"github.com/earshot-dev/earshot/internal/manifestkey"
	"github.com/earshot-dev/earshot/server"
)

// signedRequest accepts signed manifests only.
const signedRequest = `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"reader-1",` +
	`"capabilities":{"accept_signed_manifests_only":true,"supported_conformance_levels":[1,2],"languages":["en"]}}`

// TestImpersonated: on each transport a listener can tell the server from one that only claims to be it, by its signed manifest; the server answers
// under no other name and to no page of elsewhere; and it says by which transports and in which version it is heard, and is heard by no other
// (AAEP's T6; OWASP API8, API9).
func TestImpersonated(t *testing.T) {
	t.Parallel()
	keyOf := func(name string) (file string, keys manifest.Keys) {
		file = filepath.Join(t.TempDir(), name+".pem")
		key, err := manifestkey.Make(file, manifest.ES256)
		must(t, err)
		return file, manifest.Keys{key}
	}
	key, trusted := keyOf("own")
	othersKey, _ := keyOf("others")
	own := open(t, server.Options{Data: shortFolder(t), HTTP: "127.0.0.1:0", ManifestKey: key})
	claims := open(t, server.Options{Data: shortFolder(t), HTTP: "127.0.0.1:0", ManifestKey: othersKey})
	unsigned := open(t, server.Options{Data: shortFolder(t), HTTP: "127.0.0.1:0"})
	served := []aaep.Transport{aaep.TransportSSE, aaep.TransportWebSocket, aaep.TransportGRPC, aaep.TransportUnix, aaep.TransportStdio} // earshot stdio leads to these
	for by, dial := range dialers {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			verify := func(s *server.Server) (manifest.Verified, error) {
				got := dial(ctx, t, visit{Server: s, token: s.Token(), request: signedRequest}).accepted
				return manifest.Expected{Keys: trusted, Now: time.Now(), AgentID: got.Producer.AgentID, Offer: manifest.OfferOf(got, by)}.Verify(got.SignedManifest)
			}
			v, err := verify(own)
			must(t, err)
			if said := v.Manifest.TransportsSupported; !slices.Equal(said, served) || !slices.Equal(v.Manifest.AAEPVersionsSupported, []string{aaep.Version}) {
				t.Errorf("the manifest says %v and %v", said, v.Manifest.AAEPVersionsSupported)
			}
			if _, err := verify(claims); err == nil || !strings.Contains(err.Error(), string(manifest.UnknownKeyCode)) {
				t.Errorf("of another server: %v", err)
			}
			elsewhere := visit{Server: own, token: own.PersonToken(), host: "evil.example"}
			foreign := visit{Server: own, token: own.PersonToken(), origin: "https://evil.example"}
			old := visit{Server: own, token: own.PersonToken(), request: strings.Replace(signedRequest, `"1.0.0"`, `"2.0.0"`, 1)}
			none := visit{Server: unsigned, token: unsigned.Token(), request: signedRequest}
			for name, row := range map[string]struct {
				visit

				says []string
				web  bool
			}{
				"under another name": {elsewhere, []string{"421 ", "Misdirected", "is not a name"}, true},
				"of another page":    {foreign, []string{"403 ", "PermissionDenied", "Forbidden"}, true},
				"another version":    {old, []string{string(aaep.ReasonVersionUnsupported)}, false},
				"no manifest":        {none, []string{string(aaep.ReasonManifestSignatureRequired)}, false},
			} {
				if row.web && by == aaep.TransportUnix {
					continue // it has neither
				}
				if got := dial(ctx, t, row.visit); !containsAny(got.refused, row.says) {
					t.Errorf("%s: %q, expected one of %q", name, got.refused, row.says)
				}
			}
		})
	}
	withoutSocket := open(t, server.Options{Data: shortFolder(t), HTTP: "127.0.0.1:0", ManifestKey: key, Socket: server.NoSocket})
	got := dialers[aaep.TransportSSE](t.Context(), t, visit{Server: withoutSocket, token: withoutSocket.Token(), request: signedRequest}).accepted
	v, err := manifest.Expected{Keys: trusted, Now: time.Now()}.Verify(got.SignedManifest)
	if err != nil || slices.Contains(v.Manifest.TransportsSupported, aaep.TransportUnix) {
		t.Errorf("without a socket the manifest says %v, %v", v.Manifest.TransportsSupported, err)
	}
	if info, err := os.Stat(own.Socket()); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others can open the socket: %v, %v", info.Mode(), err)
	}
}
