package ledgersql

import (
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// blobGrace is how long an unreferenced blob is retained: whoever has put it may be about to refer to
// it.
const blobGrace = time.Hour

// unreferred is the condition of a blob that no card refers to.
const unreferred = `NOT EXISTS (SELECT 1 FROM blob_refs WHERE blob_refs.sha256 = blobs.sha256)`

// purging is a purge, and what it has done so far.
type purging struct {
	store.Purge
	store.Purged
}

// Purge implements [store.Tx].
func (t *Tx) Purge(q store.Purge) (store.Purged, error) {
	if err := t.writable("erasing"); err != nil {
		return store.Purged{}, err
	}
	p := &purging{Purge: q}
	err := t.Fail(t.purge(p))
	return p.Purged, err
}

// purge erases expired content, at most Limit of each kind.
func (t *Tx) purge(p *purging) error {
	clear(t.cards) // cards that were read may be gone after this
	clear(t.turns)
	found, err := t.erasable(p)
	if err != nil {
		return err
	}
	for _, e := range found {
		if err := t.erase(p, e); err != nil {
			return err
		}
	}
	p.More = len(found) == p.Limit
	if err := t.wait(p); err != nil {
		return err
	}
	// Receipts are the last: from there on nobody else can have an answer saved.
	for _, part := range []func(*purging) error{t.dropKeys, t.dropStrayCards, t.dropStrayBlobs, t.dropReceipts, t.dropActs} {
		if err := part(p); err != nil {
			return err
		}
	}
	return nil
}

// ended is a turn whose content is to be erased.
type ended struct{ turn, session, doc string }

// leaveGrace is how long the erasure of an ended turn waits for its last message to be sent and acked.
const leaveGrace = time.Minute

// erasable finds turns that have ended, and whose content is due or asked for.
func (t *Tx) erasable(p *purging) ([]ended, error) {
	w := t.where()
	w.conditions = append(w.conditions, "ended", "erased_at IS NULL")
	w.add(`NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.session_id = turns.session_id
		AND published_at IS NULL AND dead_at IS NULL AND outbox.created > %s)`, stamp(t.now().Add(-leaveGrace)))
	switch {
	case p.Turns != nil:
		w.among("turn_id", p.Turns)
	case p.Project != "":
		w.add("project = %s", p.Project)
	case !p.Content.IsZero():
		w.add("created < %s", stamp(p.Content))
		w.add("NOT EXISTS (SELECT 1 FROM events WHERE events.session_id = turns.session_id AND events.at >= %s)", stamp(p.Content))
	default:
		return nil, nil
	}
	var found []ended
	err := t.c.Each(`SELECT turn_id, session_id, doc FROM turns `+w.page("created, turn_id", p.Limit)+t.d.Claim("turns"), w.args,
		func(scan func(...any) error) error {
			var e ended
			err := scan(&e.turn, &e.session, &e.doc)
			found = append(found, e)
			return err
		})
	return found, t.read(err, "what is to be erased")
}

// waitingMost is how many waiting turns are reported at most.
const waitingMost = 64

// wait reports the turns of a project that should have been erased and were not.
func (t *Tx) wait(p *purging) (err error) {
	if p.Project == "" || p.Turns != nil || p.More {
		return nil
	}
	p.Waiting, err = t.texts(`SELECT turn_id FROM turns WHERE ended AND erased_at IS NULL AND project = $1 ORDER BY created, turn_id`+limited("$2"),
		p.Project, waitingMost)
	return err
}

// erase removes the content of one turn. What remains says that there was a turn, whose it was, and
// which calls it made, by their digests. Receipts and consents remain complete.
func (t *Tx) erase(p *purging, e ended) error {
	what := "the content of the turn " + e.turn
	calls, blobs, err := t.contentOf(e)
	if err != nil {
		return err
	}
	doc, err := bare(e)
	if err != nil {
		return err
	}
	const ofCalls = `(SELECT call_id FROM calls WHERE turn_id = $1)`
	for _, query := range []string{
		`DELETE FROM blob_refs WHERE card_id IN (SELECT card_id FROM cards WHERE turn_id = $1)`,
		`DELETE FROM cards WHERE turn_id = $1`,
		`DELETE FROM sealed WHERE call_id IN ` + ofCalls,
		`UPDATE reports SET key = NULL, tool = NULL WHERE turn_id = $1`,
		`DELETE FROM box_entries WHERE turn_id = $1`,
		`DELETE FROM late_results WHERE turn_id = $1`,
		`UPDATE turn_inputs SET args = NULL, request = '' WHERE turn_id = $1`,
		`UPDATE calls SET doc = '{}' WHERE turn_id = $1`,
		`UPDATE questions SET doc = '{}' WHERE turn_id = $1`,
	} {
		if err := t.exec(what, query, e.turn); err != nil {
			return err
		}
	}
	for _, query := range []string{
		`DELETE FROM events WHERE session_id = $1`,
		`DELETE FROM permissions WHERE session_id = $1`, // their bounds quote its arguments
		`DELETE FROM outbox WHERE session_id = $1`,
	} {
		if err := t.exec(what, query, e.session); err != nil {
			return err
		}
	}
	err = t.must(what, `UPDATE turns SET doc = $2, narration = NULL, summary = '', name = '', topic = '', erased_at = $3, version = version + 1 WHERE turn_id = $1`,
		e.turn, doc, stamp(t.now()))
	if err != nil {
		return err
	}
	p.Erased, p.Calls = append(p.Erased, e.turn), append(p.Calls, calls...)
	return t.release(p, blobs)
}

// contentOf lists the calls of a turn, and the blobs that its cards refer to.
func (t *Tx) contentOf(e ended) (calls, blobs []string, err error) {
	calls, err = t.texts(`SELECT call_id FROM calls WHERE turn_id = $1`, e.turn)
	if err != nil {
		return nil, nil, err
	}
	blobs, err = t.texts(`SELECT DISTINCT sha256 FROM blob_refs WHERE card_id IN
		(SELECT card_id FROM cards WHERE turn_id = $1)`, e.turn)
	return calls, blobs, err
}

func (t *Tx) texts(query string, args ...any) ([]string, error) {
	var out []string
	err := t.c.Each(query, args, func(scan func(...any) error) error {
		var s string
		err := scan(&s)
		out = append(out, s)
		return err
	})
	return out, t.read(err, "what is to be erased")
}

// release removes those of the blobs that nothing refers to.
func (t *Tx) release(p *purging, blobs []string) error {
	return t.releaseIf(p, blobs, unreferred)
}

func (t *Tx) releaseIf(p *purging, blobs []string, fits string, args ...any) error {
	for _, sha := range blobs {
		if err := t.lock("the blob "+sha, t.d.LockBlob, sha); err != nil {
			return err
		}
		n, err := t.c.Exec(`DELETE FROM blobs WHERE sha256 = $1 AND `+fits, append([]any{sha}, args...)...)
		if err != nil {
			return t.c.Border("the blob "+sha, err)
		}
		p.Blobs += int(n)
	}
	return nil
}

// bare returns the document of a turn without its content. An unreadable document becomes empty: its
// content must be erased all the same.
func bare(e ended) (string, error) {
	var d document
	_ = decode(e.doc, &d) // a damaged document is content too
	s := d.State
	s.Turn, s.Session = e.turn, e.session
	kept := turn.State{
		Turn: s.Turn, Session: s.Session, Project: s.Project, Channel: s.Channel, Agent: s.Agent, Owner: s.Owner,
		Status: turn.Ended, Epoch: s.Epoch, Step: s.Step, Applied: s.Applied, Tally: s.Tally,
	}
	if s.End != nil {
		kept.End = &turn.End{Status: s.End.Status, Code: s.End.Code}
	}
	return encodeTurn(document{State: kept, Erased: true, Imported: d.Imported, Unfinished: d.Unfinished})
}

// dropReceipts forgets erased turns whose last receipt is old enough, with their receipts.
func (t *Tx) dropReceipts(p *purging) error {
	if p.Receipts.IsZero() {
		return nil
	}
	var found []ended
	err := t.c.Each(`SELECT turn_id, session_id FROM turns WHERE erased_at IS NOT NULL AND created < $1 AND erased_at < $1
		AND NOT EXISTS (SELECT 1 FROM receipts WHERE receipts.session_id = turns.session_id AND receipts.at >= $1)
		ORDER BY created, turn_id`+limited("$2")+t.d.Claim("turns"), []any{stamp(p.Receipts), p.Limit}, func(scan func(...any) error) error {
		var e ended
		err := scan(&e.turn, &e.session)
		found = append(found, e)
		return err
	})
	if err != nil || len(found) == 0 {
		return t.read(err, "old receipts")
	}
	sessions := make([]string, len(found))
	for i, e := range found {
		sessions[i] = e.session
	}
	if err := t.unchain(sessions); err != nil {
		return err
	}
	for _, e := range found {
		if err := t.forget(e); err != nil {
			return err
		}
	}
	p.Dropped, p.More = len(found), p.More || len(found) == p.Limit
	return nil
}

func (t *Tx) forget(e ended) error {
	const ofCalls = `(SELECT call_id FROM calls WHERE turn_id = $1)`
	for _, query := range []string{
		`DELETE FROM receipts WHERE session_id = (SELECT session_id FROM turns WHERE turn_id = $1)`,
		`DELETE FROM consents WHERE call_id IN ` + ofCalls,
		`DELETE FROM grants WHERE call_id IN ` + ofCalls,
		`DELETE FROM edges WHERE call_id IN ` + ofCalls, // of older ledgers
		`DELETE FROM reports WHERE turn_id = $1`,
		`DELETE FROM tokens WHERE turn_id = $1`,
		`DELETE FROM questions WHERE turn_id = $1`,
		`DELETE FROM calls WHERE turn_id = $1`,
		`DELETE FROM turn_inputs WHERE turn_id = $1`,
		`DELETE FROM turns WHERE turn_id = $1`,
	} {
		if err := t.exec("the old turn "+e.turn, query, e.turn); err != nil {
			return err
		}
	}
	return nil
}

// dropStrayCards removes old cards that belong to no turn with content: to none at all, or to one that
// was erased before they came.
func (t *Tx) dropStrayCards(p *purging) error {
	if p.Content.IsZero() {
		return nil
	}
	strays, err := t.texts(`SELECT card_id FROM cards WHERE created < $1
		AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.turn_id = cards.turn_id AND erased_at IS NULL) ORDER BY created`+limited("$2"), stamp(p.Content), p.Limit)
	if err != nil {
		return err
	}
	for _, id := range strays {
		for _, query := range []string{`DELETE FROM blob_refs WHERE card_id = $1`, `DELETE FROM cards WHERE card_id = $1`} {
			if err := t.exec("the card "+id, query, id); err != nil {
				return err
			}
		}
	}
	p.Strays, p.More = len(strays), p.More || len(strays) == p.Limit
	return nil
}

// dropStrayBlobs removes blobs that nothing refers to once [blobGrace] is over.
func (t *Tx) dropStrayBlobs(p *purging) error {
	before := stamp(t.now().Add(-blobGrace))
	strays, err := t.texts(`SELECT sha256 FROM blobs WHERE created < $1 AND `+unreferred+` ORDER BY sha256`+limited("$2"), before, p.Limit)
	if err != nil {
		return err
	}
	p.More = p.More || len(strays) == p.Limit
	return t.releaseIf(p, strays, `created < $2 AND `+unreferred, before) // a blob that was put again meanwhile stays
}

// refer notes which blob a card refers to.
func (t *Tx) refer(card string, content []byte) error {
	for _, sha := range store.BlobsIn(content) {
		err := t.exec("the card "+card, `INSERT INTO blob_refs (sha256, card_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, sha, card)
		if err != nil {
			return err
		}
	}
	return nil
}
