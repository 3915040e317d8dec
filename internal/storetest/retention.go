package storetest

import (
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

func retentionCases() []exercise {
	return []exercise{
		{"content goes and receipts stay", contentGoes},
		{"what is open stays", openStays},
		{"content goes when its time is over", contentByAge},
		{"a project is erased by itself", contentByProject},
		{"a blob goes with the last card that refers to it", blobsGoLast},
		{"a blob that nothing refers to goes an hour after it was put last", blobsOfNobodyGo},
		{"erased turns are forgotten after their receipts", receiptsGo},
		{"cards of nobody go when they are old", strayCardsGo},
		{"a card that goes leaves the result of its call", strayCardsLeaveResults},
		{"a session goes on after its content is gone", sessionsGoOn},
		{"cards without a call of ours go with their turn", foreignCardsGo},
		{"is done in small steps", purgeInSteps},
		{"waits for what is about to leave", purgeWaits},
	}
}

// Marker stands in everything that is content in [Content].
const Marker = "m4rk3d-c0nt3nt"

// Content is a step that puts the marker wherever people and tools can have said something,
// in a turn that has ended, and refers to a blob.
func Content(n int, blob string) store.Batch {
	b := everything(n)
	r := b.Turn
	r.State.Status = turn.Ended
	r.State.End = &turn.End{Status: utp.StatusSuccess, Message: Marker}
	r.Request, r.Args, r.Narration = Marker, markedContent(), markedContent()
	r.Erased, r.Imported = false, time.Time{}
	for i := range r.State.Calls {
		r.State.Calls[i].Comment = Marker
	}
	for i := range b.Events {
		b.Events[i].Body, b.Events[i].Params, b.Events[i].Template = markedContent(), markedContent(), Marker
		b.Events[i].At = r.Created
	}
	b.Cards[0].Content, b.Cards[0].Metadata = jsontext.Value(`{"result":{"$blob":"`+blob+`","size":5},"says":"`+Marker+`"}`), markedContent()
	b.Cards[0].ToolCallID = r.State.Calls[0].ID
	b.Cards = append(b.Cards, uncalled(n)...)
	r.State.End.Deliverable = b.Cards[1].ID
	b.Outbox[0].Payload, b.Outbox[0].Header = []byte(Marker), map[string][]string{"X": {Marker}}
	b.Sealed[0].Box, b.Sealed[0].Call = []byte(Marker), r.State.Calls[0].ID
	b.Applied[0].Key = Marker
	b.Blobs = nil
	return b
}

// uncalled are the cards of a turn that no call of ours leads to: its deliverable, and the
// command and answer of a third-party worker.
func uncalled(n int) []utp.Card {
	lineage := jsontext.Value(`{"agent_turn_id":"` + id("turn", n) + `","said":"` + Marker + `"}`)
	kinds := []struct{ kind, call string }{
		{utp.CardDeliverable, ""}, {utp.CardToolCall, id("theirs", n)}, {utp.CardToolResult, id("theirs", n)},
	}
	cards := make([]utp.Card, 0, len(kinds))
	for _, c := range kinds {
		cards = append(cards, utp.Card{
			ID: id("uncalled_"+c.kind, n), Project: "default", Type: c.kind, AuthorID: "tidy", CreatedAt: at(n), ToolCallID: c.call,
			Content: markedContent(), Metadata: lineage,
		})
	}
	return cards
}

func markedContent() jsontext.Value { return jsontext.Value(`{"said":"` + Marker + `"}`) }

// said saves a step, of which all messages have left.
func (l *ledger) said(b store.Batch) {
	l.t.Helper()
	l.save(b)
	done := store.Batch{}
	for _, o := range b.Outbox {
		done.Published = append(done.Published, o.ID)
	}
	l.save(done)
}

func (l *ledger) purge(p store.Purge) (done store.Purged) {
	l.t.Helper()
	if p.Limit == 0 {
		p.Limit = 100
	}
	if err := l.update(func(tx store.Tx) (err error) {
		done, err = tx.Purge(p)
		return err
	}); err != nil {
		l.t.Fatalf("purge: %v", err)
	}
	return done
}

// bare checks that nothing of a turn's content can be read, and that what is kept is there.
func (l *ledger) bare(n int, b store.Batch) {
	l.t.Helper()
	got := l.turn(store.TurnRef{Turn: id("turn", n)})
	if !got.Erased || len(got.Args)+len(got.Narration)+len(got.Request)+len(got.State.Calls)+len(got.Questions) > 0 || got.State.End.Message != "" {
		l.t.Errorf("what is left of the turn: %+v", got)
	}
	want := b.Turn.State
	if s := got.State; s.Turn != want.Turn || s.Owner != want.Owner || s.Agent != want.Agent || s.End.Status != want.End.Status || s.Tally != want.Tally {
		l.t.Errorf("what should have stayed of the turn: %+v", s)
	}
	same(l, "events", len(l.events(id("sess", n))), 0)
	same(l, "results", len(l.results(id("turn", n))), 0)
	for _, c := range b.Cards {
		l.missing("the card "+c.ID, func(tx store.Tx) error {
			_, err := store.OneRow(tx.Cards(store.CardFilter{IDs: []string{c.ID}}))
			return err
		})
	}
	l.view(func(tx store.Tx) error {
		sealed, err := tx.Sealed(b.Turn.State.Calls[0].ID)
		same(l, "sealed values", len(sealed), 0)
		receipts, rerr := tx.Receipts(id("sess", n))
		same(l, "receipts", l.unnumbered(receipts), b.Receipts)
		return errors.Join(err, rerr)
	})
}

func contentGoes(l *ledger) {
	data := content(5, 1)
	l.putAll(data, 5)
	b, other := Content(1, digestOf(data)), Content(2, digestOf(content(5, 2)))
	l.said(b)
	l.said(other)
	done := l.purge(store.Purge{Turns: []string{"turn_1", "turn_9"}})
	same(l, "erased", done.Erased, []string{"turn_1"})
	same(l, "blobs", done.Blobs, 1)
	if !strings.Contains(strings.Join(done.Calls, " "), b.Turn.State.Calls[0].ID) {
		l.t.Errorf("the calls %v, without %s", done.Calls, b.Turn.State.Calls[0].ID)
	}
	l.bare(1, b)
	l.noBlob(data)
	for _, ref := range []store.TurnRef{{Session: "sess_1"}, {Call: b.Turn.State.Calls[0].ID}} {
		l.leads("an erased turn", ref, "turn_1")
	}
	same(l, "the other's request", l.turn(store.TurnRef{Turn: "turn_2"}).Request, Marker)
	same(l, "the other's events", len(l.events("sess_2")), 2)
	same(l, "erased again", len(l.purge(store.Purge{Turns: []string{"turn_1"}}).Erased), 0)
}

func openStays(l *ledger) {
	for i, status := range []turn.Status{turn.Queued, turn.Running, turn.Suspended} {
		b := Content(i+1, digestOf(nil))
		b.Turn.State.Status, b.Turn.State.End = status, nil
		l.said(b)
	}
	all := store.Purge{Turns: []string{"turn_1", "turn_2", "turn_3"}}
	same(l, "erased by name", len(l.purge(all).Erased), 0)
	same(l, "erased by age", len(l.purge(store.Purge{Content: at(1 << 20), Receipts: at(1 << 20)}).Erased), 0)
	for i := 1; i <= 3; i++ {
		same(l, "the request", l.turn(store.TurnRef{Turn: id("turn", i)}).Request, Marker)
		same(l, "the card", l.card(id("result", i)).ID, id("result", i))
	}
}

func contentByAge(l *ledger) {
	for n := 1; n <= 3; n++ {
		b := Content(n, digestOf(nil))
		b.Turn.Created = at(n)
		for i := range b.Events {
			b.Events[i].At = at(n + 100*(n-1)) // the later they began, the later still they ended
		}
		l.said(b)
	}
	same(l, "erased too early", len(l.purge(store.Purge{Content: at(1)}).Erased), 0)
	same(l, "erased", l.purge(store.Purge{Content: at(102)}).Erased, []string{"turn_1"}) // the second began before that, and ended after
	same(l, "erased later", l.purge(store.Purge{Content: at(1000)}).Erased, []string{"turn_2", "turn_3"})
}

func contentByProject(l *ledger) {
	for n, project := range []string{"red", "blue", "red"} {
		b := Content(n+1, digestOf(nil))
		b.Turn.State.Project = project
		l.said(b)
	}
	same(l, "erased", l.purge(store.Purge{Project: "red"}).Erased, []string{"turn_1", "turn_3"})
	same(l, "the other's request", l.turn(store.TurnRef{Turn: "turn_2"}).Request, Marker)
}

func blobsGoLast(l *ledger) {
	data, stray := content(5, 1), content(5, 2)
	l.putAll(data, 5)
	l.putAll(stray, 5)
	l.said(Content(1, digestOf(data)))
	l.said(Content(2, digestOf(data)))
	same(l, "blobs with the first", l.purge(store.Purge{Turns: []string{"turn_1"}}).Blobs, 0)
	l.blob(data)
	same(l, "blobs with the last", l.purge(store.Purge{Turns: []string{"turn_2"}}).Blobs, 1)
	l.noBlob(data)
	l.blob(stray) // somebody may be about to refer to it
}

// blobsOfNobodyGo: who puts a blob that is there already is about to refer to it, too.
func blobsOfNobodyGo(l *ledger) {
	data, begun := content(5, 1), content(5, 2)
	l.putAll(data, 2)
	if err := l.put(piece(begun, 0, 2)); err != nil {
		l.t.Fatal(err)
	}
	l.clock.pass(59 * time.Minute)
	l.putAll(data, 2)
	same(l, "blobs within the hour", l.purge(store.Purge{}).Blobs, 0)
	l.clock.pass(59 * time.Minute)
	same(l, "blobs that nobody put again", l.purge(store.Purge{}).Blobs, 1)
	l.blob(data)
	l.clock.pass(2 * time.Minute)
	same(l, "blobs an hour after", l.purge(store.Purge{}).Blobs, 1)
	l.noBlob(data)
}

func receiptsGo(l *ledger) {
	for n := 1; n <= 2; n++ {
		l.said(Content(n, digestOf(nil)))
	}
	long := store.Purge{Receipts: time.Now().Add(24 * time.Hour)} // the store's own clock says when they were erased
	same(l, "forgotten before the content", l.purge(long).Dropped, 0)
	l.purge(store.Purge{Turns: []string{"turn_1"}})
	same(l, "forgotten too early", l.purge(store.Purge{Receipts: at(0)}).Dropped, 0)
	same(l, "forgotten", l.purge(long).Dropped, 1)
	l.missing("the forgotten turn", func(tx store.Tx) error { _, err := tx.Turn(store.TurnRef{Turn: "turn_1"}); return err })
	l.missing("its question", func(tx store.Tx) error { _, err := tx.Turn(store.TurnRef{Question: 1}); return err })
	l.view(func(tx store.Tx) error {
		its, err := tx.Receipts("sess_1")
		same(l, "its receipts", len(its), 0)
		others, oerr := tx.Receipts("sess_2")
		same(l, "the other's receipts", len(others), 1)
		return errors.Join(err, oerr)
	})
}

func strayCardsGo(l *ledger) {
	old, young := card(1), card(2)
	old.CreatedAt, young.CreatedAt = at(1), at(50)
	l.save(cards(old, young))
	same(l, "cards that went", l.purge(store.Purge{Content: at(10)}).Strays, 1)
	l.missing("the old card", func(tx store.Tx) error {
		_, err := store.OneRow(tx.Cards(store.CardFilter{IDs: []string{old.ID}}))
		return err
	})
	same(l, "the young card", l.card(young.ID), young)
}

func strayCardsLeaveResults(l *ledger) {
	other, result, again := card(1), card(1), card(1)
	other.ID, other.Type, other.CreatedAt = "other", utp.CardToolCall, at(1)
	result.CreatedAt, again.ID = at(50), "again"
	l.save(cards(other, result))
	same(l, "cards that went", l.purge(store.Purge{Content: at(10)}).Strays, 1)
	l.refuse("a second result", store.ErrConflict, cards(again))
	same(l, "cards that went later", l.purge(store.Purge{Content: at(100)}).Strays, 1)
	l.save(cards(again))
}

// sessionsGoOn: what comes after the erasure has the next number, and is found by its id and in a page.
func sessionsGoOn(l *ledger) {
	b := Content(1, digestOf(nil))
	l.said(b)
	l.purge(store.Purge{Turns: []string{"turn_1"}})
	late := event("sess_1", 9)
	batch := []store.Event{late}
	l.save(store.Batch{Events: batch})
	same(l, "its number", batch[0].Seq, 3)
	same(l, "the events", l.events("sess_1"), batch)
	l.view(func(tx store.Tx) error {
		got, err := tx.Events(store.EventFilter{IDs: []string{late.ID}})
		same(l, "by its id", got, batch)
		return err
	})
	same(l, "progress", l.progress(store.Point{Limit: 9}).Sessions, []store.Advance{{Session: "sess_1", Owner: b.Turn.State.Owner, Seq: 2, Last: 3, Ended: true}})
}

// foreignCardsGo: a card belongs to the turn that its lineage names, and stays for as long as
// that has content, however old it is; one that comes after the erasure goes by its age.
func foreignCardsGo(l *ledger) {
	open, over := Content(1, digestOf(nil)), Content(2, digestOf(nil))
	open.Turn.State.Status, open.Turn.State.End = turn.Suspended, nil
	l.said(open)
	l.said(over)
	same(l, "the turn's cards", len(l.cardsOf("turn_1")), 4)
	l.purge(store.Purge{Content: at(1 << 20)})
	same(l, "the cards of an open turn", len(l.cardsOf("turn_1")), 4)
	same(l, "the cards of an erased turn", len(l.cardsOf("turn_2")), 0)
	late := uncalled(2)[1:2]
	l.save(cards(late...))
	l.purge(store.Purge{Content: at(0)})
	same(l, "a late card before its time", len(l.cardsOf("turn_2")), 1)
	l.purge(store.Purge{Content: at(1 << 20)})
	same(l, "a late card after its time", len(l.cardsOf("turn_2")), 0)
}

func (l *ledger) cardsOf(turnID string) []utp.Card {
	l.t.Helper()
	var found []utp.Card
	l.view(func(tx store.Tx) (err error) {
		found, err = tx.Cards(store.CardFilter{Turn: turnID})
		return err
	})
	return found
}

func purgeInSteps(l *ledger) {
	for n := range 5 {
		l.said(Content(n+1, digestOf(nil)))
	}
	p := store.Purge{Project: Content(1, "").Turn.State.Project, Limit: 2}
	for _, want := range []struct {
		n    int
		more bool
	}{{2, true}, {2, true}, {1, false}, {0, false}} {
		done := l.purge(p)
		same(l, "erased", len(done.Erased), want.n)
		same(l, "more", done.More, want.more)
	}
}

// purgeWaits: a turn that has just ended may have a message that is on its way.
func purgeWaits(l *ledger) {
	b := Content(1, digestOf(nil))
	l.save(b)
	same(l, "erased too early", len(l.purge(store.Purge{Turns: []string{"turn_1"}}).Erased), 0)
	project := store.Purge{Project: b.Turn.State.Project}
	early := l.purge(project)
	same(l, "erased too early, with its project", len(early.Erased), 0)
	same(l, "told to wait", early.Waiting, []string{"turn_1"})
	same(l, "told to wait elsewhere", len(l.purge(store.Purge{Project: "another"}).Waiting), 0)
	l.save(store.Batch{Published: []int64{b.Outbox[0].ID}})
	same(l, "erased", len(l.purge(store.Purge{Turns: []string{"turn_1"}}).Erased), 1)
}
