package serve

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/aaep/transport"
)

// levels are the levels of conformance that are claimed.
var levels = []int{1, 2, 3}

// offer is what every subscriber can have.
func (o Options) offer() pacing.Offer {
	return pacing.Offer{
		Producer: o.Producer, Languages: []string{o.Language}, Levels: levels, MaxRate: o.Rate,
		Extensions: append([]string{aaep.ExtensionContext}, o.Manifest.ExtensionsSupported...),
	}
}

// Manifest returns the manifest, which is not to be changed.
func (p *Producer) Manifest() []byte { return p.manifest }

// describe returns the manifest (MAN-01 to MAN-05).
func (o Options) describe() ([]byte, error) {
	m := o.Manifest
	m.AgentID, m.AgentVersion = o.Producer.AgentID, o.Producer.AgentVersion
	m.AAEPVersionsSupported, m.ConformanceLevelsSupported = []string{aaep.Version}, levels
	m.TransportsSupported = []aaep.Transport{aaep.TransportSSE, aaep.TransportWebSocket}
	for _, further := range o.Transports {
		m.TransportsSupported = append(m.TransportsSupported, further.Name())
	}
	m.LanguagesSupported = []string{o.Language}
	m.ExtensionsSupported = append([]string{aaep.ExtensionContext}, o.Manifest.ExtensionsSupported...)
	m.MaxConcurrentSubscriptions = o.Subscriptions
	m, err := m.Extend(aaep.PrefixEarshot, aaep.ManifestPathPrefix, transport.Root)
	if err != nil {
		return nil, fmt.Errorf("completing the manifest: %w", err)
	}
	raw, err := m.Encode()
	if err != nil {
		return nil, fmt.Errorf("writing the manifest: %w", err)
	}
	return raw, nil
}
