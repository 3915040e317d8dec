package operate

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/utp"
)

// maxLine is the longest line of an export: a record fits a message to the kernel.
const maxLine = 1 << 20

// Imported is how many turns came in, and how many were there already.
type Imported struct {
	Turns int `json:"turns"`
	Known int `json:"known"`
}

// Import brings the turns of an export in. The whole file, which messages call name, is read through first: one that is damaged,
// cut off or of a newer form changes nothing. So far is told every thousand turns.
func Import(ctx context.Context, ask Ask, file io.ReadSeeker, name string, soFar func(turns int)) (Imported, error) {
	check := newImportCheck()
	if err := eachLine(file, name, check.line); err != nil {
		return Imported{}, err
	}
	if err := check.whole(name); err != nil {
		return Imported{}, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return Imported{}, cause.Fail(err, "the export has to be read twice", "copy it into a file first")
	}
	s := &importSender{ask: ask, ctx: ctx, soFar: soFar}
	if err := eachLine(file, name, s.line); err != nil {
		return Imported{}, err
	}
	if err := s.next(); err != nil {
		return Imported{}, err
	}
	return Imported{Turns: s.turns, Known: s.known}, nil
}

// eachLine reads a file line by line, one of them at a time in memory.
func eachLine(file io.Reader, path string, do func(n int, raw []byte, r api.Exported) error) error {
	lines := bufio.NewReaderSize(file, 64<<10)
	for n := 1; ; n++ {
		raw, err := lineOf(lines)
		if errors.Is(err, io.EOF) && len(raw) == 0 {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return damaged(path, n, cause.Of(err))
		}
		if !bytes.HasSuffix(raw, []byte("\n")) {
			return damaged(path, n, "it is cut off")
		}
		if newer := newerForm(raw); n == 1 && newer > 0 {
			return newerExport(path, newer)
		}
		var r api.Exported
		if err := json.Unmarshal(raw, &r, json.RejectUnknownMembers(true)); err != nil {
			return damaged(path, n, cause.Of(err))
		}
		if err := do(n, raw, r); err != nil {
			if wrong, is := errors.AsType[*lineError](err); is {
				return damaged(path, n, wrong.message)
			}
			return err
		}
	}
}

var errLong = errors.New("it is longer than 1 MiB")

func lineOf(lines *bufio.Reader) ([]byte, error) {
	var whole []byte
	for {
		part, err := lines.ReadSlice('\n')
		if len(whole)+len(part) > maxLine {
			return nil, errLong
		}
		whole = append(whole, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return whole, err //nolint:wrapcheck // the caller names the line
		}
	}
}

// newerForm is the version that a first line tells of, if it is one we do not know.
func newerForm(raw []byte) int {
	var head struct {
		Export struct {
			Version int `json:"version"`
		} `json:"export"`
	}
	if json.Unmarshal(raw, &head) != nil || head.Export.Version <= api.ExportVersion {
		return 0
	}
	return head.Export.Version
}

func newerExport(path string, version int) error {
	return cause.Fail(nil, fmt.Sprintf("the export %s is of form %d; this program knows forms up to %d. Nothing was imported", path, version, api.ExportVersion),
		"use the newer earshot that wrote it")
}

func damaged(path string, line int, what string) error {
	return cause.Fail(nil, fmt.Sprintf("the export %s is damaged in line %d: %s. Nothing was imported", path, line, what), "export it again, or take another copy of it")
}

// lineError is what is wrong with a line.
type lineError struct{ message string }

func (e *lineError) Error() string { return e.message }

func wrong(format string, args ...any) error { return &lineError{fmt.Sprintf(format, args...)} }

// importCheck reads an export through before anything is changed.
type importCheck struct {
	sum          hash.Hash // of the lines so far
	turns, lines int
	session, id  string
	open         bool            // the turn had not ended, and nothing says how to end it
	calls        map[string]bool // of the present turn
	seq          int64
	blob         api.PutRequest
	blobSum      hash.Hash
	have         int64
	ended        bool
}

func newImportCheck() *importCheck { return &importCheck{sum: sha256.New()} }

func (c *importCheck) line(n int, raw []byte, r api.Exported) error {
	if c.ended {
		return wrong("it comes after the last line")
	}
	if (n == 1) != (r.Begin != nil) {
		return wrong("found no line that begins an export in the first place, or another one later")
	}
	if r.End != nil {
		return c.end(*r.End)
	}
	c.lines++
	_, _ = c.sum.Write(raw) // a hash does not fail
	if c.blobSum != nil && r.Blob == nil {
		return wrong("the blob %s ends after %d of %d bytes", c.blob.SHA256, c.have, c.blob.Size)
	}
	return c.record(r)
}

func (c *importCheck) record(r api.Exported) error {
	switch {
	case r.Begin != nil:
		if r.Begin.Version < 1 || r.Begin.Version > api.ExportVersion {
			return wrong("its form is %d, which this program does not know", r.Begin.Version)
		}
		return nil
	case r.Turn != nil:
		return c.turn(*r.Turn)
	case c.session == "":
		return wrong("it belongs to no turn")
	case r.Call != nil:
		c.calls[r.Call.ID] = true
		return nil
	case r.Card != nil:
		return c.card(r.Card)
	case r.Blob != nil:
		return c.chunk(*r.Blob)
	case r.Box != nil:
		return c.box(*r.Box)
	case r.Event != nil:
		if c.open {
			return wrong("the turn had not ended, and does not say what its session is to be ended by")
		}
		if r.Event.Seq != c.seq+1 || r.Event.ID == "" || !r.Event.Body.IsValid() {
			return wrong("the event %d follows %d, or has no id or body", r.Event.Seq, c.seq)
		}
		c.seq++
		return nil
	case r.Receipt != nil:
		return nil
	}
	return wrong("it holds no record")
}

func (c *importCheck) turn(t api.TurnDetail) error {
	if !utp.ValidToken(t.Turn) || !utp.ValidToken(t.Session) || t.Created.IsZero() || t.Status == "" {
		return wrong("the turn has no id, session, status or time")
	}
	c.turns++
	c.session, c.id, c.calls, c.seq = t.Session, t.Turn, map[string]bool{}, 0
	c.open = t.End == nil && (t.Open == nil || len(t.Open.Narration) == 0)
	return nil
}

func (c *importCheck) card(raw jsontext.Value) error {
	card, err := utp.DecodeCard(raw)
	if err != nil {
		return wrong("the card cannot be read: %v", err)
	}
	if of := card.TurnID(); of != c.id && (of != "" || !c.calls[card.ToolCallID]) {
		return wrong("the card %s does not belong to the turn", card.ID)
	}
	return nil
}

func (c *importCheck) box(e api.BoxEntry) error {
	if e.Turn != c.id || e.Box == "" || e.N < 1 || e.Call != "" && !c.calls[e.Call] {
		return wrong("the entry %d of the box %s does not belong to the turn", e.N, e.Box)
	}
	return nil
}

// chunk follows a blob from its first piece to its last, and its hash.
func (c *importCheck) chunk(p api.PutRequest) error {
	if c.blobSum == nil {
		c.blob, c.blobSum, c.have = p, sha256.New(), 0
	}
	if p.SHA256 != c.blob.SHA256 || p.Size != c.blob.Size || p.Offset != c.have || p.Size < 0 || p.Size > api.BlobLimit || int64(len(p.Data)) > p.Size-p.Offset {
		return wrong("the piece at %d of the blob %s is out of order", p.Offset, p.SHA256)
	}
	_, _ = c.blobSum.Write(p.Data)
	if c.have += int64(len(p.Data)); c.have < p.Size {
		return nil
	}
	is := hex.EncodeToString(c.blobSum.Sum(nil))
	c.blobSum = nil
	if is != p.SHA256 {
		return wrong("the blob %s has the hash %s", p.SHA256, is)
	}
	return nil
}

func (c *importCheck) end(e api.ExportEnd) error {
	c.ended = true
	is := hex.EncodeToString(c.sum.Sum(nil))
	if e.Lines != c.lines || e.Turns != c.turns || e.SHA256 != is {
		return wrong("it says %d lines of %d turns with the hash %s; found %d, %d, %s", e.Lines, e.Turns, e.SHA256, c.lines, c.turns, is)
	}
	return nil
}

// whole demands the last line.
func (c *importCheck) whole(path string) error {
	if !c.ended {
		return damaged(path, c.lines+1, "the end is missing: it is cut off, or was not written whole")
	}
	return nil
}

// importSender hands records in, turn by turn, as many at a time as a message holds.
type importSender struct {
	ask          Ask
	soFar        func(turns int)
	ctx          context.Context //nolint:containedctx // of the one command
	turn         string
	waiting      []jsontext.Value
	size, first  int // the line of the first that waits
	receipts     int // receipts of the turn that were handed in
	mine         int // and that wait
	skip         bool
	turns, known int
	added        int // to the present turn
}

func (s *importSender) line(n int, raw []byte, r api.Exported) error {
	if r.Begin != nil || r.End != nil {
		return nil
	}
	if r.Turn != nil {
		if err := s.next(); err != nil {
			return err
		}
		s.turn, s.skip, s.receipts, s.mine = r.Turn.Turn, false, 0, 0
		if s.turns++; s.turns%reportEvery == 0 {
			s.soFar(s.turns)
		}
	}
	if s.skip {
		return nil
	}
	if len(s.waiting) > 0 && s.size+len(raw) > api.InlineLimit {
		if err := s.flush(false); err != nil || s.skip {
			return err
		}
	}
	if len(s.waiting) == 0 {
		s.first = n
	}
	if r.Receipt != nil {
		s.mine++
	}
	s.waiting, s.size = append(s.waiting, bytes.Clone(bytes.TrimSpace(raw))), s.size+len(raw)
	return nil
}

// next ends the present turn.
func (s *importSender) next() error {
	if s.turn != "" && !s.skip {
		if err := s.flush(true); err != nil {
			return err
		}
	}
	if s.turn != "" && s.added == 0 {
		s.known, s.turns = s.known+1, s.turns-1
	}
	s.added = 0
	return nil
}

func (s *importSender) flush(last bool) error {
	q := api.ImportRequest{Turn: s.turn, Records: s.waiting, Receipts: s.receipts + 1, Last: last}
	var a api.ImportAnswer
	if err := s.ask(s.ctx, api.OpImport, q, &a); err != nil {
		return cause.Fail(err, fmt.Sprintf("the records from line %d on were not taken", s.first), "what came before is imported; import the file again when this is mended")
	}
	s.receipts, s.mine = s.receipts+s.mine, 0
	s.waiting, s.size = nil, 0
	s.skip, s.added = a.Known, s.added+a.Added
	return nil
}
