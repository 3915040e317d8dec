package session_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// TestTailIsText: what a session keeps of a text that goes on is text, wherever it was cut:
// it is stored as JSON.
func TestTailIsText(t *testing.T) {
	t.Parallel()
	for n := range 8 {
		for _, letter := range []string{"é", "好", "👍"} {
			s := session.New(session.Options{SessionID: "sess_1", Producer: aaep.Producer{AgentID: "a"}, Language: "en"})
			now, random := time.Unix(1_800_000_000, 0), strings.NewReader(strings.Repeat("r", 4096))
			if _, err := s.Start(now, random, aaep.SessionStarted{SummaryNormal: "Go."}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Move(now, random, aaep.StateWritingOutput, aaep.StateChanged{SummaryNormal: "Writing."}); err != nil {
				t.Fatal(err)
			}
			text := strings.Repeat(letter, 40) + strings.Repeat("x", n)
			if _, err := s.Output(now, random, aaep.OutputStreaming{Chunk: text, OutputID: "out_1"}); err != nil {
				t.Fatal(err)
			}
			if tail := s.State().Outputs[0].Tail; !utf8.ValidString(tail) || !strings.HasSuffix(text, tail) || tail == "" {
				t.Errorf("%s and %d: the tail is %q", letter, n, tail)
			}
		}
	}
}
