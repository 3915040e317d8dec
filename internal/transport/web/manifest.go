package web

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/openapi"
)

// deviation is where the server departs from AAEP rules on purpose, and where the reason is written.
type deviation struct {
	Rules []string `json:"rules"`
	See   string   `json:"see"`
}

// reasons is the published page. Each deviation is a heading of it.
const reasons = "https://github.com/earshot-dev/earshot/blob/main/"

// deviations are those under "On purpose" in docs/deviations.md, in its order. The first is in force unless policy decides
// when nobody is there.
var deviations = []deviation{
	{[]string{"CONF-82", "CONF-83"}, reasons + "docs/deviations.md#a-question-waits-for-its-own-deadline"},
	{[]string{"CONF-70", "CLA-11"}, reasons + "docs/deviations.md#a-persons-time-starts-when-they-are-shown-the-question"},
	{[]string{"CONF-52", "CONF-58", "CONF-59"}, reasons + "docs/deviations.md#a-second-reply-can-take-a-yes-back"},
	{[]string{"CONF-53"}, reasons + "docs/deviations.md#two-clocks-decide-whether-a-reply-is-in-time"},
	{[]string{"CONF-56"}, reasons + "docs/deviations.md#a-subscriber-that-knows-our-extension-learns-what-to-read-first"},
	{[]string{"CONF-56"}, reasons + "docs/deviations.md#a-reply-that-cannot-be-recorded-is-an-error"},
	{[]string{"SEQ-24"}, reasons + "docs/deviations.md#a-permission-has-no-invocation"},
}

// Describe completes the manifest with what only the server knows: versions, its own transports besides those of m, paths,
// that each turn is a session of its own, and where it departs from AAEP (MAN-01 to 05, MAN-08, C-93). decides is [Options.Decides].
func Describe(m aaep.Manifest, decides bool) ([]byte, error) {
	inForce := deviations
	if decides {
		inForce = deviations[1:]
	}
	m.AgentID = cmp.Or(m.AgentID, "earshot")
	m.AAEPVersionsSupported = []string{aaep.Version}
	m.TransportsSupported = append([]aaep.Transport{aaep.TransportSSE, aaep.TransportWebSocket}, m.TransportsSupported...)
	said := map[string]any{aaep.ManifestPathPrefix: api.AAEPRoot, aaep.ManifestPattern: "one session for each turn", aaep.ManifestDeviations: inForce}
	if slices.Contains(m.TransportsSupported, aaep.TransportUnix) {
		said[aaep.ManifestFraming] = "length prefix, or one message a line; the first byte tells which"
	}
	for name, value := range said {
		extended, err := m.Extend(aaep.PrefixEarshot, name, value)
		if err != nil {
			return nil, fmt.Errorf("completing the manifest: %w", err)
		}
		m = extended
	}
	raw, err := m.Encode()
	if err != nil {
		return nil, fmt.Errorf("writing the manifest: %w", err)
	}
	return raw, nil
}

// openAPI publishes the description of the API.
func (*Server) openAPI(w http.ResponseWriter, _ *http.Request, _ visitor) error {
	writeRaw(w, http.StatusOK, openapi.Document())
	return nil
}

// joseMedia is the media type of a compact JWS.
const joseMedia = "application/jose"

// manifest publishes the manifest to everybody who can reach the server: it describes the protocol, and nothing of the
// activity. A client that asks for a signed one gets that, if there is a key (JWS-03).
func (s *Server) manifest(w http.ResponseWriter, r *http.Request, _ visitor) error {
	signed := s.options.SignedManifest
	if signed == "" {
		writeRaw(w, http.StatusOK, s.published)
		return nil
	}
	w.Header().Set("Vary", "Accept")
	if !accepts(r, joseMedia) {
		writeRaw(w, http.StatusOK, s.published)
		return nil
	}
	w.Header().Set("Content-Type", joseMedia)
	_, _ = io.WriteString(w, signed) // a client that has gone is not told
	return nil
}

// manifestKeys publishes the keys whose signatures count. Without a key it is an empty set.
func (s *Server) manifestKeys(w http.ResponseWriter, _ *http.Request, _ visitor) error {
	raw, err := s.options.ManifestKeys.At(s.now()).Encode()
	if err != nil {
		return fmt.Errorf("writing the keys: %w", err)
	}
	writeRaw(w, http.StatusOK, raw)
	return nil
}
