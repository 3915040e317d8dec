package files

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// Options says where a [Service] works and keeps its own things.
type Options struct {
	// Allowed are the folders that may be worked in. Required.
	Allowed *Allowed
	// Journal is the folder for the journals of removals, absolute; it is made (0700) when missing, and marked with the time
	// from which on it is complete. Of calls before that time, [Service.Reconcile] never says that they did not start. It had better
	// lie outside every root; where it cannot, it is never listed and nothing in it is ever touched. Required.
	Journal string
	// Private are more folders of the product, absolute (its data folder, say), with the same protection.
	Private []string
	// HomeTrash is the user's trash. Default: [HomeTrash] in the environment of the process.
	HomeTrash string
	// Now tells the time. Default: time.Now.
	Now func() time.Time
	// Scans is how many unfinished scans are remembered between pages. Default 8.
	Scans int
}

// Service carries out the operations. It is safe for use by several goroutines.
type Service struct {
	allowed   *Allowed
	journals  string
	private   []string
	homeTrash string
	now       func() time.Time
	scans     *scans
	uid       int

	// Seams for tests: a tree was opened, a removal came to a point; the others stand in for a failing disk.
	opened func(t *tree)
	step   func(point, path string)
	link   func(root *os.Root, from, to string) error
	append func(f *os.File, line []byte) error
	sync   func(f *os.File) error
	topOf  func(path string, dev uint64) (string, error)
}

// New makes a service. It fails on a system without inode numbers or file locks, and when the journal folder cannot be made.
func New(options Options) (*Service, error) {
	if !supported {
		return nil, &Error{Code: ErrUnsupported, Found: "this system has no inode numbers or locks that could be relied on"}
	}
	if options.Allowed == nil || !filepath.IsAbs(options.Journal) {
		return nil, &Error{Code: ErrBadArgs, Found: "a service needs its allowed folders and an absolute journal folder"}
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if err := makeJournals(options.Journal, options.Now()); err != nil {
		return nil, failure(ErrJournal, options.Journal, "the journal folder cannot be made", "", err)
	}
	s := &Service{
		allowed: options.Allowed, journals: options.Journal,
		private:   append([]string{options.Journal}, options.Private...),
		homeTrash: options.HomeTrash, now: options.Now, scans: newScans(options.Scans), uid: os.Getuid(),
		opened: func(*tree) {}, step: func(string, string) {}, link: (*os.Root).Link, append: appendLine, sync: (*os.File).Sync, topOf: topOf,
	}
	if s.homeTrash == "" {
		s.homeTrash = HomeTrash(os.Getenv)
	}
	return s, nil
}

func appendLine(f *os.File, line []byte) error {
	_, err := f.Write(line)
	return err //nolint:wrapcheck // the journal wraps it.
}

// HomeTrash returns the user's trash in an environment: $XDG_DATA_HOME/Trash, else ~/.local/share/Trash; "" without a
// home.
func HomeTrash(getenv func(string) string) string {
	if data := getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, "Trash")
	}
	home := getenv("HOME")
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".local", "share", "Trash")
}

// serviceFolders finds the folders that are never listed nor touched, by inode: names may reach them on several ways.
func (s *Service) serviceFolders() map[identity]bool {
	own := map[identity]bool{}
	for _, folder := range s.private {
		if info, err := os.Stat(folder); err == nil {
			own[stampOf(info).identity] = true
		}
	}
	return own
}

// trashFolder finds the user's trash by inode, for the scan to leave out.
func (s *Service) trashFolder() identity {
	info, err := os.Stat(s.homeTrash)
	if err != nil {
		return identity{}
	}
	return stampOf(info).identity
}

// wrapped keeps an *Error as it is and gives any other failure a code.
func wrapped(code ErrorCode, found string, err error) error {
	if already := (*Error)(nil); errors.As(err, &already) {
		return err
	}
	return &Error{Code: code, Found: found, Err: err}
}
