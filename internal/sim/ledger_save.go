package sim

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Save implements [store.Tx].
func (t *tx) Save(b store.Batch) error {
	if err := t.writable(); err != nil {
		return err
	}
	return t.fail(t.save(b))
}

func (t *tx) save(b store.Batch) error {
	for _, part := range []func(store.Batch) error{
		t.saveBlobs, t.saveTurn, t.saveEvents, t.saveCards, t.saveConsents, t.saveGrants, t.saveReports, t.saveResults, t.saveSealed,
		t.saveOutbox, t.saveTools, t.saveAgents, t.saveBoxes, t.savePreferences, t.saveKeys, t.savePasskeys, t.saveInForce, t.savePermissions, t.saveReceipts, t.saveActs,
	} {
		if err := part(b); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) saveTurn(b store.Batch) error {
	if b.Turn == nil {
		return nil
	}
	rec := recordOf(*b.Turn)
	s := rec.State
	row, is := t.rows.turns[s.Turn]
	switch {
	case s.Turn == "" || s.Session == "":
		return fmt.Errorf("%w: a turn without its id or its session's", errInvalid)
	case is != (rec.Version != 0), is && (row.rec.Version != rec.Version || row.rec.State.Session != s.Session):
		return conflict("the turn", s.Turn)
	}
	if owner, taken := t.rows.sessions[s.Session]; taken && owner != s.Turn {
		return conflict("the session", s.Session)
	}
	if !is && t.named(s) {
		return conflict("the name", s.Name)
	}
	rec.Version++
	putRow(t, t.rows.turns, s.Turn, turnRow{rec: rec, seq: row.seq, erased: row.erased})
	putRow(t, t.rows.sessions, s.Session, s.Turn)
	for _, c := range s.Calls {
		if owner, taken := t.rows.calls[c.ID]; taken && owner != s.Turn {
			return conflict("the call", c.ID)
		}
		putRow(t, t.rows.calls, c.ID, s.Turn)
		putRow(t, t.rows.callDocuments, c.ID, c)
	}
	return t.saveQuestions(rec)
}

// named reports whether an open session has the name already.
func (t *tx) named(s turn.State) bool {
	for _, row := range t.rows.turns {
		other := row.rec.State
		if s.Name != "" && other.Name == s.Name && other.Project == s.Project && other.Status != turn.Ended && s.Status != turn.Ended {
			return true
		}
	}
	return false
}

func (t *tx) saveQuestions(rec store.Record) error {
	for _, q := range rec.Questions {
		if old, taken := t.rows.questions[q.Number]; taken && old.turn != rec.State.Turn {
			return conflict("the question", q.Number)
		}
		putRow(t, t.rows.questions, q.Number, question{turn: rec.State.Turn, state: q.State})
		for _, token := range slices.Concat(q.SpentTokens, []string{q.Token}) {
			if number, taken := t.rows.tokens[token]; taken && number != q.Number {
				return conflict("a token of the question", q.Number)
			}
			putRow(t, t.rows.tokens, token, q.Number)
		}
	}
	return nil
}

func (t *tx) saveEvents(b store.Batch) error {
	for i := range b.Events {
		e := &b.Events[i]
		row, is := t.rows.turns[t.rows.sessions[e.Session]]
		if !is {
			return missing("the session", e.Session)
		}
		if _, taken := t.rows.eventRefs[e.ID]; taken {
			return conflict("the event", e.ID)
		}
		row.seq++
		e.Seq = row.seq
		putRow(t, t.rows.turns, row.rec.State.Turn, row)
		putRow(t, t.rows.events, e.Session, append(slices.Clip(t.rows.events[e.Session]), *e))
		before := t.rows.order
		t.undo = append(t.undo, func() { t.rows.order = before })
		at := eventRef{session: e.Session, id: e.ID, seq: e.Seq, row: t.next(lastEvent), at: e.At}
		t.rows.order = append(t.rows.order, at)
		putRow(t, t.rows.eventRefs, e.ID, at)
	}
	return nil
}

func (t *tx) saveCards(b store.Batch) error {
	for _, c := range b.Cards {
		if old, is := t.rows.cards[c.ID]; is {
			if !sameCard(old, c) {
				return conflict("the card", c.ID)
			}
			continue
		}
		if key := [2]string{c.Project, c.ToolCallID}; c.Type == utp.CardToolResult && c.ToolCallID != "" { // a call has one result
			if _, again := t.rows.ends[key]; again {
				return conflict("the result of", c.ToolCallID)
			}
			putRow(t, t.rows.ends, key, c.ID)
		}
		putRow(t, t.rows.cards, c.ID, c)
	}
	return nil
}

func sameCard(a, b utp.Card) bool {
	return a.Project == b.Project && a.Type == b.Type && a.AuthorID == b.AuthorID && a.ToolCallID == b.ToolCallID &&
		a.CreatedAt.Equal(b.CreatedAt) && bytes.Equal(a.Content, b.Content) && bytes.Equal(a.Metadata, b.Metadata)
}

func (t *tx) saveConsents(b store.Batch) error {
	for _, c := range b.Consents {
		_, again := t.rows.consents[c.Call]
		_, asked := t.rows.questions[c.Question]
		_, called := t.rows.calls[c.Call]
		if again || !asked || !called {
			return conflict("the consent to question", c.Question)
		}
		putRow(t, t.rows.consents, c.Call, consentRow{Consent: c})
	}
	for _, c := range b.Consumed {
		g, is := t.rows.consents[c.Call]
		if !is || g.used || g.Question != c.Question || g.Digest != c.Digest {
			return conflict("the consent of the call", c.Call)
		}
		g.used = true
		putRow(t, t.rows.consents, c.Call, g)
	}
	return nil
}

func (t *tx) saveGrants(b store.Batch) error {
	for _, g := range b.Grants {
		key := startKey{g.Call, g.Fence}
		_, again := t.rows.grants[key]
		if _, called := t.rows.calls[g.Call]; again || !called {
			return conflict("the grant of", key)
		}
		putRow(t, t.rows.grants, key, g)
	}
	return nil
}

func (t *tx) saveReports(b store.Batch) error {
	for _, r := range b.Reports {
		if _, again := t.rows.reports[r.Call]; again {
			return conflict("the report of", r.Call)
		}
		putRow(t, t.rows.reports, r.Call, report{Report: r})
	}
	for _, r := range b.Late {
		putRow(t, t.rows.late, r.Call, append(slices.Clip(t.rows.late[r.Call]), r))
	}
	return nil
}

func (t *tx) saveResults(b store.Batch) error {
	for _, r := range b.Applied {
		reported, is := t.rows.reports[r.Call]
		if !is || reported.applied {
			return conflict("no report waits to be applied for", r.Call)
		}
		reported.applied = true
		putRow(t, t.rows.reports, r.Call, reported)
		rows := t.rows.results[reported.Turn]
		r.N = len(rows) + 1
		putRow(t, t.rows.results, reported.Turn, append(slices.Clip(rows), r))
	}
	return nil
}

func (t *tx) saveInForce(b store.Batch) error {
	for _, f := range b.InForce {
		if f.Digest == "" {
			removeRow(t, t.rows.inForce, [2]string{f.Kind, f.Subject})
			continue
		}
		putRow(t, t.rows.inForce, [2]string{f.Kind, f.Subject}, f)
	}
	return nil
}

func (t *tx) savePermissions(b store.Batch) error {
	for _, p := range b.Permissions {
		if p.Number <= 0 || p.Origin == "" {
			return fmt.Errorf("%w: a standing permission without its number or session", errInvalid)
		}
		if t.rows.permissions[p.Number].Version != p.Version {
			return conflict("the standing permission", p.Number)
		}
		p.Version++
		p.Bounds = slices.Clip(p.Bounds)
		putRow(t, t.rows.permissions, p.Number, p)
	}
	return nil
}

func (t *tx) saveAgents(b store.Batch) error {
	for _, c := range b.Agents {
		switch was := t.rows.agents[c.Name]; {
		case c.Name == "", c.Before == "" && c.After.Digest == "", c.After.Digest != "" && c.After.Definition.Name != c.Name:
			return fmt.Errorf("%w: the definition of an agent without its name, or nothing that changes", errInvalid)
		case was.Digest != c.Before:
			return conflict("the definition of the agent", c.Name)
		case c.After.Digest == "":
			removeRow(t, t.rows.agents, c.Name)
		default:
			putRow(t, t.rows.agents, c.Name, c.After)
		}
	}
	return nil
}

func (t *tx) savePasskeys(b store.Batch) error {
	for _, p := range b.Passkeys {
		if _, there := t.rows.passkeys[p.ID]; there || p.ID == "" || p.Person == "" || p.Public == "" {
			return store.ErrConflict
		}
		putRow(t, t.rows.passkeys, p.ID, p)
	}
	for _, u := range b.PasskeysUsed {
		p, there := t.rows.passkeys[u.ID]
		if !there || u.Counter <= p.Counter && (u.Counter != 0 || p.Counter != 0) {
			return store.ErrConflict
		}
		p.Counter, p.Used = u.Counter, u.At
		putRow(t, t.rows.passkeys, u.ID, p)
	}
	for _, id := range b.PasskeysRemoved {
		if _, there := t.rows.passkeys[id]; !there {
			return store.ErrConflict
		}
		removeRow(t, t.rows.passkeys, id)
	}
	return nil
}

func (t *tx) saveActs(b store.Batch) error {
	for _, a := range b.Acts {
		a = audit.StorableAct(a)
		t.chain(api.AuditEntry{Kind: audit.Act, Commitment: audit.ActCommitment(a), Act: &a})
	}
	return nil
}

func (t *tx) saveReceipts(b store.Batch) error {
	for _, r := range b.Receipts {
		r.Entry = t.chain(api.AuditEntry{Kind: audit.Answer, Commitment: audit.Commitment(r.Audited())})
		putRow(t, t.rows.receipts, r.Session, append(slices.Clip(t.rows.receipts[r.Session]), r))
	}
	return nil
}

// chain appends an entry to the audit chain and returns its number.
func (t *tx) chain(e api.AuditEntry) int64 {
	before := t.rows.audit
	t.undo = append(t.undo, func() { t.rows.audit = before })
	link := ""
	if n := len(before); n > 0 {
		link = before[n-1].Link
	}
	e.N, e.At = int64(len(before)+1), time.UnixMicro(t.now().UnixMicro()).UTC()
	e.Link = audit.Link(link, e)
	t.rows.audit = append(slices.Clip(before), e)
	return e.N
}

func (t *tx) saveSealed(b store.Batch) error {
	for _, s := range b.Sealed {
		rows := t.rows.sealed[s.Call]
		if slices.ContainsFunc(rows, func(old store.Sealed) bool { return old.Ref == s.Ref }) {
			return conflict("a sealed value of", s.Call)
		}
		putRow(t, t.rows.sealed, s.Call, append(slices.Clip(rows), s))
	}
	return nil
}

// Counters of the ledger's own.
const (
	lastOutgoing = "sim: the last message"
	lastEvent    = "sim: the last event"
)

// next counts one on.
func (t *tx) next(counter string) int64 {
	n := t.rows.counters[counter] + 1
	putRow(t, t.rows.counters, counter, n)
	return n
}

func (t *tx) saveOutbox(b store.Batch) error {
	for i := range b.Outbox {
		o := &b.Outbox[i]
		o.ID = t.next(lastOutgoing)
		kept := outgoing{Outgoing: *o, created: t.now()}
		kept.Header = maps.Clone(o.Header)
		putRow(t, t.rows.outbox, o.ID, kept)
	}
	for _, id := range slices.Concat(b.Claimed, b.SendOnce) {
		o, waits := t.rows.outbox[id]
		if !waits {
			return conflict("the message", id)
		}
		o.created = t.now()
		putRow(t, t.rows.outbox, id, o)
	}
	for _, id := range slices.Concat(b.SendOnce, b.Published) {
		removeRow(t, t.rows.outbox, id)
		removeRow(t, t.rows.dead, id)
	}
	for _, d := range b.Dead { // one that is not there was sent
		if o, waits := t.rows.outbox[d.ID]; waits {
			removeRow(t, t.rows.outbox, d.ID)
			o.Died, o.Reason = t.now(), d.Reason
			putRow(t, t.rows.dead, d.ID, o)
		}
	}
	return nil
}

func (t *tx) saveTools(b store.Batch) error {
	for _, tool := range b.Tools {
		name := tool.Definition.Tool
		if name == "" {
			return fmt.Errorf("%w: a tool without a name", errInvalid)
		}
		is, there := t.rows.tools[name]
		if was, read := t.toolsRead[name]; read && there && !sameTool(is, was) {
			return conflict("the tool", name)
		}
		putRow(t, t.rows.tools, name, tool)
		if t.toolsRead != nil {
			t.toolsRead[name] = tool
		}
	}
	for _, name := range b.Removed {
		removeRow(t, t.rows.tools, name)
	}
	return nil
}

func sameTool(a, b store.Tool) bool {
	return a.Digest == b.Digest && a.Reviewed == b.Reviewed && a.Class == b.Class && a.Risk == b.Risk && a.Definition.Risk == b.Definition.Risk
}

func (t *tx) savePreferences(b store.Batch) error {
	for _, w := range b.Preferences {
		switch empty, err := w.Empty(); {
		case err != nil:
			return fmt.Errorf("%w: %w", errInvalid, err)
		case empty:
			removeRow(t, t.rows.preferences, w.Person)
		default:
			putRow(t, t.rows.preferences, w.Person, w)
		}
	}
	return nil
}

func (t *tx) saveKeys(b store.Batch) error {
	for _, k := range b.Keys {
		whose := [2]string{k.Principal, k.Key}
		before, used := t.rows.keys[whose]
		switch {
		case k.Principal == "" || k.Key == "" || k.Digest == "":
			return fmt.Errorf("%w: the key of a request without a principal, a key or a digest", errInvalid)
		case used && !before.Expired(k.At):
			return conflict("the key of a request", k.Key)
		}
		putRow(t, t.rows.keys, whose, k)
	}
	return nil
}
