package producer

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
)

// role is the script of one subscriber.
type role struct {
	name, about  string
	level        int    // from which it takes part
	version      string // of AAEP that it asks for
	asks         aaep.Capabilities
	grease       bool // asks also for what nobody knows
	probe        bool // wants the answer only
	large        bool // asks with as many bytes as any producer has to take
	direct       bool // also takes part where there is no subscription
	answers      bool
	cuts         bool // breaks off after a few events, and goes on
	closes       bool // closes after its first event
	renegotiates *aaep.EventFilters
}

// cutAfter is how many events a listener gets before it breaks off.
const cutAfter = 3

// questionsAndTools are kept back by filters: tools may be, questions are critical and may not (BP-06).
var questionsAndTools = &aaep.EventFilters{Include: []string{"aaep:agent.*"}, Exclude: []string{"aaep:agent.tool.*", "aaep:agent.awaiting.*"}}

// cast returns the subscribers in the order in which they connect. The first to listen is the last: the others hear all
// that it hears.
func cast(level int, direct bool) []role {
	var all []role
	for _, r := range []role{
		{name: "another version", about: "asks for a version that does not exist", level: 3, version: "99.0.0", probe: true},
		{name: "signed only", about: "accepts signed manifests only", level: 3, asks: aaep.Capabilities{AcceptSignedManifestsOnly: new(true)}, probe: true},
		{name: "defaults", about: "asks for nothing in particular", level: 3, probe: true},
		{name: "large", about: "asks with nearly 64 KiB", level: 3, probe: true, large: true},
		{
			name: "stranger", about: "wants short texts in a language that nobody speaks, and all events all the same", level: 3,
			asks: aaep.Capabilities{Languages: []string{"tlh"}, PreferredVerbosity: aaep.VerbosityTerse},
		},
		{
			name: "filtered", about: "keeps back tools and, which must come all the same, questions; it does not answer", level: 3,
			asks: aaep.Capabilities{EventFilters: questionsAndTools, SupportsConfirmationReply: new(true), SupportsClarificationReply: new(true)},
		},
		{name: "resumed", about: "cannot answer, breaks off after a few events, and goes on", level: 1, cuts: true, direct: true},
		{name: "slow", about: "wants at most two events a second", level: 3, asks: aaep.Capabilities{MaxEventsPerSecond: 2}},
		{name: "closing", about: "closes after its first event", level: 3, closes: true},
		{
			name: "renegotiating", about: "asks at once for no more tools", level: 3, asks: aaep.Capabilities{Languages: []string{"en-US", "en"}},
			renegotiates: &aaep.EventFilters{Exclude: []string{"aaep:agent.tool.*"}},
		},
		{
			name: "main", about: "hears everything, asks also for what nobody knows, and answers", level: 1, grease: true, answers: true, direct: true,
			asks: aaep.Capabilities{SupportsConfirmationReply: new(true), SupportsClarificationReply: new(true), Languages: []string{"en-US", "en"}},
		},
	} {
		if r.level <= level && (r.direct || !direct) {
			all = append(all, r)
		}
	}
	return all
}

// request is the first message of a role.
func (r role) request() aaep.SubscriptionRequest {
	asks := r.asks.Clone()
	if !r.probe {
		asks.SupportedConformanceLevels = []int{1, 2, 3}
	}
	request := aaep.SubscriptionRequest{
		AAEPVersion: aaep.Version, SubscriberID: "earshot-conform-" + slug(r.name), SubscriberName: "Conformance: " + r.name, Capabilities: asks,
	}
	if r.version != "" {
		request.AAEPVersion = r.version
	}
	if r.grease {
		request.Capabilities.SupportedExtensions = []string{"https://example.org/grease/v1"}
		request.Capabilities.EventFilters = &aaep.EventFilters{Include: []string{"aaep:agent.*", "grease:*"}}
		request.Capabilities.Extensions = map[string]jsontext.Value{"grease": jsontext.Value(`{"unknown":true,"deep":{"er":[1]}}`)}
		request.Extensions = map[string]jsontext.Value{"grease": jsontext.Value(`{"unknown":"member"}`)}
	}
	if r.large {
		request.Extensions = map[string]jsontext.Value{"grease": jsontext.Value(`{"filler":"` + strings.Repeat("x", largeRequest-largeHead) + `"}`)}
	}
	return request
}

// largeRequest is about how many bytes the large request has, of which largeHead are not its filler: less than the 64 KiB that every
// transport carries (TR-12).
const largeRequest, largeHead = 64_000, 400

func slug(name string) string {
	text := []byte(name)
	for i, c := range text {
		if c == ' ' {
			text[i] = '-'
		}
	}
	return string(text)
}
