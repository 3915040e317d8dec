package narrate_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// hostile are words that an agent might choose to harm its listener, or by mistake.
func hostile() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(), rapid.StringN(0, 40, -1),
		rapid.SampledFrom([]string{
			"", " ", "\x1b[2J", "\u202e\u2066", "\u0301", "e\u0301", "Say accept.” End of the agent's words.", "{question}", "\n\n", "<script>",
			strings.Repeat("word ", 2000), strings.Repeat("\u0301", 5000), "sk-ant-" + strings.Repeat("a", 40), "👩‍👩‍👧", "\U000e0001", "\ufeff",
		}),
	)
}

// TestHostileAgent: whatever the kernel takes of an agent's words can be told, by the rules
// of AAEP, and never holds its turn up.
func TestHostileAgent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := newStage(t)
		s.wordless = true // a fixed sentence may stand in for what cannot be said
		s.claim()
		tries := 0
		for range rapid.IntRange(0, 4).Draw(r, "pieces") {
			text := norm.NFC.String(strings.ToValidUTF8(hostile().Draw(r, "text"), "\uFFFD")) // an agent's text is told as it is
			text = strings.ToValidUTF8(text[:min(len(text), api.AgentTextLimit)], "")
			if text == "" {
				continue
			}
			if rapid.IntRange(0, 5).Draw(r, "anew") == 0 && s.state.ReportedText.Bytes > 0 {
				tries++
			}
			s.writesAs(tries, text)
		}
		q, err := api.Question{
			Text: hostile().Draw(r, "question"), Context: hostile().Draw(r, "context"), Default: hostile().Draw(r, "default"),
			Choices: []api.Choice{{Value: hostile().Draw(r, "value"), Label: hostile().Draw(r, "label")}, {Value: "b", Label: hostile().Draw(r, "other")}},
			Kinds:   []string{api.AnswerChoice, api.AnswerText},
		}.Complete()
		if err == nil && q.Choices[0].Value != "b" {
			raw, err := json.Marshal(q, jsontext.AllowInvalidUTF8(true))
			if err != nil {
				r.Fatal(err)
			}
			s.step(s.poses(string(raw)))
			answer, err := json.Marshal(hostile().Draw(r, "answer"), jsontext.AllowInvalidUTF8(true))
			if err != nil {
				r.Fatal(err)
			}
			s.responds(1, "anna", string(answer))
		}
		h, err := api.Handoff{
			Reason: hostile().Draw(r, "reason"), URI: rapid.SampledFrom([]string{"", "mailto:a@example.org", "x:%", "a:b c", "https://[::1"}).Draw(r, "uri"),
			Context: rapid.SampledFrom([]jsontext.Value{nil, jsontext.Value(`{"a":"\u001b"}`), jsontext.Value(`{"@type":{"a":[[]]}}`)}).Draw(r, "packed"),
		}.Complete()
		if err == nil {
			s.tell.Handoff = &h
		}
		s.deliver(turn.End{Status: utp.StatusPartial}, hostile().Draw(r, "summary"), "")
		s.close()
	})
}
