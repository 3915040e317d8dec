package ledgersql

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// document is the JSON form of a turn in the ledger.
type document struct {
	State         turn.State         `json:"state"`
	Questions     []consent.Question `json:"questions,omitzero"`
	Presented     []store.Presented  `json:"put,omitzero"`
	AnswerSeconds int                `json:"answer_seconds,omitzero"`
	Absent        bool               `json:"absent,omitzero"`
	Erased        bool               `json:"erased,omitzero"`
	Imported      time.Time          `json:"imported,omitzero"`
	Unfinished    bool               `json:"unfinished,omitzero"`
}

func documentOf(r *store.Record) document {
	return document{
		State: r.State, Questions: r.Questions, Presented: r.Presented, AnswerSeconds: r.AnswerSeconds, Absent: r.Absent,
		Erased: r.Erased, Imported: r.Imported, Unfinished: r.Unfinished,
	}
}

// fill sets the fields of a record that are in its document.
func (d document) fill(r *store.Record) {
	r.State, r.Questions, r.Presented, r.AnswerSeconds, r.Absent = d.State, d.Questions, d.Presented, d.AnswerSeconds, d.Absent
	r.Erased, r.Imported, r.Unfinished = d.Erased, d.Imported, d.Unfinished
}

// allowInvalidUTF8 lets a broken text be kept with its broken bytes replaced.
var allowInvalidUTF8 = jsontext.AllowInvalidUTF8(true)

// encode writes a document. Durations are nanoseconds; a text that is not UTF-8 is
// repaired, because a turn that cannot be saved could never end.
func encode(v any, more ...json.Options) (string, error) {
	raw, err := json.Marshal(v, jsonv1.FormatDurationAsNano(true), json.Deterministic(true), allowInvalidUTF8, json.JoinOptions(more...))
	if err != nil {
		return "", &Error{Kind: ErrInvalid, Op: "encoding a turn", Expected: "values that JSON can hold", Err: err}
	}
	return string(raw), nil
}

// encodeTurn writes the document of a turn or of a part of it, without what is zero: it is written at every step.
func encodeTurn(v any) (string, error) { return encode(v, json.OmitZeroStructFields(true)) }

func decode(raw string, into any) error {
	if err := json.Unmarshal([]byte(raw), into, jsonv1.FormatDurationAsNano(true)); err != nil {
		return &Error{Kind: ErrCorrupt, Op: "decoding a turn", Advice: "restore the ledger from a backup", Err: fmt.Errorf("%w: %w", store.ErrDamaged, err)}
	}
	return nil
}

// StoredRecord returns a turn as it is read after it was saved: what a document or a column does not hold is gone, and texts
// and times are as those hold them. The ledger in memory stores this.
func StoredRecord(r store.Record) (store.Record, error) {
	doc, err := encodeTurn(documentOf(&r))
	if err != nil {
		return store.Record{}, err
	}
	var d document
	if err := decode(doc, &d); err != nil {
		return store.Record{}, err
	}
	stored := store.Record{
		Narration: slices.Clone(r.Narration), Args: slices.Clone(r.Args), Request: r.Request, Version: r.Version,
		Created: instant(stamp(r.Created)), Due: storedTime(r.Due), Free: storedTime(r.Free),
	}
	d.fill(&stored)
	return stored, nil
}

func storedTime(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return instant(stamp(t))
}

// Stored returns a value as it is read after it was saved as a document, as [StoredRecord] does.
func Stored[T any](v T) (stored T, err error) {
	doc, err := encode(v)
	if err == nil {
		err = decode(doc, &stored)
	}
	return stored, err
}
