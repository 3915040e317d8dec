package narrate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/utp"
)

func TestParseWording(t *testing.T) {
	t.Parallel()
	for _, tool := range tools() {
		if _, err := narrate.ParseWording(tool.Definition.Options); err != nil {
			t.Errorf("%s: %v", tool.Definition.Tool, err)
		}
	}
	w, err := narrate.ParseWording(jsontext.Value(`{"args":{},"consent":{"action":"Go."},"other":1}`))
	if err != nil || w.Consent.Action != "Go." {
		t.Errorf("other options are not an error: %v", err)
	}
	for name, options := range map[string]string{
		"no object":      `[]`,
		"no text":        `{"consent":{"action":1}}`,
		"a message":      `{"consent":{"action":"{"}}`,
		"a consequence":  `{"consent":{"consequence":"{a"}}`,
		"what it does":   `{"doing":{"text":"}"}}`,
		"a result":       `{"result":{"partial":"{}"}}`,
		"facts":          `{"consent":{"facts":{"a":{"text":"x"}}}}`,
		"facts of doing": `{"doing":{"facts":[]}}`,
		"result's facts": `{"result":{"facts":{"a":{"count":"/x","sum":"/y"}}}}`,
	} {
		if _, err := narrate.ParseWording(jsontext.Value(options)); err == nil {
			t.Errorf("%s: %s passed", name, options)
		}
	}
}

// TestAnyWordingIsSafe: whatever a definition says, what is asked can be sent, and what
// cannot be said is replaced by what is known without it.
func TestAnyWordingIsSafe(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]string{
		"not JSON":            `{`,
		"wrong types":         `{"consent":[],"result":7}`,
		"controls":            `{"consent":{"action":"Send\u001b[2J \u202e it.\nNow.","consequence":"\u0301."}}`,
		"very long":           `{"consent":{"action":"` + strings.Repeat("a ", 2000) + `"}}`,
		"too long":            `{"consent":{"action":"` + strings.Repeat("a ", 4000) + `"}}`,
		"only spaces":         `{"consent":{"action":"   ","consequence":""}}`,
		"not composed":        `{"consent":{"action":"Cafe\u0301 {to}\u0338.","facts":{"to":{"text":"/to"}}}}`,
		"missing facts":       `{"consent":{"action":"Send to {who}."},"doing":{"text":"{who}"},"result":{"success":"{n}"}}`,
		"facts of other kind": `{"consent":{"action":"{n, plural, other {#}}","facts":{"n":{"text":"/to"}}}}`,
	} {
		for _, reviewed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, reviewed %t", name, reviewed), func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				tool := s.tools["mail.send"]
				tool.Definition.Options, tool.Reviewed = jsontext.Value(options), reviewed
				s.tools["mail.send"] = tool
				s.claim()
				c := s.call("mail.send", []byte(`{"to":"b"}`))
				s.step(c)
				s.answer(1, true, false)
				s.after(turn.DefaultUndo)
				s.tick()
				s.start(c.ID)
				s.finish(c.ID, utp.StatusSuccess, "", `{}`)
				s.done()
				s.close()
				if reviewed == strings.Contains(s.script(), "nobody here has reviewed") {
					t.Error("whether the tool was reviewed is not said right")
				}
			})
		}
	}
}

// TestManyDeeds: the last event counts what it does not list, and never leaves a doubt
// out for something certain.
func TestManyDeeds(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.claim()
	var calls []turn.Call
	for i := range 12 {
		c := s.call("files.trash", jsontext.Value(fmt.Sprintf(`{"path":"file %d"}`, i)))
		c.Decision = turn.Allow
		calls = append(calls, c)
	}
	s.step(calls...)
	for i, c := range calls {
		s.start(c.ID)
		status := utp.StatusSuccess
		if i == 11 {
			status = utp.StatusFailed
		}
		s.finish(c.ID, status, "", `{}`)
	}
	s.deliver(turn.End{Status: utp.StatusFailed}, "", "")
	s.close()
	last := string(s.rows[len(s.rows)-1].Body)
	if !strings.Contains(last, "And 4 more.") || !strings.Contains(last, "files.trash failed and may have changed something.") {
		t.Error(last)
	}
}
