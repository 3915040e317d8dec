package main_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
)

const (
	startedMessage = `{"@context":"https://aaep-protocol.org/context/v1","aaep_version":"1.0.0","type":"aaep:agent.session.started","event_id":"evt_1","session_id":"sess_1","timestamp":"2026-05-01T10:00:00.000Z","producer":{"agent_id":"a"},"verbosity":"normal","urgency":"normal","localization_hints":{"primary_language":"en","text_direction":"ltr"},"summary_normal":"Begun."}`
	endedMessage   = `{"@context":"https://aaep-protocol.org/context/v1","aaep_version":"1.0.0","type":"aaep:agent.session.completed","event_id":"evt_2","session_id":"sess_1","timestamp":"2026-05-01T10:00:01.000Z","producer":{"agent_id":"a"},"verbosity":"normal","urgency":"normal","localization_hints":{"primary_language":"en","text_direction":"ltr"},"summary_normal":"Done."}`
)

// said is what `earshot validate --json` writes, a line each.
type said struct {
	File       string           `json:"file"`
	Line       int              `json:"line"`
	Offset     int64            `json:"offset"`
	EventID    string           `json:"event_id"`
	Type       string           `json:"type"`
	Valid      bool             `json:"valid"`
	Violations []aaep.Violation `json:"violations"`
	Session    *struct {
		SessionID  string           `json:"session_id"`
		Violations []aaep.Violation `json:"violations"`
	} `json:"session"`
	Summary *struct {
		Events, Valid, Errors, Warnings, Sessions int64
	} `json:"summary"`
}

func judged(t *testing.T, p *process) []said {
	t.Helper()
	var all []said
	for line := range strings.Lines(p.out.String()) {
		var s said
		if err := json.Unmarshal([]byte(line), &s, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, s)
	}
	return all
}

// validated runs `earshot validate` to its end.
func validated(t *testing.T, code int, args ...string) *process {
	t.Helper()
	p := plain(t, append([]string{"validate"}, args...)...)
	p.ends(code)
	return p
}

// piped is validated with this on standard input.
func piped(t *testing.T, code int, input string, args ...string) *process {
	t.Helper()
	p := start(t, options{exact: append([]string{"validate"}, args...)})
	_, _ = io.WriteString(p.input, input) // it may end before it has read all
	p.closeInput()
	p.ends(code)
	return p
}

// tells demands these on standard output.
func (p *process) tells(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		if !strings.Contains(p.out.String(), text) {
			p.t.Errorf("%q is not in %.2000s", text, p.out)
		}
	}
}

func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "messages.jsonl")
	must(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

// TestValidateBadInput: each kind of bad input gets a finding with its line and byte, and
// the message behind it is judged all the same.
func TestValidateBadInput(t *testing.T) {
	t.Parallel()
	deep := `{"extensions":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`
	for name, row := range map[string]struct {
		input string
		line  int
		rule  string
		says  string
	}{
		"truncated":          {startedMessage[:200] + "\n", 1, "ENV-02", "at line 2, byte 201 of the file"},
		"invalid UTF-8":      {strings.Replace(startedMessage, "Begun", "Beg\xffun", 1) + "\n", 1, "ENV-02", "UTF-8"},
		"a duplicate key":    {strings.Replace(startedMessage, `"type":`, `"type":"x","type":`, 1) + "\n", 1, "ENV-60", "twice"},
		"10,000 deep":        {deep + "\n", 1, "ENV-02", "nesting deeper than 10000 at byte"},
		"1 MiB of one text":  {strings.Replace(startedMessage, "Begun", strings.Repeat("x", 1<<20), 1) + "\n", 1, "ENV-49", "expected at most"},
		"a byte order mark":  {"\xef\xbb\xbf" + startedMessage + "\n", 1, "ENV-02", "byte order mark"},
		"no object":          {"42\n", 1, "ENV-01", "expected one JSON object"},
		"no JSON":            {"\n\nhello\n", 3, "ENV-02", "JSON"},
		"an array of mixes":  {"[\n 1,\n " + startedMessage + ",\n null]\n", 2, "ENV-01", "expected one JSON object"},
		"over 16 MiB":        {`{"pad":"` + strings.Repeat("x", 17<<20) + "\"}\n", 1, "ENV-02", "more than 16777216 bytes"},
		"an array not ended": {"[" + startedMessage + ",\n", 2, "ENV-02", "expected ]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			input := row.input
			behind := row.rule != "ENV-02" || !strings.Contains(row.says, "]")
			if behind {
				input += endedMessage + "\n"
			}
			p := validated(t, 1, "--json", file(t, input))
			all := judged(t, p)
			found := false
			for _, s := range all {
				if at := strings.Count(input[:s.Offset], "\n") + 1; s.Summary == nil && at != s.Line {
					t.Errorf("byte %d is said to be in line %d, and is in line %d", s.Offset, s.Line, at)
				}
				for _, v := range s.Violations {
					found = found || s.Line == row.line && v.Names(row.rule) && strings.Contains(v.Message, row.says)
				}
			}
			if !found {
				t.Errorf("no finding %s with %q at line %d in %.600s", row.rule, row.says, row.line, p.out.String())
			}
			if last := all[len(all)-2]; behind && (last.EventID != "evt_2" || !last.Valid) {
				t.Errorf("the message behind: %+v", last)
			}
			if end := all[len(all)-1]; end.Summary == nil || end.Summary.Events != int64(len(all)-1) {
				t.Errorf("the last line is %+v", end)
			}
		})
	}
}

// TestValidateFiles: lines that end with CR LF, pretty messages, several files and
// standard input are all read; a file that cannot be read beats a finding, and hides none.
func TestValidateFiles(t *testing.T) {
	t.Parallel()
	good := file(t, startedMessage+"\r\n"+endedMessage+"\r\n")
	validated(t, 0, "--stream", good).tells("2 messages: 2 valid, 0 errors, 0 warnings, 1 session.")
	bad := file(t, strings.Replace(endedMessage, "Done.", "", 1))
	validated(t, 1, good, bad).tells(bad+":1: byte 0: error: COMP-01 at /summary_normal: ", "3 messages: 2 valid, 1 error, 0 warnings.")

	p := validated(t, 2, bad, t.TempDir(), filepath.Join(t.TempDir(), "none"), good)
	p.tells("3 messages: 2 valid")
	for _, want := range []string{"is a directory, expected a file", "cannot be read: it is not there"} {
		if !strings.Contains(p.prompt.String(), want) {
			t.Errorf("standard error lacks %q: %s", want, p.prompt)
		}
	}
	validated(t, 1, file(t, " \n")).tells("found no message")
	validated(t, 2, "--mode", "angry", good)
	piped(t, 0, startedMessage+endedMessage).tells("2 messages: 2 valid")
	piped(t, 0, startedMessage, "-").tells("1 message: 1 valid")
}

// TestValidateModes: what only a producer must not do passes in consumer mode, and
// --strict makes an error of a warning about what is demanded.
func TestValidateModes(t *testing.T) {
	t.Parallel()
	stray := file(t, strings.Replace(startedMessage, `"summary_normal"`, `"stray":1,"summary_normal"`, 1))
	validated(t, 1, stray).tells("ENV-47")
	validated(t, 0, "--mode", "consumer", stray)
	hintless := file(t, strings.Replace(startedMessage, `"localization_hints":{"primary_language":"en","text_direction":"ltr"},`, "", 1))
	validated(t, 0, hintless).tells("warning: I18N-01")
	validated(t, 1, "--strict", hintless).tells("error: I18N-01")
}

// TestValidateStream: the order is judged with --stream only; what shows at the end alone
// is said of the session.
func TestValidateStream(t *testing.T) {
	t.Parallel()
	open := file(t, startedMessage)
	validated(t, 0, open)
	p := validated(t, 1, "--stream", "--json", open)
	all := judged(t, p)
	if len(all) != 3 || all[1].Session == nil || all[1].Session.SessionID != "sess_1" || len(all[1].Session.Violations) == 0 {
		t.Errorf("found %s", p.out)
	}
	if all[2].Summary == nil || all[2].Summary.Sessions != 1 || all[2].Summary.Errors == 0 {
		t.Errorf("found %s", p.out)
	}
	validated(t, 1, "--stream", open).tells("session sess_1 at its end: error: SEQ-")
}

// TestValidateStreamModes: the mode weighs what is found of a stream too, and a recording may end before its
// sessions do, where it says so or is said to.
func TestValidateStreamModes(t *testing.T) {
	t.Parallel()
	const accepted = `{"type":"subscription.accepted","subscription_id":"sub_1","aaep_version":"1.0.0","producer":{"agent_id":"a"},"honored_capabilities":{}}` + "\n"
	open := file(t, startedMessage)
	validated(t, 1, "--stream", open).tells("session sess_1 at its end: error: SEQ-03")
	validated(t, 0, "--stream", "--mode", "consumer", open).tells("session sess_1 at its end: warning: SEQ-03")
	validated(t, 1, "--stream", "--mode", "consumer", "--strict", open).tells("session sess_1 at its end: error: SEQ-03")
	validated(t, 1, "--stream", "--mode", "envelope", open).tells("session sess_1 at its end: error: SEQ-03")
	validated(t, 0, "--stream", "--cut-short", open).tells("1 message: 1 valid, 0 errors, 0 warnings, 1 session.")
	validated(t, 0, "--stream", file(t, accepted+startedMessage)).tells("2 messages: 2 valid, 0 errors, 0 warnings, 1 session.")
	validated(t, 2, "--cut-short", open)

	again := file(t, startedMessage+strings.ReplaceAll(startedMessage, `,"`, `, "`)+strings.Replace(endedMessage, "Done", `\u0044one`, 1)+endedMessage)
	validated(t, 0, "--stream", again).tells("4 messages: 4 valid, 0 errors, 0 warnings, 1 session.")
	chunk := strings.Replace(endedMessage, `"summary_normal":"Done."`, `"chunk":"x","position":1,"complete":true`, 1)
	chunk = strings.NewReplacer("session.completed", "output.streaming", "evt_2", "evt_3").Replace(chunk)
	late := file(t, startedMessage+chunk+endedMessage)
	validated(t, 1, "--stream", late).tells("error: SEQ-34")
	validated(t, 0, "--stream", "--mode", "consumer", late).tells("warning: SEQ-34")
	validated(t, 0, "--stream", "--mode", "envelope", late).tells("3 messages: 3 valid, 0 errors, 0 warnings, 1 session.")
}

// TestValidateMany: more messages than fit into one look, without a word too many.
func TestValidateMany(t *testing.T) {
	t.Parallel()
	var input bytes.Buffer
	for i := range 10_000 {
		fmt.Fprintln(&input, strings.Replace(startedMessage, "evt_1", fmt.Sprintf("evt_%d", i), 1))
	}
	p := validated(t, 0, file(t, input.String()))
	if got := p.out.String(); got != "10,000 messages: 10,000 valid, 0 errors, 0 warnings.\n" {
		t.Errorf("found %q", got)
	}
}
