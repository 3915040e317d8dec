package aaep

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// The rules of the handshake that rows cannot express.
var (
	filterPatternRule       = Rule{Name: "filter pattern", IDs: []string{"CAP-08"}, check: checkFilterPattern, shape: shapeFilterPattern}
	extensionCapabilityRule = Rule{Name: "extension capability", IDs: []string{"CAP-14"}, check: checkExtensionCapability, shape: shapeExtensionCapability}
	confirmationReplyRule   = Rule{Name: "replies of level 2", IDs: []string{"CAP-04", "L2S-2"}, check: checkConfirmationReply, shape: shapeConfirmationReply}
	semVerRule              = Rule{Name: "semantic version", IDs: []string{"VER-01"}, check: checkSemVer, advice: []string{"VER-01"}}
)

// checkFilterPattern: an asterisk stands for any end, and nowhere else (C-49). A reader
// bears it elsewhere: such a pattern matches nothing.
func checkFilterPattern(in *inspection, pattern uint32) {
	if text := in.text(pattern); !bytes.Contains(bytes.TrimSuffix(text, []byte("*")), []byte("*")) {
		return
	}
	in.breach(pattern, "§5.3.1.7", fmt.Sprintf("found %s, expected an asterisk at the end only", in.describe(pattern)), "CAP-08")
}

// checkSemVer: a version of the right shape that is none as §12.1 says.
func checkSemVer(in *inspection, version uint32) {
	if text := in.text(version); isVersion(text) && !isSemVer(text) {
		in.warn(version, "§12.1", fmt.Sprintf("found version %s, expected a semantic version, a draft, alpha, beta or rc.N", in.describe(version)), "VER-01")
	}
}

// checkExtensionCapability: what no row names is an extension's, an object under its
// prefix. A reader ignores anything else (C-52).
func checkExtensionCapability(in *inspection, object uint32) {
	if in.mode == ModeConsumer {
		return
	}
	first, end := in.inside(object)
	for n := first; n < end; n = in.nodes[n].next {
		if in.is(n, kindObject) || isCapability(in.name(n)) {
			continue
		}
		in.breach(n, "§5.3.2", fmt.Sprintf("found %s, expected an object, as the capability of an extension is one", in.describe(n)), "CAP-14")
	}
}

func isCapability(name []byte) bool {
	return slices.ContainsFunc(capabilities(), func(f Field) bool { return strings.EqualFold(f.Name, string(name)) })
}

// checkConfirmationReply: who offers level 2 or 3 answers confirmations, and says so.
// Nothing said counts as false, which is bad advice; false is a contradiction.
func checkConfirmationReply(in *inspection, object uint32) {
	levels := in.member(object, "supported_conformance_levels")
	if in.mode == ModeConsumer || !in.is(levels, kindArray) || !in.beyondLevelOne(levels) {
		return
	}
	const spec = "§5.3.1.4"
	support := in.member(object, "supports_confirmation_reply")
	switch {
	case support == none:
		in.note(SeverityWarning, in.path(object)+"/supports_confirmation_reply", spec, "found no word about replies beside level 2, expected true", "CAP-04", "L2S-2")
	case in.is(support, kindBool) && !in.isTrue(object, "supports_confirmation_reply"):
		in.breach(support, spec, "found false beside level 2, expected true, as level 2 answers confirmations", "CAP-04", "L2S-2")
	}
}

func (in *inspection) beyondLevelOne(levels uint32) bool {
	first, end := in.inside(levels)
	for n := first; n < end; n = in.nodes[n].next {
		if level, ok := in.whole(n); ok && level > 1 {
			return true
		}
	}
	return false
}
