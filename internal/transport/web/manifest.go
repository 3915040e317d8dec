package web

import (
	"cmp"
	"fmt"
	"net/http"

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

// deviations are those under "On purpose" in docs/deviations.md, in its order.
var deviations = []deviation{
	{[]string{"CONF-82", "CONF-83"}, reasons + "docs/deviations.md#a-question-waits-for-its-own-deadline"},
	{[]string{"CONF-70", "CLA-11"}, reasons + "docs/deviations.md#a-persons-time-starts-when-they-are-shown-the-question"},
	{[]string{"CONF-52", "CONF-58", "CONF-59"}, reasons + "docs/deviations.md#a-second-reply-can-take-a-yes-back"},
	{[]string{"CONF-53"}, reasons + "docs/deviations.md#two-clocks-decide-whether-a-reply-is-in-time"},
	{[]string{"CONF-56"}, reasons + "docs/deviations.md#a-subscriber-that-knows-our-extension-learns-what-to-read-first"},
	{[]string{"CONF-56"}, reasons + "docs/deviations.md#a-reply-that-cannot-be-recorded-is-an-error"},
	{[]string{"SEQ-24"}, reasons + "docs/deviations.md#a-permission-has-no-invocation"},
}

// describe completes the manifest with what only the server knows: versions, transport, paths, that each turn is a
// session of its own, and where it departs from AAEP (MAN-01 to 05, MAN-08, C-93).
func describe(m aaep.Manifest) ([]byte, error) {
	m.AgentID = cmp.Or(m.AgentID, "earshot")
	m.AAEPVersionsSupported = []string{aaep.Version}
	m.TransportsSupported = []aaep.Transport{aaep.TransportSSE}
	for name, value := range map[string]any{
		aaep.ManifestPathPrefix: api.AAEPRoot, aaep.ManifestPattern: "one session for each turn", aaep.ManifestDeviations: deviations,
	} {
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

// manifest publishes the manifest to everybody who can reach the server: it describes the protocol, and nothing of the
// activity.
func (s *Server) manifest(w http.ResponseWriter, _ *http.Request, _ visitor) error {
	writeRaw(w, http.StatusOK, s.published)
	return nil
}
