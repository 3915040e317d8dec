package hostsetup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/hostfile"
	"github.com/earshot-dev/earshot/tool/settings"
)

// file is a host's file on the disk.
type file struct {
	*hostfile.File

	path   string // as it is named
	target string // where a link leads
	raw    []byte // as it was read
	info   fs.FileInfo
}

// open reads a host's file, which may not be there yet.
func open(host hostfile.Host, path string) (*file, error) {
	f := &file{path: path, target: path}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		f.target = target
	} else if _, lerr := os.Lstat(path); lerr == nil {
		return nil, cause.Misuse(cause.OneLine(path)+" is a link that leads to no file", "make the file that it is to lead to, or remove the link")
	}
	var err error
	if f.info, err = os.Stat(f.target); err == nil {
		f.raw, err = settings.ReadFile(f.target, maxFile)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, cause.Fail(err, "the file of "+host.Title+" cannot be read", "")
	}
	f.File, err = hostfile.Read(host, f.raw)
	if err != nil {
		return nil, cause.Misuse(cause.OneLine(path)+" is not what "+host.Title+" reads, and is left as it is: "+cause.Of(err),
			"mend it there, then do this again")
	}
	return f, nil
}

// maxFile is how large a host's file may be: Claude Code keeps its history of folders in there.
const maxFile = 64 << 20

// write puts the edited text in the place of the old one, of which a copy stays. It returns the name of that; "" where there was no file.
func (f *file) write(host hostfile.Host) (backup string, err error) {
	wrong := func(err error) error {
		return cause.Fail(err, "the file of "+host.Title+" was not written", "")
	}
	if now, err := os.ReadFile(f.target); !bytes.Equal(now, f.raw) || err != nil && f.info != nil {
		return "", cause.Fail(nil, cause.OneLine(f.path)+" was changed by another program meanwhile, and was not written", "end "+host.Title+" if it runs, then do this again")
	}
	mode := fs.FileMode(0o600)
	if f.info != nil {
		mode = f.info.Mode().Perm()
		if backup, err = f.copy(mode); err != nil {
			return "", wrong(err)
		}
	} else if err := os.MkdirAll(filepath.Dir(f.target), 0o700); err != nil {
		return "", wrong(err)
	}
	draft, err := os.CreateTemp(filepath.Dir(f.target), ".earshot-*")
	if err != nil {
		return backup, wrong(err)
	}
	defer func() { _ = os.Remove(draft.Name()) }() // it is gone where all went well
	_, err = draft.Write(f.Text())
	err = errors.Join(err, draft.Chmod(mode), f.chown(draft), draft.Sync(), draft.Close())
	if err == nil {
		err = os.Rename(draft.Name(), f.target)
	}
	if err != nil {
		return backup, wrong(err)
	}
	return backup, nil
}

// chown gives a new file the owner of the old one, where root writes a file of somebody else.
func (f *file) chown(draft *os.File) error {
	if f.info == nil {
		return nil
	}
	owner, is := f.info.Sys().(*syscall.Stat_t)
	if !is || os.Geteuid() != 0 {
		return nil
	}
	return draft.Chown(int(owner.Uid), int(owner.Gid)) //nolint:wrapcheck // the caller says what was tried
}

// copy keeps the text from before beside the file, under a name that is free.
func (f *file) copy(mode fs.FileMode) (string, error) {
	for i := 1; ; i++ {
		name := f.target + ".before-earshot"
		if i > 1 {
			name += "-" + strconv.Itoa(i)
		}
		out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err //nolint:wrapcheck // it names the file
		}
		_, err = io.Copy(out, bytes.NewReader(f.raw))
		if err = errors.Join(err, out.Chmod(mode), f.chown(out), out.Sync(), out.Close()); err != nil {
			return "", fmt.Errorf("the copy %s: %w", name, err)
		}
		return name, nil
	}
}
