package operate

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
)

// reportEvery is after how many turns a long work tells how far it is.
const reportEvery = 1000

// Exported is how much was written.
type Exported struct{ Turns, Lines int }

// Export writes turns, or all of them where none is named, as JSON lines. So far is told every thousand turns.
func Export(ctx context.Context, ask Ask, out io.Writer, turns []string, at time.Time, soFar func(turns int)) (Exported, error) {
	w := &exportWriter{out: bufio.NewWriter(out), sum: sha256.New()}
	if err := w.record(api.Exported{Begin: &api.ExportBegin{Version: api.ExportVersion, At: at.UTC()}}); err != nil {
		return w.n, err
	}
	one := func(name string) error {
		if err := w.turn(ctx, ask, name); err != nil {
			return err
		}
		if w.n.Turns++; w.n.Turns%reportEvery == 0 {
			soFar(w.n.Turns)
		}
		return nil
	}
	if len(turns) == 0 {
		err := EachTurn(ctx, ask, api.SessionsRequest{}, func(t api.SessionRow) (bool, error) { return true, one(t.Turn) })
		if err != nil {
			return w.n, err
		}
	}
	for _, name := range turns {
		if err := one(name); err != nil {
			return w.n, err
		}
	}
	return w.n, w.end()
}

// exportWriter writes lines and keeps count of them.
type exportWriter struct {
	out *bufio.Writer
	sum hash.Hash
	n   Exported
}

func (w *exportWriter) turn(ctx context.Context, ask Ask, name string) error {
	for cursor := ""; ; {
		var page api.ExportAnswer
		if err := ask(ctx, api.OpExport, api.ExportRequest{Turn: name, Cursor: cursor}, &page); err != nil {
			return err
		}
		for _, raw := range page.Records {
			if err := w.line(raw); err != nil {
				return err
			}
		}
		if cursor = page.Cursor; cursor == "" {
			return nil
		}
	}
}

func (w *exportWriter) record(r api.Exported) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return cause.Fail(err, "the export cannot be written", "")
	}
	return w.line(raw)
}

func (w *exportWriter) line(raw jsontext.Value) error {
	if err := raw.Compact(jsontext.PreserveRawStrings(true)); err != nil { // a line has no line end in it
		return cause.Fail(err, "a record of the export cannot be read", "")
	}
	w.n.Lines++
	raw = append(raw, '\n')
	_, _ = w.sum.Write(raw) // a hash does not fail
	if _, err := w.out.Write(raw); err != nil {
		return cause.Fail(err, "the export could not be written", "make room on the disk")
	}
	return nil
}

func (w *exportWriter) end() error {
	end := api.ExportEnd{Turns: w.n.Turns, Lines: w.n.Lines, SHA256: hex.EncodeToString(w.sum.Sum(nil))}
	if err := w.record(api.Exported{End: &end}); err != nil {
		return err
	}
	if err := w.out.Flush(); err != nil {
		return cause.Fail(err, "the export could not be written", "make room on the disk")
	}
	return nil
}
