package aaep

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// The rules of the envelope that a row cannot express.
var (
	contextRule   = Rule{Name: "context", IDs: []string{"ENV-08", "ENV-09"}, check: checkContext, shape: shapeContext}
	versionRule   = Rule{Name: "published version", IDs: []string{"ENV-44", "VER-01"}, check: checkVersion, shape: shapeVersion, advice: []string{"VER-01"}}
	agentRule     = Rule{Name: "agent across versions", IDs: []string{"ENV-30"}, check: checkAgent, advice: []string{"ENV-30"}}
	directionRule = Rule{Name: "direction", IDs: []string{"I18N-04"}, check: checkDirection, advice: []string{"I18N-04"}}
	prefixRule    = Rule{
		Name: "prefixes", IDs: []string{"ENV-42", "EXT-09", "EXT-10", "EXT-18"}, check: checkPrefixes, shape: shapePrefixes, outer: declaredPrefixes,
		advice: []string{"EXT-09"}, partly: []string{"EXT-18"}, // the calendar
	}
)

// reservedPrefixes are those that no extension may take (§7.3.2), beside everything
// that starts with @.
var reservedPrefixes = []string{"aaep", "xsd", "rdf", "rdfs"}

func checkContext(in *inspection, n uint32) {
	if in.is(n, kindString) {
		if string(in.text(n)) != CoreContext {
			in.fail(n, "§3.2.1", fmt.Sprintf("found %s, expected %q", in.describe(n), CoreContext), "ENV-08")
		}
		return
	}
	first, end := in.inside(n)
	if first == end {
		in.fail(n, "§3.2.1", fmt.Sprintf("found an empty array, expected %q first", CoreContext), "ENV-08", "ENV-09")
		return
	}
	if !in.is(first, kindString) || string(in.text(first)) != CoreContext {
		in.fail(first, "§3.2.1", fmt.Sprintf("found %s, expected %q first", in.describe(first), CoreContext), "ENV-08")
	}
	for item := first; item < end; item = in.nodes[item].next {
		if !in.is(item, kindString) || !isURI(in.text(item)) {
			in.fail(item, "§3.2.1", fmt.Sprintf("found %s, expected a URI", in.describe(item)), "ENV-09")
		}
	}
}

// checkVersion: only 1.0.0 has been published. Its drafts and later ones of the same
// major version may be known elsewhere, others are none (C-14).
func checkVersion(in *inspection, n uint32) {
	found := in.text(n)
	if string(found) == Version || !isVersion(found) {
		return
	}
	rules := []string{"ENV-44"}
	if !isSemVer(found) {
		rules = append(rules, "VER-01")
	}
	message := fmt.Sprintf("found version %s, expected %s, the only one published", quoted(found), Version)
	if bytes.HasPrefix(found, []byte("1.")) || string(found) == "0.1.0-draft" {
		in.warn(n, "§3.4.4", message, rules...)
		return
	}
	in.breach(n, "§3.4.4", message, rules...)
}

// isSemVer reports whether a version of the right shape is one as §12.1 says: no
// leading zeros, and a pre-release of one of the four kinds.
func isSemVer(version []byte) bool {
	core, pre, isPre := bytes.Cut(version, []byte("-"))
	for part := range bytes.SplitSeq(core, []byte(".")) {
		if len(part) > 1 && part[0] == '0' {
			return false
		}
	}
	if number, ok := bytes.CutPrefix(pre, []byte("rc.")); ok {
		return len(number) > 0 && is(classDigit, number)
	}
	return !isPre || contains([]string{"draft", "alpha", "beta"}, pre)
}

// laterVersion reports whether an event claims a later minor or patch of 1.x, whose
// names cannot all be known here.
func laterVersion(version []byte) bool {
	return len(version) > 0 && version[0] == '1' && string(version) != Version && isVersion(version) &&
		bytes.HasPrefix(version, []byte("1.")) && !bytes.HasPrefix(version, []byte("1.0.0-"))
}

// checkAgent: an agent keeps its id when its version changes, so that the id cannot
// hold the version.
func checkAgent(in *inspection, producer uint32) {
	if in.mode == ModeConsumer {
		return
	}
	version := in.textOf(producer, "agent_version")
	if !bytes.Contains(version, []byte(".")) {
		return
	}
	if id := in.textOf(producer, "agent_id"); bytes.Contains(id, version) {
		message := fmt.Sprintf("found %s, which holds the version %s, expected an id that stays the same", quoted(id), quoted(version))
		in.note(SeverityWarning, in.path(producer)+"/agent_id", "§3.2.6.1", message, "ENV-30")
	}
}

// checkDirection: the default, left to right, is wrong for some languages (C-103).
func checkDirection(in *inspection, hints uint32) {
	tag := in.textOf(hints, "primary_language")
	if len(tag) == 0 || in.member(hints, "text_direction") != none || !isRightToLeft(tag) {
		return
	}
	in.warn(hints, "§11.1.1", fmt.Sprintf("found no text_direction for %s, expected rtl or auto", quoted(tag)), "I18N-04")
}

// checkPrefixes judges the keys of extensions (C-09).
func checkPrefixes(in *inspection, extensions uint32) {
	first, end := in.inside(extensions)
	for n := first; n < end; n = in.nodes[n].next {
		in.prefix(in.name(n), n, "§3.4.3", "ENV-42")
		in.extensionData(n)
	}
}

// prefix judges one extension prefix: not reserved, and declared through @context.
// Contexts are mere addresses and are never fetched, so that a prefix which is not
// registered here can be judged only where nothing could declare it.
func (in *inspection) prefix(prefix []byte, n uint32, spec string, rules ...string) {
	if in.mode == ModeConsumer {
		return // never a reason to reject (ENV-43)
	}
	if contains(reservedPrefixes, prefix) || bytes.HasPrefix(prefix, []byte("@")) {
		in.fail(n, "§7.3.2", fmt.Sprintf("found the reserved prefix %s, expected one of an extension", quoted(prefix)), "EXT-10")
		return
	}
	in.prefixShape(prefix, n)
	contexts := in.member(0, "@context")
	context, known := in.prefixes[string(prefix)]
	if !known {
		context, known = extensionPrefixes[string(prefix)]
	}
	switch {
	case known && !in.declares(contexts, context):
		in.fail(n, spec, fmt.Sprintf("found the prefix %q, expected %q in @context", prefix, context), rules...)
	case !known && in.strings(contexts) < 2:
		in.fail(n, spec, fmt.Sprintf("found the prefix %s, expected a second entry in @context that declares it", quoted(prefix)), rules...)
	case !known:
		in.warn(n, spec, fmt.Sprintf("found the prefix %s, cannot verify that @context declares it", quoted(prefix)), append(slices.Clip(rules), "EXT-18")...)
	}
}

// declares reports whether a context stands behind the core one.
func (in *inspection) declares(contexts uint32, context string) bool {
	if !in.is(contexts, kindArray) {
		return false
	}
	first, end := in.inside(contexts)
	for n := first; n < end; n = in.nodes[n].next {
		if n != first && in.is(n, kindString) && string(in.text(n)) == context {
			return true
		}
	}
	return false
}

// eventType judges the name of an event's type (ENV-12 to 14).
func (in *inspection) eventType(known bool) {
	n := in.member(0, "type")
	if !in.is(n, kindString) || len(in.text(n)) == 0 {
		return // noted by its row
	}
	written := in.text(n)
	if known && bytes.HasPrefix(written, []byte("aaep:")) {
		return
	}
	in.oddType(n, string(written), known)
}

// oddType judges a type that is not one of the twelve in their compact form.
func (in *inspection) oddType(n uint32, written string, known bool) {
	compact := CompactType(written)
	prefix, local, colon := strings.Cut(compact, ":")
	if compact != written {
		in.warn(n, "§3.2.2", fmt.Sprintf("found the expanded type, expected %s", quoted(compact)), "ENV-13")
	}
	switch {
	case known:
	case prefix == "aaep" && colon:
		in.unknownCore(n, compact)
	case !colon || prefix == "" || local == "":
		in.breach(n, "§3.2.2", fmt.Sprintf("found %s, expected prefix:name or a URI", in.describe(n)), "ENV-12", "EXT-13")
	case strings.HasPrefix(local, "//") || prefix == "urn": // a URI needs no declaration
	default:
		in.prefix([]byte(prefix), n, "§3.2.2", "ENV-12", "EXT-13")
	}
}

func (in *inspection) unknownCore(n uint32, compact string) {
	message := fmt.Sprintf("found %s, expected one of the twelve types of the namespace aaep", in.describe(n))
	if compact == TypeManifest {
		message = "found a manifest, which is a document and not an event"
	}
	severity := in.duty()
	if in.later {
		severity = SeverityWarning // its own version may have it
	}
	in.note(severity, in.path(n), "§3.2.2", message, "ENV-14", "EXT-07")
}

// urgency judges whether the urgency fits the type (§3.3.2): four types are always
// critical (C-16, C-17), the others may deviate.
func (in *inspection) urgency() {
	found := in.textOf(0, "urgency")
	usual := in.plan.Urgency
	if usual == "" || string(found) == string(usual) {
		return
	}
	if in.plan.Critical != "" {
		shown := "no urgency"
		if len(found) > 0 {
			shown = "urgency " + quoted(found)
		}
		in.note(in.duty(), "/urgency", in.plan.Spec, fmt.Sprintf("found %s, expected critical", shown), in.plan.Critical)
		return
	}
	if in.mode == ModeConsumer || len(found) == 0 || in.plan.Quiet && string(found) == string(UrgencyBackground) {
		return
	}
	in.note(SeverityInfo, "/urgency", "§3.3.2", fmt.Sprintf("found urgency %s, usual is %s; document the deviation", quoted(found), usual), "ENV-36")
}

// localized judges the text for people as a whole: it says in which language it is
// (C-01), and is there at the length that the event claims.
func (in *inspection) localized() {
	if in.member(0, "localization_hints") == none {
		if r := in.someText(); r != nil {
			in.note(SeverityWarning, "/localization_hints", "§11.1", r.mute(), "I18N-01")
		}
	}
	if in.mode == ModeConsumer || in.plan == unknownType() {
		return
	}
	if verbosity := in.textOf(0, "verbosity"); len(verbosity) > 0 && string(verbosity) != string(VerbosityNormal) {
		in.lengthClaimed(string(verbosity))
	}
}

// lengthClaimed: where an event says of what length its text is, it has that text.
func (in *inspection) lengthClaimed(verbosity string) {
	name := "summary_" + verbosity
	if in.plan.outer.find([]byte(name)) != nil && in.member(0, name) == none {
		in.note(SeverityWarning, "/"+name, "§3.3.1", fmt.Sprintf("found verbosity %s without %s, expected text of that length", quoted(verbosity), name), "ENV-37")
	}
}

// someText returns the row of a readable member that holds text, or nil.
func (in *inspection) someText() *row {
	for i := range in.plan.outer.list {
		if r := &in.plan.outer.list[i]; r.Readable && len(in.textOf(0, r.Name)) > 0 {
			return r
		}
	}
	return nil
}
