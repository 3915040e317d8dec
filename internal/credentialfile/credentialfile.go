// Package credentialfile keeps the credentials of the message bus in a folder: a file for each process that comes from
// outside, which nobody else may read. It also knows which names belong to whom.
package credentialfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/utp"
)

// Folder is the folder's name in a data directory.
const Folder = "credentials"

// Dir is a folder of credentials, which is made with the first of them.
type Dir struct {
	Path    string
	Project string
	// Residents live in the server itself: their names are taken.
	Residents []bus.Principal
}

// File is where the credentials of who are, if there are any.
func (d Dir) File(who bus.Principal) string {
	return filepath.Join(d.Path, string(who.Kind)+"."+who.Name+".json")
}

// Paths are the files that there are, by name.
func (d Dir) Paths() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(d.Path, "*.json"))
	if err != nil {
		return nil, cause.Fail(err, "the credentials cannot be listed", "")
	}
	slices.Sort(files)
	return files, nil
}

// All are those that there are, by name.
func (d Dir) All() ([]bus.Credentials, error) {
	files, err := d.Paths()
	if err != nil {
		return nil, err
	}
	all := make([]bus.Credentials, 0, len(files))
	for _, path := range files {
		one, err := bus.ReadCredentials(path)
		if err != nil {
			return nil, cause.Fail(nil, cause.Of(err), "revoke them with `earshot credential revoke`, or remove "+path+", and make new ones")
		}
		all = append(all, one)
	}
	return all, nil
}

// Write keeps credentials, in the place of those that were there.
func (d Dir) Write(one bus.Credentials) error {
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		return fmt.Errorf("making the folder of credentials: %w", err)
	}
	raw, err := json.Marshal(one, jsontext.Multiline(true))
	if err != nil {
		return fmt.Errorf("writing credentials: %w", err)
	}
	return datadir.WriteFile(d.File(one.Principal), append(raw, '\n'))
}

// SetURL writes into every file where the bus is now.
func (d Dir) SetURL(all []bus.Credentials, url string) error {
	for _, one := range all {
		if one.URL == url {
			continue
		}
		one.URL = url
		if err := d.Write(one); err != nil {
			return err
		}
	}
	return nil
}

// Change is what one file becomes, before it is written.
type Change struct {
	Credentials bus.Credentials
	dir         Dir
	before      []byte // the file as it was; nil where there was none
}

// Add makes credentials of who that may also register those tools, or adds the tools to the list of those that there are,
// whose secrets stay. Nothing is written yet.
func (d Dir) Add(who bus.Principal, tools []string) (*Change, error) {
	if slices.Contains(d.Residents, who) {
		return nil, cause.Misuse("the program itself is "+who.String(), "choose another name")
	}
	if other, used := d.namesake(who); used {
		return nil, cause.Misuse("there is "+other.String()+" already, whose messages "+who.String()+" would hear", "choose another name")
	}
	c := &Change{dir: d}
	if err := c.begin(who, len(tools) > 0); err != nil {
		return nil, err
	}
	if err := c.list(tools); err != nil {
		return nil, err
	}
	return c, nil
}

// begin takes the credentials that there are, with the file as it is, where their list grows; else it makes new ones.
func (c *Change) begin(who bus.Principal, grows bool) (err error) {
	path := c.dir.File(who)
	if !datadir.Exists(path) {
		if c.Credentials, err = bus.NewCredentials(rand.Reader, c.dir.Project, who); err != nil {
			return cause.Misuse(cause.Of(err), "choose another name; of a tool service it is what stands before the dot in its tools' names")
		}
		return nil
	}
	if !grows {
		return cause.Misuse("there are credentials of "+who.String()+" already: "+path, "use them, or revoke them first")
	}
	if c.before, err = os.ReadFile(path); err == nil {
		c.Credentials, err = bus.ReadCredentials(path)
	}
	if err != nil {
		return cause.Fail(nil, cause.Of(err), "revoke them with `earshot credential revoke`, and make new ones")
	}
	return nil
}

// list adds tools to what one may register. A name belongs to one credential only.
func (c *Change) list(tools []string) error {
	one := &c.Credentials
	who := one.Principal
	if len(tools) > 0 && who.Kind != bus.Tool && who.Kind != bus.External {
		return cause.Misuse("--tools goes with the roles tool and foreign; the role is "+string(who.Kind), "leave it out")
	}
	others, err := c.dir.All()
	if err != nil {
		return err
	}
	for _, name := range tools {
		if !utp.ValidToolName(name) {
			found := "an empty name"
			if name != "" {
				found = fmt.Sprintf("%q", cause.OneLine(name))
			}
			return cause.Misuse(found+" is not a tool name", "use 1 to 128 of A-Z a-z 0-9 _ - .")
		}
		if other, used := OwnerOf(name, others, c.dir.Residents, who); used {
			return cause.Misuse("the tool "+name+" is a name of "+other.String(), "choose another name for it")
		}
		if !one.Owns(name) {
			one.Tools = append(one.Tools, name)
		}
	}
	for _, other := range others {
		for _, name := range other.Tools {
			if other.Principal != who && one.Owns(name) {
				return cause.Misuse("the tool "+name+" is on the list of "+other.Principal.String()+", and would be one of "+who.String(), "choose another name")
			}
		}
	}
	return nil
}

// Write keeps the change.
func (c *Change) Write() error { return c.dir.Write(c.Credentials) }

// Revert puts the file back as it was before.
func (c *Change) Revert() {
	who := c.Credentials.Principal
	if c.before == nil {
		_ = os.Remove(c.dir.File(who))
		return
	}
	_ = datadir.WriteFile(c.dir.File(who), c.before) // what it holds now is the same, with a longer list
}

// ErrNone is said where there are no credentials to remove.
var ErrNone = errors.New("there are no such credentials")

// Remove takes the credentials of who away.
func (d Dir) Remove(who bus.Principal) error {
	if strings.ContainsAny(who.Name, "/.") {
		return ErrNone // no name, and no file of this folder
	}
	switch err := os.Remove(d.File(who)); {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNone
	case err != nil:
		return cause.Fail(err, "the credentials cannot be removed", "")
	}
	return nil
}
