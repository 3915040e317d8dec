package server

import (
	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/manifest"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/manifestkey"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// agentID names the producer of all events, in the manifest and in each offer.
const agentID = "earshot"

// levels are the conformance levels that the server claims. Where it departs from one of their rules on purpose, the
// manifest says so (docs/deviations.md).
func levels() []int { return []int{1, 2, 3} }

// introduction is what the server says of itself, the languages that it tells things in besides English, and its
// signature; signed is "" without a key.
type introduction struct {
	manifest     aaep.Manifest
	translations instance.Languages
	signed       string
	keys         manifest.Keys
}

// introduce describes the server, and signs that if there is a key. decides is what policy says of questions that nobody who
// is connected can answer, local whether there is a Unix socket.
func introduce(o Options, decides, local bool) (introduction, error) {
	translations, err := instance.OpenLanguages(o.Languages)
	if err != nil {
		return introduction{}, err
	}
	in := introduction{translations: translations, manifest: aaep.Manifest{
		AgentID: agentID, AgentName: "Earshot", AgentVersion: o.Version, ConformanceLevelsSupported: levels(), LanguagesSupported: translations.Tags(),
		EventTypesEmitted: []string{"aaep:agent.*"}, ExtensionsSupported: []string{aaep.ExtensionContext}, DefaultVerbosity: aaep.VerbosityNormal,
		MaxConcurrentSubscriptions: o.Subscriptions, Contact: o.Contact,
	}}
	in.manifest.TransportsSupported = []aaep.Transport{aaep.TransportGRPC}
	if local {
		in.manifest.TransportsSupported = append(in.manifest.TransportsSupported, aaep.TransportUnix, aaep.TransportStdio)
	}
	if o.ManifestKey == "" {
		return in, nil
	}
	pair, err := manifestkey.Open(o.ManifestKey, o.Now())
	if err != nil {
		return in, err
	}
	document, err := web.Describe(in.manifest, decides)
	if err != nil {
		return in, cause.Fail(err, "the manifest could not be written", "")
	}
	if in.signed, err = manifest.Sign(document, pair.Private); err != nil {
		return in, cause.Fail(err, "the manifest could not be signed", "see `earshot manifest keygen --help`")
	}
	in.keys = pair.Public
	return in, nil
}
