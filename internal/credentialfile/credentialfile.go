// Package credentialfile stores the credentials of the message bus in a folder: a private file for each external
// process. It also knows who owns which names.
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

// Dir is a folder of credentials, which is created with the first of them.
type Dir struct {
	Path    string
	Project string
	// Residents run in the server itself: their names are reserved.
	Residents []bus.Principal
}

// File returns the path of a principal's credential file.
func (d Dir) File(who bus.Principal) string {
	return filepath.Join(d.Path, string(who.Kind)+"."+who.Name+".json")
}

// Paths returns the existing files, by name.
func (d Dir) Paths() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(d.Path, "*.json"))
	if err != nil {
		return nil, cause.Fail(err, "the credentials cannot be listed", "")
	}
	slices.Sort(files)
	return files, nil
}

// All returns the existing credentials, by name.
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

// Write stores credentials, and replaces former ones.
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

// SetURL writes the current address of the bus into every file.
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

// Change is a planned change of one file.
type Change struct {
	Credentials bus.Credentials
	dir         Dir
	before      []byte // the former file; nil if there was none
}

// Add plans credentials for a principal that may also register those tools. If credentials exist, the tools are added
// to their list and their secrets stay. It writes nothing yet.
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

// begin loads the existing credentials if their list grows; otherwise it creates new ones.
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

// list adds tools that the principal may register. A name belongs to only one credential.
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

// Revert restores the former file.
func (c *Change) Revert() {
	who := c.Credentials.Principal
	if c.before == nil {
		_ = os.Remove(c.dir.File(who))
		return
	}
	_ = datadir.WriteFile(c.dir.File(who), c.before) // the current file differs only by a longer list
}

// ErrNone is returned if there are no credentials to remove.
var ErrNone = errors.New("there are no such credentials")

// Remove removes a principal's credentials.
func (d Dir) Remove(who bus.Principal) error {
	if strings.ContainsAny(who.Name, "/.") {
		return ErrNone // not a name, and not a file of this folder
	}
	switch err := os.Remove(d.File(who)); {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNone
	case err != nil:
		return cause.Fail(err, "the credentials cannot be removed", "")
	}
	return nil
}
