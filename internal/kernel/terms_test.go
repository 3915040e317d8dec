package kernel_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// terms are those of each receipt, oldest first.
func (w *world) terms() []api.AuditReceipt {
	w.t.Helper()
	var all []api.AuditReceipt
	for _, e := range w.audited() {
		if e.Receipt != nil {
			all = append(all, *e.Receipt)
		}
	}
	return all
}

// SHA256Hex is the SHA-256 of a text, in hex.
func SHA256Hex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// TestReceiptTerms: a receipt says what the answer was bound to: the consent's digest, the
// arguments, the definition, the rule, the credential, how it was seen and the event that showed it.
func TestReceiptTerms(t *testing.T) {
	for _, tt := range []struct {
		name, word string
		reads      bool
		lists      bool
		seen       api.Seen
	}{
		{"shown", "accept", false, true, api.SeenShown},
		{"read", "accept", true, false, api.SeenRead},
		{"rejected", "reject", false, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				step := one(burn)
				if tt.reads {
					step = long(burn)
				}
				w.work(step)
				a := w.begin()
				q := w.asked()
				if tt.reads {
					if _, _, err := w.hub.Arguments(w.ctx, api.ArgumentsRequest{Question: q.Number, By: person, Credential: person + "-key", Surface: "page"}); err != nil {
						t.Fatal(err)
					}
				}
				r := api.ReplyRequest{Token: q.Token, Decision: tt.word, By: person, Credential: person + "-key", Surface: "page", Lists: tt.lists}
				if _, err := w.answer(r); err != nil {
					t.Fatal(err)
				}
				w.over(a.Turn)
				c := w.last(a.Turn)
				want := api.ReceiptTerms{
					Consent: c.Digest, Arguments: c.Arguments, Definition: c.Definition, Policy: c.Policy, Credential: person + "-key", Seen: tt.seen,
				}
				all := w.terms()
				if len(all) != 1 {
					t.Fatalf("%d receipts", len(all))
				}
				got := all[0].Terms
				if shown := w.cell(`SELECT body FROM events WHERE event_id = '` + got.Event + `'`); SHA256Hex(shown) != all[0].Shown {
					t.Errorf("the event %q is not the one that was shown", got.Event)
				}
				got.Event = ""
				if got != want || got.Consent == "" || got.Arguments == "" || got.Definition == "" || got.Policy == "" {
					t.Errorf("got %+v, want %+v", got, want)
				}
			})
		})
	}
}

// TestReceiptTermsOfCovered: the receipt of a yes names what the tool's reviewed sentence stood for, unless it was read. That
// and the arguments' digest determine what was agreed to: the list is the one whose digest the event states, and is part of what
// the arguments' digest is of.
func TestReceiptTermsOfCovered(t *testing.T) {
	const options = `{"consent":{"action":"Burn {name}.","covers":["/name"],"facts":{"name":{"text":"/name"}}}}`
	for _, tt := range []struct {
		name, word string
		steps      []worker.Call
		reads      bool
		covered    string
	}{
		{"shown", "accept", one(burn), false, "/name"},
		{"read", "accept", long(burn), true, ""},
		{"rejected", "reject", one(burn), false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				if err := w.now.kernel.Registry().Register(w.ctx, target, definition(burn, utp.Irreversible, options)); err != nil {
					t.Fatal(err)
				}
				review := api.ReviewRequest{Tool: burn, Digest: w.tool(burn).Digest, Class: utp.Irreversible, Risk: utp.RiskHigh, By: "ann"}
				if _, err := operate[api.ToolDetail](w, api.OpReview, review); err != nil {
					t.Fatal(err)
				}
				w.work(tt.steps)
				a := w.begin()
				q := w.asked()
				if tt.reads {
					must(t)(w.read(q, person, "page", 0))
				}
				if _, err := w.answer(api.ReplyRequest{Token: q.Token, Decision: tt.word, By: person, Surface: "page"}); err != nil {
					t.Fatal(err)
				}
				w.over(a.Turn)
				all := w.terms()
				if len(all) != 1 || all[0].Terms.Covered != tt.covered {
					t.Fatalf("%+v; want covered %q", all, tt.covered)
				}
				var content struct {
					Args jsontext.Value `json:"arguments"`
				}
				if err := json.Unmarshal([]byte(w.cell(`SELECT content FROM cards WHERE type = 'tool.call'`)), &content); err != nil {
					t.Fatal(err)
				}
				canonical, err := utp.Canonical(content.Args)
				if err != nil || SHA256Hex(string(canonical)) != all[0].Terms.Arguments {
					t.Errorf("the arguments %s, %v, are not those of the receipt", content.Args, err)
				}
				list := SHA256Hex(`"x"`)
				if shown := w.cell(`SELECT body FROM events WHERE event_id = '` + all[0].Terms.Event + `'`); tt.covered != "" && !strings.Contains(shown, list) {
					t.Errorf("%s does not state the digest %s", shown, list)
				}
			})
		})
	}
}

// TestReceiptTermsOfAPart: where what can be undone is accepted unread, its receipt says so.
func TestReceiptTermsOfAPart(t *testing.T) {
	inWorld(t, func(w *world) { w.rules = []rulebook.Rule{{Tool: put, Decide: turn.Ask}} }, func(t *testing.T, w *world) {
		w.work(long(put))
		a := w.begin()
		w.accepts()
		w.succeeded(a.Turn)
		if all := w.terms(); len(all) != 1 || all[0].Terms.Seen != api.SeenPart {
			t.Errorf("%+v", all)
		}
	})
}

// TestReceiptTermsOfAnUndo: taking a yes back is bound to the same call.
func TestReceiptTermsOfAnUndo(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(one(burn))
		a := w.begin()
		q := w.accepts()
		if _, err := w.hub.Undo(w.ctx, api.ReplyRequest{Token: q.Token, By: "bob", Surface: "page"}); err != nil {
			t.Fatal(err)
		}
		w.cancelled(a.Turn)
		all := w.terms()
		if len(all) != 2 || all[0].Terms.Consent == "" || all[1].Terms.Consent != all[0].Terms.Consent || all[1].Terms.Seen != "" {
			t.Errorf("%+v", all)
		}
	})
}

// TestReceiptTermsOfAFate: a word on what became of a call is bound to no consent.
func TestReceiptTermsOfAFate(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.effects.at("begun", dies)
		w.work(one(burn))
		a := w.begin()
		q := w.askedAfter(w.accepts())
		w.saysUnknown(a.Turn)
		w.say(q, "leave")
		w.over(a.Turn)
		all := w.terms()
		if len(all) != 2 || all[1].Decision != "leave" || all[1].Terms.Consent != "" || all[1].Terms.Arguments != all[0].Terms.Arguments {
			t.Errorf("%+v", all)
		}
	})
}
