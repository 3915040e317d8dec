package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

const (
	journalVersion = 1
	journalSuffix  = ".jsonl"
	flushAt        = 64 << 10 // bytes of settled items that wait at most
)

// The kinds of [entry], in the order in which an item meets them.
const (
	kindBegin   = "begin"
	kindBefore  = "before"  // on the disk before the item is touched
	kindLeave   = "leave"   // all checks passed, only the removal is left
	kindRestore = "restore" // about to be put back
	kindAfter   = "after"   // settled
	kindEnd     = "end"     // the whole call is settled
	kindLost    = "lost"    // a journal is missing that may have been there: nobody can tell any more
)

// entry is one line. Which fields are set depends on the kind.
type entry struct {
	Kind string `json:"k"`
	Item int    `json:"n,omitempty"`

	Version int    `json:"v,omitempty"`
	Op      string `json:"op,omitempty"`
	Call    string `json:"call,omitempty"`
	Root    string `json:"root,omitempty"`
	Args    string `json:"args,omitempty"` // SHA-256 of the arguments
	Items   int    `json:"items,omitempty"`

	Path  string `json:"path,omitempty"`
	Dev   uint64 `json:"dev,omitempty"`
	Ino   uint64 `json:"ino,omitempty"`
	Size  int64  `json:"size,omitempty"`
	Links uint64 `json:"links,omitempty"`
	MTime int64  `json:"mtime,omitempty"` // nanoseconds; tells the file from a later one that got its inode number

	Name  string `json:"name,omitempty"`  // in the trash
	Trash string `json:"trash,omitempty"` // the trash folder

	Code  Code   `json:"code,omitempty"` // empty in an "after": it is gone
	Kept  string `json:"kept,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`
}

// journal is the locked file of one call.
type journal struct {
	s       *Service
	path    string
	file    *os.File
	length  int64  // of the whole lines in the file
	waiting []byte // lines that go out with the next flush
}

func (s *Service) journalPath(call string) string {
	return filepath.Join(s.journals, call+journalSuffix)
}

// createJournal makes the file, which fails when the call was started before, and writes its first line, and more lines at once.
func (s *Service) createJournal(call, op string, args DeleteArgs, more ...entry) (*journal, error) {
	path := s.journalPath(call)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, secondStart(path)
	}
	if err != nil {
		return nil, journalError(path, "cannot be made; nothing was done", err)
	}
	j := &journal{s: s, path: path, file: f}
	s.step("journal", "")
	taken, err := lock(f)
	if err == nil && (!taken || !j.isCurrent()) {
		// A reconciliation came between making and locking, and decided that nothing had begun.
		j.close()
		return nil, secondStart(path)
	}
	if err == nil {
		j.add(entry{Kind: kindBegin, Version: journalVersion, Op: op, Call: call, Root: args.Root, Args: digest(args), Items: len(itemsOf(args))})
		for _, e := range more {
			j.add(e)
		}
		err = j.sync()
	}
	if err == nil {
		err = s.syncFolder(s.journals)
	}
	if err != nil {
		j.remove()
		j.close()
		return nil, journalError(path, "cannot be written; nothing was done", err)
	}
	return j, nil
}

func secondStart(path string) error {
	return &Error{
		Code: ErrSecondStart, Path: path, Found: "this call was started before: its journal exists",
		Hint: "ask for its reconciliation; to repeat the work, ask with a new call",
	}
}

func journalError(path, found string, err error) error {
	if already := (*Error)(nil); errors.As(err, &already) {
		return err
	}
	return failure(ErrJournal, path, found, "make the folder writable", err)
}

// isCurrent reports whether the locked file is still the one that the path names.
func (j *journal) isCurrent() bool {
	mine, err := j.file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(j.path)
	return err == nil && os.SameFile(mine, named)
}

func (s *Service) syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err //nolint:wrapcheck // the caller adds the path.
	}
	defer func() { _ = dir.Close() }()
	return s.sync(dir)
}

// digest binds a journal to its arguments.
func digest(args DeleteArgs) string {
	state := sha256.New()
	// Each string is preceded by its length, so that no two arguments write the same bytes.
	write := func(texts ...string) {
		for _, text := range texts {
			_, _ = state.Write(strconv.AppendInt(nil, int64(len(text)), 10))
			_, _ = state.Write([]byte(":" + text))
		}
	}
	write(args.Root)
	for i := range args.Sets {
		set := &args.Sets[i]
		write(set.SHA256, strconv.FormatInt(set.Size, 10), set.Survivor, strconv.Itoa(len(set.Delete)))
		write(set.Delete...)
	}
	return hex.EncodeToString(state.Sum(nil))
}

func (j *journal) add(e entry) {
	line, _ := json.Marshal(e) //nolint:errchkjson // strings and integers always encode.
	j.waiting = append(append(j.waiting, line...), '\n')
}

// flush hands the waiting lines to the system: they outlive this process.
func (j *journal) flush() error {
	if len(j.waiting) == 0 {
		return nil
	}
	if err := j.s.append(j.file, j.waiting); err != nil {
		// A full disk may have taken half a line; the next attempt must not continue it.
		_ = j.file.Truncate(j.length)
		return journalError(j.path, "cannot be written", err)
	}
	j.length += int64(len(j.waiting))
	j.waiting = j.waiting[:0]
	return nil
}

// sync brings the waiting lines to the disk: they outlive the machine.
func (j *journal) sync() error {
	if err := j.flush(); err != nil {
		return err
	}
	if err := j.s.sync(j.file); err != nil {
		return journalError(j.path, "cannot be brought to the disk", err)
	}
	return nil
}

// before tells, together with all that was settled, that the item comes next. It is on the disk when this returns.
func (j *journal) before(i int, path string, st stamp) error {
	j.add(entry{Kind: kindBefore, Item: i, Path: path, Dev: st.dev, Ino: st.ino, Size: st.size, Links: st.links, MTime: st.mtime})
	return j.sync()
}

func (j *journal) leave(i int, links uint64, name, trash string) error {
	j.add(entry{Kind: kindLeave, Item: i, Links: links, Name: name, Trash: trash})
	return j.flush()
}

func (j *journal) restore(i int) error {
	j.add(entry{Kind: kindRestore, Item: i})
	return j.flush()
}

// after keeps a settled item until the next line must go out; lost with a crash, it is found out again by looking.
func (j *journal) after(e entry) {
	j.add(e)
	if len(j.waiting) > flushAt {
		_ = j.flush() // tried again, and answered for, by the next "before" or "end"
	}
}

func (j *journal) end() error {
	j.add(entry{Kind: kindEnd})
	return j.sync()
}

func (j *journal) close() {
	unlock(j.file)
	_ = j.file.Close()
}

// remove takes the journal of a call that did nothing out of the way.
func (j *journal) remove() { _ = os.Remove(j.path) }

var errTorn = errors.New("a line is damaged")

// openJournal takes the journal of an earlier start; fs.ErrNotExist when there is none.
func (s *Service) openJournal(call string) (*journal, []entry, error) {
	path := s.journalPath(call)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, journalError(path, "cannot be opened", err)
	}
	j := &journal{s: s, path: path, file: f}
	taken, err := lock(f)
	if err == nil && !taken {
		err = &Error{Code: ErrBusy, Path: path, Found: "the process that runs this call is still alive", Hint: "wait for its result"}
	}
	var lines []entry
	if err == nil {
		lines, err = j.read()
	}
	if err != nil {
		j.close()
		return nil, nil, journalError(path, "cannot be read", err)
	}
	return j, lines, nil
}

// read returns the whole lines. A last line that was cut by a crash is taken off the file.
func (j *journal) read() ([]entry, error) {
	data, err := io.ReadAll(j.file)
	if err != nil {
		return nil, err //nolint:wrapcheck // openJournal adds the path.
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	j.length = int64(len(whole))
	var lines []entry
	for line := range bytes.Lines(whole) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil || e.Kind == "" {
			return nil, errors.Join(errTorn, err)
		}
		lines = append(lines, e)
	}
	if len(whole) < len(data) {
		return lines, j.file.Truncate(j.length) //nolint:wrapcheck // openJournal adds the path.
	}
	return lines, nil
}
