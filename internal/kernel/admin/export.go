package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// The parts of a turn's export, in their order. A cursor has the number of the last event that belongs to the
// export, a part, and a position in it.
const (
	partCalls    = "calls"
	partCards    = "cards"
	partBlob     = "blob"
	partBoxes    = "boxes"
	partEvents   = "events"
	partReceipts = "receipts"
)

// exportChunk is how many bytes of a blob one record holds: in base64 it fits in a message.
const exportChunk = 128 << 10

// Export returns the records of one turn: the turn, its calls, its cards, each with the blobs that it refers to,
// what it wrote into boxes and read of them, its events, its receipts. Consents, tokens, questions, messages and secrets are never exported.
func (ad *Admin) Export(ctx context.Context, q api.ExportRequest) (api.ExportAnswer, error) {
	var a api.ExportAnswer
	err := ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		rec, err := tx.Turn(turnNamed(q.Turn))
		if err != nil {
			return err
		}
		e := &exporter{tx: tx, rec: rec, budget: newPageBudget()}
		until, place, _ := strings.Cut(q.Cursor, ":")
		part, at, _ := strings.Cut(place, "/")
		e.until, _ = strconv.ParseInt(until, 10, 64)
		switch part {
		case "":
			err = e.turn()
		case partCalls:
			err = e.calls(at)
		case partCards:
			err = e.cards(at)
		case partBlob:
			err = e.blob(at)
		case partBoxes:
			err = e.boxes(at)
		case partEvents:
			err = e.events(at)
		case partReceipts:
			err = e.receipts(at)
		default:
			err = api.NewFault(utp.CodeBadRequest, "the cursor is none of an export")
		}
		a = api.ExportAnswer{Records: e.records, Owner: rec.State.Owner}
		if e.next != "" {
			a.Cursor = strconv.FormatInt(e.until, 10) + ":" + e.next
		}
		return err
	})
	return a, err
}

// exporter makes one answer.
type exporter struct {
	tx      store.Tx
	rec     store.Record
	budget  pageBudget
	records []jsontext.Value
	next    string
	// until is the session's last event when the turn record was exported. The importer ends an open
	// session after it, and knows of no later event.
	until int64
}

// add appends a record if there is room for it.
func (e *exporter) add(r api.Exported) (bool, error) {
	raw, err := json.Marshal(r, jsontext.PreserveRawStrings(true))
	if err != nil {
		return false, store.Unexpected("a record", err)
	}
	if e.budget.remaining -= len(raw); e.budget.remaining < 0 && len(e.records) > 0 {
		return false, nil
	}
	e.records = append(e.records, raw)
	return true, nil
}

func (e *exporter) turn() error {
	d, err := detailOf(e.tx, e.rec)
	if err != nil {
		return err
	}
	if d.End != nil {
		d.End.Fields = nil // they are exported with their card
	}
	if e.rec.State.Status != turn.Ended {
		d.Open = &api.ExportOpen{Narration: e.rec.Narration, Tally: e.rec.State.Tally}
	}
	row, err := store.OneRow(e.tx.Turns(store.TurnFilter{Turn: d.Turn, Limit: 1}))
	if err != nil {
		return err
	}
	e.next, e.until = partCalls+"/", row.Last
	_, err = e.add(api.Exported{Turn: &d})
	return err
}

func (e *exporter) calls(after string) error {
	calls, err := e.tx.Calls(store.CallFilter{Turn: e.rec.State.Turn, After: after, Limit: callPage})
	if err != nil {
		return err
	}
	e.next = partCards + "/"
	for i, c := range calls {
		d := callDetail(c)
		if fits, err := e.add(api.Exported{Call: &d}); err != nil || !fits {
			e.next = partCalls + "/" + calls[i-1].ID
			return err
		}
	}
	if len(calls) == callPage {
		e.next = partCalls + "/" + calls[callPage-1].ID
	}
	return nil
}

// cards exports cards up to one that refers to a blob; the blob comes next.
func (e *exporter) cards(after string) error {
	cards, err := e.tx.Cards(store.CardFilter{Turn: e.rec.State.Turn, After: after, Limit: cardPage})
	if err != nil {
		return err
	}
	for i, c := range cards {
		raw, err := utp.EncodeCard(c)
		if err != nil {
			return store.Unexpected("a card", err)
		}
		if fits, err := e.add(api.Exported{Card: raw}); err != nil || !fits {
			e.next = partCards + "/" + cards[i-1].ID
			return err
		}
		if blobs := store.BlobsIn(c.Content); len(blobs) > 0 {
			e.next = fmt.Sprintf("%s/%s/0/0", partBlob, c.ID)
			return nil
		}
	}
	e.next = partBoxes + "/0"
	if len(cards) == cardPage {
		e.next = partCards + "/" + cards[cardPage-1].ID
	}
	return nil
}

// blob exports one piece of one of a card's blobs: at has the card, the index of the blob, and the byte offset. A
// missing blob is skipped: the text was not a reference.
func (e *exporter) blob(at string) error {
	id, n, from, ok := blobCursor(at)
	if !ok {
		return api.NewFault(utp.CodeBadRequest, "the cursor is none of an export")
	}
	card, err := store.OneRow(e.tx.Cards(store.CardFilter{IDs: []string{id}}))
	if err != nil {
		return err
	}
	blobs := store.BlobsIn(card.Content)
	if n < 0 || n >= len(blobs) || from < 0 {
		e.next = partCards + "/" + card.ID
		return nil
	}
	data, size, err := e.tx.Blob(blobs[n], from, exportChunk)
	if err == nil {
		_, err = e.add(api.Exported{Blob: &api.PutRequest{SHA256: blobs[n], Size: size, Offset: from, Data: data}})
	} else if errors.Is(err, store.ErrNotFound) {
		err, size = nil, 0
	}
	if from += int64(len(data)); from < size {
		e.next = fmt.Sprintf("%s/%s/%d/%d", partBlob, card.ID, n, from)
	} else {
		e.next = fmt.Sprintf("%s/%s/%d/0", partBlob, card.ID, n+1)
	}
	return err
}

// blobCursor parses a position among the blobs of a card, from its end, because an id may contain any text.
func blobCursor(at string) (card string, n int, from int64, ok bool) {
	second := strings.LastIndexByte(at, '/')
	first := strings.LastIndexByte(at[:max(second, 0)], '/')
	if first < 0 {
		return "", 0, 0, false
	}
	n, _ = strconv.Atoi(at[first+1 : second])
	from, _ = strconv.ParseInt(at[second+1:], 10, 64)
	return at[:first], n, from, true
}

// boxes exports the entries of boxes that the turn has made, in the order of their boxes.
func (e *exporter) boxes(at string) error {
	from, _ := strconv.Atoi(at)
	entries, err := e.tx.BoxEntries(store.BoxFilter{Turn: e.rec.State.Turn})
	if err != nil {
		return err
	}
	for i := max(from, 0); i < len(entries); i++ {
		if fits, err := e.add(api.Exported{Box: &entries[i]}); err != nil || !fits {
			e.next = partBoxes + "/" + strconv.Itoa(i)
			return err
		}
	}
	e.next = partEvents + "/0"
	return nil
}

func (e *exporter) events(at string) error {
	after, _ := strconv.ParseInt(at, 10, 64)
	rows, err := e.tx.Events(store.EventFilter{Session: e.rec.State.Session, After: after, Limit: eventPage})
	if err != nil {
		return err
	}
	if n := slices.IndexFunc(rows, func(row store.Event) bool { return row.Seq > e.until }); n >= 0 {
		rows = rows[:n]
	}
	for i, row := range rows {
		fits, err := e.add(api.Exported{Event: &api.ExportEvent{
			Seq: row.Seq, ID: row.ID, Type: row.Type, Body: row.Body, Template: row.Template, Params: row.Params, At: row.At,
		}})
		if err != nil || !fits {
			e.next = partEvents + "/" + strconv.FormatInt(rows[i-1].Seq, 10)
			return err
		}
	}
	e.next = partReceipts + "/0"
	if len(rows) == eventPage {
		e.next = partEvents + "/" + strconv.FormatInt(rows[eventPage-1].Seq, 10)
	}
	return nil
}

func (e *exporter) receipts(at string) error {
	from, _ := strconv.Atoi(at)
	receipts, err := e.tx.Receipts(e.rec.State.Session)
	if err != nil {
		return err
	}
	for i := max(from, 0); i < len(receipts); i++ {
		d := store.ReceiptDetail(receipts[i])
		if fits, err := e.add(api.Exported{Receipt: &d}); err != nil || !fits {
			e.next = partReceipts + "/" + strconv.Itoa(i)
			return err
		}
	}
	e.next = ""
	return nil
}
