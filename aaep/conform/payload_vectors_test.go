package conform_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep/conform"
)

// choices are n of them.
func choices(n int) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = object{{"value", fmt.Sprintf("v%d", i)}, {"label", fmt.Sprintf("Number %d", i)}}
	}
	return all
}

// payloadVectors are those of payloads and messages that do not follow from rows.
func payloadVectors() []source {
	return join(workVectors(), questionVectors(), decisionVectors(), messageVectors(), secretVectors(), languageVectors())
}

func workVectors() []source {
	return []source{
		bad("PROG-01", "empty", "an empty object", "/progress", on("progress", "progress", object{})),
		bad("PROG-01", "stranger", "a member that does not exist", anywhere, on("progress", "progress", object{{"percent", 5}, {"percentage", 5}})),
		good("PROG-01", "one", "a description only", on("progress", "progress", object{{"description", "Almost there."}})),
		bad("PROG-04", "beyond", "step 9 of 3", anywhere, on("progress", "progress", object{{"step", 9}, {"total_steps", 3}})), // C-30
		good("PROG-04", "at-end", "step 3 of 3", on("progress", "progress", object{{"step", 3}, {"total_steps", 3}})),
		warn("TCOM-08", "silent-error", "an error that says nothing", "/error_message", on("done", "status", "error")),
		warn("TCOM-08", "silent-timeout", "a timeout that says nothing", "/error_message", on("done", "status", "timeout")),
		good("TCOM-08", "told", "an error that says what went wrong", on("done", "status", "error", "error_message", "The disk is gone.")),
		good("OUT-01", "marker", "an empty last chunk", on("last", "chunk", "")),
		good("OUT-04", "completion", "the last chunk says so", on("last")), // C-31
		warn("OUT-04", "early", "a chunk that is not the last says completion", "/coalesce_hint", on("chunk", "coalesce_hint", "completion")),
		warn("OUT-04", "late", "the last chunk says word", "/coalesce_hint", on("last", "coalesce_hint", "word")),
		good("OUT-04", "absent", "the last chunk has no hint", on("last", "coalesce_hint", absent{})),
		good("OUT-07", "other", "a chunk in another language than its hints", on("chunk", "language", "yo")),
	}
}

func questionVectors() []source {
	multiple := list("multiple_choice")
	answer := func(kind, response string) object {
		return on("clarification", "accepted_response_kinds", list(kind), "choices", choices(3), "default_response", response)
	}
	return []source{
		bad("CLAR-09", "missing", "multiple choice without choices", "/choices", on("clarification", "accepted_response_kinds", multiple)), // C-29
		bad("CLAR-09", "one", "one choice", "/choices", on("clarification", "accepted_response_kinds", multiple, "choices", choices(1))),
		bad("CLAR-09", "too-many", "33 choices", "/choices", on("clarification", "accepted_response_kinds", multiple, "choices", choices(33))),
		bad("CLAR-09", "twice", "one choice twice", anywhere, on("clarification", "accepted_response_kinds", multiple, "choices", append(choices(2), choices(1)...))),
		bad("CLAR-09", "no-label", "a choice without a label", "/choices/1/label", on("clarification", "choices", list(choices(1)[0], object{{"value", "x"}}))),
		bad("CLAR-09", "no-value", "a choice without a value", "/choices/1/value", on("clarification", "choices", list(choices(1)[0], object{{"label", "x"}}))),
		bad("CLAR-09", "empty-value", "a choice with an empty value", "/choices/1/value", on("clarification", "choices", list(choices(1)[0], object{{"value", ""}, {"label", "x"}}))),
		bad("CLAR-09", "long-value", "a value of 257 characters", "/choices/1/value", on("clarification", "choices", list(choices(1)[0], object{{"value", ""}, {"label", "x"}}))).fill("/choices/1/value", "x", 257),
		bad("CLAR-09", "long-label", "a label of 1025 characters", "/choices/1/label", on("clarification", "choices", list(choices(1)[0], object{{"value", "x"}, {"label", ""}}))).fill("/choices/1/label", "x", 1025),
		bad("CLAR-09", "stranger", "a choice with a further member", "/choices/1/icon", on("clarification", "choices", list(choices(1)[0], object{{"value", "x"}, {"label", "x"}, {"icon", "x"}}))),
		good("CLAR-09", "two", "two choices", on("clarification", "accepted_response_kinds", multiple, "choices", choices(2))),
		good("CLAR-09", "most", "32 choices", on("clarification", "accepted_response_kinds", multiple, "choices", choices(32))),
		good("CLAR-09", "beside", "choices beside free text", on("clarification", "choices", choices(2))),
		warn("CLAR-11", "yes", "a default that is neither true nor false", "/default_response", answer("yes_no", "yes")),
		warn("CLAR-11", "no-figure", "a default that is not a number", "/default_response", answer("numeric", "many")),
		warn("CLAR-11", "choice", "a default that is none of the choices", "/default_response", answer("multiple_choice", "v9")),
		good("CLAR-11", "true", "true for a yes or no", answer("yes_no", "true")),
		good("CLAR-11", "figure", "a number", answer("numeric", "-1.5e3")),
		good("CLAR-11", "chosen", "one of the choices", answer("multiple_choice", "v1")),
		good("CLAR-11", "free", "any text", answer("freetext", "the usual one")),
		warn("CONFM-12", "contradiction", "irreversible, and not irreversible", "/reversibility", on("confirmation", "irreversible", false, "reversibility", "irreversible")), // C-21
		warn("CONFM-13", "no-refusal", "nobody may refuse", "/allowed_replies", on("confirmation", "allowed_replies", list("accept"))),                                        // C-25
		warn("CONFM-13", "no-default", "the default is not among them", "/allowed_replies", on("confirmation", "allowed_replies", list("reject", "later"), "default_decision", "accept")),
	}
}

// decisionVectors are the table of §6.4.1.
func decisionVectors() []source {
	ask := func(irreversible bool, risk, decision string, changes ...any) object {
		seconds := map[string]int{"high": 300, "medium": 120, "low": 60}[risk]
		return on("confirmation", "irreversible", irreversible, "risk_level", risk, "default_decision", decision, "timeout_seconds", seconds).with(changes...)
	}
	at := "/default_decision"
	hidden := []any{"irreversible", absent{}, "reversibility", "irreversible"}
	return []source{
		bad("CONF-20", "accept", "irreversible, high, accept", at, ask(true, "high", "accept")).also("CONFM-15", "CONF-26"),
		good("CONF-20", "reject", "irreversible, high, reject", ask(true, "high", "reject")).also("CONFM-15", "CONF-26"),
		bad("CONF-20", "reader", "irreversible, high, accept, for a test suite", at, ask(true, "high", "accept", "reversibility", "reversible_with_effort")).also("CONF-26"),
		bad("CONF-21", "accept", "irreversible, medium, accept", at, ask(true, "medium", "accept")).also("CONFM-15"), // C-23
		good("CONF-21", "reject", "irreversible, medium, reject", ask(true, "medium", "reject")),
		warn("CONF-22", "accept", "irreversible, low, accept", at, ask(true, "low", "accept")),
		good("CONF-22", "reject", "irreversible, low, reject", ask(true, "low", "reject")),
		warn("CONF-22", "unsaid", "irreversible, no risk said, accept", at, ask(true, "low", "accept", "risk_level", absent{})), // C-22
		warn("CONF-23", "accept", "reversible, high, accept", at, ask(false, "high", "accept")),
		good("CONF-23", "reject", "reversible, high, reject", ask(false, "high", "reject")),
		good("CONF-24", "accept", "reversible, medium, accept", ask(false, "medium", "accept")),
		good("CONF-24", "reject", "reversible, medium, reject", ask(false, "medium", "reject")),
		good("CONF-25", "accept", "reversible, low, accept", ask(false, "low", "accept")),
		good("CONF-25", "reject", "reversible, low, reject", ask(false, "low", "reject")),
		bad("CONF-27", "hidden-high", "only reversibility says it; high, accept", at, ask(false, "high", "accept", hidden...)).also("CONF-20"), // C-21
		bad("CONF-27", "hidden-medium", "only reversibility says it; medium, accept", at, ask(false, "medium", "accept", hidden...)).also("CONF-21"),
		good("CONF-27", "effort", "irreversible, and reversible with effort", ask(true, "high", "reject", "reversibility", "reversible_with_effort")),
		note("CONF-71", "short", "high and irreversible, three minutes less one second", "/timeout_seconds", ask(true, "high", "reject", "timeout_seconds", 179)),
		note("CONF-71", "long", "low and reversible, a minute and a half and one second", "/timeout_seconds", ask(false, "low", "reject", "timeout_seconds", 91)),
		note("CONF-71", "clarification", "a clarification with a minute less one second", "/timeout_seconds", on("clarification", "timeout_seconds", 59)),
		good("CONF-71", "advised", "high and irreversible, three minutes", ask(true, "high", "reject", "timeout_seconds", 180)),
		good("CONF-71", "medium", "medium and irreversible, three minutes", ask(true, "medium", "reject", "timeout_seconds", 180)),
		good("CONF-05", "random", "a token of 32 hex digits", on("confirmation", "reply_token", "rpl_"+many("0f", 16))).also("CONFM-04"),
		bad("CONF-05", "space", "a token with a space in it", "/reply_token", on("confirmation", "reply_token", "rpl_ 1")).also("CONFM-04"),
	}
}

func messageVectors() []source {
	closedSets := map[string]string{"creply": "CONF-40", "answer": "CLA-05", "request": "HS-06", "accepted": "HS-26", "rejected": "HS-43", "renegotiate": "HS-60", "close": "HS-66"}
	var all []source
	for _, base := range []string{"creply", "answer", "request", "accepted", "rejected", "renegotiate", "close"} {
		rule := closedSets[base]
		all = append(
			all,
			bad(rule, base+"-stranger", "a further member", "/mood", on(base, "mood", "calm")),
			good(rule, base+"-plain", "none", on(base)),
		)
	}
	types := map[string]string{"creply": "CONF-30", "answer": "CLA-02", "request": "HS-01", "accepted": "HS-20", "rejected": "HS-40"}
	for _, base := range []string{"creply", "answer", "request", "accepted", "rejected"} {
		expect := conform.Options{Expect: bases[base][0].value.(string)}
		all = append(
			all,
			good(types[base], base+"-type", "its type, where it is expected", on(base)).options(expect),
			bad(types[base], base+"-other", "another type, where it is expected", "/type", on(base, "type", "whatever.reply")).options(expect),
			bad(types[base], base+"-untyped", "no type, where it is expected", "/type", on(base, "type", absent{})).message().options(expect),
		)
	}
	return append(
		all,
		good("CLA-02", "words", "an answer in words", on("answer")),
		good("CLA-02", "yes", "an answer that is true", on("answer", "response", true)),
		good("CLA-02", "no", "an answer that is false", on("answer", "response", false)),
		good("CLA-02", "figure", "an answer that is a number", on("answer", "response", -1.5)),
		bad("CLA-02", "silent", "no answer", "/response", on("answer", "response", absent{})),
		bad("CLA-02", "null", "null for an answer", "/response", on("answer", "response", nil)),
		bad("CLA-02", "list", "a list for an answer", "/response", on("answer", "response", list("x"))),
		good("CLA-04", "longest", "16384 characters", on("answer", "response", "")).fill("/response", "ọ", 16384),
		bad("CLA-04", "empty", "an empty answer", "/response", on("answer", "response", "")),
		bad("CLA-04", "too-long", "16385 characters", "/response", on("answer", "response", "")).fill("/response", "x", 16385),
		good("CLA-05", "all", "every optional member", on("answer", "decided_by", "user:ada", "confidence", 0.87, "correlation_id", "c")),
		good("CONF-40", "all", "every optional member", on("creply", "decided_by", "user:ada", "decision_rationale", "It is full.", "modified_action", object{}, "correlation_id", "c")),
		good("HS-04", "all", "every capability", on("request", "capabilities", object{
			{"max_events_per_second", 5},
			{"preferred_verbosity", "terse"},
			{"languages", list("yo-NG", "en")},
			{"supports_confirmation_reply", true},
			{"supports_clarification_reply", false},
			{"coalesce_boundaries", list("sentence", "completion")},
			{"event_filters", object{{"include", list("aaep:agent.*")}, {"exclude", list("aaep:agent.tool.*")}}},
			{"supported_conformance_levels", list(1, 2, 3)},
			{"supported_extensions", list(others)},
			{"cognitive_load", "low"},
			{"pace_wpm", 180},
			{"accept_signed_manifests_only", false},
		})),
		bad("HS-05", "extension-number", "a number under a prefix", "/extensions/medai", on("request", "extensions", object{{"medai", 1}})),
		bad("HS-23", "stranger", "a producer with a further member", "/producer/mood", on("accepted", "producer/mood", "good")),
		bad("HS-24", "rate", "an honoured rate that is a string", "/honored_capabilities/max_events_per_second", on("accepted", "honored_capabilities", object{{"max_events_per_second", "5"}})).finding("CAP-01"),
		good("HS-66", "bare", "a close without a reason", on("close", "reason_code", absent{}, "reason_message", absent{})),
		bad("CAP-07", "stranger", "filters with a further member", "/capabilities/event_filters/only", on("request", "capabilities", object{{"event_filters", object{{"only", list()}}}})),
		bad("CAP-07", "list", "filters as a list", "/capabilities/event_filters", on("request", "capabilities", object{{"event_filters", list()}})),
		good("CAP-08", "patterns", "an exact type, a group, everything", on("request", "capabilities", object{{"event_filters", object{{"include", list("aaep:agent.handoff.requested", "aaep:agent.tool.*", "*")}}}})),
		bad("CAP-08", "middle", "an asterisk in the middle", "/capabilities/event_filters/include/0", on("request", "capabilities", object{{"event_filters", object{{"include", list("aaep:*.tool")}}}})), // C-49
		bad("CAP-14", "flag", "an extension's capability that is not an object", "/capabilities/haptic", on("request", "capabilities", object{{"haptic", true}})),
		good("CAP-14", "object", "an extension's capability", on("request", "capabilities", object{{"medai", object{{"wards", list(3)}}}})).also("EXT-16"),
		good("CAP-14", "reader", "an unknown capability of any type, for a producer that reads it", on("request", "capabilities", object{{"haptic", true}})).consumer().also("EXT-16"), // C-52
	)
}

// secretVectors: what a scanner for secrets must see, and what it must not (C-97).
func secretVectors() []source {
	return []source{
		warn("SEC-07", "api-key", "the name of a key and its value", "/args_summary", on("invoked", "args_summary", "url=example.org api_key=12345678")),
		warn("SEC-07", "bearer", "an authorization header", "/action", on("confirmation", "action", "Send Authorization: Bearer abcdef0123456789abcdef")),
		warn("SEC-07", "private-key", "the head of a private key", "/summary_detailed", on("invoked", "summary_detailed", "-----BEGIN PRIVATE KEY-----")),
		good("SEC-07", "words", "words that only look like one", on("confirmation", "action", "Move the task-list and the risk-report to the disk-image; ask-me-later stays.")),
		good("SEC-07", "hidden", "a value that has been taken out", on("invoked", "args_summary", "credential=[redacted]")),
	}
}

func languageVectors() []source {
	hints := func(value any) object { return on("state", "localization_hints", value) }
	return []source{
		warn("I18N-01", "none", "readable text without hints", "/localization_hints", hints(absent{})), // C-01
		good("I18N-01", "hints", "readable text with hints", on("state")),
		good("I18N-01", "no-text", "no readable text, and no hints", on("state", "localization_hints", absent{}, "summary_normal", absent{})),
		bad("I18N-01", "string", "hints that are a string", "/localization_hints", hints("en")),
		warn("I18N-02", "none", "hints without a primary language", "/localization_hints/primary_language", hints(object{{"calendar", "gregory"}})),
		good("I18N-02", "tag", "hints with one", on("state")),
		bad("I18N-02", "number", "a number", "/localization_hints/primary_language", hints(object{{"primary_language", 1}})),
		good("I18N-03", "script", "language, script and region", hints(object{{"primary_language", "zh-Hant-TW"}})),
		good("I18N-03", "private", "a private part", hints(object{{"primary_language", "en-x-plain"}})),
		good("I18N-03", "unknown", "a well-formed tag that is not registered", hints(object{{"primary_language", "qaa"}})),
		bad("I18N-03", "underscore", "an underscore", "/localization_hints/primary_language", hints(object{{"primary_language", "en_US"}})),
		bad("I18N-03", "name", "the name of a language", "/localization_hints/primary_language", hints(object{{"primary_language", "english language"}})),
		bad("I18N-03", "letter", "one letter", "/localization_hints/primary_language", hints(object{{"primary_language", "e"}})),
		bad("I18N-03", "available", "a wrong tag among those available", "/localization_hints/available_languages/1", on("state", "localization_hints/available_languages", list("en", "en--US"))),
		bad("I18N-03", "chain", "a wrong tag in the chain", "/localization_hints/fallback_chain/0", on("state", "localization_hints/fallback_chain", list("de_DE"))),
		warn("I18N-04", "arabic", "a language from right to left without a direction", anywhere, hints(object{{"primary_language", "ar"}})), // C-103
		good("I18N-04", "arabic-rtl", "the same with one", hints(object{{"primary_language", "ar"}, {"text_direction", "rtl"}})),
		bad("I18N-08", "stranger", "a further member", "/localization_hints/tonal_marks", on("state", "localization_hints/tonal_marks", true)), // C-105
		good("I18N-08", "all", "every member", hints(object{{"primary_language", "en"}, {"text_direction", "ltr"}, {"available_languages", list("en", "yo")}, {"fallback_chain", list("en")}, {"script", "Latn"}, {"calendar", "gregory"}})),
		warn("I18N-19", "decomposed", "é as two characters", "/summary_normal", on("state", "summary_normal", "cafe\u0301")),
		good("I18N-19", "composed", "é as one", on("state", "summary_normal", "caf\u00e9")),
		warn("I18N-22", "mark", "a combining mark at the beginning", "/summary_normal", on("state", "summary_normal", "\u0323x")),
		good("I18N-22", "inside", "a combining mark behind its letter", on("state", "summary_normal", "q\u0323")),
	}
}
