package conform_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep"
)

// envelopeVectors are those of ENV that do not follow from rows.
func envelopeVectors() []source {
	return join(jsonVectors(), requiredVectors(), contextVectors(), typeVectors(), timeVectors(), memberVectors(), limitVectors(), toleranceVectors())
}

func jsonVectors() []source {
	whole := string(on("state").JSON())
	cut := whole[:len(whole)-1]
	return []source{
		good("ENV-01", "object", "one JSON object", on("state")),
		bad("ENV-01", "array", "an array around the event", "", "["+whole+"]"),
		bad("ENV-01", "null", "null", "", "null"),
		bad("ENV-01", "string", "a string", "", `"thinking"`),
		bad("ENV-01", "two", "two objects in one message", "", whole+whole),
		good("ENV-02", "letters", "letters of many scripts", on("state", "summary_normal", "Ó ń ronú. 考えています。 أفكر 👍")),
		good("ENV-02", "escapes", "characters as escapes, a surrogate pair among them", cut+`,"summary_terse":"\u00e9 \ud83d\udc4d"}`),
		good("ENV-02", "indented", "indented, with line feeds and tabs", "{\n\t"+whole[1:]+"\r\n").also("ENV-03"),
		bad("ENV-02", "mark", "a byte order mark", anywhere, []byte("\xef\xbb\xbf"+whole)),
		bad("ENV-02", "latin", "a byte of Latin-1", anywhere, []byte(cut+",\"summary_terse\":\"caf\xe9\"}")),
		bad("ENV-02", "half-pair", "half of a surrogate pair, as an escape", "/summary_terse", cut+`,"summary_terse":"\ud83d"}`),
		bad("ENV-02", "utf16", "UTF-16", anywhere, utf16(whole)),
		bad("ENV-02", "empty", "nothing at all", anywhere, ""),
		bad("ENV-02", "truncated", "an object without its end", anywhere, cut),
		bad("ENV-02", "comment", "a comment", anywhere, cut+"/* thinking */}"),
		bad("ENV-02", "comma", "a comma too many", anywhere, cut+",}"),
		bad("ENV-02", "quotes", "a string in single quotes", anywhere, cut+`,"summary_terse":'x'}`),
		bad("ENV-02", "bare-name", "a name without quotes", anywhere, cut+`,summary_terse:"x"}`),
		bad("ENV-02", "nan", "NaN for a number", anywhere, cut+`,"sequence_number":NaN}`),
		bad("ENV-02", "control", "a line feed inside a string", anywhere, cut+",\"summary_terse\":\"a\nb\"}"),
		good("ENV-05", "largest", "the largest whole number that a double counts to", on("confirmation", "extra_context", object{{"bytes", literal("9007199254740991")}, {"part", 0.1}})),
		good("ENV-05", "as-string", "a larger one as a string", on("confirmation", "extra_context", object{{"bytes", "9007199254740993"}})),
		bad("ENV-05", "too-large", "a whole number that a double cannot hold", "/extra_context/bytes", on("confirmation", "extra_context", object{{"bytes", literal("9007199254740993")}})),
		bad("ENV-05", "too-low", "a negative one", "/extra_context/bytes", on("confirmation", "extra_context", object{{"bytes", literal("-9007199254740993")}})),
		bad("ENV-05", "infinite", "a number beyond every double", "/extra_context/bytes", on("confirmation", "extra_context", object{{"bytes", literal("1e999")}})),
		bad("ENV-60", "twice", "a member twice", "/urgency", cut+`,"urgency":"critical"}`),
		bad("ENV-60", "twice-inside", "a member of a member twice", "/extensions/earshot/question", string(on("state", "@context", list(aaep.CoreContext, aaep.ExtensionContext), "extensions", object{{"earshot", object{{"question", 1}, {"question", 2}}}}).JSON())),
		bad("ENV-60", "twice-safety", "a decision twice", "/default_decision", `{"default_decision":"accept",`+string(on("confirmation").JSON()[1:])),
		bad("ENV-60", "case", "a member that differs in case only", "/Urgency", on("confirmation", "Urgency", "normal")),
		bad("ENV-60", "case-reply", "a second decision in capitals", "/Decision", on("creply", "Decision", "accept")).also("CONF-40"),
		bad("ENV-60", "case-reader", "the same, for a reader", "/Decision", on("creply", "Decision", "accept")).consumer(),
		good("ENV-60", "once", "every member once, names that share a beginning", on("state", "summary_terse", "x", "summary_detailed", "y")),
	}
}

// utf16 is big-endian and without a mark; the text is ASCII.
func utf16(text string) []byte {
	wide := make([]byte, 0, 2*len(text))
	for _, b := range []byte(text) {
		wide = append(wide, 0, b)
	}
	return wide
}

func requiredVectors() []source {
	return []source{
		good("ENV-07", "six", "the six required members and nothing optional", on("started", "aaep_version", absent{}, "urgency", absent{}, "localization_hints", absent{})).also("ENV-48"),
		bad("ENV-07", "context", "`@context` is missing", "/@context", on("state", "@context", absent{})),
		bad("ENV-07", "type", "`type` is missing", "/type", on("state", "type", absent{})),
		bad("ENV-07", "timestamp", "`timestamp` is missing", "/timestamp", on("state", "timestamp", absent{})),
		bad("ENV-07", "reader", "`session_id` is missing, for a reader", "/session_id", on("state", "session_id", absent{})).consumer(),
		bad("ENV-07", "alone", "only the envelope is judged: `producer` is missing", "/producer", on("state", "producer", absent{}, "from_state", absent{})).envelope(),
		good("ENV-07", "payload", "only the envelope is judged: the payload is missing", on("started", "summary_normal", absent{})).envelope(), // C-03
		good("ENV-29", "object", "an object with an agent_id", on("state", "producer", object{{"agent_id", "x"}})),
		bad("ENV-33", "stranger", "a further member", "/producer/mood", on("state", "producer/mood", "good")),
		warn("ENV-33", "reader", "a further member, for a reader", "/producer/mood", on("state", "producer/mood", "good")).consumer(), // C-10
		good("ENV-33", "five", "all five members", on("state", "producer", object{{"agent_id", "a"}, {"agent_version", "1.2.3"}, {"agent_name", "A"}, {"model", "none"}, {"manifest_uri", "https://example.org/m.json"}})),
		warn("ENV-31", "reader", "an empty version, for a reader", "/producer/agent_version", on("state", "producer/agent_version", "")).consumer(), // C-10
		bad("ENV-55", "steps", "a breach of every step that can be broken beside the others, all of them found", "/producer", on("state", "producer", absent{},
			"@context", list(others, aaep.ExtensionContext), "event_id", "1", "timestamp", "today", "from_state", absent{}, "to_state", 5, "correlation_id", "",
			"extensions", object{{"earshot", object{{"question", "seven"}}}})).
			finding("ENV-07").also("ENV-08", "ENV-18", "ENV-24", "ENV-52", "STATE-01", "STATE-02", "EXT-18").fill("/correlation_id", "x", 16385),
		good("ENV-55", "none", "no breach of any step", on("state")),
		warn("ENV-58", "late-version", "the version behind the type", anywhere, `{"@context":"`+aaep.CoreContext+`","type":"aaep:agent.state.changed","aaep_version":"1.0.0",`+string(on("state").JSON())[len(`{"@context":"`+aaep.CoreContext+`","aaep_version":"1.0.0","type":"aaep:agent.state.changed",`):]),
		warn("ENV-58", "payload-first", "the payload before the envelope", anywhere, `{"from_state":"idle","to_state":"thinking",`+string(on("state", "from_state", absent{}, "to_state", absent{}).JSON()[1:])),
		good("ENV-58", "order", "the recommended order, extensions at the end", string(on("confirmation", "@context", list(aaep.CoreContext, others), "sequence_number", 1, "verbosity", "normal", "correlation_id", "c", "extensions", object{{"medai", object{}}}).JSON())),
		good("ENV-58", "reader", "any order, for a reader", `{"from_state":"idle","to_state":"thinking",`+string(on("state", "from_state", absent{}, "to_state", absent{}).JSON()[1:])).consumer().also("ENV-04"),
		bad("ENV-59", "text", "null for an optional text", "/summary_terse", on("state", "summary_terse", nil)),
		bad("ENV-59", "urgency", "null for the urgency", "/urgency", on("state", "urgency", nil)),
		bad("ENV-59", "extensions", "null for extensions", "/extensions", on("state", "extensions", nil)),
		bad("ENV-59", "reader", "null, for a reader", "/summary_terse", on("state", "summary_terse", nil)).consumer(),
		good("ENV-59", "inside", "null where any value may be", on("confirmation", "extra_context", object{{"folder", nil}})),
	}
}

func contextVectors() []source {
	return []source{
		good("ENV-08", "string", "the core context alone", on("state")),
		good("ENV-08", "array", "the core context alone in an array", on("state", "@context", list(aaep.CoreContext))),
		good("ENV-08", "first", "the core context first", on("state", "@context", list(aaep.CoreContext, others, "urn:example:c"))).also("ENV-09"),
		bad("ENV-08", "other", "another context alone", "/@context", on("state", "@context", others)),
		bad("ENV-08", "plain", "the core context over plain HTTP", "/@context", on("state", "@context", "http"+aaep.CoreContext[len("https"):])),
		bad("ENV-08", "slash", "the core context with a slash at its end", "/@context", on("state", "@context", aaep.CoreContext+"/")),
		bad("ENV-08", "second", "the core context second", "/@context/0", on("state", "@context", list(others, aaep.CoreContext))),
		bad("ENV-08", "empty", "an empty array", "/@context", on("state", "@context", list())).also("ENV-09"),
		bad("ENV-08", "number", "a number", "/@context", on("state", "@context", 1)),
		bad("ENV-10", "other", "another context, for a reader", "/@context", on("state", "@context", others)).consumer().finding("ENV-08"),
		good("ENV-10", "core", "the core context, for a reader", on("state")).consumer(),
		bad("ENV-09", "inline", "a context written out in place", "/@context/1", on("state", "@context", list(aaep.CoreContext, object{{"medai", others}}))),
		bad("ENV-09", "word", "a word that is not an URI", "/@context/1", on("state", "@context", list(aaep.CoreContext, "medai"))),
		good("ENV-42", "declared", "a prefix that the second context declares", on("state", "@context", list(aaep.CoreContext, aaep.ExtensionContext), "extensions", object{{"earshot", object{{"question", 1}}}})),
		bad("ENV-42", "undeclared", "a prefix, and only the core context", "/extensions/medai", on("state", "extensions", object{{"medai", object{}}})),
		bad("ENV-42", "other-context", "a known prefix, and only the context of another", "/extensions/earshot", on("state", "@context", list(aaep.CoreContext, others), "extensions", object{{"earshot", object{}}})),
		warn("ENV-42", "unknown", "a prefix that nobody here knows, and a context that may declare it", "/extensions/medai", on("state", "@context", list(aaep.CoreContext, others), "extensions", object{{"medai", object{}}})), // C-09
		good("ENV-41", "two", "two prefixes", on("state", "@context", list(aaep.CoreContext, aaep.ExtensionContext, others), "extensions", object{{"earshot", object{}}, {"medai", object{{"ward", 3}}}})),
		bad("ENV-41", "list", "a list", "/extensions", on("state", "extensions", list())),
		bad("ENV-41", "number", "a number under a prefix", "/extensions/earshot", on("state", "@context", list(aaep.CoreContext, aaep.ExtensionContext), "extensions", object{{"earshot", 1}})),
		bad("EXT-10", "aaep", "data under the prefix aaep", "/extensions/aaep", on("state", "extensions", object{{"aaep", object{}}})),
		bad("EXT-10", "rdf", "a type with the prefix rdf", "/type", foreign("type", "rdf:type")),
		bad("EXT-10", "at", "a prefix that starts with @", "/extensions/@x", on("state", "@context", list(aaep.CoreContext, others), "extensions", object{{"@x", object{}}})),
		good("EXT-10", "free", "a prefix that nobody reserved", foreign()),
		warn("EXT-09", "letter", "a prefix of one letter", "/extensions/m", on("state", "@context", list(aaep.CoreContext, others), "extensions", object{{"m", object{}}})),
		good("EXT-09", "five", "a prefix of five letters", on("state", "@context", list(aaep.CoreContext, others), "extensions", object{{"medai", object{}}})),
		good("EXT-18", "unknown", "data of an extension that nobody here knows", on("state", "@context", list(aaep.CoreContext, others), "extensions", object{{"medai", object{{"ward", list(1, "two")}}}})).consumer().also("ENV-43"),
		bad("EXT-18", "known", "data of a known extension, of a wrong type", "/extensions/earshot/question", on("state", "@context", list(aaep.CoreContext, aaep.ExtensionContext), "extensions", object{{"earshot", object{{"question", "seven"}}}})),
		good("ENV-43", "undeclared", "an extension that nothing declares, for a reader", on("state", "extensions", object{{"medai", object{}}})).consumer(),
	}
}

func typeVectors() []source {
	long := "https://aaep-protocol.org/types/"
	return []source{
		good("ENV-12", "core", "a core type", on("state")),
		good("ENV-12", "extension", "a type of a known extension", foreign("@context", list(aaep.CoreContext, aaep.ExtensionContext), "type", "earshot:seen")).also("ENV-15", "EXT-13"),
		warn("ENV-12", "unknown", "a type of an extension that nobody here knows, and a context that may declare it", "/type", foreign()), // C-09
		good("ENV-15", "extension", "a type of an extension", foreign()),
		good("ENV-12", "uri", "a type as a URI", foreign("type", "https://example.org/types/seen")).also("ENV-15"),
		bad("ENV-12", "word", "a word without a prefix", "/type", foreign("type", "thinking")),
		bad("ENV-12", "no-prefix", "nothing before the colon", "/type", foreign("type", ":seen")),
		bad("ENV-12", "no-name", "nothing behind the colon", "/type", foreign("type", "medai:")),
		bad("ENV-12", "undeclared", "a prefix, and only the core context", "/type", foreign("@context", aaep.CoreContext)),
		warn("ENV-13", "expanded", "a core type as a URI", "/type", on("state", "type", long+"agent.state.changed")),
		good("ENV-13", "compact", "a core type in short", on("state")),
		bad("ENV-12", "expanded-payload", "a core type as a URI is judged like the short one", "/from_state", on("state", "type", long+"agent.state.changed", "from_state", absent{})).finding("STATE-01"), // C-05
		bad("ENV-14", "paused", "a name that is not among the twelve", "/type", on("state", "type", "aaep:agent.session.paused")),
		bad("ENV-14", "expanded", "the same as a URI", "/type", foreign("type", long+"agent.session.paused")),
		good("ENV-14", "twelve", "a name that is", on("handoff")),
		warn("ENV-14", "reader", "an unknown core name, for a reader", "/type", on("state", "type", "aaep:agent.session.paused")).consumer(), // C-07
		bad("EXT-07", "medical", "an extension's type in the core namespace", "/type", foreign("type", "aaep:agent.medical.alert")),          // C-104
		good("EXT-07", "own", "an extension's type in its own namespace", foreign("type", "medai:alert")),
		good("ENV-16", "some", "a type", on("started")),
		bad("ENV-16", "empty", "an empty type", "/type", on("state", "type", "")),
		bad("ENV-16", "number", "a number", "/type", on("state", "type", 5)),
		bad("EXT-13", "bare", "an event of an extension without a session", "/session_id", foreign("session_id", absent{})).finding("ENV-07"),
		bad("EXT-06", "beside", "an extension's member beside those of a core event", "/ward", on("state", "@context", list(aaep.CoreContext, others), "ward", 3)).also("ENV-47"),
		good("EXT-06", "inside", "an extension's member where it belongs", on("state", "@context", list(aaep.CoreContext, others), "extensions", object{{"medai", object{{"ward", 3}}}})).also("ENV-47"),
	}
}

func timeVectors() []source {
	var all []source
	at := func(rule, slug, title, time string, keeps bool) {
		if keeps {
			all = append(all, good(rule, slug, title, on("state", "timestamp", time)))
		} else {
			all = append(all, bad(rule, slug, title, "/timestamp", on("state", "timestamp", time)))
		}
	}
	at("ENV-24", "zulu", "Z for the zone", "2026-05-24T14:22:11Z", true)
	at("ENV-24", "offset", "an offset", "2026-05-24T16:22:11.342+02:00", true)
	at("ENV-24", "half-hour", "an offset of hours and a half", "2026-05-24T08:52:11.342-05:30", true)
	at("ENV-24", "small-t", "a small t", "2026-05-24t14:22:11Z", false)
	at("ENV-24", "small-z", "a small z", "2026-05-24T14:22:11z", false)
	at("ENV-24", "space", "a space for the T", "2026-05-24 14:22:11Z", false)
	at("ENV-24", "no-zone", "no zone", "2026-05-24T14:22:11", false)
	at("ENV-24", "short-offset", "an offset without its colon", "2026-05-24T16:22:11+0200", false)
	at("ENV-24", "words", "a date in words", "May 24, 2026", false)
	at("ENV-24", "no-seconds", "no seconds", "2026-05-24T14:22Z", false)
	at("ENV-24", "newline", "a line feed at the end", "2026-05-24T14:22:11Z\n", false)
	at("ENV-24", "digits", "digits of another script", "２０２６-05-24T14:22:11Z", false)
	at("ENV-25", "none", "no fraction", "2026-05-24T14:22:11Z", true)
	at("ENV-25", "three", "three digits", "2026-05-24T14:22:11.342Z", true)
	at("ENV-25", "six", "six digits", "2026-05-24T14:22:11.342001Z", true)
	at("ENV-25", "one", "one digit", "2026-05-24T14:22:11.3Z", false)
	at("ENV-25", "two", "two digits", "2026-05-24T14:22:11.34Z", false)
	at("ENV-25", "nine", "nine digits", "2026-05-24T14:22:11.342001999Z", false)
	at("ENV-26", "leap-day", "the 29th of February of a leap year", "2028-02-29T23:59:59Z", true)
	at("ENV-26", "no-day", "the 30th of February", "2026-02-30T14:22:11Z", false)
	at("ENV-26", "no-leap", "the 29th of February of another year", "2027-02-29T14:22:11Z", false)
	at("ENV-26", "month", "a 13th month", "2026-13-01T14:22:11Z", false)
	at("ENV-26", "hour", "hour 24", "2026-05-24T24:00:00Z", false)
	at("ENV-26", "minute", "minute 60", "2026-05-24T14:60:00Z", false)
	at("ENV-26", "zeros", "a placeholder of zeros", "0000-00-00T00:00:00Z", false)
	return append(
		all,
		bad("ENV-24", "number", "a number", "/timestamp", on("state", "timestamp", 1779632531)),
		warn("ENV-25", "reader", "nine digits, for a reader", "/timestamp", on("state", "timestamp", "2026-05-24T14:22:11.342001999Z")).consumer(), // C-11
	)
}

func memberVectors() []source {
	earshot := func(changes ...any) object { return on("state", changes...) }
	return []source{
		good("ENV-36", "background", "a call in the background", on("invoked", "urgency", "background")),        // C-69: it may only look
		note("ENV-36", "end", "an end in the background", "/urgency", on("completed", "urgency", "background")), // C-17: it may deviate
		note("ENV-36", "critical", "a critical change of state", "/urgency", on("state", "urgency", "critical")),
		good("ENV-36", "usual", "the usual urgency", on("invoked")),
		good("ENV-36", "state", "a change of state in the background", on("state", "urgency", "background")),
		good("ENV-36", "absent", "no urgency, which is normal", on("invoked", "urgency", absent{})),
		warn("ENV-37", "terse", "a start that calls itself terse and has no terse summary", "/summary_terse", on("started", "verbosity", "terse")),
		warn("ENV-37", "detailed", "a call that calls itself detailed and has no detailed summary", "/summary_detailed", on("invoked", "verbosity", "detailed")),
		good("ENV-37", "three", "a start with all three lengths", on("started", "verbosity", "detailed", "summary_terse", "Checking.", "summary_detailed", "Checking the backups of the last week.")),
		good("ENV-37", "normal", "a start in the normal length", on("started", "verbosity", "normal")),
		good("ENV-37", "chunk", "a chunk of text, which has no summary", on("chunk")),
		good("ENV-44", "published", "the published version", earshot()).also("VER-01", "VER-07"),
		bad("ENV-44", "two", "two numbers", "/aaep_version", earshot("aaep_version", "1.0")),
		bad("VER-01", "two", "a version of two numbers", "/aaep_version", earshot("aaep_version", "1.0")).finding("ENV-44"),
		bad("ENV-44", "letter", "a letter before it", "/aaep_version", earshot("aaep_version", "v1.0.0")),
		bad("ENV-44", "number", "a number", "/aaep_version", earshot("aaep_version", 1)),
		warn("ENV-44", "draft", "a draft", "/aaep_version", earshot("aaep_version", "0.1.0-draft")), // C-14
		warn("ENV-44", "later", "a version that is not published", "/aaep_version", earshot("aaep_version", "1.7.0")),
		bad("VER-07", "silent", "a request that does not say its version", "/aaep_version", on("request", "aaep_version", absent{})).finding("HS-02"),
		bad("ENV-45", "reserved", "a reserved name", "/aaep_mood", earshot("aaep_mood", 1)),
		good("ENV-45", "version", "the one that is allowed", earshot()),
		bad("ENV-45", "extension", "a reserved name in an event of an extension", "/aaep_mood", foreign("aaep_mood", 1)),
		bad("ENV-46", "id", "@id", "/@id", earshot("@id", "x")),
		bad("ENV-46", "graph", "@graph", "/@graph", earshot("@graph", list())),
		bad("ENV-46", "base", "@base", "/@base", earshot("@base", "x")),
		bad("ENV-46", "vocab", "@vocab in an event of an extension", "/@vocab", foreign("@vocab", "x")),
		good("ENV-46", "context", "@context, which is another matter", earshot()),
		bad("ENV-47", "own", "a member of one's own", "/mood", earshot("mood", 1)),
		bad("ENV-47", "dotted", "an extension's member under a dotted name", "/ext_medical.audit", earshot("ext_medical.audit", object{})),      // C-15
		bad("ENV-47", "message", "a member that some emitters send", "/error_message", on("errored", "error_message", "No disk.")),              // C-32
		bad("ENV-47", "raw-value", "a raw figure beside its text", "/amount_raw", on("confirmation", "amount_raw", 12)),                         // C-04
		warn("ENV-47", "chunk", "a summary of a chunk, which some emitters send", "/summary_normal", on("chunk", "summary_normal", "Writing.")), // C-28
		bad("ENV-47", "chunk-number", "a summary of a chunk that is not text", "/summary_normal", on("chunk", "summary_normal", 5)),
		bad("ENV-47", "foreign", "the member of another event", "/tool", earshot("tool", "files.scan")),
		good("ENV-47", "extension", "any payload, in an event of an extension", foreign("ward", 3)),
		note("ENV-47", "later", "an unknown member of a later version", "/mood", earshot("aaep_version", "1.2.0", "mood", 1)),
		good("ENV-47", "reader", "an unknown member, for a reader", earshot("mood", 1)).consumer().also("VER-03"),
		good("PAY-01", "language", "a summary in another language", earshot("summary_normal_yo", "Ó ń ronú.", "summary_terse_zh_hant", "思考")), // C-102
		bad("PAY-01", "number", "a summary in another language that is a number", "/summary_normal_yo", earshot("summary_normal_yo", 5)),
		bad("PAY-01", "empty", "an empty one", "/summary_normal_yo", earshot("summary_normal_yo", "")),
		bad("ENV-47", "no-language", "a suffix that is not a language", "/summary_normal_notalanguage", earshot("summary_normal_notalanguage", "x")),
		bad("ENV-47", "not-readable", "the variant of a member that is not for people", "/from_state_yo", earshot("from_state_yo", "x")),
		warn("PAY-03", "state", "a change of state without a summary", "/summary_normal", earshot("summary_normal", absent{})), // C-28
		warn("PAY-03", "question", "a question without a summary", "/summary_normal", on("confirmation", "summary_normal", absent{})),
		good("PAY-03", "chunk", "a chunk of text, which needs none", on("chunk")),
	}
}

func limitVectors() []source {
	nested := func(depth int) object {
		inner := object{}
		for range depth {
			inner = object{{"in", inner}}
		}
		return inner
	}
	prefixes := func(n int) object {
		all := object{}
		for i := range n {
			all = append(all, member{fmt.Sprintf("medai%d", i), object{}})
		}
		return all
	}
	crowded := func(n int) object { // 13 members of its own, extensions counted
		return on("state", "@context", list(aaep.CoreContext, others), "extensions", prefixes(n-13))
	}
	tags := (&series{row: row{kind: "tags"}}).some
	return []source{
		warn("ENV-49", "long", "an event of more than 64 KiB", "", on("confirmation", "extra_context", object{{"text", ""}})).fill("/extra_context/text", "x", 65536),
		good("ENV-49", "short", "an event of some 32 KiB", on("confirmation", "extra_context", object{{"a", ""}, {"b", ""}})).fill("/extra_context/a", "x", 16384).fill("/extra_context/b", "x", 16384),
		warn("ENV-50", "crowded", "33 members, the prefixes counted", "", crowded(33)),
		good("ENV-50", "full", "32 members, the prefixes counted", crowded(32)),
		warn("ENV-51", "deep", "nesting 9 deep", "", on("confirmation", "extra_context", nested(7))),
		good("ENV-51", "flat", "nesting 8 deep", on("confirmation", "extra_context", nested(6))),
		warn("ENV-52", "long", "a string of 16385 bytes", "/extra_context/text", on("confirmation", "extra_context", object{{"text", ""}})).fill("/extra_context/text", "x", 16385),
		warn("ENV-52", "bytes", "16384 characters of three bytes each", "/action", on("confirmation", "action", "")).fill("/action", "ọ", 16384), // C-13
		good("ENV-52", "short", "a string of 16384 bytes", on("confirmation", "extra_context", object{{"text", ""}})).fill("/extra_context/text", "x", 16384),
		bad("ENV-53", "many", "33 available languages", "/localization_hints/available_languages", on("state", "localization_hints/available_languages", tags(33))).also("I18N-05"),
		good("ENV-53", "full", "32 available languages", on("state", "localization_hints/available_languages", tags(32))),
	}
}

// toleranceVectors are what a reader bears.
func toleranceVectors() []source {
	return []source{
		good("VER-03", "names", "an event of a later version with names that are not known here", on("state", "aaep_version", "1.3.0", "mood", "calm", "pace", object{})).consumer(),
		good("VER-03", "type", "an event of a type that is not known here", foreign("@context", aaep.CoreContext, "type", "whoever:whatever")).consumer().also("ENV-17", "ENV-43"),
		good("VER-04", "words", "words that are not known here", on("chunk", "urgency", "soon", "coalesce_hint", "breath")).consumer().also("ENV-61"),
		good("VER-04", "reason", "a reason that is not known here", on("rejected", "reason_code", "full_moon")).consumer().also("HS-49"),
		good("STATE-07", "own-word", "a state of one's own", on("state", "to_state", "tasting")).also("STATE-08"),
		good("I18N-20", "decomposed", "text in another form, for a reader", on("state", "summary_normal", "cafe\u0301")).consumer(),
	}
}
