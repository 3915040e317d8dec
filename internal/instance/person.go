package instance

import (
	"context"
	"errors"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/kernel"
)

const (
	// hereName is the surface of a person who uses a server by the command line.
	hereName = "terminal"
	// programName is the surface of a program that has read server.json.
	programName = "program"
)

// LocalUser returns the person who runs the program: the owner of its turns and, at its terminal, the one who answers.
func LocalUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "user-" + strconv.Itoa(os.Getuid())
}

// openAccess admits holders of tokens, and the person who runs the server.
func (i *Instance) openAccess(context.Context) (err error) {
	if !i.options.Shared {
		return nil
	}
	if i.Access, err = openStore(i.Data.Path, i.Now, i.options.Provider); err != nil {
		return err
	}
	for _, one := range []struct {
		secret *string
		who    access.Principal
	}{{&i.Token, programs()}, {&i.CommandToken, commands()}, {&i.PersonToken, Owner()}} {
		if *one.secret, err = i.Access.Grant(one.who); err != nil {
			return AccessFailure(err)
		}
	}
	return nil
}

// OpenAccess opens the tokens and logins of a data directory, even while a server uses it.
func OpenAccess(data string, now func() time.Time) (*access.Store, error) {
	return openStore(data, now, nil)
}

func openStore(data string, now func() time.Time, provider access.Provider) (*access.Store, error) {
	store, err := access.Open(access.Options{Path: (&datadir.Dir{Path: data}).File(datadir.TokensFile), Now: now, Provider: provider})
	return store, AccessFailure(err)
}

// programs is the principal of the local user's programs. They find the server by server.json, and may follow, start
// and stop. They may not answer: that is reserved for a person (call protocol, "Who may answer").
func programs() access.Principal {
	return access.Principal{Name: LocalUser(), Surface: programName, Roles: []access.Role{access.Listener, access.Operator}}
}

// commands is the principal of the commands of the local user. Any program of the user can run them, so they accept
// nothing unless their terminal is logged in.
func commands() access.Principal {
	p := Owner()
	p.Unattended = "this terminal is not logged in"
	return p
}

// Owner is the principal of the person who runs the server: on the page and in the terminals that a code has logged in.
func Owner() access.Principal {
	return access.Principal{
		Name: LocalUser(), Surface: hereName, Roles: []access.Role{access.Listener, access.Approver, access.Operator},
	}
}

// approvers returns who may approve: everybody with the right, or only the person who runs the program.
func (i *Instance) approvers() kernel.Approvers {
	if i.Access != nil {
		return i.Access
	}
	return onePerson{name: LocalUser()}
}

// onePerson lets only the person who runs the program approve, and only in their own turns. It implements
// kernel.Approvers.
type onePerson struct{ name string }

// MayApprove implements kernel.Approvers.
func (p onePerson) MayApprove(person, _, owner string) bool {
	return person == p.name && owner == p.name
}

// MayAccept implements kernel.Approvers.
func (p onePerson) MayAccept(string) bool { return true }

// AccessFailure converts an error of the token file to one with a hint.
func AccessFailure(err error) error {
	if err == nil {
		return nil
	}
	e, is := errors.AsType[*access.Error](err)
	if !is {
		return cause.Fail(err, "the tokens cannot be used", "")
	}
	kind := cause.Failed
	if e.Code == access.CodeInvalid || e.Code == access.CodeExists {
		kind = cause.Usage
	}
	return &cause.Error{Kind: kind, Message: e.Message, Hint: e.Hint, Err: err}
}
