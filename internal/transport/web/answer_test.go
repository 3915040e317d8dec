package web_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
)

// TestAnswerIsLaidOut: an answer is laid out once it is whole, and not before; nothing in it acts.
func TestAnswerIsLaidOut(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.login("ada")
	s.room.begin("sess_1", "tidy Documents")
	const first = "# Kept\n\n- **one**\n"
	s.room.tell("sess_1", aaep.OutputStreaming{Chunk: first})
	if page := s.page("/?session=sess_1", "@ada"); !strings.Contains(page, "# Kept\n\n- **one**") {
		t.Errorf("while it is written it is not plain:\n%s", page)
	}
	s.room.tell("sess_1", aaep.OutputStreaming{Chunk: "- [two](javascript:x) <img src=y>", Position: int64(len(first)), Complete: true})
	page := s.page("/?session=sess_1", "@ada")
	const want = `<h4 dir="auto">Kept</h4><ul><li dir="auto"><strong>one</strong></li><li dir="auto">two (<bdi class="address" dir="ltr">javascript:x</bdi>) &lt;img src=y&gt;</li></ul>`
	if !strings.Contains(page, want) {
		t.Errorf("it is not laid out:\n%s", page)
	}
}
