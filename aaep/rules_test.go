package aaep_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
)

const (
	asError   = aaep.SeverityError
	asWarning = aaep.SeverityWarning
	asInfo    = aaep.SeverityInfo

	core  = aaep.CoreContext
	ours  = aaep.ExtensionContext
	other = "https://example.org/medai/v1"
)

type edit = map[string]any

func contexts(all ...any) []any { return all }

type ruleCase struct {
	rule     string
	severity aaep.Severity
	of       string
	keeps    []edit
	breaks   []edit
}

// ruleCases holds, for the rules that are more than a row, edits of a whole message
// of a type that keep the rule and edits that break it. An edit that keeps a rule
// leaves no error at all.
var ruleCases = []ruleCase{
	{"ENV-05", asError, aaep.TypeAwaitingConfirmation, []edit{{"extra_context": edit{"n": uint64(1) << 53, "x": 1e300, "m": -0.1}}}, []edit{{"extra_context": edit{"n": uint64(1)<<53 + 2}}}},
	{"ENV-07", asError, aaep.TypeStateChanged, nil, []edit{{"@context": absent{}}, {"type": absent{}}, {"event_id": absent{}}, {"session_id": absent{}}, {"timestamp": absent{}}, {"producer": absent{}}}},
	{"ENV-08", asError, aaep.TypeStateChanged, []edit{{"@context": core}, {"@context": contexts(core)}, {"@context": contexts(core, other)}}, []edit{{"@context": other}, {"@context": contexts(other, core)}, {"@context": contexts()}, {"@context": ""}}},
	{"ENV-09", asError, aaep.TypeStateChanged, []edit{{"@context": contexts(core, "urn:x:y")}}, []edit{{"@context": contexts()}, {"@context": contexts(core, edit{"a": "b"})}, {"@context": contexts(core, "no uri")}}},
	{"ENV-12", asError, aaep.TypeStateChanged, []edit{{"type": "medai:seen", "@context": contexts(core, other)}, {"type": "earshot:seen", "@context": contexts(core, ours)}, {"type": "https://example.org/types/seen"}, {"type": "urn:x:y"}}, []edit{{"type": "agent.state.changed"}, {"type": ":x"}, {"type": "x:"}, {"type": "medai:seen"}, {"type": "earshot:seen", "@context": contexts(core, other)}}},
	{"ENV-12", asWarning, aaep.TypeStateChanged, []edit{{"type": "earshot:seen", "@context": contexts(core, ours)}}, []edit{{"type": "medai:seen", "@context": contexts(core, other)}}}, // C-09: cannot verify
	{"ENV-13", asWarning, aaep.TypeStateChanged, []edit{{}}, []edit{{"type": "https://aaep-protocol.org/types/agent.state.changed"}, {"type": "https://aaep-protocol.org/vocab/v1#agent.state.changed"}}},
	{"ENV-14", asError, aaep.TypeStateChanged, []edit{{}}, []edit{{"type": "aaep:agent.mood.changed"}, {"type": "aaep:producer.manifest"}, {"type": "aaep:"}, {"type": "https://aaep-protocol.org/types/agent.medical.alert"}}},
	{"ENV-16", asError, aaep.TypeStateChanged, []edit{{}}, []edit{{"type": ""}, {"type": 5}, {"type": nil}}},
	{"ENV-18", asError, aaep.TypeStateChanged, []edit{{"event_id": "evt_" + strings.Repeat("a", 64)}}, []edit{{"event_id": "evt_" + strings.Repeat("a", 65)}, {"event_id": "EVT_1"}, {"event_id": "evt_"}, {"event_id": "evt_a-b"}, {"event_id": "evt_1\n"}}},
	{"ENV-21", asError, aaep.TypeStateChanged, []edit{{"session_id": "sess_A9"}}, []edit{{"session_id": "sess_"}, {"session_id": "session_1"}}},
	{"ENV-24", asError, aaep.TypeStateChanged, []edit{{"timestamp": "2026-05-24T15:22:11.342+01:00"}, {"timestamp": "2026-05-24T15:22:11Z"}, {"timestamp": "2026-05-24T15:22:11-23:59"}}, []edit{{"timestamp": "May 24, 2026"}, {"timestamp": "2026-05-24t14:22:11z"}, {"timestamp": "2026-05-24 14:22:11Z"}, {"timestamp": "2026-05-24T14:22:11"}, {"timestamp": "٢026-05-24T14:22:11Z"}, {"timestamp": "2026-05-24T14:22:11,342Z"}, {"timestamp": "2026-05-24T14:22:11.342Z\n"}, {"timestamp": "2026-05-24T14:22:11+0100"}}},
	{"ENV-25", asError, aaep.TypeStateChanged, []edit{{"timestamp": "2026-05-24T14:22:11Z"}, {"timestamp": "2026-05-24T14:22:11.300Z"}, {"timestamp": "2026-05-24T14:22:11.300000Z"}}, []edit{{"timestamp": "2026-05-24T14:22:11.3Z"}, {"timestamp": "2026-05-24T14:22:11.34Z"}, {"timestamp": "2026-05-24T14:22:11.3421Z"}, {"timestamp": "2026-05-24T14:22:11.123456789Z"}}},
	{"ENV-26", asError, aaep.TypeStateChanged, []edit{{"timestamp": "2024-02-29T00:00:00Z"}}, []edit{{"timestamp": "2026-02-30T00:00:00Z"}, {"timestamp": "2026-13-01T00:00:00Z"}, {"timestamp": "2026-05-24T25:00:00Z"}, {"timestamp": "2026-02-29T00:00:00.000Z"}, {"timestamp": "2026-05-24T14:22:11+24:00"}, {"timestamp": "2026-05-24T14:22:11-01:60"}}},
	{"ENV-26", asWarning, aaep.TypeStateChanged, []edit{{}}, []edit{{"timestamp": "0001-01-01T00:00:00Z"}, {"timestamp": "1970-01-01T00:00:00.000Z"}}},
	{"ENV-29", asError, aaep.TypeStateChanged, []edit{{"producer": edit{"agent_id": "a"}}}, []edit{{"producer": edit{}}, {"producer": edit{"agent_id": ""}}, {"producer": "tidy"}, {"producer": edit{"agent_id": 5}}}},
	{"ENV-30", asWarning, aaep.TypeStateChanged, []edit{{"producer": edit{"agent_id": "tidy", "agent_version": "1.2.3"}}, {"producer": edit{"agent_id": "tidy2", "agent_version": "2"}}}, []edit{{"producer": edit{"agent_id": "tidy-1.2.3", "agent_version": "1.2.3"}}}},
	{"ENV-31", asError, aaep.TypeStateChanged, []edit{{"producer": edit{"agent_id": "a", "agent_version": "1.2.3", "agent_name": "A", "model": "none"}}}, []edit{{"producer": edit{"agent_id": "a", "agent_version": ""}}, {"producer": edit{"agent_id": "a", "model": ""}}}},
	{"ENV-32", asError, aaep.TypeStateChanged, []edit{{"producer": edit{"agent_id": "a", "manifest_uri": "https://example.org/.well-known/aaep-manifest.json"}}}, []edit{{"producer": edit{"agent_id": "a", "manifest_uri": "/manifest.json"}}, {"producer": edit{"agent_id": "a", "manifest_uri": "https://example.org/a b"}}}},
	{"ENV-33", asError, aaep.TypeStateChanged, nil, []edit{{"producer": edit{"agent_id": "a", "mood": "good"}}}},
	{"ENV-36", asInfo, aaep.TypeToolInvoked, []edit{{"urgency": "normal"}, {"urgency": absent{}}, {"urgency": "background"}}, []edit{{"urgency": "critical"}}},
	{"ENV-36", asInfo, aaep.TypeToolCompleted, []edit{{"urgency": "background"}}, []edit{{"urgency": "critical"}}},
	{"ENV-36", asInfo, aaep.TypeSessionCompleted, []edit{{"urgency": "normal"}}, []edit{{"urgency": "background"}}},
	{"ENV-36", asInfo, aaep.TypeStateChanged, []edit{{"urgency": "background"}, {"urgency": "normal"}}, []edit{{"urgency": "critical"}}},
	{"ENV-37", asWarning, aaep.TypeStateChanged, []edit{{"verbosity": "normal", "summary_normal": absent{}}, {"verbosity": "terse"}, {"verbosity": absent{}, "summary_terse": absent{}}}, []edit{{"verbosity": "terse", "summary_terse": absent{}}, {"verbosity": "detailed", "summary_detailed": absent{}}}},
	{"ENV-39", asError, aaep.TypeStateChanged, []edit{{"sequence_number": 0}, {"sequence_number": 3e2}}, []edit{{"sequence_number": -1}, {"sequence_number": "1"}, {"sequence_number": 1.5}}},
	{"ENV-41", asError, aaep.TypeStateChanged, []edit{{"@context": contexts(core, ours), "extensions": edit{"earshot": edit{"question": 1}, "utp": edit{}}}}, []edit{{"extensions": []any{}}, {"@context": contexts(core, ours), "extensions": edit{"earshot": 1}}}},
	{"ENV-42", asError, aaep.TypeStateChanged, []edit{{"@context": contexts(core, ours), "extensions": edit{"earshot": edit{}}}, {"@context": contexts(core, other), "extensions": edit{"medai": edit{}}}}, []edit{{"extensions": edit{"earshot": edit{}}}, {"@context": contexts(core, other), "extensions": edit{"utp": edit{}}}, {"extensions": edit{"medai": edit{}}}}},
	{"ENV-42", asWarning, aaep.TypeStateChanged, []edit{{"@context": contexts(core, ours), "extensions": edit{"utp": edit{}}}}, []edit{{"@context": contexts(core, other), "extensions": edit{"medai": edit{}}}}},
	{"ENV-44", asError, aaep.TypeStateChanged, []edit{{"aaep_version": "1.0.0"}, {"aaep_version": "0.1.0-draft"}, {"aaep_version": "1.7.2"}}, []edit{{"aaep_version": "1.0"}, {"aaep_version": "v1.0.0"}, {"aaep_version": "9.0.0"}, {"aaep_version": "0.9.0"}}},
	{"ENV-44", asWarning, aaep.TypeStateChanged, []edit{{"aaep_version": "1.0.0"}}, []edit{{"aaep_version": "0.1.0-draft"}, {"aaep_version": "1.1.0"}, {"aaep_version": "1.0.0-rc.1"}}},
	{"VER-01", asWarning, aaep.TypeStateChanged, []edit{{"aaep_version": "1.2.0-rc.1"}, {"aaep_version": "1.2.0-beta"}}, []edit{{"aaep_version": "1.2.0-nightly"}, {"aaep_version": "1.02.0"}, {"aaep_version": "1.2.0-rc.x"}}},
	{"VER-01", asWarning, aaep.TypeSubscriptionRequest, []edit{{"aaep_version": "2.0.0-alpha"}}, []edit{{"aaep_version": "2.0.0-nightly"}}},
	{"VER-04", asError, aaep.TypeStateChanged, []edit{{"aaep_version": "1.1.0", "verbosity": "epic"}, {"aaep_version": "1.1.0", "type": "aaep:agent.mood.changed"}, {"aaep_version": "1.1.0", "producer": edit{"agent_id": "a", "mood": 1}}}, nil},
	{"ENV-45", asError, aaep.TypeStateChanged, []edit{{"aaep_version": "1.0.0"}}, []edit{{"aaep_mood": 1}}},
	{"ENV-46", asError, aaep.TypeStateChanged, nil, []edit{{"@id": "x"}, {"@graph": 1}, {"@base": "x"}, {"@vocab": "x"}, {"@vocab": "x", "type": "medai:seen", "@context": contexts(core, other)}}},
	{"ENV-47", asError, aaep.TypeStateChanged, []edit{{"mood": 1, "type": "medai:seen", "@context": contexts(core, other)}, {"mood": 1, "aaep_version": "1.2.0"}}, []edit{{"mood": 1}, {"ext_medical.audit": edit{}}, {"payload": edit{}}, {"tool": "scan"}}},
	{"ENV-47", asWarning, aaep.TypeOutputStreaming, []edit{{}}, []edit{{"summary_normal": "Writing."}}}, // C-28
	{"ENV-47", asError, aaep.TypeOutputStreaming, []edit{{"summary_normal": "Writing."}}, []edit{{"summary_normal": 5}, {"summary_terse": "x"}, {"summary_normal_yo": "x"}, {"mood": "x"}}},
	{"SEC-07", asWarning, aaep.TypeOutputStreaming, []edit{{"summary_normal": "Writing."}}, []edit{{"summary_normal": "password=hunter2"}}},
	{"EXT-06", asError, aaep.TypeSessionErrored, nil, []edit{{"error_message": "x"}}}, // C-32
	{"ENV-50", asWarning, aaep.TypeStateChanged, []edit{{"@context": contexts(core, other), "extensions": manyExtensions(10)}}, []edit{{"@context": contexts(core, other), "extensions": manyExtensions(30)}}},
	{"ENV-51", asWarning, aaep.TypeAwaitingConfirmation, []edit{{"extra_context": nested(7)}}, []edit{{"extra_context": nested(8)}}},
	{"ENV-52", asWarning, aaep.TypeAwaitingConfirmation, []edit{{"action": strings.Repeat("x", 16384)}}, []edit{{"action": strings.Repeat("ọ", 16384)}, {"extra_context": edit{"a": []any{strings.Repeat("x", 16385)}}}}}, // C-13
	{"ENV-49", asWarning, aaep.TypeAwaitingConfirmation, []edit{{}}, []edit{{"extra_context": edit{"a": strings.Repeat("x", 65536)}}}},
	{"ENV-60", asError, aaep.TypeAwaitingConfirmation, nil, []edit{{"Urgency": "normal"}, {"default_Decision": "accept"}, {"TYPE": "x"}, {"ſummary_normal": "x"}, {"producer": edit{"agent_id": "a", "Agent_ID": "b"}}}},
	{"EXT-07", asError, aaep.TypeStateChanged, []edit{{"type": "medai:seen", "@context": contexts(core, other)}}, []edit{{"type": "aaep:agent.medical.alert"}}}, // C-104
	{"EXT-09", asInfo, aaep.TypeStateChanged, []edit{{"@context": contexts(core, other), "extensions": edit{"med": edit{}, "medicalcares": edit{}}}, {"@context": contexts(core, ours), "extensions": edit{"utp": edit{}}}}, []edit{{"@context": contexts(core, other), "extensions": edit{"me": edit{}}}, {"@context": contexts(core, other), "extensions": edit{"medicalcareso": edit{}}}}},
	{"EXT-13", asError, aaep.TypeStateChanged, []edit{{"type": "medai:seen", "@context": contexts(core, other), "heart_rate": 80}}, []edit{{"type": "medai:seen"}, {"type": "seen"}}},
	{"EXT-18", asError, aaep.TypeStateChanged, []edit{known("earshot", edit{"question": 7, "resolution": "accepted", "span": []any{3, 4}, "mood": "good"}), known("utp", edit{"status": "partial", "code": "outcome_unknown"})}, []edit{known("earshot", edit{"question": "7"}), known("earshot", edit{"resolution": "done"}), known("earshot", edit{"span": []any{3}}), known("utp", edit{"status": "error"})}},
	{"EXT-18", asWarning, aaep.TypeStateChanged, []edit{known("utp", edit{})}, []edit{{"@context": contexts(core, other), "extensions": edit{"medai": edit{}}}}}, // passes with a note
	{"EXT-10", asError, aaep.TypeStateChanged, nil, []edit{{"extensions": edit{"aaep": edit{}}}, {"extensions": edit{"xsd": edit{}}}, {"extensions": edit{"@x": edit{}}}, {"type": "rdf:type", "@context": contexts(core, other)}}},

	{"EXT-09", asWarning, aaep.TypeStateChanged, []edit{{"@context": contexts(core, other), "extensions": edit{"medai": edit{}}}}, []edit{{"@context": contexts(core, other), "extensions": edit{"m": edit{}}}, {"@context": contexts(core, other), "type": "m:seen"}}},
	{"SEC-07", asWarning, aaep.TypeToolInvoked, harmless, secret},                                                         // C-97
	{"SEC-06", asWarning, aaep.TypeSessionStarted, nil, []edit{{"request_text": "Fetch it with api_key=sk-test-12345."}}}, // C-20
	{"I18N-26", asWarning, aaep.TypeToolInvoked, []edit{{"summary_normal": "a < b and <b> c"}}, []edit{{"summary_normal": "<span lang='de'>Guten Tag</span>"}, {"summary_normal": "x <b><i lang=de>Tag</i>"}}},

	{"ERR-01", asError, aaep.TypeSessionErrored, []edit{{"urgency": "critical"}}, []edit{{"urgency": "normal"}, {"urgency": absent{}}}}, // C-16
	{"CONFM-01", asError, aaep.TypeAwaitingConfirmation, []edit{{"urgency": "critical"}}, []edit{{"urgency": "background"}, {"urgency": absent{}}}},
	{"CLAR-01", asError, aaep.TypeAwaitingClarification, []edit{{"urgency": "critical"}}, []edit{{"urgency": "normal"}, {"urgency": absent{}}}},
	{"HAND-01", asError, aaep.TypeHandoffRequested, []edit{{"urgency": "critical"}}, []edit{{"urgency": "normal"}, {"urgency": absent{}}}},
	{"START-04", asError, aaep.TypeSessionStarted, []edit{{"expected_duration_ms": 0}, {"expected_duration_ms": 86400000}, {"expected_duration_ms": 3e2}}, []edit{{"expected_duration_ms": 86400001}, {"expected_duration_ms": "5"}}},
	{"COMP-07", asError, aaep.TypeSessionCompleted, []edit{{"result_uri": "file:///tmp/a%20b"}}, []edit{{"result_uri": "a%zz:b"}, {"result_uri": "http://x/%zz"}, {"result_uri": "result.txt"}}},
	{"PROG-01", asError, aaep.TypeProgressUpdated, []edit{{"progress": edit{"percent": 0.5}}, {"progress": edit{"description": "x"}}}, []edit{{"progress": edit{}}, {"progress": edit{"percentage": 5}}}},
	{"PROG-04", asError, aaep.TypeProgressUpdated, []edit{{"progress": edit{"step": 3, "total_steps": 3}}, {"progress": edit{"step": 3}}}, []edit{{"progress": edit{"step": 9, "total_steps": 3}}}},
	{"TINV-01", asError, aaep.TypeToolInvoked, []edit{{"tool": "_a-b.c"}, {"tool": "a" + strings.Repeat("b", 255)}}, []edit{{"tool": "github/create_issue"}, {"tool": "ns:tool"}, {"tool": "1a"}, {"tool": "a" + strings.Repeat("b", 256)}}},
	{"TCOM-08", asWarning, aaep.TypeToolCompleted, []edit{{"status": "success", "error_message": absent{}}, {"status": "error"}}, []edit{{"status": "error", "error_message": absent{}}, {"status": "timeout", "error_message": absent{}}}},
	{"OUT-01", asError, aaep.TypeOutputStreaming, []edit{{"chunk": ""}, {"chunk": strings.Repeat("👍", 16384)}}, []edit{{"chunk": strings.Repeat("👍", 16385)}, {"chunk": nil}}},
	{"OUT-04", asWarning, aaep.TypeOutputStreaming, []edit{{"complete": true, "coalesce_hint": "completion"}, {"complete": false, "coalesce_hint": "word"}, {"complete": true, "coalesce_hint": absent{}}}, []edit{{"complete": true, "coalesce_hint": "word"}, {"complete": false, "coalesce_hint": "completion"}}},
	{"OUT-06", asError, aaep.TypeOutputStreaming, []edit{{"content_type": "text/markdown"}}, []edit{{"content_type": "text/plain; charset=utf-8"}}},

	{"CONF-20", asError, aaep.TypeAwaitingConfirmation, []edit{confirm(true, "high", "reject")}, []edit{confirm(true, "high", "accept")}},
	{"CONFM-15", asError, aaep.TypeAwaitingConfirmation, []edit{confirm(true, "medium", "reject")}, []edit{confirm(true, "high", "accept"), confirm(true, "medium", "accept")}},
	{"CONF-26", asError, aaep.TypeAwaitingConfirmation, []edit{confirm(true, "high", "reject")}, []edit{confirm(true, "high", "accept")}},
	{"CONF-21", asError, aaep.TypeAwaitingConfirmation, []edit{confirm(true, "medium", "reject")}, []edit{confirm(true, "medium", "accept")}},                                // C-23
	{"CONF-22", asWarning, aaep.TypeAwaitingConfirmation, []edit{confirm(true, "low", "reject")}, []edit{confirm(true, "low", "accept"), confirm(true, absent{}, "accept")}}, // C-22
	{"CONF-23", asWarning, aaep.TypeAwaitingConfirmation, []edit{confirm(false, "high", "reject")}, []edit{confirm(false, "high", "accept")}},
	{"CONF-24", asError, aaep.TypeAwaitingConfirmation, []edit{confirm(false, "medium", "accept"), confirm(false, "medium", "reject")}, nil},
	{"CONF-25", asError, aaep.TypeAwaitingConfirmation, []edit{confirm(false, "low", "accept"), confirm(false, "low", "reject")}, nil},
	{"CONF-27", asError, aaep.TypeAwaitingConfirmation, []edit{{"irreversible": true, "reversibility": "reversible_with_effort"}}, []edit{{"irreversible": absent{}, "reversibility": "irreversible", "risk_level": "high", "default_decision": "accept"}}}, // C-21
	{"CONF-27", asWarning, aaep.TypeAwaitingConfirmation, []edit{{"irreversible": true, "reversibility": "irreversible"}}, []edit{{"irreversible": false, "reversibility": "irreversible"}}},
	{"CONFM-13", asWarning, aaep.TypeAwaitingConfirmation, []edit{{"allowed_replies": absent{}}, {"allowed_replies": []any{"accept", "reject", "later"}}}, []edit{{"allowed_replies": []any{"accept"}, "default_decision": "reject"}, {"allowed_replies": []any{"reject"}, "default_decision": "accept", "irreversible": false, "reversibility": absent{}, "risk_level": "low"}}}, // C-25
	{"CONF-71", asInfo, aaep.TypeAwaitingConfirmation, []edit{{"timeout_seconds": 180}, {"timeout_seconds": 600}}, []edit{{"timeout_seconds": 179}, {"timeout_seconds": 601}}},
	{"CONF-71", asInfo, aaep.TypeAwaitingClarification, []edit{{"timeout_seconds": 60}, {"timeout_seconds": 300}}, []edit{{"timeout_seconds": 59}, {"timeout_seconds": 301}}},
	{"CLAR-09", asError, aaep.TypeAwaitingClarification, []edit{{"accepted_response_kinds": []any{"freetext"}, "choices": absent{}}}, []edit{{"choices": absent{}}, {"choices": []any{edit{"value": "a", "label": "A"}}}, {"choices": []any{edit{"value": "a", "label": "A"}, edit{"value": "b"}}}, {"choices": []any{edit{"value": "a", "label": "A"}, edit{"label": "A", "value": "a"}}}}}, // C-29
	{"CLAR-11", asWarning, aaep.TypeAwaitingClarification, []edit{answer("yes_no", "true"), answer("numeric", "1e3"), answer("multiple_choice", "0"), answer("freetext", "anything"), answer("telepathy", "hm")}, []edit{answer("yes_no", "yes"), answer("numeric", "many"), answer("multiple_choice", "9")}},

	{"PAY-01", asError, aaep.TypeStateChanged, []edit{{"summary_normal_yo": "Ó ń ronú."}, {"summary_terse_zh_hant": "x"}}, []edit{{"summary_normal_yo": 5}, {"summary_normal_yo": ""}}},
	{"ENV-47", asError, aaep.TypeStateChanged, []edit{{"summary_normal_yo": "x"}}, []edit{{"summary_normal_YO": "x"}, {"from_state_yo": "x"}, {"summary_normal_": "x"}, {"summary_normal_notalanguage": "x"}}},
	{"PAY-03", asWarning, aaep.TypeToolCompleted, []edit{{}}, []edit{{"summary_normal": absent{}}}},                                                                                                                            // C-28
	{"I18N-01", asWarning, aaep.TypeStateChanged, []edit{{}, {"localization_hints": absent{}, "summary_terse": absent{}, "summary_normal": absent{}, "summary_detailed": absent{}}}, []edit{{"localization_hints": absent{}}}}, // C-01
	{"I18N-02", asWarning, aaep.TypeStateChanged, []edit{{}}, []edit{{"localization_hints": edit{}}}},
	{"I18N-03", asError, aaep.TypeStateChanged, []edit{hints("primary_language", "zh-Hant-TW"), hints("primary_language", "en-x-earshot"), hints("primary_language", "qaa"), hints("primary_language", "en-QX"), hints("primary_language", "xzq"), hints("fallback_chain", []any{"de", "en"})}, []edit{hints("primary_language", "english language"), hints("primary_language", "en_US"), hints("primary_language", "e"), hints("available_languages", []any{"en--US"})}},
	{"I18N-04", asWarning, aaep.TypeStateChanged, []edit{hints("primary_language", "de"), {"localization_hints": edit{"primary_language": "ar", "text_direction": "rtl"}}, {"localization_hints": edit{"primary_language": "he-IL", "text_direction": "auto"}}}, []edit{hints("primary_language", "ar"), hints("primary_language", "he-IL"), hints("primary_language", "az-Arab")}}, // C-103
	{"I18N-05", asError, aaep.TypeStateChanged, []edit{hints("available_languages", []any{"de", "en"})}, []edit{hints("available_languages", []any{"de", "de"})}},
	{"ENV-53", asError, aaep.TypeStateChanged, []edit{hints("available_languages", languages(32))}, []edit{hints("available_languages", languages(33))}},
	{"I18N-08", asError, aaep.TypeStateChanged, nil, []edit{hints("tonal_marks", true)}},
	{"I18N-19", asWarning, aaep.TypeToolInvoked, []edit{{"summary_normal": "caf\u00e9"}}, []edit{{"summary_normal": "cafe\u0301"}}},
	{"I18N-22", asWarning, aaep.TypeToolInvoked, []edit{{"summary_normal": "q\u0323x"}}, []edit{{"summary_normal": "\u0323x"}}},

	{"CONF-30", asError, aaep.TypeConfirmationReply, []edit{{}}, nil},
	{"CONF-31", asError, aaep.TypeConfirmationReply, []edit{{"reply_token": "rpl_0"}}, []edit{{"reply_token": "rpl_ 0"}, {"reply_token": absent{}}}},
	{"CONF-32", asError, aaep.TypeConfirmationReply, []edit{{"decision": "accept"}}, []edit{{"decision": "Accept"}, {"decision": true}, {"decision": "yes"}}},
	{"CONF-33", asError, aaep.TypeConfirmationReply, []edit{{"subscription_id": "sub_x"}}, []edit{{"subscription_id": "sub_quickstart-demo"}}},
	{"CONF-34", asError, aaep.TypeConfirmationReply, []edit{{"timestamp": "2026-05-24T14:22:11Z"}}, []edit{{"timestamp": "2026-05-24T14:22:11.1Z"}, {"timestamp": "2026-02-30T14:22:11Z"}, {"timestamp": 5}}},
	{"CONF-40", asError, aaep.TypeConfirmationReply, nil, []edit{{"session_id": "sess_1"}, {"extensions": edit{}}, {"Reply_Token": "rpl_1"}}},
	{"ENV-60", asError, aaep.TypeConfirmationReply, nil, []edit{{"Decision": "accept"}, {"DECISION": "accept"}}},
	{"CLA-02", asError, aaep.TypeClarificationReply, []edit{{"response": "x"}, {"response": true}, {"response": false}, {"response": -1.5}}, []edit{{"response": absent{}}, {"response": nil}, {"response": []any{"x"}}, {"response": edit{}}}},
	{"CLA-04", asError, aaep.TypeClarificationReply, []edit{{"response": strings.Repeat("é", 16384)}}, []edit{{"response": ""}, {"response": strings.Repeat("é", 16385)}}},
	{"CLA-05", asError, aaep.TypeClarificationReply, []edit{{"confidence": 1}, {"confidence": 0.25}}, []edit{{"confidence": 1.1}, {"confidence": "high"}, {"mood": 1}}},
	{"QEXT-05", asError, aaep.TypeQuestionExtend, []edit{{}}, []edit{{"seconds": 60}}},
}

func summary(texts ...string) []edit {
	edits := make([]edit, len(texts))
	for i, text := range texts {
		edits[i] = edit{"summary_normal": text}
	}
	return edits
}

// harmless are texts that a search for parts of words would take for secrets, secret
// are such as should not be told.
var (
	harmless = summary(
		"The risk-benefit of task-12345678 on disk-0123456789 is for you to ask-about.", "Enter the password at the next step.", "password=[redacted]", "api_key: <hidden>",
		"credential=[redacted]", "Authorization: Bearer [redacted]", "The password: a story in two parts", "secret: none", "https://example.org/?token", "AKIA is a prefix.", "sk-",
		"ssh-rsa keys are old", "-----BEGIN CERTIFICATE-----", "the secret: //example", "key=12345678",
	)
	secret = summary(
		"url=https://api.example.com, api_key=sk-test-12345", "with sk-live-4242abcdEFGH.", "PASSWORD=hunter2x", "x-api-key: 8f14e45f", `{"client_secret": "abc12345"}`,
		"aws_secret_access_key = wJalrXUtnFEMI", "ghp_0123456789abcdefABCD", "github_pat_11ABCDEFG0123456789", "AKIAIOSFODNN7EXAMPLE", "Bearer abcdefghij0123456789", "bearer abcdefghij0123456789=",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA", "-----BEGIN RSA PRIVATE KEY-----", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "Password: hunter2", "a risk-sk-, then sk-proj-1234abcd",
	)
)

// known is the data of a namespace that is registered here.
func known(prefix string, data edit) edit {
	return edit{"@context": contexts(core, ours), "extensions": edit{prefix: data}}
}

func confirm(irreversible bool, risk any, decision string) edit {
	return edit{"irreversible": irreversible, "reversibility": absent{}, "risk_level": risk, "default_decision": decision}
}

func answer(kind, response string) edit {
	return edit{"accepted_response_kinds": []any{kind}, "default_response": response}
}

func hints(name string, value any) edit {
	return edit{"localization_hints": edit{"primary_language": "en", name: value}}
}

func languages(n int) []any {
	return sampleItems(aaep.Field{Item: &aaep.Field{Kind: aaep.KindString, Pattern: aaep.PatternLanguage}}, n)
}

func manyExtensions(n int) edit {
	all := edit{}
	for i := range n {
		all["x"+strings.Repeat("y", i)] = edit{}
	}
	return all
}

func nested(depth int) any {
	value := any(edit{})
	for range depth - 1 {
		value = edit{"in": value}
	}
	return value
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range slices.Concat(ruleCases, handshakeCases, manifestCases) {
		m, ok := aaep.Describe(c.of)
		if !ok {
			t.Fatalf("no message %s", c.of)
		}
		edited := func(e edit) []aaep.Violation {
			message := whole(t, m)
			for name, value := range e {
				put(message, name, value)
			}
			return judge(m, encode(t, message))
		}
		for _, e := range c.keeps {
			if found := edited(e); names(found, c.severity, c.rule) || len(aaep.Errors(found)) > 0 && !slices.Contains([]aaep.Severity{asWarning, asInfo}, c.severity) {
				t.Errorf("%v keeps %s, found%s", clip(e), c.rule, list(found))
			}
		}
		for _, e := range c.breaks {
			if found := edited(e); !names(found, c.severity, c.rule) {
				t.Errorf("%v breaks %s (%s), found%s", clip(e), c.rule, c.severity, list(found))
			}
		}
	}
}

func clip(e edit) edit {
	short := edit{}
	for name, value := range e {
		if text, ok := value.(string); ok && len(text) > 60 {
			value = text[:60]
		}
		short[name] = value
	}
	return short
}

func names(found []aaep.Violation, severity aaep.Severity, rule string) bool {
	return slices.ContainsFunc(found, func(v aaep.Violation) bool { return v.Severity == severity && v.Names(rule) })
}

// valid is a whole event as text, for cases that JSON values cannot express.
const valid = `{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.state.changed","event_id":"evt_1","session_id":"sess_1","timestamp":"2026-05-24T14:22:11.342Z","producer":{"agent_id":"tidy"},"localization_hints":{"primary_language":"en"},"from_state":"idle","to_state":"thinking","summary_normal":"Thinking."}`

// TestRawRules is for what is wrong with the text itself.
func TestRawRules(t *testing.T) {
	t.Parallel()
	cases := []struct {
		rule     string
		severity aaep.Severity
		raw      string
	}{
		{"ENV-01", asError, `[` + valid + `]`},
		{"ENV-01", asError, `"x"`},
		{"ENV-01", asError, `null`},
		{"ENV-01", asError, `5`},
		{"ENV-01", asError, valid + valid},
		{"ENV-01", asError, valid + `,`},
		{"ENV-02", asError, ``},
		{"ENV-02", asError, ` `},
		{"ENV-02", asError, `{`},
		{"ENV-02", asError, `{"a":}`},
		{"ENV-02", asError, `{'a':1}`},
		{"ENV-02", asError, `{"a":1,}`},
		{"ENV-02", asError, "// comment\n" + valid},
		{"ENV-02", asError, "\xef\xbb\xbf" + valid},
		{"ENV-02", asError, strings.Replace(valid, "Thinking.", "Th\xffnking", 1)},
		{"ENV-02", asError, strings.Replace(valid, "Thinking.", `\ud83d`, 1)},
		{"ENV-02", asError, strings.Replace(valid, "Thinking.", `\udc4d\ud83d`, 1)},
		{"ENV-02", asError, strings.Replace(valid, `"idle"`, `NaN`, 1)},
		{"ENV-02", asError, strings.Repeat(`{"a":`, 20000) + `1` + strings.Repeat(`}`, 20000)},
		{"ENV-05", asError, strings.Replace(valid, `"idle"`, `1e999`, 1)},
		{"ENV-05", asError, strings.Replace(valid, `"idle"`, `9007199254740994`, 1)},
		{"ENV-51", asWarning, strings.Replace(valid, `"idle"`, strings.Repeat(`[`, 900)+strings.Repeat(`]`, 900), 1)},
		{"ENV-58", asWarning, strings.Replace(valid, `{"@context":"https://aaep-protocol.org/context/v1",`, `{"to_state":"thinking","@context":"https://aaep-protocol.org/context/v1",`, 1)},
		{"ENV-58", asWarning, strings.Replace(valid, `"from_state"`, `"extensions":{},"from_state"`, 1)},
		{"ENV-60", asError, strings.Replace(valid, `"to_state"`, `"to_state":"idle","to_state"`, 1)},
		{"ENV-60", asError, strings.Replace(valid, `"producer":{`, `"producer":{"agent_id":"x",`, 1)},
		{"ENV-60", asError, strings.Replace(valid, `"to_state"`, `"extensions":{"a":{"b":1,"b":2}},"to_state"`, 1)},
		{"ENV-60", asError, strings.Replace(valid, `"to_state"`, `"to_\u0073tate":"idle","to_state"`, 1)},
	}
	for _, c := range cases {
		if found := aaep.Validate([]byte(c.raw), aaep.ModeProducer); !names(found, c.severity, c.rule) {
			t.Errorf("want %s, found%s\n%.200s", c.rule, list(found), c.raw)
		}
		if found := aaep.Validate([]byte(c.raw), aaep.ModeConsumer); c.rule != "ENV-58" && !names(found, c.severity, c.rule) {
			t.Errorf("as a consumer: want %s, found%s\n%.200s", c.rule, list(found), c.raw)
		}
	}
	for _, raw := range []string{valid, "\n\t " + strings.ReplaceAll(valid, ",", ",\n  ") + " \r\n", strings.Replace(valid, "Thinking.", `\ud83d\udc4d`, 1)} { // ENV-03
		if found := aaep.Validate([]byte(raw), aaep.ModeProducer); len(found) > 0 {
			t.Errorf("found%s\n%s", list(found), raw)
		}
	}
}

// TestManyFindings: the first finding does not hide the others.
func TestManyFindings(t *testing.T) {
	t.Parallel()
	found := aaep.Validate([]byte(`{"type":"aaep:agent.awaiting.confirmation","event_id":"x","timestamp":"now","action":"","timeout_seconds":0,"default_decision":"maybe","mood":1}`), aaep.ModeProducer)
	for _, rule := range []string{"ENV-07", "ENV-18", "ENV-24", "CONFM-01", "CONFM-02", "CONFM-03", "CONFM-04", "CONFM-05", "CONFM-06", "ENV-47"} {
		if !names(found, asError, rule) {
			t.Errorf("no %s in%s", rule, list(found))
		}
	}
}

// TestConsumer: what a consumer must bear is not an error, what it must not act on is.
func TestConsumer(t *testing.T) {
	t.Parallel()
	cases := []struct {
		of    string
		bear  []edit
		never []edit
	}{
		{aaep.TypeStateChanged, []edit{
			{"mood": 1}, {"aaep_mood": 1}, {"@id": "x"}, {"type": "aaep:agent.mood.changed"}, {"type": "medai:seen"}, {"type": "plain"}, // ENV-17
			{"extensions": edit{"medai": edit{}}}, {"extensions": edit{"medai": 1}}, // ENV-43
			{"urgency": "loud"}, {"verbosity": "epic"}, // ENV-61
			{"timestamp": "2026-05-24T14:22:11.1Z"}, {"timestamp": "2026-05-24T14:22:11.123456789Z"}, // C-11
			{"producer": edit{"agent_id": "a", "agent_version": "", "mood": 1}},                    // C-10
			{"summary_normal": absent{}, "localization_hints": absent{}, "aaep_version": absent{}}, // ENV-48
			{"summary_normal": strings.Repeat("x", 20000)}, {"from_state": strings.Repeat("x", 65)}, {"sequence_number": -1},
		}, []edit{
			{"event_id": "x"},
			{"session_id": 5},
			{"timestamp": "soon"},
			{"timestamp": "2026-05-24T14:22:11.1234567890Z"},
			{"timestamp": "2026-02-30T00:00:00Z"},
			{"timestamp": "2026-02-30T00:00:00.1Z"},
			{"producer": absent{}},
			{"@context": other},
			{"summary_normal": 5},
			{"summary_normal": nil},
			{"To_State": "x"}, // ENV-10
		}},
		{aaep.TypeToolInvoked, []edit{{"tool": "github/create_issue"}, {"tool_call_id": "x-1"}, {"risk_level": "extreme"}, {"urgency": "background"}}, []edit{{"irreversible": "no"}, {"tool": absent{}}, {"irreversible": nil}}}, // C-26
		{aaep.TypeAwaitingConfirmation, []edit{{"urgency": absent{}}, confirm(true, "high", "accept"), {"timeout_seconds": 300.0}}, []edit{{"default_decision": "maybe"}, {"reply_token": "x"}, {"timeout_seconds": 0}, {"timeout_seconds": 300.5}}},
		{aaep.TypeAwaitingClarification, []edit{{"choices": absent{}}, {"accepted_response_kinds": []any{"telepathy"}}}, nil},
		{aaep.TypeProgressUpdated, []edit{{"progress": edit{"step": 9, "total_steps": 3}}, {"progress": edit{"percent": 101, "mood": 1}}}, []edit{{"progress": 5}}},
	}
	for _, c := range cases {
		m, _ := aaep.Lookup(c.of)
		refused := func(e edit) []aaep.Violation {
			message := whole(t, m)
			for name, value := range e {
				put(message, name, value)
			}
			raw := encode(t, message)
			found := aaep.Errors(aaep.Validate(raw, aaep.ModeConsumer))
			if _, err := aaep.DecodeEvent(raw); (err == nil) != (len(found) == 0) {
				t.Errorf("%v: DecodeEvent says %v, Validate%s", clip(e), err, list(found))
			}
			return found
		}
		for _, e := range c.bear {
			if found := refused(e); len(found) > 0 {
				t.Errorf("%s with %v: found%s", c.of, clip(e), list(found))
			}
		}
		for _, e := range c.never {
			if found := refused(e); len(found) == 0 {
				t.Errorf("%s with %v passes", c.of, clip(e))
			}
		}
	}
}
