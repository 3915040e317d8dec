package access

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/internal/cause"
)

const (
	fileVersion = 1
	maxFile     = 4 << 20
	private     = 0o600
	others      = 0o077
)

// content is the content of the token file.
type content struct {
	Version int     `json:"version"`
	Tokens  []Token `json:"tokens"`
	// Pages are the logged-in browsers. They are stored, so a restart does not log them out.
	Pages []storedPage `json:"pages,omitzero"`
}

// fileState distinguishes versions of the file.
type fileState struct {
	inode, device uint64
	size          int64
	changed       int64 // ctime in nanoseconds; unlike mtime, it cannot be set back
	// mode and owner are compared too, because ctime has a granularity of milliseconds on many file systems. A chmod
	// right after a write may leave ctime unchanged.
	mode, owner uint32
}

// stat returns the state of the file. The zero value means that there is no file.
func stat(path string) (fileState, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); errors.Is(err, fs.ErrNotExist) {
		return fileState{}, nil
	} else if err != nil {
		return fileState{}, unreadable(path, err)
	}
	return stateOf(&st), nil
}

func stateOf(st *unix.Stat_t) fileState {
	return fileState{
		inode: st.Ino, size: st.Size, changed: unix.TimespecToNsec(st.Ctim), owner: st.Uid,
		device: uint64(st.Dev), mode: uint32(st.Mode), //nolint:unconvert // their width differs between systems
	}
}

// load reads the file; a missing file holds no tokens. The checks are made on the open file, so that nobody can replace
// it between check and read.
func load(path string) (content, fileState, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return content{Version: fileVersion}, fileState{}, nil
	}
	if errors.Is(err, unix.ELOOP) {
		return content{}, fileState{}, unsafe(path, "the token file "+path+" is a link", "remove the link; tokens are kept in a file of their own")
	}
	if err != nil {
		return content{}, fileState{}, unreadable(path, err)
	}
	defer func() { _ = f.Close() }()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return content{}, fileState{}, unreadable(path, err)
	}
	if err := checkPrivate(path, &st); err != nil {
		return content{}, stateOf(&st), err
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return content{}, stateOf(&st), unreadable(path, err)
	}
	c, err := parse(path, raw)
	return c, stateOf(&st), err
}

func checkPrivate(path string, st *unix.Stat_t) error {
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return unsafe(path, path+" is not a plain file", "move it away; it is made again by `earshot token add`")
	case int(st.Uid) != os.Geteuid():
		return unsafe(path, fmt.Sprintf("the token file %s belongs to user %d, and this is user %d", path, st.Uid, os.Geteuid()),
			"give it back with `chown`, or move it away and make new tokens")
	case st.Mode&others != 0:
		return unsafe(path, fmt.Sprintf("the token file %s is open to others (mode %04o, expected 0600)", path, st.Mode&0o777),
			"run `chmod 600 "+path+"`; if others may have changed it, look at `earshot token list` first")
	}
	return nil
}

func parse(path string, raw []byte) (content, error) {
	var c content
	if len(raw) > maxFile {
		return c, damaged(path, errors.New("it has more than 4 MiB"))
	}
	if err := json.Unmarshal(raw, &c, json.RejectUnknownMembers(true)); err != nil {
		return content{}, damaged(path, err)
	}
	if c.Version != fileVersion {
		return content{}, damaged(path, fmt.Errorf("its version is %d, expected %d", c.Version, fileVersion))
	}
	seen := map[string]bool{}
	for _, t := range c.Tokens {
		if err := t.check(); err != nil {
			return content{}, damaged(path, err)
		}
		if len(t.SHA256) != len(hashed("")) || t.ID == "" {
			return content{}, damaged(path, errors.New("the token "+t.Name+" has no id or no hash"))
		}
		if seen["name "+t.Name] || seen["id "+t.ID] || seen["hash "+t.SHA256] {
			return content{}, damaged(path, errors.New("the token "+t.Name+" is there twice"))
		}
		seen["name "+t.Name], seen["id "+t.ID], seen["hash "+t.SHA256] = true, true, true
	}
	for _, k := range c.Pages {
		if err := k.check(); err != nil {
			return content{}, damaged(path, err)
		}
		if seen["hash "+k.SHA256] || seen["id "+k.ID] {
			return content{}, damaged(path, errors.New("a login of "+k.Person+" is there twice"))
		}
		seen["hash "+k.SHA256], seen["id "+k.ID] = true, true
	}
	return c, nil
}

// save replaces the file atomically and durably: after a crash it is either the old or the new one.
func save(path string, c content) (err error) {
	raw, err := json.Marshal(c, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("access: writing the tokens: %w", err)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return unreadable(path, err)
	}
	defer func() { _ = dir.Close() }()
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.new") // created with mode 0600
	if err != nil {
		return unreadable(path, err)
	}
	_, err = f.Write(append(raw, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return unreadable(path, err)
	}
	if err := dir.Sync(); err != nil {
		return unreadable(path, err)
	}
	return nil
}

// lockFor is how long a change waits for another process to finish its own, which takes some milliseconds of a quick disk.
const lockFor = 10 * time.Second

// awaitLock is lock that waits for another process to unlock. Only then it is CodeBusy.
func awaitLock(path string) (*os.File, error) {
	tries := time.NewTicker(10 * time.Millisecond)
	defer tries.Stop()
	for began := time.Now(); ; <-tries.C {
		f, err := lock(path)
		if !errors.Is(err, ErrBusy) || time.Since(began) > lockFor {
			return f, err
		}
	}
}

// lock takes the lock for changing the file, which all processes share, until [unlock].
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, private)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, &Error{Code: CodeBusy, Message: "another process is changing the tokens", Hint: "try again in a moment", Err: err}
		}
		return nil, unreadable(path, err)
	}
	return f, nil
}

// unlock releases the lock explicitly. Closing the file is not enough: a child process that is just being started may
// have inherited the descriptor and would keep the lock until its exec.
func unlock(f *os.File) {
	_ = unix.Flock(int(f.Fd()), unix.LOCK_UN)
	_ = f.Close()
}

func unreadable(path string, err error) error {
	return &Error{
		Code: CodeUnreadable, Message: fmt.Sprintf("the token file %s cannot be used: %s", path, err),
		Hint: "see that the folder is yours, may be written to, and has room", Err: err,
	}
}

func unsafe(_, message, hint string) error {
	return &Error{Code: CodeUnsafe, Message: message, Hint: hint}
}

func damaged(path string, err error) error {
	return &Error{
		Code: CodeDamaged, Message: fmt.Sprintf("the token file %s cannot be read as one: %s", path, cause.Of(err)),
		Hint: "restore it from a backup, or move it away and make new tokens with `earshot token add`; until then no token counts", Err: err,
	}
}
