package aaep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The rules of the envelope that a row cannot express.
var (
	contextRule   = Rule{Name: "context", IDs: []string{"ENV-08", "ENV-09"}, check: checkContext}
	versionRule   = Rule{Name: "published version", IDs: []string{"ENV-44"}, check: checkVersion}
	directionRule = Rule{Name: "direction", IDs: []string{"I18N-04"}, check: checkDirection}
	prefixRule    = Rule{Name: "prefixes", IDs: []string{"ENV-42", "EXT-10"}, check: checkPrefixes}
)

// reservedPrefixes are those that no extension may take (§7.3.2), beside everything
// that starts with @.
var reservedPrefixes = []string{"aaep", "xsd", "rdf", "rdfs"}

func checkContext(in *inspection, at place) {
	n := at.value
	if n.kind == jsontext.KindString {
		if n.text != CoreContext {
			in.add(SeverityError, at.path, "§3.2.1", fmt.Sprintf("found %s, expected %q", n.describe(), CoreContext), "ENV-08")
		}
		return
	}
	if len(n.items) == 0 {
		in.add(SeverityError, at.path, "§3.2.1", fmt.Sprintf("found an empty array, expected %q first", CoreContext), "ENV-08", "ENV-09")
		return
	}
	if first := n.items[0]; first.kind != jsontext.KindString || first.text != CoreContext {
		in.add(SeverityError, at.path+"/0", "§3.2.1", fmt.Sprintf("found %s, expected %q first", first.describe(), CoreContext), "ENV-08")
	}
	for i, item := range n.items {
		if item.kind != jsontext.KindString || !isURI(item.text) {
			in.add(SeverityError, fmt.Sprintf("%s/%d", at.path, i), "§3.2.1", fmt.Sprintf("found %s, expected a URI", item.describe()), "ENV-09")
		}
	}
}

// checkVersion: only 1.0.0 has been published (C-14).
func checkVersion(in *inspection, at place) {
	if found := at.value.text; found != Version && PatternVersion.Match(found) {
		in.add(SeverityWarning, at.path, "§3.4.4", fmt.Sprintf("found version %q, expected %s, the only one published", clip(found), Version), "ENV-44")
	}
}

// laterVersion answers whether an event claims a later minor or patch of 1.x, whose
// names cannot all be known here.
func laterVersion(version string) bool {
	return PatternVersion.Match(version) && strings.HasPrefix(version, "1.") && version != Version && !strings.HasPrefix(version, "1.0.0-")
}

// checkDirection: the default, left to right, is wrong for some languages (C-103).
func checkDirection(in *inspection, at place) {
	if tag := at.value.textOf("primary_language"); at.value.member("text_direction") == nil && isRightToLeft(tag) {
		in.add(SeverityWarning, at.path, "§11.1.1", fmt.Sprintf("found no text_direction for %q, expected rtl or auto", clip(tag)), "I18N-04")
	}
}

// checkPrefixes judges the keys of extensions (C-09).
func checkPrefixes(in *inspection, at place) {
	for _, m := range at.value.members {
		in.prefix(m.name, place{path: pointer(at.path, m.name), value: m.value, whole: at.whole}, "ENV-42", "§3.4.3")
	}
}

// prefix judges one extension prefix: not reserved, and declared through @context.
// Contexts are mere addresses and are never fetched, so that a prefix which is not
// registered here can be judged only where nothing could declare it.
func (in *inspection) prefix(prefix string, at place, rule, spec string) {
	if in.mode == ModeConsumer {
		return // never a reason to reject (ENV-43)
	}
	if slices.Contains(reservedPrefixes, prefix) || strings.HasPrefix(prefix, "@") {
		in.add(SeverityError, at.path, "§7.3.2", fmt.Sprintf("found the reserved prefix %q, expected one of an extension", clip(prefix)), "EXT-10")
		return
	}
	var declared []string
	if contexts := at.whole.member("@context"); contexts != nil && len(contexts.items) > 1 {
		declared = (&node{items: contexts.items[1:]}).texts()
	}
	context, known := extensionPrefixes[prefix]
	switch {
	case known && !slices.Contains(declared, context):
		in.add(SeverityError, at.path, spec, fmt.Sprintf("found the prefix %q, expected %q in @context", prefix, context), rule)
	case !known && len(declared) == 0:
		in.add(SeverityError, at.path, spec, fmt.Sprintf("found the prefix %q, expected a second entry in @context that declares it", clip(prefix)), rule)
	case !known:
		in.add(SeverityWarning, at.path, spec, fmt.Sprintf("found the prefix %q, cannot verify that @context declares it", clip(prefix)), rule)
	}
}

// eventType judges the name of an event's type (ENV-12 to 14).
func (in *inspection) eventType(all place, known bool) {
	n := all.whole.member("type")
	if n == nil || n.kind != jsontext.KindString || n.text == "" {
		return // noted by its row
	}
	at := place{path: "/type", value: n, whole: all.whole}
	severity := in.duty()
	compact := CompactType(n.text)
	prefix, local, colon := strings.Cut(compact, ":")
	switch {
	case compact != n.text:
		in.add(SeverityWarning, at.path, "§3.2.2", fmt.Sprintf("found the expanded type, expected %q", clip(compact)), "ENV-13")
		if !known {
			in.unknownCore(severity, at)
		}
	case known:
	case prefix == "aaep" && colon:
		in.unknownCore(severity, at)
	case !colon || prefix == "" || local == "":
		in.add(severity, at.path, "§3.2.2", fmt.Sprintf("found %s, expected prefix:name or a URI", n.describe()), "ENV-12")
	case strings.HasPrefix(local, "//") || prefix == "urn": // a URI needs no declaration
	default:
		in.prefix(prefix, at, "ENV-12", "§3.2.2")
	}
}

func (in *inspection) unknownCore(severity Severity, at place) {
	message := fmt.Sprintf("found %s, expected one of the twelve types of the namespace aaep", at.value.describe())
	if CompactType(at.value.text) == "aaep:producer.manifest" {
		message = "found a manifest, which is a document and not an event"
	}
	in.add(severity, at.path, "§3.2.2", message, "ENV-14")
}

// urgency judges whether the urgency fits the type (§3.3.2): four types are always
// critical (C-16, C-17), the others may deviate.
func (in *inspection) urgency(all place) {
	found := Urgency(all.whole.textOf("urgency"))
	if in.message.Critical != "" && found != UrgencyCritical {
		severity := in.duty()
		shown := "no urgency"
		if found != "" {
			shown = fmt.Sprintf("urgency %q", clip(string(found)))
		}
		in.add(severity, "/urgency", in.message.Spec, fmt.Sprintf("found %s, expected critical", shown), in.message.Critical)
		return
	}
	usual := in.message.Urgency
	if in.mode == ModeConsumer || usual == "" || found == "" || found == usual {
		return
	}
	if in.message.Type == TypeStateChanged && found == UrgencyBackground {
		return
	}
	in.add(SeverityInfo, "/urgency", "§3.3.2", fmt.Sprintf("found urgency %q, usual is %s; document the deviation", clip(string(found)), usual), "ENV-36")
}

// hints: text for people says in which language it is (C-01).
func (in *inspection) hints(all place) {
	if all.whole.member("localization_hints") != nil {
		return
	}
	for _, f := range in.message.Fields {
		if f.Readable && all.whole.textOf(f.Name) != "" {
			in.add(SeverityWarning, "/localization_hints", "§11.1", fmt.Sprintf("found %q without a language, expected localization_hints with primary_language", f.Name), "I18N-01")
			return
		}
	}
}
