package web

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/earshot-dev/earshot/aaep"
)

// describe completes the manifest with what the server itself knows: versions,
// transport, paths, and that each turn is a session of its own (MAN-01 to 05, MAN-08,
// C-93).
func describe(m aaep.Manifest) ([]byte, error) {
	m.AgentID = cmp.Or(m.AgentID, "earshot")
	m.AAEPVersionsSupported = []string{aaep.Version}
	m.TransportsSupported = []aaep.Transport{aaep.TransportSSE}
	for name, value := range map[string]string{
		aaep.ManifestPathPrefix: aaepRoot, aaep.ManifestPattern: "one session for each turn",
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

// manifest publishes the manifest to everybody who may reach the server: it says what
// the server speaks, and nothing of what it does.
func (s *Server) manifest(w http.ResponseWriter, _ *http.Request) {
	writeRaw(w, http.StatusOK, s.published)
}
