package memory

import (
	"slices"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// Save implements [store.Tx].
func (t *tx) Save(b store.Batch) error {
	if err := t.writable("saving"); err != nil {
		return err
	}
	return t.fail(t.save(&b))
}

func (t *tx) save(b *store.Batch) error {
	for _, part := range []func(*store.Batch) error{
		t.saveBlobs, t.saveTurn, t.saveEvents, t.saveCards, t.saveConsents, t.saveGrants, t.saveReports, t.saveResults, t.saveSealed,
		t.saveOutbox, t.saveTools, t.saveAgents, t.saveBoxes, t.savePreferences, t.saveKeys, t.savePasskeys, t.saveInForce, t.savePermissions, t.saveReceipts, t.saveActs,
	} {
		if err := part(b); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) saveEvents(b *store.Batch) error {
	for i := range b.Events {
		e := &b.Events[i]
		old, is := t.rows.turns.get(t.rows.sessions.row(e.Session))
		if !is {
			return missing("the session", e.Session)
		}
		if t.rows.eventRefs.has(e.ID) {
			return conflict("the event", e.ID)
		}
		row := *old
		row.seq++
		e.Seq = row.seq
		t.rows.turns.put(t.rows.sessions.row(e.Session), &row)
		stored := copyOf(*e)
		stored.At = micro(e.At)
		t.rows.events.put(e.Session, append(t.rows.events.row(e.Session), stored))
		t.rows.lastEvent++
		at := eventRef{session: e.Session, id: e.ID, seq: e.Seq, row: t.rows.lastEvent, at: stored.At}
		t.rows.order = append(t.rows.order, at)
		t.rows.eventRefs.put(e.ID, at)
	}
	return nil
}

func (t *tx) saveConsents(b *store.Batch) error {
	for _, c := range b.Consents {
		switch {
		case c.Digest == "":
			return invalid("saving a consent", "no digest", "one")
		case t.rows.consents.has(c.Call), !t.rows.questions.has(c.Question), !t.rows.calls.has(c.Call):
			return conflict("the consent to question", c.Question)
		}
		c.At = micro(c.At)
		t.rows.consents.put(c.Call, Consent{Consent: c})
	}
	for _, c := range b.Consumed {
		g, is := t.rows.consents.get(c.Call)
		if !is || g.Used || g.Question != c.Question || g.Digest != c.Digest {
			return conflict("the consent of the call", c.Call)
		}
		g.Used = true
		t.rows.consents.put(c.Call, g)
	}
	return nil
}

func (t *tx) saveGrants(b *store.Batch) error {
	for _, g := range b.Grants {
		key := startKey{g.Call, g.Fence}
		if t.rows.grants.has(key) || !t.rows.calls.has(g.Call) {
			return conflict("the grant of", key)
		}
		g.At = micro(g.At)
		t.rows.grants.put(key, g)
	}
	return nil
}

func (t *tx) saveReports(b *store.Batch) error {
	for _, r := range b.Reports {
		if t.rows.reports.has(r.Call) || !t.rows.turns.has(r.Turn) {
			return conflict("the report of", r.Call)
		}
		r.At = micro(r.At)
		t.rows.reports.put(r.Call, report{Report: r})
	}
	for _, r := range b.Late {
		r.At = micro(r.At)
		t.rows.late.put(r.Turn, append(t.rows.late.row(r.Turn), r))
	}
	return nil
}

// saveResults applies reports: each takes the next place in its turn's transcript, once.
func (t *tx) saveResults(b *store.Batch) error {
	for _, r := range b.Applied {
		reported, is := t.rows.reports.get(r.Call)
		if !is || reported.applied || reported.Card != r.Card {
			return conflict("no report waits to be applied for", r.Call)
		}
		reported.applied = true
		t.rows.reports.put(r.Call, reported)
		row := *t.rows.turns.row(reported.Turn)
		row.applied++
		t.rows.turns.put(reported.Turn, &row)
		r.N = row.applied
		t.rows.results.put(reported.Turn, append(t.rows.results.row(reported.Turn), r))
	}
	return nil
}

func (t *tx) saveSealed(b *store.Batch) error {
	for _, s := range b.Sealed {
		rows := t.rows.sealed.row(s.Call)
		if slices.ContainsFunc(rows, func(old store.Sealed) bool { return old.Ref == s.Ref }) {
			return conflict("a sealed value of", s.Call)
		}
		s.Box = whole(s.Box)
		t.rows.sealed.put(s.Call, append(rows, s))
	}
	return nil
}

// whole copies bytes that may be empty but are never nil.
func whole(b []byte) []byte { return append([]byte{}, b...) }

func (t *tx) saveOutbox(b *store.Batch) error {
	for i := range b.Outbox {
		o := &b.Outbox[i]
		t.rows.lastOutgoing++
		o.ID = t.rows.lastOutgoing
		stored := copyOf(*o)
		stored.Payload = whole(o.Payload)
		stored.Died, stored.Reason = time.Time{}, ""
		t.rows.outbox.put(o.ID, &outgoing{Outgoing: stored, created: micro(t.now())})
	}
	for _, id := range b.Claimed {
		old, unsent := t.rows.outbox.get(id)
		if !unsent {
			return conflict("the message", id)
		}
		row := *old
		row.created = micro(t.now())
		t.rows.outbox.put(id, &row)
	}
	for _, id := range b.SendOnce {
		if !t.rows.outbox.has(id) {
			return conflict("the message", id)
		}
		t.rows.outbox.remove(id)
	}
	for _, id := range b.Published { // one that no longer exists was sent, too
		t.rows.outbox.remove(id)
		t.rows.dead.remove(id)
	}
	for _, d := range b.Dead {
		if old, unsent := t.rows.outbox.get(d.ID); unsent {
			row := *old
			row.Died, row.Reason = micro(t.now()), d.Reason
			t.rows.outbox.remove(d.ID)
			t.rows.dead.put(d.ID, &row)
		}
	}
	return nil
}

func (t *tx) saveTools(b *store.Batch) error {
	for _, tool := range b.Tools {
		name := tool.Definition.Tool
		if name == "" {
			return invalid("registering a tool", "no name", "one")
		}
		is, there := t.rows.tools.get(name)
		if was, read := t.toolsRead[name]; read && there && !sameTool(is, &was) {
			return conflict("the tool", name)
		}
		stored := copyOf(tool)
		t.rows.tools.put(name, &stored)
		t.sawTool(name, stored)
	}
	for _, name := range b.Removed {
		t.rows.tools.remove(name)
		t.sawTool(name, store.Tool{})
	}
	return nil
}

// sawTool remembers a tool as the transaction knows it; the zero value is one that does not exist.
func (t *tx) sawTool(name string, tool store.Tool) {
	if t.toolsRead == nil {
		t.toolsRead = map[string]store.Tool{}
	}
	t.toolsRead[name] = tool
}

func sameTool(a, b *store.Tool) bool {
	return a.Digest == b.Digest && a.Reviewed == b.Reviewed && a.Class == b.Class && a.Risk == b.Risk && a.Definition.Risk == b.Definition.Risk
}

func (t *tx) saveAgents(b *store.Batch) error {
	for _, c := range b.Agents {
		if c.Name == "" || c.Before == "" && c.After.Digest == "" || c.After.Digest != "" && c.After.Definition.Name != c.Name {
			return invalid("defining an agent", "no name, or nothing that changes", "the name of an agent, and its definition")
		}
		if was, is := t.rows.agents.get(c.Name); is != (c.Before != "") || was.Digest != c.Before {
			return conflict("the definition of the agent", c.Name)
		}
		if c.After.Digest == "" {
			t.rows.agents.remove(c.Name)
			continue
		}
		var err error
		if c.After.Definition, err = ledgersql.Stored(c.After.Definition); err != nil {
			return err
		}
		t.rows.agents.put(c.Name, c.After)
	}
	return nil
}

func (t *tx) savePreferences(b *store.Batch) error {
	for _, w := range b.Preferences {
		switch empty, err := w.Empty(); {
		case err != nil:
			return invalid("keeping a wish", err.Error(), "a person, and 0 or more seconds")
		case empty:
			t.rows.preferences.remove(w.Person)
		default:
			t.rows.preferences.put(w.Person, copyOf(w))
		}
	}
	return nil
}

func (t *tx) saveKeys(b *store.Batch) error {
	for _, k := range b.Keys {
		k.At = micro(k.At)
		owned := [2]string{k.Principal, k.Key}
		before, used := t.rows.keys.get(owned)
		switch {
		case k.Principal == "" || k.Key == "" || k.Digest == "":
			return invalid("keeping the key of a request", "no principal, key or digest", "all three")
		case used && !before.Expired(k.At):
			return conflict("the key of a request", k.Key)
		}
		t.rows.keys.put(owned, k)
	}
	return nil
}

func (t *tx) savePasskeys(b *store.Batch) error {
	for _, p := range b.Passkeys {
		switch {
		case p.ID == "" || p.Person == "" || p.Public == "":
			return invalid("adding a passkey", "no id, person or key", "all three")
		case t.rows.passkeys.has(p.ID):
			return conflict("the passkey", p.ID)
		}
		p.Added, p.Used = micro(p.Added), optionalMicro(p.Used)
		t.rows.passkeys.put(p.ID, p)
	}
	for _, u := range b.PasskeysUsed {
		p, is := t.rows.passkeys.get(u.ID)
		if !is || u.Counter <= p.Counter && (u.Counter != 0 || p.Counter != 0) {
			return conflict("the passkey", u.ID)
		}
		p.Counter, p.Used = u.Counter, micro(u.At)
		t.rows.passkeys.put(u.ID, p)
	}
	for _, id := range b.PasskeysRemoved {
		if !t.rows.passkeys.has(id) {
			return conflict("the passkey", id)
		}
		t.rows.passkeys.remove(id)
	}
	return nil
}

func (t *tx) saveInForce(b *store.Batch) error {
	for _, f := range b.InForce {
		if f.Digest == "" {
			t.rows.inForce.remove([2]string{f.Kind, f.Subject})
			continue
		}
		t.rows.inForce.put([2]string{f.Kind, f.Subject}, f)
	}
	return nil
}

func (t *tx) savePermissions(b *store.Batch) error {
	for _, p := range b.Permissions {
		if p.Number <= 0 || p.Origin == "" {
			return invalid("saving a standing permission", "no number or session", "both")
		}
		if t.rows.permissions.row(p.Number).Version != p.Version {
			return conflict("the standing permission", p.Number)
		}
		stored, err := ledgersql.Stored(p)
		if err != nil {
			return err
		}
		stored.Version = p.Version + 1
		t.rows.permissions.put(p.Number, stored)
	}
	return nil
}

func (t *tx) saveReceipts(b *store.Batch) error {
	for _, r := range b.Receipts {
		r.Entry = t.chain(api.AuditEntry{Kind: audit.Answer, Commitment: audit.Commitment(r.Audited())})
		terms, err := ledgersql.Stored(audit.Storable(r.Terms))
		if err != nil {
			return err
		}
		r.Terms, r.At = terms, micro(r.At)
		t.rows.receipts.put(r.Session, append(t.rows.receipts.row(r.Session), r))
	}
	return nil
}

func (t *tx) saveActs(b *store.Batch) error {
	for _, a := range b.Acts {
		a = audit.StorableAct(a)
		t.chain(api.AuditEntry{Kind: audit.Act, Commitment: audit.ActCommitment(a), Act: &a})
	}
	return nil
}

// chain appends an entry to the audit chain and returns its number.
func (t *tx) chain(e api.AuditEntry) int64 {
	link := ""
	if n := len(t.rows.audit); n > 0 {
		link = t.rows.audit[n-1].Link
	}
	e.N, e.At = int64(len(t.rows.audit)+1), micro(t.now())
	e.Link = audit.Link(link, e)
	t.rows.audit = append(t.rows.audit, e)
	return e.N
}

// forgetActs removes acts from their entries, and records that in the chain.
func (t *tx) forgetActs(entries []int64) {
	if len(entries) == 0 {
		return
	}
	t.rows.audit = slices.Clone(t.rows.audit)
	for _, n := range entries {
		t.rows.audit[n-1].Act = nil
		t.chainForgotten(n)
	}
}

func (t *tx) chainForgotten(of int64) { t.chain(api.AuditEntry{Kind: audit.Forgotten, Of: of}) }
