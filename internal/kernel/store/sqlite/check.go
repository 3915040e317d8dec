package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// checkLimit is the largest file that is read through after an unclean end: about a
// tenth of a second. Damage elsewhere is reported when it is met.
const checkLimit = 32 << 20

// The file format's header: a magic text, the page size at 16, a change counter at 24,
// the number of pages at 28, and at 92 the counter for which that number is valid.
const (
	headerSize = 100
	magic      = "SQLite format 3\x00"
)

// inspect looks at the file before SQLite does, so that a file that is not a ledger is not
// touched and its message is clear. It reports whether the last close was clean: a log
// or a journal left beside the file says that it was not.
func inspect(path string) (clean bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, &ledgersql.Error{Kind: ledgersql.ErrAccess, Op: "opening", Path: path, Err: err}
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return false, &ledgersql.Error{Kind: ledgersql.ErrAccess, Op: "opening", Path: path, Err: err}
	}
	clean = empty(path+"-wal") && empty(path+"-journal")
	header := make([]byte, headerSize)
	n, err := io.ReadFull(f, header)
	switch {
	case n == 0 && errors.Is(err, io.EOF): // a new one
		return clean, nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return false, &ledgersql.Error{Kind: ledgersql.ErrIO, Op: "reading", Path: path, Advice: "check the disk", Err: err}
	}
	return clean, judgeHeader(path, header[:n], info.Size(), clean)
}

// empty reports whether nothing is in the file, or no file there.
func empty(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Size() == 0
}

func judgeHeader(path string, header []byte, size int64, clean bool) error {
	corrupt := func(found, expected string) error {
		return &ledgersql.Error{
			Kind: ledgersql.ErrCorrupt, Op: "opening", Path: path, Found: found, Expected: expected,
			Advice: "restore it from a backup, or use another file",
		}
	}
	if len(header) < headerSize || !bytes.HasPrefix(header, []byte(magic)) {
		return corrupt(fmt.Sprintf("%d bytes that begin with %q", size, header[:min(len(header), len(magic))]), "an SQLite database")
	}
	if !clean || !bytes.Equal(header[24:28], header[92:96]) {
		return nil // the log may hold the rest, or the header does not say
	}
	page := int64(binary.BigEndian.Uint16(header[16:]))
	if page == 1 {
		page = 1 << 16
	}
	if pages := int64(binary.BigEndian.Uint32(header[28:])); size < pages*page {
		return corrupt(fmt.Sprintf("%d bytes", size), fmt.Sprintf("%d, as its header says", pages*page))
	}
	return nil
}

// check reads the ledger through after an unclean end, unless it is large.
func (s *Store) check() error {
	var size int64
	err := s.writer.QueryRow("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", nil, &size)
	if err != nil {
		return s.opening(err)
	}
	if size > checkLimit {
		s.log.Info("the ledger was not closed; it is too large to be read through", "path", s.path, "bytes", size)
		return nil
	}
	var verdict string
	if err := s.writer.QueryRow("PRAGMA quick_check(1)", nil, &verdict); err != nil {
		return s.opening(err)
	}
	if verdict != "ok" {
		return &ledgersql.Error{
			Kind: ledgersql.ErrCorrupt, Op: "opening", Path: s.path, Found: torn, Err: errors.New(verdict), Expected: "a whole database",
			Advice: "restore it from a backup",
		}
	}
	s.log.Debug("the ledger was not closed; it is whole", "path", s.path, "bytes", size)
	return nil
}

// opening names the file in an error of its first use.
func (s *Store) opening(err error) error {
	mapped := border("opening", err)
	if e, ok := errors.AsType[*ledgersql.Error](mapped); ok {
		e.Path = s.path
	}
	return mapped
}
