package conform_test

import (
	"github.com/earshot-dev/earshot/aaep/conform"
)

// Pieces of streams in which somebody is asked.
const (
	waiting  = "state from_state=thinking to_state=awaiting_input\n"
	grave    = "confirmation irreversible=true risk_level=high timeout_seconds=300"
	bound    = grave + " extra_context.tool=files.delete extra_context.tool_call_id=call_1\n"
	loose    = grave + "\n"
	accepted = "accept\nstate from_state=awaiting_input to_state=calling_tool\n"
	refused  = "reject\nstate from_state=awaiting_input to_state=thinking\n"
	grantee  = "invoked tool=files.delete tool_call_id=call_1 irreversible=true risk_level=high\ndone tool=files.delete tool_call_id=call_1\n"
	asking   = open + waiting
	timely   = "reply_token=rpl_2"
	bound2   = grave + " " + timely + " extra_context.tool=files.delete extra_context.tool_call_id=call_1\n"

	// afterwards is the call, behind the deadline of a question that is message 3.
	afterwards = "invoked tool=files.delete tool_call_id=call_1 irreversible=true risk_level=high at=305\ndone tool=files.delete tool_call_id=call_1 at=306\nstate from_state=calling_tool to_state=thinking at=307\ncompleted at=308"
)

// consentVectors are the streams about questions and what they allow.
func consentVectors() []source {
	return []source{
		flows("SEQ-22", "accepted", "asked, accepted, done", asking+bound+accepted+grantee+back+closing).also("SEQ-23", "SEQ-24", "SEQ-29", "SEQ-30", "CONF-01", "CONF-02"),
		flows("SEQ-22", "unbound", "the question names no call, the next one is meant", asking+loose+accepted+grantee+back+closing), // C-45
		flows("SEQ-22", "inferred", "no reply in the capture; the state that follows tells", asking+bound+"state from_state=awaiting_input to_state=calling_tool\n"+grantee+back+closing),
		flows("SEQ-22", "unseen", "no reply in the capture, and no word before the call", asking+bound+grantee+"state from_state=awaiting_input to_state=thinking\n"+closing), // C-45
		fails("SEQ-22", "before-reject", "done, then refused", 6, "/decision", asking+bound+grantee+refused+closing),
		fails("SEQ-22", "before-accept", "done, then accepted", 6, "/decision", asking+bound+grantee+"accept\nstate from_state=awaiting_input to_state=thinking\n"+closing),
		fails("SEQ-22", "told-before-reject", "a word that tells of a yes, done, then refused", 7, "/decision", asking+bound+"state from_state=awaiting_input to_state=calling_tool\n"+grantee+"reject\n"+back+closing),
		fails("SEQ-22", "told-reject", "a word that tells of a yes, refused, then done", 6, anywhere, asking+bound+"state from_state=awaiting_input to_state=calling_tool\nreject\n"+grantee+back+closing),
		fails("SEQ-22", "after-the-end", "done, and refused when the session is over", 8, "/decision", asking+bound+grantee+"state from_state=awaiting_input to_state=thinking\ncompleted\nreject"),
		flows("SEQ-22", "second", "the no of another, behind the yes and the call", asking+bound+accepted+grantee+"reject\n"+back+closing),
		fails("SEQ-22", "modified", "the yes was to another action", 6, anywhere, asking+bound+"accept modified_action.folder=new\nstate from_state=awaiting_input to_state=calling_tool\n"+grantee+back+closing),
		fails("SEQ-22", "late", "the yes came late", 6, anywhere, asking+bound+"accept at=303\nstate from_state=awaiting_input to_state=calling_tool at=304\n"+afterwards),
		flows("SEQ-22", "last-second", "the yes came in the last second", asking+bound+"accept at=302\nstate from_state=awaiting_input to_state=calling_tool at=304\n"+afterwards),
		fails("SEQ-22", "deadline", "the time is over, silence means no, done all the same", 5, anywhere, asking+bound+"state from_state=awaiting_input to_state=calling_tool at=304\n"+afterwards),
		fails("SEQ-22", "deadline-untold", "the same without a word before", 4, anywhere, asking+bound+afterwards),
		flows("SEQ-22", "in-time", "a word that tells of a yes in time, done behind the deadline", asking+bound+"state from_state=awaiting_input to_state=calling_tool\n"+afterwards),
		fails("SEQ-22", "can-be-undone", "the question said that it can be undone", 6, anywhere, asking+"confirmation irreversible=false risk_level=high timeout_seconds=300 extra_context.tool_call_id=call_1\n"+accepted+grantee+back+closing),
		warns("SEQ-22", "undoing-unsaid", "the question did not say whether it can be undone", 6, anywhere, asking+"confirmation irreversible=- risk_level=high timeout_seconds=300 extra_context.tool_call_id=call_1\n"+accepted+grantee+back+closing),
		flows("SEQ-22", "asked-again", "taken back and asked again under a new token, accepted, done", asking+bound+"state from_state=awaiting_input to_state=thinking\n"+waiting+bound2+"accept "+timely+"\nstate from_state=awaiting_input to_state=calling_tool\n"+grantee+back+closing),
		fails("SEQ-22", "old-token", "taken back and asked again; a yes under the old token, a no under the new one", 9, anywhere, asking+bound+"state from_state=awaiting_input to_state=thinking\n"+waiting+bound2+"accept\nreject "+timely+"\n"+grantee+"state from_state=awaiting_input to_state=thinking\n"+closing),
		fails("SEQ-22", "refused-reader", "asked, refused, done all the same, for a listener", somewhere, anywhere, asking+bound+refused+calling+grantee+back+closing).consumer(),
		flows("SEQ-22", "refused-envelope", "asked, refused, done all the same, of envelopes", asking+bound+refused+calling+grantee+back+closing).envelope(),
		fails("SEQ-22", "unasked", "nobody was asked", 3, anywhere, open+calling+grantee+back+closing).also("CONF-01"),
		fails("SEQ-22", "refused", "asked, refused, done all the same", somewhere, anywhere, asking+bound+refused+calling+grantee+back+closing),
		fails("SEQ-22", "afterwards", "done, then asked", 3, anywhere, open+calling+grantee+"state from_state=calling_tool to_state=awaiting_input\n"+loose+refused+closing), // C-38
		fails("SEQ-22", "other-call", "asked for another call", somewhere, anywhere, asking+bound+accepted+"invoked tool=files.delete tool_call_id=call_2 irreversible=true risk_level=high\ndone tool=files.delete tool_call_id=call_2\n"+back+closing).also("SEQ-24"),
		flows("SEQ-22", "this-tool", "the question names the tool and no call", asking+grave+" extra_context.tool=files.delete\n"+accepted+grantee+back+closing), // C-45
		fails("SEQ-22", "other-tool", "the question names another tool and no call", 6, anywhere, asking+grave+" extra_context.tool=files.trash\n"+accepted+grantee+back+closing).also("SEQ-24", "CONF-01"),
		fails("SEQ-22", "other-tool-called", "the action is a call of another tool", 6, anywhere, asking+grave+" action=files.trash(old)\n"+accepted+grantee+back+closing).also("SEQ-24", "CONF-01"),
		fails("SEQ-22", "other-tool-same-call", "the question names the call and another tool", 6, anywhere, asking+grave+" extra_context.tool=files.trash extra_context.tool_call_id=call_1\n"+accepted+grantee+back+closing),
		fails("SEQ-22", "refusal-inferred", "no reply in the capture; the state that follows tells of a no", somewhere, anywhere, asking+bound+"state from_state=awaiting_input to_state=thinking\n"+calling+grantee+back+closing),
		warns("SEQ-22", "silence", "allowed by silence only", somewhere, anywhere,
			asking+"confirmation irreversible=true risk_level=low default_decision=accept timeout_seconds=60 extra_context.tool_call_id=call_1\nstate @context=https://github.com/earshot-dev/earshot/ns/v1 from_state=awaiting_input to_state=calling_tool extensions.earshot.resolution=expired at=63\ninvoked tool=files.delete tool_call_id=call_1 irreversible=true at=64\ndone tool=files.delete tool_call_id=call_1 at=65\nstate from_state=calling_tool to_state=thinking at=66\ncompleted at=67"), // C-24
		fails("CONF-01", "unasked", "something irreversible, and no question", 3, anywhere, open+calling+grantee+back+closing).also("SEQ-22"),
		warns("CONF-02", "unasked", "something of high risk, and no question", 3, anywhere, open+calling+"invoked risk_level=high\ndone\n"+back+closing), // C-24
		flows("CONF-02", "low", "something of low risk, and no question", open+calling+"invoked risk_level=low\ndone\n"+back+closing),
		fails("SEQ-23", "twice", "one yes, two calls", somewhere, anywhere, asking+loose+accepted+"invoked irreversible=true\ndone\ninvoked irreversible=true\ndone\n"+back+closing).also("SEQ-22"),
		flows("SEQ-23", "two", "two questions, two calls", asking+loose+accepted+"invoked irreversible=true\ndone\nstate from_state=calling_tool to_state=awaiting_input\n"+grave+" "+timely+"\naccept "+timely+"\nstate from_state=awaiting_input to_state=calling_tool\ninvoked irreversible=true\ndone\n"+back+closing),
		fails("SEQ-24", "nothing", "accepted, and nothing happens", somewhere, anywhere, asking+bound+"accept\nstate from_state=awaiting_input to_state=thinking\n"+closing),
		flows("SEQ-24", "cancelled", "accepted, and the session is cancelled", asking+bound+accepted+"cancelled"),
		flows("SEQ-25", "thinking", "refused, and a word follows", asking+bound+refused+closing).also("SEQ-26", "SEQ-30", "CONF-04"),
		fails("SEQ-25", "silent", "refused, and the session ends without a word", somewhere, anywhere, asking+bound+"reject\n"+closing).also("SEQ-30"),
		warns("SEQ-26", "done", "something reversible is refused and done", somewhere, anywhere, asking+"confirmation extra_context.tool_call_id=call_1\n"+refused+calling+"invoked tool_call_id=call_1\ndone tool_call_id=call_1\n"+back+closing),
		fails("SEQ-28", "twice", "asked again for the same call before the first answer", 4, anywhere, asking+bound+"confirmation irreversible=true risk_level=high timeout_seconds=300 reply_token=rpl_2 extra_context.tool=files.delete extra_context.tool_call_id=call_1\nreject\nreject "+timely+"\nstate from_state=awaiting_input to_state=thinking\n"+closing),
		flows("SEQ-28", "others", "two questions about two calls", asking+bound+"confirmation irreversible=true risk_level=high timeout_seconds=300 reply_token=rpl_2 action=Empty~the~other~folder. extra_context.tool=files.delete extra_context.tool_call_id=call_2\nreject\nreject "+timely+"\nstate from_state=awaiting_input to_state=thinking\n"+closing),
		flows("SEQ-28", "again", "asked again after the first answer", asking+bound+refused+waiting+"confirmation irreversible=true risk_level=high timeout_seconds=300 reply_token=rpl_2 extra_context.tool=files.delete extra_context.tool_call_id=call_1\nreject "+timely+"\nstate from_state=awaiting_input to_state=thinking\n"+closing),
		warns("SEQ-29", "thinking", "asked while the state is thinking", 2, anywhere, open+bound+"reject\nstate from_state=awaiting_input to_state=thinking\n"+closing), // C-37
		fails("SEQ-30", "open", "a question without an outcome", somewhere, anywhere, asking+bound+closing),
		warns("SEQ-30", "tool-error", "refused, and a tool that fails tells it", somewhere, anywhere, open+"invoked tool_call_id=call_1\n"+waiting+"confirmation\nreject\ndone tool_call_id=call_1 status=error error_message=Refused.\n"+closing).also("SEQ-25"),
		fails("SEQ-30", "tool-success", "refused, and a tool that ends well does not tell it", somewhere, anywhere, open+"invoked tool_call_id=call_1\n"+waiting+"confirmation\nreject\ndone tool_call_id=call_1\n"+closing).also("SEQ-25"),
		flows("SEQ-38", "cancelled", "a question that goes with its session", asking+bound+"cancelled"),
		flows("CLA-14", "told", "a clarification, and a word behind it", asking+"clarification\nstate from_state=awaiting_input to_state=thinking\n"+closing).also("SEQ-30"),
		fails("CLA-14", "silent", "a clarification, and the end", somewhere, anywhere, asking+"clarification\n"+closing).also("SEQ-30"),
	}
}

// answerVectors are requests and the answers to them.
func answerVectors() []source {
	ask := func(members ...any) object {
		return on("request").with(append([]any{"capabilities"}, object{}.with(members...))...)
	}
	grant := func(members ...any) object {
		return on("accepted").with(append([]any{"honored_capabilities"}, object{}.with(members...))...)
	}
	fine := func(rule, slug, title string, request, answer object) source {
		return exchange(conform.VerdictValid, rule, slug, title, anywhere, request, answer)
	}
	wrong := func(rule, slug, title, name string, request, answer object) source {
		return exchange(conform.VerdictError, rule, slug, title, "/honored_capabilities/"+name, request, answer)
	}
	rate, filters, tags, hints := "max_events_per_second", "event_filters", "languages", "coalesce_boundaries"
	narrow := object{{"include", list("aaep:agent.*")}, {"exclude", list("aaep:agent.tool.*")}}
	signed := "accept_signed_manifests_only"
	return []source{
		fine("HS-28", "slower", "a lower rate", ask(rate, 5), grant(rate, 3)).also("HS-33"),
		fine("HS-28", "same", "the same rate", ask(rate, 5), grant(rate, 5)),
		wrong("HS-28", "faster", "a higher rate", rate, ask(rate, 5), grant(rate, 6)),
		fine("HS-28", "limit", "a limit where none was asked for", ask(), grant(rate, 6)),
		fine("HS-29", "some", "some of the languages", ask(tags, list("yo-NG", "en-US")), grant(tags, list("en-US"))).also("I18N-16"),
		wrong("HS-29", "other", "a language that was not asked for", tags, ask(tags, list("yo-NG")), grant(tags, list("en-US"))).also("I18N-16"),
		fine("HS-29", "case", "the same tag, spelled otherwise", ask(tags, list("en-us")), grant(tags, list("en-US"))), // C-50
		fine("HS-29", "default", "the default, where nothing was asked for", ask(), grant(tags, list("en-US"))),
		fine("HS-30", "some", "some of the boundaries", ask(hints, list("word", "sentence")), grant(hints, list("sentence"))),
		wrong("HS-30", "other", "a boundary that was not asked for", hints, ask(hints, list("sentence")), grant(hints, list("sentence", "word"))),
		fine("HS-31", "same", "the same filters", ask(filters, narrow), grant(filters, narrow)),
		fine("HS-31", "stricter", "fewer types and more exceptions", ask(filters, narrow), grant(filters, object{{"include", list("aaep:agent.session.*")}, {"exclude", list("aaep:agent.tool.*", "aaep:agent.progress.*")}})),
		wrong("HS-31", "include", "a type that was not asked for", filters+"/include", ask(filters, narrow), grant(filters, object{{"include", list("aaep:agent.*", "medai:*")}, {"exclude", list("aaep:agent.tool.*")}})),
		wrong("HS-31", "exclude", "an exception is dropped", filters+"/exclude", ask(filters, narrow), grant(filters, object{{"include", list("aaep:agent.*")}})),
		wrong("HS-32", "replies", "replies that were not offered", "supports_confirmation_reply", ask("supports_confirmation_reply", false), grant("supports_confirmation_reply", true)),
		wrong("HS-32", "levels", "a level that was not offered", "supported_conformance_levels", ask("supported_conformance_levels", list(1, 2)), grant("supported_conformance_levels", list(3))),
		wrong("HS-32", "extensions", "an extension that was not offered", "supported_extensions", ask("supported_extensions", list()), grant("supported_extensions", list(others))),
		wrong("HS-32", "signed", "signatures that are not insisted on any more", signed, ask(signed, true), grant(signed, false).with("signed_manifest", "eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl")),
		fine("HS-32", "less", "less of everything", ask("supports_confirmation_reply", true, "supported_conformance_levels", list(1, 2, 3), "supported_extensions", list(others)), grant("supports_confirmation_reply", false, "supported_conformance_levels", list(1))).also("HS-33"),
		exchange(conform.VerdictError, "HS-27", "missing", "a signed manifest was demanded, and there is none", "/signed_manifest", ask(signed, true), grant()),
		fine("HS-27", "there", "a signed manifest was demanded, and there is one", ask(signed, true), grant().with("signed_manifest", "eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl")),
		fine("HS-27", "free", "none was demanded", ask(), grant()),
		bad("L2S-2", "false", "level 2, and no replies to confirmations", "/capabilities/supports_confirmation_reply", ask("supported_conformance_levels", list(1, 2), "supports_confirmation_reply", false)).also("CAP-04"),
		warn("CAP-04", "silent", "level 2, and not a word about replies to confirmations", "/capabilities/supports_confirmation_reply", ask("supported_conformance_levels", list(1, 2))),
		good("CAP-04", "level-1", "level 1, and no replies to confirmations", ask("supported_conformance_levels", list(1), "supports_confirmation_reply", false)),
		good("L2S-2", "says", "level 2, with replies to confirmations", ask("supported_conformance_levels", list(1, 2), "supports_confirmation_reply", true)).also("CAP-04"),
	}
}
