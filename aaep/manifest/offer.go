package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
)

// Offer is what a producer offers on a connection, to be held against its manifest (JWS-07). An empty member compares
// nothing.
type Offer struct {
	Version   string         // of AAEP
	Transport aaep.Transport // by which the subscriber has come
	Levels    []int          // conformance levels
	Languages []string       // BCP 47 tags
}

// OfferOf is what an answer offers, by the transport on which it came.
func OfferOf(answer aaep.SubscriptionAccepted, transport aaep.Transport) *Offer {
	return &Offer{
		Version: answer.AAEPVersion, Transport: transport,
		Levels: answer.HonoredCapabilities.SupportedConformanceLevels, Languages: answer.HonoredCapabilities.Languages,
	}
}

// judge refuses a manifest that does not have what is offered.
func (o *Offer) judge(m aaep.Manifest) error {
	differs := func(found, expected string) error {
		return refuse(OfferCode, "JWS-07", found+", which is not in the manifest", expected)
	}
	if o.Version != "" && !slices.Contains(m.AAEPVersionsSupported, o.Version) {
		return differs("the version "+quoted(o.Version)+" offered", "one of "+strings.Join(m.AAEPVersionsSupported, ", "))
	}
	if o.Transport != "" && !slices.Contains(m.TransportsSupported, o.Transport) {
		return differs("the transport "+quoted(string(o.Transport))+" offered", fmt.Sprintf("one of %v", m.TransportsSupported))
	}
	for _, level := range o.Levels {
		if !slices.Contains(m.ConformanceLevelsSupported, level) {
			return differs(fmt.Sprintf("level %d offered", level), fmt.Sprintf("one of %v", m.ConformanceLevelsSupported))
		}
	}
	for _, tag := range o.Languages {
		if !slices.ContainsFunc(m.LanguagesSupported, func(has string) bool { return extends(tag, has) || extends(has, tag) }) {
			return differs("the language "+quoted(tag)+" offered", fmt.Sprintf("one of %v", m.LanguagesSupported))
		}
	}
	return nil
}

// extends reports whether a tag is another one, or that and more: en-GB extends en (C-100).
func extends(tag, base string) bool {
	tag, base = strings.ToLower(tag), strings.ToLower(base)
	return tag == base || strings.HasPrefix(tag, base+"-")
}

// needs are the events without which nobody can keep a level, beside those of the levels below it (§9.3.1, §9.4.1).
var needs = [][]string{
	1: {
		aaep.TypeSessionStarted, aaep.TypeSessionCompleted, aaep.TypeSessionErrored, aaep.TypeSessionCancelled,
		aaep.TypeStateChanged, aaep.TypeToolInvoked, aaep.TypeToolCompleted, aaep.TypeOutputStreaming,
	},
	2: {aaep.TypeAwaitingConfirmation, aaep.TypeAwaitingClarification, aaep.TypeHandoffRequested},
}

// Claims refuses a manifest that claims a level which AAEP does not have, or which it cannot keep by its own words: event
// types that the level needs are missing from event_types_emitted, or from level 2 on no transport is named by which a
// reply could come back (TR-09). A member that is absent says nothing, and nothing is concluded from it. Errors: an [*Error] of [ClaimCode].
func Claims(m aaep.Manifest) error {
	if len(m.ConformanceLevelsSupported) == 0 {
		return nil
	}
	lowest, highest := slices.Min(m.ConformanceLevelsSupported), slices.Max(m.ConformanceLevelsSupported)
	if lowest < 1 || highest > 3 {
		return refuse(ClaimCode, "JWS-07", fmt.Sprintf("the levels %v claimed", m.ConformanceLevelsSupported), "levels of 1 to 3")
	}
	if missing := missingTypes(m.EventTypesEmitted, highest); len(missing) > 0 {
		return &Error{
			Code: ClaimCode, Rule: "JWS-07", Found: fmt.Sprintf("level %d claimed, without the events %s", highest, strings.Join(missing, ", ")),
			Expected: "all events that the level needs in event_types_emitted",
		}
	}
	if highest >= 2 && m.TransportsSupported != nil && !slices.ContainsFunc(m.TransportsSupported, carriesReplies) {
		return &Error{
			Code: ClaimCode, Rule: "JWS-07", Found: fmt.Sprintf("level %d claimed, with the transports %v", highest, m.TransportsSupported),
			Expected: "at least one that AAEP knows, for replies to come back by",
		}
	}
	return nil
}

// missingTypes are the events that a level needs, and that no pattern covers.
func missingTypes(emitted []string, level int) []string {
	if emitted == nil {
		return nil
	}
	filter := &aaep.EventFilters{Include: emitted}
	var missing []string
	for _, types := range needs[:min(level+1, len(needs))] {
		for _, t := range types {
			if !filter.Passes(t, nil) {
				missing = append(missing, t)
			}
		}
	}
	return missing
}

// carriesReplies reports whether replies can come back by a transport: by all that have a meaning.
func carriesReplies(t aaep.Transport) bool {
	return slices.Contains([]aaep.Transport{
		aaep.TransportSSE, aaep.TransportWebSocket, aaep.TransportStdio, aaep.TransportPipe, aaep.TransportUnix, aaep.TransportGRPC,
	}, t)
}
