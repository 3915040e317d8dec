package memory

import (
	"cmp"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

const (
	// blobGrace is how long an unreferenced blob is retained, leaveGrace how long the erasure of an ended turn waits for its
	// messages to leave.
	blobGrace  = time.Hour
	leaveGrace = time.Minute
	// waitingMost is how many waiting turns are reported at most.
	waitingMost = 64
)

// purging is a purge, and what it has done so far.
type purging struct {
	store.Purge
	store.Purged
}

// Purge implements [store.Tx].
func (t *tx) Purge(q store.Purge) (store.Purged, error) {
	if err := t.writable("erasing"); err != nil {
		return store.Purged{}, err
	}
	p := &purging{Purge: q}
	p.Content, p.Receipts, p.Keys = optionalMicro(q.Content), optionalMicro(q.Receipts), optionalMicro(q.Keys)
	t.purge(p)
	return p.Purged, nil
}

// purge erases expired content, at most Limit of each kind.
func (t *tx) purge(p *purging) {
	found := firstOf(t.turnsBy(func(row *turnRow) bool { return t.erasable(p, row) }), p.Limit)
	for _, row := range found {
		t.erase(p, row)
	}
	p.More = len(found) == p.Limit
	t.wait(p)
	if !p.Keys.IsZero() {
		t.dropKeys(p)
	}
	if !p.Content.IsZero() {
		t.dropStrayCards(p)
	}
	t.dropStrayBlobs(p)
	if !p.Receipts.IsZero() {
		t.dropReceipts(p)
		t.dropActs(p)
	}
}

// turnsBy lists the turns that match, the oldest first.
func (t *tx) turnsBy(matches func(*turnRow) bool) []*turnRow {
	var rows []*turnRow
	for _, row := range t.rows.turns.all() {
		if matches(row) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b *turnRow) int { return byCreation.compare(store.TurnFilter{}, &a.rec, &b.rec) })
	return rows
}

func (t *tx) erasable(p *purging, row *turnRow) bool {
	s := &row.rec.State
	if s.Status != turn.Ended || !row.erased.IsZero() {
		return false
	}
	fits := false
	switch {
	case p.Turns != nil:
		fits = slices.Contains(p.Turns, s.Turn)
	case p.Project != "":
		fits = s.Project == p.Project
	case !p.Content.IsZero():
		fits = row.rec.Created.Before(p.Content) &&
			!slices.ContainsFunc(t.rows.events.row(s.Session), func(e store.Event) bool { return !e.At.Before(p.Content) })
	}
	return fits && !t.leaving(s.Session)
}

// leaving reports whether a message of a session may be on its way.
func (t *tx) leaving(session string) bool {
	since := micro(t.now().Add(-leaveGrace))
	for _, o := range t.rows.outbox.all() {
		if o.Session == session && o.created.After(since) {
			return true
		}
	}
	return false
}

// wait reports the turns of a project that should have been erased and were not.
func (t *tx) wait(p *purging) {
	if p.Project == "" || p.Turns != nil || p.More {
		return
	}
	for _, row := range firstOf(t.turnsBy(func(row *turnRow) bool {
		return row.rec.State.Project == p.Project && row.rec.State.Status == turn.Ended && row.erased.IsZero()
	}), waitingMost) {
		p.Waiting = append(p.Waiting, row.rec.State.Turn)
	}
}

// erase removes the content of one turn.
func (t *tx) erase(p *purging, old *turnRow) {
	s := &old.rec.State
	cards := t.cardsOf(s.Turn)
	blobs := make([]string, 0, len(cards))
	for _, c := range cards {
		blobs = append(blobs, store.BlobsIn(c.Content)...)
		t.removeCard(c)
	}
	for _, id := range old.calls {
		t.rows.sealed.remove(id)
		row := *t.rows.calls.row(id)
		c := &row.call
		row.call = turn.Call{
			ID: c.ID, Tool: c.Tool, Target: c.Target, State: c.State, Class: c.Class, Risk: c.Risk, Definition: c.Definition,
			Question: c.Question, Digest: c.Digest, Fence: c.Fence,
		}
		t.rows.calls.put(id, &row)
	}
	t.rows.late.remove(s.Turn)
	t.rows.results.remove(s.Turn)
	t.unbox(s.Turn)
	t.rows.permissions.removeIf(func(_ int, p standing.Permission) bool { return p.Origin == s.Session })
	t.eraseEvents(s.Session)
	of := func(_ int64, o *outgoing) bool { return o.Session == s.Session }
	t.rows.outbox.removeIf(of)
	t.rows.dead.removeIf(of)
	row := *old
	row.rec, row.name, row.topic, row.erased = bare(&old.rec), "", "", micro(t.now())
	t.rows.turns.put(s.Turn, &row)
	p.Erased, p.Calls = append(p.Erased, s.Turn), append(p.Calls, old.calls...)
	t.release(p, blobs)
}

func (t *tx) cardsOf(turnID string) []*utp.Card {
	var found []*utp.Card
	for _, row := range t.rows.cards.all() {
		if row.turn == turnID {
			found = append(found, &row.card)
		}
	}
	return found
}

// bare returns a turn without its content.
func bare(r *store.Record) store.Record {
	s := &r.State
	kept := turn.State{
		Turn: s.Turn, Session: s.Session, Project: s.Project, Channel: s.Channel, Agent: s.Agent, Owner: s.Owner,
		Status: turn.Ended, Epoch: s.Epoch, Step: s.Step, Applied: s.Applied, Tally: s.Tally,
	}
	if s.End != nil {
		kept.End = &turn.End{Status: s.End.Status, Code: s.End.Code}
	}
	return store.Record{State: kept, Created: r.Created, Due: r.Due, Free: r.Free, Erased: true, Imported: r.Imported, Unfinished: r.Unfinished, Version: r.Version + 1}
}

func (t *tx) eraseEvents(session string) {
	for _, e := range t.rows.events.row(session) {
		t.rows.eventRefs.remove(e.ID)
	}
	t.rows.events.remove(session)
	t.rows.order = slices.DeleteFunc(slices.Clone(t.rows.order), func(at eventRef) bool { return at.session == session })
}

// dropKeys forgets keys of requests whose time is over.
func (t *tx) dropKeys(p *purging) {
	var old []store.RequestKey
	for _, k := range t.rows.keys.all() {
		if !k.Lasting && !k.At.After(p.Keys) {
			old = append(old, k)
		}
	}
	slices.SortFunc(old, func(a, b store.RequestKey) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Principal, b.Principal), cmp.Compare(a.Key, b.Key))
	})
	old = atMost(old, p.Limit)
	for _, k := range old {
		t.rows.keys.remove([2]string{k.Principal, k.Key})
	}
	p.More = p.More || len(old) == p.Limit
}

// dropStrayCards removes old cards that belong to no turn with content.
func (t *tx) dropStrayCards(p *purging) {
	var strays []*utp.Card
	for _, row := range t.rows.cards.all() {
		if owner, is := t.rows.turns.get(row.turn); (!is || !owner.erased.IsZero()) && row.card.CreatedAt.Before(p.Content) {
			strays = append(strays, &row.card)
		}
	}
	slices.SortFunc(strays, func(a, b *utp.Card) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) })
	strays = atMost(strays, p.Limit)
	for _, c := range strays {
		t.removeCard(c)
	}
	p.Strays, p.More = len(strays), p.More || len(strays) == p.Limit
}

// dropStrayBlobs removes blobs that nothing refers to once [blobGrace] is over.
func (t *tx) dropStrayBlobs(p *purging) {
	before := micro(t.now().Add(-blobGrace))
	var strays []string
	for sha, b := range t.rows.blobs.all() {
		if b.created.Before(before) && !t.rows.blobRefs.has(sha) {
			strays = append(strays, sha)
		}
	}
	slices.Sort(strays)
	strays = atMost(strays, p.Limit)
	p.More = p.More || len(strays) == p.Limit
	t.release(p, strays)
}

// release removes those of the blobs that nothing refers to.
func (t *tx) release(p *purging, blobs []string) {
	for _, sha := range blobs {
		if t.rows.blobs.has(sha) && !t.rows.blobRefs.has(sha) {
			t.rows.blobs.remove(sha)
			p.Blobs++
		}
	}
}

// dropReceipts forgets erased turns whose last receipt is old enough, with their receipts.
func (t *tx) dropReceipts(p *purging) {
	found := atMost(t.turnsBy(func(row *turnRow) bool {
		return !row.erased.IsZero() && row.rec.Created.Before(p.Receipts) && row.erased.Before(p.Receipts) &&
			!slices.ContainsFunc(t.rows.receipts.row(row.rec.State.Session), func(r store.Receipt) bool { return !r.At.Before(p.Receipts) })
	}), p.Limit)
	if len(found) == 0 {
		return
	}
	t.unchain(found)
	for _, row := range found {
		t.forget(row)
	}
	p.Dropped, p.More = len(found), p.More || len(found) == p.Limit
}

// unchain records in the audit chain that the receipts and acts of turns are forgotten.
func (t *tx) unchain(turns []*turnRow) {
	var receipts, acts []int64
	sessions := map[string]bool{}
	for _, row := range turns {
		sessions[row.rec.State.Session] = true
		for _, r := range t.rows.receipts.row(row.rec.State.Session) {
			receipts = append(receipts, r.Entry)
		}
	}
	for _, e := range t.rows.audit {
		if e.Act != nil && e.Act.Call != "" && sessions[e.Act.Session] {
			acts = append(acts, e.N)
		}
	}
	slices.Sort(receipts)
	for _, n := range receipts {
		t.chainForgotten(n)
	}
	t.forgetActs(acts)
}

func (t *tx) forget(row *turnRow) {
	s := &row.rec.State
	t.rows.receipts.remove(s.Session)
	for _, id := range row.calls {
		t.rows.consents.remove(id)
		t.rows.calls.remove(id)
	}
	t.rows.grants.removeIf(func(key startKey, _ store.Grant) bool { return slices.Contains(row.calls, key.call) })
	t.rows.reports.removeIf(func(_ string, r report) bool { return r.Turn == s.Turn })
	t.rows.tokens.removeIf(func(_ string, number int) bool { return t.rows.questions.row(number).turn == s.Turn })
	t.rows.questions.removeIf(func(_ int, q question) bool { return q.turn == s.Turn })
	t.rows.sessions.remove(s.Session)
	t.rows.open.remove(s.Turn)
	t.rows.turns.remove(s.Turn)
}

// dropActs forgets the acts of operators that are old enough.
func (t *tx) dropActs(p *purging) {
	var old []int64
	for _, e := range t.rows.audit {
		if e.Act != nil && e.Act.Call == "" && e.At.Before(p.Receipts) {
			old = append(old, e.N)
		}
	}
	old = atMost(old, p.Limit)
	if len(old) == 0 {
		return
	}
	p.More = p.More || len(old) == p.Limit
	t.forgetActs(old)
}
