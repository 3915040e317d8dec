package kernel_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// receipts reads them as "decision by surface language".
func (w *world) receipts() (all, shown []string) {
	w.t.Helper()
	for _, row := range w.query(w.now.path, `SELECT decision, given_by, surface, language, shown FROM receipts ORDER BY id`) {
		all, shown = append(all, strings.Join(row[:4], " ")), append(shown, row[4])
	}
	return all, shown
}

// lastShown is the SHA-256 of the latest event of a kind.
func (w *world) lastShown(kind string) string {
	w.t.Helper()
	rows := w.query(w.now.path, `SELECT body FROM events WHERE type LIKE '%'||? ORDER BY seq DESC LIMIT 1`, kind)
	if len(rows) != 1 {
		w.t.Fatalf("no event %s", kind)
	}
	sum := sha256.Sum256([]byte(rows[0][0]))
	return hex.EncodeToString(sum[:])
}

// TestReceipt: a receipt says what was shown, in which language, who answered, how and
// where: also after more time was given, and for what was taken back.
func TestReceipt(t *testing.T) {
	for name, play := range map[string]struct {
		more bool
		word string
	}{
		"accept": {false, "accept"}, "reject": {false, "reject"},
		"more time, accept": {true, "accept"}, "more time, reject": {true, "reject"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.work(one(burn))
				a := w.begin()
				q := w.asked()
				first := w.lastShown("awaiting.confirmation")
				if play.more {
					w.pass(time.Minute)
					if _, err := w.hub.Extend(w.ctx, api.ReplyRequest{Token: q.Token, By: person}); err != nil {
						t.Fatal(err)
					}
					q = w.asked()
				}
				want := w.lastShown("awaiting.confirmation")
				if (want != first) != play.more {
					t.Fatal("the question was not put again with another event")
				}
				w.say(q, play.word)
				w.over(a.Turn)
				all, shown := w.receipts()
				if !slices.Equal(all, []string{play.word + " " + person + " terminal en"}) {
					t.Errorf("the receipts are %q", all)
				}
				if shown[0] != want {
					t.Errorf("shown was %s; the event's SHA-256 is %s", shown[0], want)
				}
			})
		})
	}
}

// TestReceiptOfAnUndo: what was taken back has a receipt of its own.
func TestReceiptOfAnUndo(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.accepts()
		if _, err := w.hub.Undo(w.ctx, api.ReplyRequest{Token: q.Token, By: "bob", Surface: "page"}); err != nil {
			t.Fatal(err)
		}
		w.cancelled(a.Turn)
		all, shown := w.receipts()
		if !slices.Equal(all, []string{"accept ada terminal en", "undo bob page en"}) {
			t.Errorf("the receipts are %q", all)
		}
		if want := w.lastShown("awaiting.confirmation"); shown[0] != want || shown[1] != want {
			t.Errorf("shown were %v; the event's SHA-256 is %s", shown, want)
		}
	})
}

// TestReceiptOfAFate: a person's word on an unknown fate has a receipt, nobody's silence
// has none.
func TestReceiptOfAFate(t *testing.T) {
	for _, word := range []string{"leave", ""} {
		t.Run("word "+word, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.effects.at("begun", dies)
				w.work(one(burn))
				a := w.begin()
				q := w.askedAfter(w.accepts())
				w.saysUnknown(a.Turn)
				want := w.lastShown("awaiting.clarification")
				if word != "" {
					w.say(q, word)
				}
				w.over(a.Turn)
				all, shown := w.receipts()
				expected := []string{"accept ada terminal en"}
				if word != "" {
					expected = append(expected, word+" ada terminal en")
				}
				if !slices.Equal(all, expected) {
					t.Fatalf("the receipts are %q; want %q", all, expected)
				}
				if word != "" && shown[1] != want {
					t.Errorf("shown was %s; the event's SHA-256 is %s", shown[1], want)
				}
				if s := w.last(a.Turn).State; s != turn.Resolved {
					t.Errorf("the call is %s", s)
				}
			})
		})
	}
}
