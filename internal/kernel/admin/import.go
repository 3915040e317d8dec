package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// importedOpen is the message at the end of an imported turn that was still open in its own ledger.
const importedOpen = "It was still under way in the ledger that it was imported from; what became of it since is not known here."

// Import saves records of one turn from another ledger. If the turn exists and was not imported, it is this ledger's
// own, and nothing is added to it. Existing records of an imported turn stay, so that an import can be repeated or
// continued. Nothing of it can run: the turn and its calls have ended, and there is no consent, token, question or
// message. If the turn was open in its own ledger, its session is ended here with its last records; later exports add
// nothing to it. No content is imported into a turn whose content is erased.
func (ad *Admin) Import(ctx context.Context, q api.ImportRequest) (api.ImportAnswer, error) {
	var a api.ImportAnswer
	records := make([]api.Exported, len(q.Records))
	for i, raw := range q.Records {
		if err := json.Unmarshal(raw, &records[i], json.RejectUnknownMembers(true)); err != nil {
			return a, api.NewFault(utp.CodeBadRequest, fmt.Sprintf("record %d: %v", i+1, err))
		}
	}
	err := store.Update(ctx, ad.o.Ledger, func(tx store.Tx) error {
		a = api.ImportAnswer{}
		im := &importer{ad: ad, tx: tx, id: q.Turn, receipts: q.Receipts}
		known, err := im.begin(records)
		if a.Known = known; err != nil || known {
			return err
		}
		for i := range records {
			if err := im.add(records[i]); err != nil {
				if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrHash) {
					return api.NewFault(utp.CodeConflict, fmt.Sprintf("record %d: %v", i+1, err))
				}
				return err
			}
		}
		if q.Last {
			if err := im.finish(q.By); err != nil {
				return err
			}
		}
		a.Added = im.added()
		im.claim()
		return tx.Save(im.batch)
	})
	return a, err
}

// importer saves the records of one request.
type importer struct {
	ad    *Admin
	tx    store.Tx
	id    string
	rec   store.Record
	batch store.Batch
	seq   int64
	// receipts is the number of the next receipt, there is how many the ledger has.
	receipts, there int
	calls           map[string]bool
	new             int            // calls that did not exist here
	boxes           []api.BoxEntry // of the turn that the ledger has
}

// begin finds the turn, or makes it from the first record.
func (im *importer) begin(records []api.Exported) (known bool, err error) {
	im.rec, err = im.tx.Turn(store.TurnRef{Turn: im.id})
	switch {
	case errors.Is(err, store.ErrNotFound):
		if len(records) == 0 || records[0].Turn == nil || records[0].Turn.Turn != im.id {
			return false, api.NewFault(utp.CodeBadRequest, "the ledger has no turn "+store.Clip(im.id, store.MaxName)+", and the records do not begin with it")
		}
		return false, im.make(*records[0].Turn)
	case err != nil:
		return false, err
	case im.rec.Imported.IsZero():
		return true, nil
	}
	im.calls = map[string]bool{}
	calls, err := im.tx.Calls(store.CallFilter{Turn: im.id})
	for _, c := range calls {
		im.calls[c.ID] = true
	}
	receipts, rerr := im.tx.Receipts(im.rec.State.Session)
	im.there = len(receipts)
	rows, terr := im.tx.Turns(store.TurnFilter{Turn: im.id, Limit: 1})
	for _, row := range rows {
		im.seq = row.Last
	}
	var berr error
	im.boxes, berr = im.tx.BoxEntries(store.BoxFilter{Turn: im.id})
	closed := im.rec.Unfinished && len(im.rec.Narration) == 0 && im.seq > 0
	return closed, errors.Join(err, rerr, terr, berr)
}

// make makes the turn in this ledger's form.
func (im *importer) make(d api.TurnDetail) error {
	if !strings.HasPrefix(d.Turn, "turn_") || !strings.HasPrefix(d.Session, "sess_") || d.Created.IsZero() {
		return api.NewFault(utp.CodeBadRequest, "a turn has a turn_id, a session_id, and when it was created")
	}
	end := &turn.End{Status: utp.StatusFailed, Code: utp.CodeOutcomeUnknown, Message: importedOpen}
	var tally api.Tally
	if d.End != nil {
		end = &turn.End{Status: d.End.Status, Code: d.End.Code, Message: d.Message, Deliverable: d.Deliverable}
		tally = d.End.Tally
	}
	var narration jsontext.Value
	if d.Open != nil {
		tally, narration = d.Open.Tally, d.Open.Narration
	}
	im.rec = store.Record{
		State: turn.State{
			Turn: d.Turn, Session: d.Session, Project: d.Project, Channel: d.Channel, Agent: d.Agent, Name: d.Name, Owner: d.Owner, Status: turn.Ended,
			Step: d.Step, Applied: d.Applied, Tally: tally, End: end,
		},
		Args: d.Args, Request: d.Request, Created: d.Created, Erased: d.Erased, Imported: im.ad.o.Now().UTC(),
		Unfinished: d.End == nil, Narration: narration,
	}
	im.batch.Turn = &im.rec
	im.calls = map[string]bool{}
	return nil
}

func (im *importer) add(r api.Exported) error {
	switch {
	case r.Turn != nil:
		return nil // begin has handled it
	case r.Call != nil:
		im.call(*r.Call)
		return nil
	case im.rec.Erased && (r.Card != nil || r.Blob != nil || r.Box != nil || r.Event != nil):
		return nil // erased content does not come back
	case r.Card != nil:
		return im.card(r.Card)
	case r.Blob != nil:
		im.batch.Blobs = append(im.batch.Blobs, *r.Blob)
		return store.CheckChunk(*r.Blob)
	case r.Box != nil:
		return im.box(*r.Box)
	case r.Event != nil:
		return im.event(*r.Event)
	case r.Receipt != nil:
		return im.receipt(*r.Receipt)
	}
	return api.NewFault(utp.CodeBadRequest, "a record of a kind that belongs to no turn")
}

// call saves a call as one that has ended. If it was started and had no result in its own ledger, its outcome is
// unknown here.
func (im *importer) call(d api.CallDetail) {
	if im.calls[d.ID] {
		return
	}
	im.calls[d.ID] = true
	im.new++
	if im.rec.Erased {
		d = bareCall(d)
	}
	c := turn.Call{
		ID: d.ID, Key: d.Key, Step: d.Step, Number: d.Number, Tool: d.Tool, Kind: turn.CallKind(d.Kind), Target: d.Target, Definition: d.Definition, Class: d.Class, Risk: d.Risk,
		Decision: turn.Decision(d.Decision), State: turn.CallState(d.State), Comment: d.Comment, Lang: d.Lang, Digest: d.Digest, Arguments: d.Arguments, Policy: d.Policy,
		Card: d.Card, StartedAt: d.Started, Replaces: d.Replaces, ReplacedBy: d.ReplacedBy, Applied: true,
		Outcome: &turn.Outcome{Status: d.Status, Code: d.Code, Message: d.Message, Card: d.Result},
	}
	switch c.State {
	case turn.Finished, turn.Resolved, turn.Closed:
	case turn.Started, turn.LeaseExpired, turn.Unknown:
		if c.State != turn.Unknown { // unknown ones are counted already
			im.rec.State.Tally.Unknown++
		}
		c.State, c.Outcome = turn.Resolved, &turn.Outcome{Status: utp.StatusFailed, Code: utp.CodeOutcomeUnknown, Message: importedOpen}
	case turn.Requested, turn.Asked, turn.Accepted, turn.Dispatched:
		c.State, c.Outcome = turn.Closed, &turn.Outcome{Status: utp.StatusCanceled, Code: utp.CodeConsentStale, Message: importedOpen}
	default:
		c.State = turn.Closed
	}
	im.rec.State.Calls = append(im.rec.State.Calls, c)
	im.batch.Turn = &im.rec
}

// bareCall returns what remains of a call whose content is erased: its tool and its digests.
func bareCall(d api.CallDetail) api.CallDetail {
	return api.CallDetail{
		ID: d.ID, Tool: d.Tool, Target: d.Target, State: d.State, Class: d.Class, Risk: d.Risk, Definition: d.Definition, Digest: d.Digest,
	}
}

// card saves a card of the turn: one whose lineage names the turn, or one of its calls. Any other is refused.
func (im *importer) card(raw jsontext.Value) error {
	c, err := utp.DecodeCard(raw)
	if err != nil {
		return api.NewFault(utp.CodeBadRequest, err.Error())
	}
	if of := c.TurnID(); of != im.id && (of != "" || !im.calls[c.ToolCallID]) {
		return api.NewFault(utp.CodeBadRequest, "the card "+store.Clip(c.ID, store.MaxName)+" does not belong to the turn")
	}
	im.batch.Cards = append(im.batch.Cards, c)
	return nil
}

func (im *importer) event(e api.ExportEvent) error {
	if e.Seq <= im.seq {
		return nil
	}
	if e.Seq != im.seq+1 {
		return api.NewFault(utp.CodeBadRequest, fmt.Sprintf("the event %d of the session follows %d", e.Seq, im.seq))
	}
	if im.rec.Unfinished && len(im.rec.Narration) == 0 {
		return api.NewFault(utp.CodeBadRequest, "the turn had not ended, and comes without what its session is to be ended by")
	}
	im.seq = e.Seq
	im.batch.Events = append(im.batch.Events, store.Event{
		Session: im.rec.State.Session, ID: e.ID, Type: e.Type, Body: e.Body, Template: e.Template, Params: e.Params, At: e.At,
	})
	return nil
}

// receipt saves a receipt that is not there yet. Its entry in this ledger's chain says that it was imported, and when.
func (im *importer) receipt(d api.ReceiptDetail) error {
	n := cmp.Or(im.receipts, 1)
	im.receipts = n + 1
	if n <= im.there {
		return nil
	}
	salt, err := im.ad.o.Salt()
	if err != nil {
		return err
	}
	im.batch.Receipts = append(im.batch.Receipts, store.Receipt{
		Session: im.rec.State.Session, Call: d.Call, Question: d.Question, Decision: d.Decision, By: d.By, Surface: d.Surface, At: d.At,
		Shown: d.Shown, Language: d.Language, Terms: d.Terms, Salt: salt,
	})
	return nil
}

// finish records who imported the turn, and ends its session.
func (im *importer) finish(by string) (err error) {
	im.batch.Acts, err = im.ad.Operated(api.AuditAct{Act: api.ActImport, Subject: im.id, By: by})
	if err != nil {
		return err
	}
	return im.end()
}

// end ends the session of a turn that was open in its own ledger. As at any turn's end, open questions are closed and
// unknown outcomes are reported.
func (im *importer) end() error {
	if !im.rec.Unfinished || im.rec.Erased {
		return nil
	}
	ending, err := im.ad.o.EndSession(im.rec)
	if err != nil {
		return api.NewFault(utp.CodeBadRequest, "the session of the turn cannot be ended: "+err.Error())
	}
	im.batch.Events = append(im.batch.Events, ending...)
	im.rec.Narration = nil
	im.batch.Turn = &im.rec
	return nil
}

// claim makes the save depend on the version of the turn that was read: a concurrent import in another kernel saves
// nothing twice, and nothing is saved after an erasure.
func (im *importer) claim() {
	if b := im.batch; len(b.Cards)+len(b.Blobs)+len(b.Boxes)+len(b.Events)+len(b.Receipts) > 0 {
		im.batch.Turn = &im.rec
	}
}

// added counts what is new here. Cards and blobs belong to a call, which is counted.
func (im *importer) added() int {
	n := im.new + len(im.batch.Boxes) + len(im.batch.Events) + len(im.batch.Receipts)
	if im.rec.Version == 0 {
		n++
	}
	return n
}
