package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// owner is who runs the cluster: nil is the user we run as.
type owner struct{ uid, gid int }

// ordinary is a user that may run a cluster: PostgreSQL refuses root.
func ordinary() (*owner, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nil is ourselves
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uerr := strconv.Atoi(u.Uid)
		gid, gerr := strconv.Atoi(u.Gid)
		if uerr == nil && gerr == nil {
			return &owner{uid, gid}, nil
		}
	}
	return nil, errors.New("cluster: we are root, and there is no user postgres or nobody to run it")
}

func (o *owner) chown(path string) error {
	if o == nil {
		return nil
	}
	if err := os.Chown(path, o.uid, o.gid); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	return nil
}

// attributes of a process of the cluster's. The server is to end when we do: SIGQUIT ends it
// at once.
func (o *owner) attributes(server bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true} // what is typed at the terminal is for us
	if server {
		a.Pdeathsig = syscall.SIGQUIT
	}
	if o != nil {
		a.Credential = &syscall.Credential{Uid: uint32(o.uid), Gid: uint32(o.gid)}
	}
	return a
}
