package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
)

// toldEvery is after how many turns a long work tells how far it is.
const toldEvery = 1000

func (m *Main) exportCommand() *cobra.Command {
	c := m.operated(&cobra.Command{
		Use:   "export [FILE] [TURN…]",
		Short: "Write turns with their cards, events and receipts as JSON lines",
		Long: `Write the turns of the ledger, or those named, with their calls, cards, blobs, events and receipts as JSON
lines, to a new file, or to standard output for - or without a name. There are no consents, open
questions, messages or secrets in it, and the reply tokens of questions only for who may answer them. How far it is goes to standard error. The last line says how many lines
there are and their SHA-256, so that ` + "`earshot import`" + ` knows a file that was cut off. It takes the role auditor or operator at
a server.`,
		Example: `  earshot export turns.jsonl
  earshot export - turn_0199a1b2c3d47e5f8a9b0c1d2e3f4a5b`,
		Args: cobra.ArbitraryArgs,
	}, func(ctx context.Context, d desk, _ wordFlags, args []string) error {
		if len(args) == 0 {
			args = []string{"-"}
		}
		if name := cause.OneLine(args[0]); strings.HasPrefix(name, "turn_") || strings.HasPrefix(name, "sess_") {
			return cause.Misuse(name+" stands where the file is named, and every turn would be written to it",
				"write `earshot export - "+name+"` for standard output, or name a file before it (`./"+name+"`, if it is one)")
		}
		if args[0] == "-" {
			return m.export(ctx, d, "-", args[1:])
		}
		return m.unlessInterrupted(ctx, func(ctx context.Context) error { return m.export(ctx, d, args[0], args[1:]) })
	}, offerTurns)
	c.ValidArgsFunction = fileFirst(c.ValidArgsFunction)
	return c
}

func (m *Main) export(ctx context.Context, d desk, file string, turns []string) (err error) {
	out := m.Stdout
	if file != "-" {
		f, operr := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if operr != nil {
			return cause.Fail(operr, "the export cannot be written", "name a file that is not there yet")
		}
		defer func() {
			if cerr := errors.Join(f.Sync(), f.Close()); cerr != nil && err == nil {
				err = cause.Fail(cerr, "the export could not be written", "make room on the disk")
			}
			if err != nil {
				_ = os.Remove(file) // what is there of it is no export
			}
		}()
		out = f
	}
	w := &exportWriter{out: bufio.NewWriter(out), sum: sha256.New()}
	if err := w.record(api.Exported{Begin: &api.ExportBegin{Version: api.ExportVersion, At: m.Now().UTC()}}); err != nil {
		return err
	}
	one := func(name string) error {
		if err := m.exportTurn(ctx, d, w, name); err != nil {
			return err
		}
		if w.turns++; w.turns%toldEvery == 0 {
			m.tellf("Exported so far: %s.", legible.Counted(int64(w.turns), "turn"))
		}
		return nil
	}
	if len(turns) == 0 {
		err = eachTurn(ctx, d, api.SessionsRequest{}, func(t api.SessionRow) (bool, error) { return true, one(t.Turn) })
	}
	for _, name := range turns {
		if err = one(name); err != nil {
			break
		}
	}
	if err == nil {
		err = w.end()
	}
	if err == nil {
		m.tellf("Exported: %s, %s.", legible.Counted(int64(w.turns), "turn"), legible.Counted(int64(w.lines), "line"))
	}
	return err
}

func (m *Main) exportTurn(ctx context.Context, d desk, w *exportWriter, name string) error {
	for cursor := ""; ; {
		var page api.ExportAnswer
		if err := d.ask(ctx, api.OpExport, api.ExportRequest{Turn: name, Cursor: cursor}, &page); err != nil {
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

// exportWriter writes lines and keeps count of them.
type exportWriter struct {
	out          *bufio.Writer
	sum          hash.Hash
	turns, lines int
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
	w.lines++
	raw = append(raw, '\n')
	_, _ = w.sum.Write(raw) // a hash does not fail
	if _, err := w.out.Write(raw); err != nil {
		return cause.Fail(err, "the export could not be written", "make room on the disk")
	}
	return nil
}

func (w *exportWriter) end() error {
	end := api.ExportEnd{Turns: w.turns, Lines: w.lines, SHA256: hex.EncodeToString(w.sum.Sum(nil))}
	if err := w.record(api.Exported{End: &end}); err != nil {
		return err
	}
	if err := w.out.Flush(); err != nil {
		return cause.Fail(err, "the export could not be written", "make room on the disk")
	}
	return nil
}
