package datadir

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/earshot-dev/earshot/internal/cause"
)

// pageNameBytes is the number of random bytes in the page's name: nobody can guess it.
const pageNameBytes = 16

// pageHint ends the hints about problems with the file.
const pageHint = "; or remove it: the page then gets a new name, and anyone who is logged in logs in again"

// pageNameForm is the format of the name in its file.
var pageNameForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-f]{32}$`)
}) //nolint:gochecknoglobals // it is constant

// PageName reads the host name of this data directory's page, or creates it: a random name below localhost, which
// browsers resolve to their own machine. Under 127.0.0.1 or localhost a browser would send the page's cookie to every
// port of the machine, no matter who serves there; this name is not known to anybody else.
func (d *Dir) PageName() (string, error) {
	path := d.File(PageFile)
	raw, err := os.ReadFile(path)
	switch {
	case err == nil:
		return d.storedPageName(raw)
	case !errors.Is(err, fs.ErrNotExist):
		return "", cause.Fail(err, "the file with the page's name cannot be read", "make "+path+" readable for yourself"+pageHint)
	}
	chance := make([]byte, pageNameBytes)
	if _, err := io.ReadFull(rand.Reader, chance); err != nil {
		return "", fmt.Errorf("randomness: %w", err)
	}
	name := hex.EncodeToString(chance)
	if err := WriteFile(path, []byte(name+"\n")); err != nil {
		return "", cause.Fail(err, "the file with the page's name cannot be written", "make room, or use another folder with --data DIR")
	}
	return name + ".localhost", nil
}

func (d *Dir) storedPageName(raw []byte) (string, error) {
	path := d.File(PageFile)
	info, err := os.Lstat(path)
	if err != nil {
		return "", cause.Fail(err, "the file with the page's name cannot be looked at", "try again")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", cause.Fail(nil, fmt.Sprintf("the file with the page's name, %s, is open to others (mode %04o, expected 0600)", path, info.Mode().Perm()),
			"others may know the name: remove the file, and the page gets a new one")
	}
	name := strings.TrimSpace(string(raw))
	if !pageNameForm().MatchString(name) {
		return "", cause.Fail(nil, "the file "+path+" does not hold a name of a page: expected 32 hexadecimal digits", "restore it from a backup"+pageHint)
	}
	return name + ".localhost", nil
}

// IsPageName reports whether a host is a name that PageName creates, which nobody can guess.
func IsPageName(host string) bool {
	name, below := strings.CutSuffix(host, ".localhost")
	return below && pageNameForm().MatchString(name)
}
