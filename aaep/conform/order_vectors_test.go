package conform_test

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/conform"
)

// Pieces of streams.
const (
	open    = "started\nstate from_state=idle to_state=thinking\n"
	closing = "completed"
	calling = "state from_state=thinking to_state=calling_tool\n"
	back    = "state from_state=calling_tool to_state=thinking\n"
	writing = "state from_state=thinking to_state=writing_output\n"
	written = "state from_state=writing_output to_state=thinking\n"
)

// orderVectors are the streams about beginning, end, states, calls and text.
func orderVectors() []source {
	return join(lifecycleVectors(), stateVectors(), callVectors(), outputVectors(), numberVectors(), wholeVectors())
}

func lifecycleVectors() []source {
	return []source{
		flows("SEQ-01", "short", "start and end", "started\ncompleted").also("SEQ-02", "SEQ-03", "L1P-1", "L1P-2"),
		fails("SEQ-01", "twice", "a second start", 1, "/type", "started\nstarted\ncompleted"),
		fails("SEQ-01", "none", "no start at all", 0, anywhere, "progress\ncompleted"),
		fails("SEQ-02", "before", "an event before the start", 0, anywhere, "progress\nstarted\ncompleted").also("SEQ-01"),
		fails("SEQ-03", "open", "no end", ending, anywhere, open+"progress"),
		fails("SEQ-03", "open-envelope", "no end, of envelopes", ending, anywhere, open+"progress").envelope(),
		warns("SEQ-03", "open-reader", "no end, for a listener", ending, anywhere, open+"progress").consumer(),
		flows("SEQ-03", "cut-short", "a recording that stops before its session ends", open+"invoked tool_call_id=call_1\nchunk").options(conform.Options{CutShort: true}).also("SEQ-16", "SEQ-31"),
		flows("SEQ-03", "recorded", "a recording of a subscription stops before its session ends", "accepted\n"+open+"invoked tool_call_id=call_1\nchunk").also("SEQ-16", "SEQ-31"),
		fails("SEQ-03", "two", "two ends of one kind", 2, "/type", "started\ncompleted\ncompleted").also("SEQ-04"),
		flows("SEQ-03", "error", "an error for an end", "started\nerrored"),
		flows("SEQ-04", "again", "the end, delivered again", "started\ncompleted\nrepeat"),
		fails("SEQ-04", "state", "a change of state behind the end", 2, "/type", "started\ncompleted\nstate"),
		fails("SEQ-04", "chunk", "text behind a cancellation", 2, "/type", "started\ncancelled\nlast"),
		flows("SEQ-05", "one", "a cancellation alone", "started\ncancelled"),
		fails("SEQ-05", "after-error", "completed behind an error", 2, "/type", "started\nerrored\ncompleted").also("SEQ-04"),
		fails("SEQ-05", "after-cancel", "an error behind a cancellation", 2, "/type", "started\ncancelled\nerrored").also("SEQ-04"),
		fails("SEQ-06", "reopened", "a finished session started again", 2, "/type", "started\ncompleted\nstarted\ncompleted").also("SEQ-04"),
		flows("SEQ-06", "next", "the next session under an id of its own", "started\ncompleted\nstarted session_id=sess_2\ncompleted session_id=sess_2").also("ENV-23"),
		flows("SEQ-37", "completed", "a hand-off, then the end", open+"state from_state=thinking to_state=handing_off\nhandoff\ncompleted").also("SEQ-39"),
		flows("SEQ-37", "cancelled", "a hand-off, then a cancellation", open+"state from_state=thinking to_state=handing_off\nhandoff\ncancelled"),
		flows("ENV-19", "different", "two events with ids of their own", "started\ncompleted").also("ENV-20", "ENV-22"),
		fails("ENV-19", "same", "one id for two events", 1, "/event_id", "started\nprogress event_id=evt_1\ncompleted").also("ENV-20"),
		fails("ENV-20", "other-session", "one id for events of two sessions", 2, "/event_id", "started\nstarted session_id=sess_2\nprogress session_id=sess_2 event_id=evt_1\ncompleted\ncompleted session_id=sess_2").also("ENV-19"),
		flows("ENV-20", "again", "one event, delivered three times", "started\nrepeat\nrepeat\ncompleted"),
		fails("ENV-22", "slip", "one event under another session's id", 1, anywhere, "started\nprogress session_id=sess_2\ncompleted\ncancelled session_id=sess_2").finding("SEQ-02").also("SEQ-01"),
		flows("ENV-28", "same", "two events at one instant", "started\nprogress at=0\ncompleted at=0"),
		flows("ENV-28", "offsets", "a later instant that reads earlier at its offset", "started timestamp=2026-05-24T16:22:00+02:00\ncompleted timestamp=2026-05-24T14:22:01Z"),
		fails("ENV-28", "back", "a second back", 2, "/timestamp", "started\nprogress at=5\nprogress at=4\ncompleted"),
		fails("ENV-28", "offset-back", "an earlier instant that reads later at its offset", 1, "/timestamp", "started timestamp=2026-05-24T14:22:00Z\ncompleted timestamp=2026-05-24T15:21:59+01:00"),
		flows("SEQ-45", "many", "everything delivered twice", "started\nrepeat\nstate from_state=idle to_state=thinking\nrepeat\ninvoked tool_call_id=call_1\nrepeat\ndone tool_call_id=call_1\nrepeat\nlast\nrepeat\ncompleted\nrepeat").also("TR-06"),
		flows("SEQ-45", "reordered", "an event again, its members in another order", "started\nprogress\nreordered\ncompleted").also("ENV-20", "ENV-19"),
		flows("SEQ-45", "spaced", "an event again, with blanks", "started\nspaced\ninvoked tool_call_id=call_1\nspaced\ndone tool_call_id=call_1\nspaced\ncompleted\nspaced").also("ENV-20"),
		flows("SEQ-45", "escaped", "an event again, with escapes", "started\nescaped\nlast\nescaped\ncompleted\nescaped").also("ENV-20"),
		fails("SEQ-45", "new-id", "a start told again under a new id is a second start", 1, "/type", "started\nstarted at=0\ncompleted").finding("SEQ-01"),
	}
}

func stateVectors() []source {
	return []source{
		flows("SEQ-08", "idle", "the first change leaves idle", open+closing),
		fails("SEQ-08", "thinking", "the first change leaves thinking", 1, "/from_state", "started\nstate from_state=thinking to_state=deciding\ncompleted"),
		flows("SEQ-09", "chain", "each change leaves what the last one entered", open+"state from_state=thinking to_state=deciding\n"+closing),
		fails("SEQ-09", "gap", "a change leaves what nothing entered", 2, "/from_state", open+"state from_state=deciding to_state=thinking\n"+closing),
		flows("SEQ-10", "call", "a call implies calling_tool", open+"invoked\ndone\nstate from_state=calling_tool to_state=deciding\n"+closing), // C-35
		flows("SEQ-10", "text", "text implies writing_output", open+"last\nstate from_state=writing_output to_state=deciding\n"+closing),
		flows("SEQ-10", "handoff", "a hand-off implies handing_off", open+"handoff\nstate from_state=handing_off to_state=thinking\n"+closing),
		flows("SEQ-10", "question", "a question implies awaiting_input", open+"clarification\nstate from_state=awaiting_input to_state=thinking\n"+closing),
		fails("SEQ-10", "other", "a call does not imply writing_output", 4, "/from_state", open+"invoked\ndone\nstate from_state=writing_output to_state=deciding\n"+closing).also("SEQ-09"),
		fails("SEQ-10", "before", "what was implied before the last change is over", 5, "/from_state", open+"invoked\ndone\nstate from_state=calling_tool to_state=deciding\nstate from_state=calling_tool to_state=thinking\n"+closing).also("SEQ-09"),
		flows("SEQ-11", "told", "both moves of a call are told", open+calling+"invoked\ndone\n"+back+closing).also("SEQ-21", "L1P-3"),
		warns("SEQ-11", "untold", "the move to calling_tool is not told", somewhere, anywhere, open+"invoked\ndone\nstate from_state=calling_tool to_state=thinking\n"+closing),
		warns("SEQ-21", "thinking", "a call while the state is thinking", somewhere, anywhere, open+"invoked\ndone\nstate from_state=thinking to_state=deciding\n"+closing),
		flows("SEQ-19", "before", "the completion, then the state behind it", open+calling+"invoked\ndone\n"+back+closing),
		fails("SEQ-19", "after", "the state behind the call, then its completion", somewhere, anywhere, open+calling+"invoked tool_call_id=call_1\n"+back+"done tool_call_id=call_1\n"+closing),
		flows("SEQ-47", "two", "two agents, two chains", "started\nstate\nstate producer.agent_id=second from_state=idle to_state=deciding\nstate from_state=thinking to_state=deciding\ncompleted"),
		fails("SEQ-47", "mixed", "the chain of one agent does not continue that of the other", 2, "/from_state", "started\nstate\nstate producer.agent_id=second from_state=thinking to_state=deciding\ncompleted").finding("SEQ-08"),
	}
}

func callVectors() []source {
	return []source{
		flows("SEQ-13", "same-tool", "a call without an id", "started\ninvoked\ndone\ncompleted").also("SEQ-16", "SEQ-17"),
		flows("SEQ-13", "same-id", "a call with an id", "started\ninvoked tool_call_id=call_1\ndone tool_call_id=call_1\ncompleted").also("SEQ-14", "SEQ-15", "SEQ-16"),
		fails("SEQ-13", "none", "a completion of nothing", 1, anywhere, "started\ndone\ncompleted"),
		fails("SEQ-13", "other-tool", "a completion of another tool", 2, anywhere, "started\ninvoked\ndone tool=files.list\ndone\ncompleted"),
		fails("SEQ-13", "other-id", "a completion of another id", 2, anywhere, "started\ninvoked tool_call_id=call_1\ndone tool_call_id=call_2\ndone tool_call_id=call_1\ncompleted"),
		fails("SEQ-14", "tool", "a completion names another tool", 2, "/tool", "started\ninvoked tool_call_id=call_1\ndone tool=files.list tool_call_id=call_1\ncompleted"),
		fails("SEQ-15", "reused", "an id for two calls, one behind the other", 3, anywhere, "started\ninvoked tool_call_id=call_1\ndone tool_call_id=call_1\ninvoked tool_call_id=call_1\ndone tool_call_id=call_1\ncompleted"),
		fails("SEQ-15", "unrepeated", "a completion without the id of its call", 2, anywhere, "started\ninvoked tool_call_id=call_1\ndone\ncompleted"),
		flows("SEQ-15", "crossed", "two calls that end in the other order", "started\ninvoked tool_call_id=call_1\ninvoked tool_call_id=call_2\ndone tool_call_id=call_2\ndone tool_call_id=call_1\ncompleted").also("SEQ-20"),
		fails("SEQ-16", "open", "a call without an end", somewhere, anywhere, "started\ninvoked tool_call_id=call_1\ncompleted"),
		fails("SEQ-16", "open-error", "a call without an end, in a session that fails", somewhere, anywhere, "started\ninvoked\ninvoked\ndone\nerrored").also("SEQ-36"),
		warns("SEQ-16", "open-reader", "a call without an end, for a listener", somewhere, anywhere, "started\ninvoked tool_call_id=call_1\ncompleted").consumer(),
		flows("SEQ-16", "open-envelope", "a call without an end, of envelopes", "started\ninvoked tool_call_id=call_1\ncompleted").envelope(),
		fails("SEQ-16", "twice", "a call with two ends", 3, anywhere, "started\ninvoked tool_call_id=call_1\ndone tool_call_id=call_1\ndone tool_call_id=call_1\ncompleted"),
		fails("SEQ-17", "too-many", "two completions of one call without an id", 3, anywhere, "started\ninvoked\ndone\ndone\ncompleted"),
		flows("SEQ-17", "counted", "two calls, two completions", "started\ninvoked\ndone\ninvoked\ndone\ncompleted"),
		flows("SEQ-18", "timeout", "an abandoned call that is told", "started\ninvoked\ndone status=timeout error_message=No~answer.\nerrored"),
		fails("SEQ-18", "silence", "an abandoned call that is not", somewhere, anywhere, "started\ninvoked\nerrored").finding("SEQ-16"),
		warns("SEQ-20", "no-ids", "two calls side by side without ids", somewhere, anywhere, "started\ninvoked\ninvoked\ndone\ndone\ncompleted"),
		flows("SEQ-48", "agree", "totals that agree", "started\ninvoked\ndone\ncompleted tool_invocations_count=1 duration_ms=3000"),
		warns("SEQ-48", "count", "one call, and two in the total", 3, "/tool_invocations_count", "started\ninvoked\ndone\ncompleted tool_invocations_count=2"),
		warns("SEQ-48", "duration", "three seconds, and an hour in the total", 3, "/duration_ms", "started\ninvoked\ndone\ncompleted duration_ms=3600000"),
		flows("SEQ-36", "closed", "call and text are closed before an error", open+"invoked tool_call_id=call_1\nchunk\ndone tool_call_id=call_1 status=timeout error_message=No~answer.\nlast chunk= position=6\nerrored"),
		fails("SEQ-36", "call", "a call is open at an error", somewhere, anywhere, "started\ninvoked tool_call_id=call_1\nerrored").also("SEQ-16"),
		fails("SEQ-36", "text", "text is open at a cancellation", somewhere, anywhere, "started\nchunk output_id=out_1\ncancelled").also("SEQ-31"),
	}
}

func outputVectors() []source {
	two := "started\nchunk output_id=out_1\nlast output_id=out_1 position=6\n"
	hinted := func(hint string) string {
		return open + writing + "chunk chunk=One.~ coalesce_hint=" + hint + "\nlast position=5\n" + written + closing
	}
	sentences := conform.Options{Terms: jsontext.Value(`{"coalesce_boundaries":["sentence","completion"]}`)}
	return []source{
		flows("SEQ-31", "once", "one last chunk", two+"completed").also("SEQ-32", "SEQ-34"),
		fails("SEQ-31", "never", "no last chunk", somewhere, anywhere, "started\nchunk output_id=out_1\ncompleted"),
		fails("SEQ-31", "twice", "two last chunks", 3, anywhere, two+"last output_id=out_1 position=11\ncompleted").also("SEQ-32"),
		fails("SEQ-32", "more", "a chunk behind the last", 3, anywhere, two+"chunk output_id=out_1 position=11\ncompleted"),
		flows("SEQ-32", "other", "another output goes on", "started\nlast output_id=out_1\nlast output_id=out_2\ncompleted"),
		flows("SEQ-33", "implicit", "chunks without an id", "started\nchunk\nlast position=6\ncompleted"),
		fails("SEQ-33", "never", "chunks without an id and without an end", somewhere, anywhere, "started\nchunk\ncompleted").also("SEQ-31"),
		fails("SEQ-33", "more", "a second text without an id", 2, anywhere, "started\nlast\nlast position=5\ncompleted").also("SEQ-31", "SEQ-32"),
		flows("SEQ-34", "points", "positions count code points", "started\nchunk chunk=añ👍\nlast position=3\ncompleted"), // C-33
		flows("SEQ-34", "side", "two outputs side by side", "started\nchunk output_id=out_1\nchunk output_id=out_2\nlast output_id=out_1 position=6\nlast output_id=out_2 position=6\ncompleted"),
		fails("SEQ-34", "first", "the first position is not 0", 1, "/position", "started\nlast position=1\ncompleted"),
		fails("SEQ-34", "overlap", "a position inside the text before", 2, "/position", "started\nchunk\nlast position=5\ncompleted"), // C-34
		fails("SEQ-34", "gap", "a position beyond the text before", 2, "/position", "started\nchunk\nlast position=7\ncompleted"),
		fails("SEQ-34", "utf16-sent", "positions that count UTF-16", 2, "/position", "started\nchunk chunk=añ👍\nlast position=4\ncompleted"), // C-33
		fails("SEQ-34", "bytes-sent", "positions that count bytes", 2, "/position", "started\nchunk chunk=añ👍\nlast position=7\ncompleted"),
		stream(conform.VerdictInfo, "SEQ-34", "bytes", "positions that count bytes throughout are borne", somewhere, anywhere, "started\nchunk chunk=añ👍\nlast position=7\ncompleted").consumer(),
		stream(conform.VerdictInfo, "SEQ-34", "utf16", "positions that count UTF-16 throughout are borne", somewhere, anywhere, "started\nchunk chunk=añ👍\nlast position=4\ncompleted").consumer(),
		fails("SEQ-35", "down", "a position goes down", 3, "/position", "started\nchunk\nchunk position=6\nlast position=3\ncompleted").also("SEQ-34"),
		flows("SEQ-35", "marker", "an empty last chunk at the end of the text", "started\nchunk\nlast chunk= position=6\ncompleted"),
		flows("BP-13", "sentence", "a chunk that ends a sentence says so", hinted("sentence")),
		warns("BP-13", "no-sentence", "a chunk that does not says so", 3, "/coalesce_hint", open+writing+"chunk chunk=One.~Tw coalesce_hint=sentence\nlast position=7\n"+written+closing),
		flows("BP-14", "honoured", "hints from the honoured set", hinted("sentence")).options(sentences),
		warns("BP-14", "other", "a hint that was not honoured", 3, "/coalesce_hint", hinted("word")).options(sentences),
		flows("BP-14", "completion", "completion at the end, honoured or not", "started\nlast\ncompleted").options(conform.Options{Terms: jsontext.Value(`{"coalesce_boundaries":["sentence"]}`)}), // C-76
		flows("L1P-6", "hints", "text in chunks, each with its hint", hinted("sentence")).also("OUT-04"),
		flows("I18N-29", "whole", "whole characters in every chunk", "started\nchunk chunk=cafe\u0301\nlast position=5\ncompleted"),
		fails("I18N-29", "mark", "a mark apart from its letter", 2, anywhere, "started\nchunk chunk=cafe\nlast chunk=\u0301. position=4\ncompleted"),
		fails("I18N-29", "family", "a family of emoji in two parts", 2, anywhere, "started\nchunk chunk=👩\u200d\nlast chunk=👧 position=2\ncompleted"),
		fails("I18N-29", "flag", "half a flag", 2, anywhere, "started\nchunk chunk=🇳\nlast chunk=🇬 position=1\ncompleted"),
	}
}

func numberVectors() []source {
	numbered := func(numbers string) string {
		var lines []string
		for i, n := range strings.Fields(numbers) {
			line := []string{"started", "progress", "progress", "completed"}[i]
			if n != "-" {
				line += " sequence_number=" + n
			}
			lines = append(lines, line)
		}
		return strings.Join(lines, "\n")
	}
	at := "/sequence_number"
	return []source{
		flows("SEQ-40", "zero", "0, 1, 2, 3", numbered("0 1 2 3")).also("SEQ-41", "SEQ-42"),
		fails("SEQ-40", "one", "the start has number 1", 0, at, numbered("1 2 3 4")),
		fails("SEQ-41", "gap", "a number is left out", 2, at, numbered("0 1 3 4")),
		fails("SEQ-41", "again", "a number comes twice", 2, at, numbered("0 1 1 2")),
		fails("SEQ-42", "missing", "an event without a number behind others", 3, at, numbered("0 1 2 -")),
		fails("SEQ-42", "late", "numbers that begin on the way", somewhere, at, numbered("- - 2 3")),
		flows("SEQ-42", "none", "no numbers at all", numbered("- - - -")),
		flows("SEQ-41", "again-delivered", "a redelivery takes no number", "started sequence_number=0\nrepeat\ncompleted sequence_number=1"),
		flows("SEQ-43", "numbered", "numbers, where order can be lost", numbered("0 1 2 3")).options(conform.Options{Reordering: true}),
		fails("SEQ-43", "none", "no numbers, where order can be lost", somewhere, at, numbered("- - - -")).options(conform.Options{Reordering: true}),
	}
}

// wholeVectors are about captures that do not hold everything.
func wholeVectors() []source {
	ends := jsontext.Value(`{"event_filters":{"include":["aaep:agent.session.*","aaep:agent.tool.completed"]}}`)
	chainless := jsontext.Value(`{"event_filters":{"exclude":["aaep:agent.tool.*","aaep:agent.progress.*"]}}`)
	return []source{
		flows("SEQ-50", "invocations", "invocations are filtered out", "started\ndone tool_call_id=call_1\ndone\ncompleted tool_invocations_count=2").options(conform.Options{Terms: ends}),
		fails("SEQ-50", "unfiltered", "the same without a filter", 1, anywhere, "started\ndone\ncompleted").finding("SEQ-13"),
		flows("SEQ-50", "recorded", "invocations are filtered out, as the recording says at its beginning", `accepted honored_capabilities.event_filters.include=["aaep:agent.session.*","aaep:agent.tool.completed"]`+"\nstarted\ndone tool_call_id=call_1\ncompleted tool_invocations_count=2"),
		fails("SEQ-50", "recorded-unfiltered", "the same recording without a filter", 2, anywhere, "accepted\nstarted\ndone\ncompleted").finding("SEQ-13"),
		flows("SEQ-50", "calls", "calls are filtered out, states are not", open+calling+"state from_state=calling_tool to_state=writing_output\nlast\n"+closing+" tool_invocations_count=3").options(conform.Options{Terms: chainless}),
		flows("SEQ-50", "late", "a capture that begins in the middle", "state from_state=calling_tool to_state=writing_output\ndone tool_call_id=call_1\nchunk position=512\nlast position=518\ncompleted").options(conform.Options{JoinedLate: true}), // C-36
		warns("SEQ-34", "gap-filtered", "a gap in a filtered capture", 2, "/position", "started\nchunk\nlast position=9\ncompleted").options(conform.Options{Terms: chainless}),                                                                        // C-34
		fails("SEQ-34", "overlap-filtered", "an overlap in a filtered capture", 2, "/position", "started\nchunk\nlast position=3\ncompleted").options(conform.Options{Terms: chainless}),
		fails("SEQ-09", "filtered", "a broken chain, though calls are filtered out", 2, "/from_state", open+"state from_state=deciding to_state=thinking\n"+closing).options(conform.Options{Terms: chainless}),
	}
}
