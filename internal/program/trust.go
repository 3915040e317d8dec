package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/internal/cause"
)

// LocationError says why a program is not run as it lies there.
type LocationError struct{ Found, Expected string }

func (e *LocationError) Error() string { return e.Found + "; expected " + e.Expected }

func misplaced(expected, found string, args ...any) error {
	return &LocationError{fmt.Sprintf(found, args...), expected}
}

const (
	wantProgram = "a program that is there"
	maxLinks    = 40 // as many as Linux follows
)

// follow finds the file that a path leads to, as the system does, one name at a time. It refuses a path on which somebody other
// than root and this user could put another program in place: by a folder that they can write, or by a link of theirs.
func follow(path string) (string, error) {
	at, rest := "/", strings.Split(path, "/")
	if err := checkWay(at); err != nil {
		return "", err
	}
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == "" || name == "." {
			continue
		}
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		if err != nil {
			return "", absent(next, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if at = next; len(rest) == 0 {
				return at, nil
			}
			if err := checkWay(at); err != nil {
				return "", err
			}
			continue
		}
		if links++; links > maxLinks {
			return "", misplaced(wantProgram, "%s leads through more than %d links", path, maxLinks)
		}
		target, err := linked(next, info)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at, nil
}

func absent(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return misplaced(wantProgram, "there is no %s", path)
	}
	return misplaced("one that this user may read", "%s", cause.Of(err))
}

// linked reads a link. In a folder that everybody may add to, such as /tmp, its owner can make it lead elsewhere.
func linked(path string, info fs.FileInfo) (string, error) {
	if err := checkOwner("the link "+path, info); err != nil {
		return "", err
	}
	target, err := os.Readlink(path)
	if err != nil {
		return "", absent(path, err)
	}
	return target, nil
}

// checkWay refuses a folder in which others can put something in place of what lies there. In one with the sticky bit,
// such as /tmp, they can only add to it.
func checkWay(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return absent(folder, err)
	}
	if !info.IsDir() {
		return misplaced(wantProgram, "%s is not a folder", folder)
	}
	if err := checkOwner("the folder "+folder, info); err != nil {
		return err
	}
	if info.Mode()&fs.ModeSticky != 0 {
		return nil
	}
	return checkMode("folder", folder, info)
}

// checkMode refuses a program or a folder that others than its owner may write. An access list shows in the group's bits.
func checkMode(kind, path string, info fs.FileInfo) error {
	const others, group = 0o002, 0o020
	var who string
	switch mode := info.Mode().Perm(); {
	case mode&others != 0:
		who = "everybody"
	case mode&group != 0:
		who = "its group"
	default:
		return nil
	}
	return misplaced("a "+kind+" that only its owner can change: `chmod go-w "+path+"`", "%s can change the %s %s", who, kind, path)
}

// checkOwner refuses what belongs to others than root and this user: an owner can always change it.
func checkOwner(what string, info fs.FileInfo) error {
	st, is := info.Sys().(*syscall.Stat_t)
	if !is {
		return misplaced("a system that tells it", "the owner of %s is not known", what)
	}
	if st.Uid == 0 || int(st.Uid) == os.Geteuid() {
		return nil
	}
	return misplaced("one that belongs to root or to "+userName(os.Geteuid())+", who runs the service", "%s belongs to %s", what, userName(int(st.Uid)))
}

func userName(id int) string {
	if u, err := user.LookupId(strconv.Itoa(id)); err == nil {
		return u.Username
	}
	return "the user with the number " + strconv.Itoa(id)
}

// openProgram opens the program that lies at a path without links, whose folders were checked.
func openProgram(path string) (*os.File, error) {
	// What is not a file, such as a pipe, must not hold it up.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, absent(path, err)
	}
	if err := checkProgramFile(path, file); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

func checkProgramFile(path string, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return absent(path, err)
	}
	if !info.Mode().IsRegular() || unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) != nil {
		return misplaced("a file that this user may run", "%s is not a program", path)
	}
	if err := checkOwner("the program "+path, info); err != nil {
		return err
	}
	return checkMode("program", path, info)
}
