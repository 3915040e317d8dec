package pacing

import (
	"slices"

	"github.com/earshot-dev/earshot/aaep"
)

// Offer is what a producer can do for a subscriber. The rights of the one who asks are
// no part of it: anyone who may not answer has the reply capabilities of the request
// lowered before [Negotiate].
type Offer struct {
	Producer   aaep.Producer // AgentID is required (HS-23)
	Versions   []string      // versions spoken; nil means [aaep.Version]
	Languages  []string      // BCP 47 tags of the languages that text can be had in
	Unasked    string        // the language of a subscriber who asks for none; default en-US (CAP-03)
	Levels     []int         // conformance levels that are claimed; nil claims none
	Extensions []string      // URIs of the extensions spoken
	// Prefixes holds the prefixes that an extension uses, by its URI. Those of
	// [aaep.ExtensionContext] are known.
	Prefixes       map[string][]string
	MaxRate        int    // events per second at most, 1 to 100,000; 0 means no limit
	ManifestURI    string // told to every subscriber
	SignedManifest string // compact JWS; "" means that there is none (HS-45)
}

// Serves returns the offered language that serves somebody who asks for a tag best, or "" (C-100). [Negotiate] chooses alike.
func (o Offer) Serves(tag string) string { return serve(tag, o.Languages) }

func (o Offer) versions() []string {
	if o.Versions == nil {
		return []string{aaep.Version}
	}
	return o.Versions
}

// prefixesOf returns the prefixes of an extension, or nil where they are not known.
func (o Offer) prefixesOf(uri string) []string {
	if prefixes, ok := o.Prefixes[uri]; ok {
		return prefixes
	}
	if uri == aaep.ExtensionContext {
		return []string{aaep.PrefixEarshot, aaep.PrefixUTP}
	}
	return nil
}

// common returns those of asked that are offered, in the order in which they were asked.
func common[E comparable](asked, offered []E) []E {
	var both []E
	for _, e := range asked {
		if slices.Contains(offered, e) && !slices.Contains(both, e) {
			both = append(both, e)
		}
	}
	return both
}
