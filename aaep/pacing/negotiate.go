package pacing

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
)

// Negotiate answers a request: with terms and the message that grants them, or with
// the message that refuses, and then the other two are zero. Exactly one message is
// for the subscriber (HS-07). SubscriptionID is fresh, see [aaep.NewID].
//
// It refuses a version of another major number, or a pre-release that is not spoken
// (HS-44); a demand for a signed manifest where there is none (HS-45); two chosen
// extensions of one prefix (HS-46); and a capability earshot that cannot be read,
// because to ignore it would send more than was asked for.
func Negotiate(r aaep.SubscriptionRequest, o Offer, subscriptionID string) (Terms, aaep.SubscriptionAccepted, *aaep.SubscriptionRejected) {
	version, ok := chooseVersion(r.AAEPVersion, o.versions())
	if !ok {
		return Terms{}, aaep.SubscriptionAccepted{}, reject(aaep.ReasonVersionUnsupported,
			"found AAEP version %q, expected one that is compatible with %s", clip(r.AAEPVersion), strings.Join(o.versions(), ", "))
	}
	return grant(Terms{SubscriptionID: subscriptionID, Version: version}, r.Capabilities, o)
}

// Renegotiate answers a wish for other terms. Each member of c replaces the whole
// member that was honoured, the others stay as they were honoured (HS-62, C-56); so a
// rate may rise again. After a refusal the subscription is over (HS-61). The receiver
// does not change: new terms hold for what is delivered after the accepted message has
// been sent (HS-63), see [Pacer.SetTerms].
func (t Terms) Renegotiate(c aaep.Capabilities, o Offer) (Terms, aaep.SubscriptionAccepted, *aaep.SubscriptionRejected) {
	return grant(Terms{SubscriptionID: t.SubscriptionID, Version: t.Version}, t.Honored.With(c), o)
}

// Malformed answers a request or a renegotiation that could not be read; err is what
// the decoder of package aaep said (C-53). No value that the sender wrote is repeated.
func Malformed(err error) aaep.SubscriptionRejected {
	refused, ok := errors.AsType[*aaep.Error](err)
	if !ok || len(refused.Violations) == 0 {
		return aaep.SubscriptionRejected{ReasonCode: aaep.ReasonUnknown, ReasonMessage: "The message cannot be read; see the schema of " + aaep.TypeSubscriptionRequest + "."}
	}
	first := refused.Violations[0]
	path := first.Path
	if path == "" {
		path = "the whole message"
	}
	rejected := reject(aaep.ReasonUnknown, "The message breaks the rule %s (%s) at %s.", first.Rule, first.Spec, clip(path))
	if first.Path == "/capabilities" || strings.HasPrefix(first.Path, "/capabilities/") {
		rejected.ReasonCode = aaep.ReasonCapabilitiesIncompatible
	}
	return *rejected
}

// grant turns what is asked into terms.
func grant(t Terms, asked aaep.Capabilities, o Offer) (Terms, aaep.SubscriptionAccepted, *aaep.SubscriptionRejected) {
	accepted := aaep.SubscriptionAccepted{SubscriptionID: t.SubscriptionID, AAEPVersion: t.Version, Producer: o.Producer, ManifestURI: o.ManifestURI}
	if isTrue(asked.AcceptSignedManifestsOnly) {
		if o.SignedManifest == "" {
			return Terms{}, aaep.SubscriptionAccepted{}, reject(aaep.ReasonManifestSignatureRequired, "You accept signed manifests only, and there is none.")
		}
		accepted.SignedManifest = o.SignedManifest // HS-27
	}
	chosen := common(asked.SupportedExtensions, o.Extensions)
	prefixes, clash := prefixesOf(chosen, o)
	if clash != "" {
		return Terms{}, aaep.SubscriptionAccepted{}, reject(aaep.ReasonCapabilitiesIncompatible, "Two of the extensions use the prefix %q; ask for one of them.", clip(clash))
	}
	narrowing, err := readScope(asked.Extensions[aaep.PrefixEarshot])
	if err != nil {
		return Terms{}, aaep.SubscriptionAccepted{}, reject(aaep.ReasonCapabilitiesIncompatible, "The capability earshot cannot be read: %v.", err)
	}
	t.prefixes, t.Sessions, t.ObserveQuestions, t.Numbers = prefixes, narrowing.SessionIDs, narrowing.ObserveQuestions, narrowing.Numbers
	t.Honored, t.Language, accepted.NegotiationNotes = honour(asked, o, chosen, narrowing)
	accepted.HonoredCapabilities = t.Honored.Clone()
	return t, accepted, nil
}

// honour returns what is kept of what is asked, the language that serves best, and what
// has to be said about the difference.
func honour(asked aaep.Capabilities, o Offer, chosen []string, narrowing scope) (honored aaep.Capabilities, language, notes string) {
	asked = asked.Clone()
	honored = aaep.Capabilities{
		MaxEventsPerSecond:         slower(asked.MaxEventsPerSecond, o.MaxRate),
		SupportsConfirmationReply:  asked.SupportsConfirmationReply,
		SupportsClarificationReply: asked.SupportsClarificationReply,
		CoalesceBoundaries:         asked.CoalesceBoundaries,
		EventFilters:               asked.EventFilters,
		CognitiveLoad:              asked.CognitiveLoad,
		PaceWPM:                    asked.PaceWPM,
		SupportedConformanceLevels: common(asked.SupportedConformanceLevels, o.Levels),
		SupportedExtensions:        chosen,
		AcceptSignedManifestsOnly:  asked.AcceptSignedManifestsOnly,
	}
	if object := narrowing.write(); object != nil {
		honored.Extensions = map[string]jsontext.Value{aaep.PrefixEarshot: object}
	}
	var notices []string
	languages := asked.Languages
	if languages == nil {
		languages = []string{cmp.Or(o.Unasked, "en-US")} // CAP-03
	}
	served, language := chooseLanguages(languages, o.Languages)
	if asked.Languages != nil {
		honored.Languages = served
		if served == nil {
			notices = append(notices, "None of the languages is spoken; text comes in the producer's own.")
		}
	}
	if asked.PreferredVerbosity != "" { // it is not granted, because nothing acts on it
		notices = append(notices, "Not acted on: preferred_verbosity (every event has all lengths).")
	}
	return honored, language, strings.Join(notices, " ")
}

// slower returns the lower of two rates, where 0 means no limit (HS-28).
func slower(asked, offered int) int {
	if asked == 0 || offered == 0 {
		return max(asked, offered)
	}
	return min(asked, offered)
}

func reject(code aaep.ReasonCode, format string, args ...any) *aaep.SubscriptionRejected {
	return &aaep.SubscriptionRejected{ReasonCode: code, ReasonMessage: fmt.Sprintf(format, args...)}
}

// clip keeps what is quoted in a message short.
func clip(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

func isTrue(flag *bool) bool { return flag != nil && *flag }
