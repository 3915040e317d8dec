package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/tool/settings"
)

// Folder is the folder's name in a data directory.
const Folder = "mcp-logins"

// Store is the folder of logins, a file for each server. Several processes may use it at once.
type Store struct {
	Dir       string
	Now       func() time.Time
	LookupEnv func(string) (string, bool) // for secrets of clients
	// Reached is called at named points, see package fault; nil for none.
	Reached func(point string)
}

// ErrNone means that there is no login of that server.
var ErrNone = errors.New("there is no login")

func (s *Store) path(name, ending string) (string, error) {
	if want := settings.CheckTarget(name); want != "" {
		return "", cause.Misuse("the name is "+cause.Quoted(name)+"; expected "+want, "see `earshot mcp list`")
	}
	return filepath.Join(s.Dir, name+ending), nil
}

const (
	loginFile   = ".json"
	attemptFile = ".attempt"
	lockFile    = ".lock"
)

// Load returns the login of a server; [ErrNone] if there is none. A login for another address does not count.
func (s *Store) Load(name, server string) (Login, error) {
	var l Login
	err := s.read(name, loginFile, &l)
	if err == nil && server != "" && l.Server != server {
		return Login{}, ErrNone
	}
	return l, err
}

func (s *Store) read(name, ending string, value any) error {
	path, err := s.path(name, ending)
	if err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNone
	}
	hint := "log in again: `earshot mcp login " + name + "`"
	if err != nil {
		return cause.Fail(err, "the login cannot be read", hint)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return cause.Fail(nil, fmt.Sprintf("the file of the login, %s, is open to others (%v, expected -rw-------)", path, info.Mode()),
			"others may have its tokens: end it with `earshot mcp logout "+name+"`, and "+hint)
	}
	raw, err := settings.ReadFile(path, settings.MaxFile)
	if err == nil {
		err = json.Unmarshal(raw, value)
	}
	if err != nil { // its text might be a part of a token
		return cause.Fail(nil, "the file of the login, "+path+", is not one", hint)
	}
	return nil
}

func (s *Store) write(name, ending string, value any) error {
	path, err := s.path(name, ending)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(value, jsontext.Multiline(true))
	if err == nil {
		err = os.MkdirAll(s.Dir, 0o700)
	}
	if err == nil {
		err = datadir.WriteFile(path, append(raw, '\n'))
	}
	if err != nil {
		return cause.Fail(errors.New(cause.Of(err)), "the login cannot be stored", "make room, or use another folder with --data DIR")
	}
	return nil
}

// Ask notes that a server asks for a login, unless there is one.
func (s *Store) Ask(ctx context.Context, name, server string) error {
	return s.locked(ctx, name, func() error {
		if _, err := s.Load(name, server); !errors.Is(err, ErrNone) {
			return err
		}
		return s.write(name, loginFile, Login{Server: server})
	})
}

// Remove removes a login, and what was begun of one.
func (s *Store) Remove(ctx context.Context, name string) error {
	return s.locked(ctx, name, func() error {
		for _, ending := range []string{loginFile, attemptFile} {
			path, err := s.path(name, ending)
			if err == nil {
				err = os.Remove(path)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return cause.Fail(err, "the login cannot be removed", "")
			}
		}
		return nil
	})
}

// Names returns the servers with a login, or that ask for one.
func (s *Store) Names() []string {
	files, _ := filepath.Glob(filepath.Join(s.Dir, "*"+loginFile)) // fails for a bad pattern only
	names := make([]string, 0, len(files))
	for _, path := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(path), loginFile))
	}
	return names
}

// lockRetry is how often a lock that another process holds is tried.
const lockRetry = 20 * time.Millisecond

// locked runs do while no other process changes the login.
func (s *Store) locked(ctx context.Context, name string, do func() error) error {
	path, err := s.path(name, lockFile)
	if err != nil {
		return err
	}
	if err := s.makeFolder(); err != nil {
		return err
	}
	lock, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return cause.Fail(err, "the login cannot be locked", "use another folder with --data DIR")
	}
	defer func() { _ = lock.Close() }()
	tick := time.NewTicker(lockRetry)
	defer tick.Stop()
	for {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return cause.Fail(err, "the login cannot be locked", "use a folder on a disk of this machine with --data DIR")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("another process changes the login: %w", ctx.Err())
		}
	}
	defer func() { _ = unix.Flock(int(lock.Fd()), unix.LOCK_UN) }()
	return do()
}

func (s *Store) makeFolder() error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return cause.Fail(err, "the folder of logins cannot be made", "use another folder with --data DIR")
	}
	return nil
}

func (s *Store) reached(point string) {
	if s.Reached != nil {
		s.Reached(point)
	}
}

// newID returns a random name that nobody can guess.
func newID() string { return rand.Text() }
