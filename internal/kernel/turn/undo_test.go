package turn_test

import (
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// TestUndoEndsInWords: lists show how a turn ended, so an undo leaves a clause there and no keyword.
func TestUndoEndsInWords(t *testing.T) {
	t.Parallel()
	w := newWorld(utp.Irreversible, turn.Ask, false, false)
	w.must(turn.Answered{Question: w.state.Calls[0].Question, Accept: true, By: "ada"})
	w.must(turn.Undo{Question: w.state.Calls[0].Question, By: "ada"})
	if end := w.state.End; end.Code != utp.CodeStopped || end.Message != api.SummaryUndone || w.state.Stop.Reason != turn.ReasonUndone {
		t.Errorf("it ended with %+v, for the reason %q", end, w.state.Stop.Reason)
	}
}
