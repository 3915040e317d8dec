package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
)

// ServerAt reports whether a server currently uses a data directory. The file of an earlier server does not count.
func ServerAt(path string) bool {
	place, err := client.ReadServerFile(filepath.Join(path, datadir.ServerFile))
	if err != nil {
		return false
	}
	lock, err := os.Open(filepath.Join(path, datadir.LockFile))
	if err != nil {
		return false
	}
	defer func() { _ = lock.Close() }()
	return datadir.ReadHolder(lock) == place.PID && isRunning(place.PID)
}

// isRunning reports whether the process exists. A killed server leaves a file with the id of a dead process. Testing
// the lock instead could prevent another server from taking it.
func isRunning(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}

// ServerFlags name the server of a command.
type ServerFlags struct {
	DataFlag, URL, TokenFile string
}

// Named reports whether a server is named explicitly, rather than found by its data directory.
func (f ServerFlags) Named() bool { return f.URL != "" }

// Elsewhere reports whether the server is on another machine, whose folders are not ours.
func (f ServerFlags) Elsewhere() bool { return f.URL != "" && !client.IsLocal(f.URL) }

// Dial connects to the server.
func (m *Program) Dial(ctx context.Context, f ServerFlags, name string) (*client.Client, error) {
	reports := &connectionReports{m: m}
	o := client.Options{Name: name, Now: m.Now, OnConnection: reports.changed, OnWait: reports.waits}
	switch {
	case f.URL != "" && f.DataFlag != "":
		return nil, cause.Misuse("both --data and --url are named", "name the server by one of them")
	case f.URL != "" && f.TokenFile == "":
		return nil, cause.Misuse("--url needs --token-file", "make a token on the server with `earshot token add`, and put it into a file")
	case f.URL != "":
		o.URL, o.TokenFile = f.URL, f.TokenFile
	default:
		path, err := m.DataPath(f.DataFlag, false)
		if err != nil {
			return nil, err
		}
		if err := FoundServer(path); err != nil {
			return nil, err
		}
		reports.data = path
		o.ServerFile, o.TokenFile = filepath.Join(path, datadir.ServerFile), filepath.Join(path, datadir.PersonFile) // a person has typed the command
		if f.TokenFile != "" {
			o.TokenFile = f.TokenFile
		}
	}
	var err error
	if o.Transport, err = m.Transport(); err != nil {
		return nil, err
	}
	if o.Transport == nil {
		o.Transport = subscribe.NewTransport(idleConnection)
	}
	o.Transport = &Slow{By: o.Transport, After: slowAfter, Say: func(host string) {
		m.Notef("Waiting: the server at %s has not answered for %s. It says itself whether its database is away.", host, LastedText(slowAfter))
	}}
	remote, err := client.Dial(ctx, o)
	if err != nil {
		return nil, ServerFailure(err)
	}
	m.zone.Store(remote.Zone())
	return remote, nil
}

// FoundServer returns an error that explains why there is no server.
func FoundServer(path string) error {
	if _, err := os.Stat(path); err == nil {
		if err := datadir.CheckOwner(path); err != nil {
			return err
		}
	}
	if ServerAt(path) {
		return nil
	}
	return cause.Fail(nil, "no `earshot up` works with the data in "+path, "start it with `earshot up`, or name another with --data DIR or --url")
}

// Away reports whether a connection of this command to its server is lost at the moment.
func (m *Program) Away() bool { return m.away.Load() }

// connectionReports tells of the connection of one client. The goroutine that reads its events uses it.
type connectionReports struct {
	m      *Program
	data   string // the data directory whose server it is; "" for one that is named by its address
	outage Outage
}

func (r *connectionReports) changed(c client.Connection) {
	r.m.away.Store(c.Lost != nil)
	r.outage.Reset()
	if c.Lost != nil {
		r.m.Notef("Connection: lost; trying again. Nothing is decided meanwhile but by the question's own deadline.")
		return
	}
	r.m.Notef("Connection: back; nothing was missed.")
}

// waits says again from time to time that the connection is lost, and what holds meanwhile.
func (r *connectionReports) waits(since time.Time) {
	lasted, again := r.outage.Again(since, r.m.Now())
	if !again {
		return
	}
	todo := "trying again"
	if r.data != "" && !ServerAt(r.data) {
		todo = "no `earshot up` works with the data in " + cause.OneLine(r.data) + ", and this goes on once one does"
	}
	r.m.Notef("Connection: still lost, after %s; %s. What is asked waits at the server, and does not run without an answer.", LastedText(lasted), todo)
}

// ServerFailure converts an error of a server, or of the connection to it, to one with a hint.
func ServerFailure(err error) error {
	if _, told := errors.AsType[*cause.Error](err); told {
		return err // it has more details
	}
	e, is := errors.AsType[*client.Error](err)
	if !is {
		return err
	}
	kind := cause.Failed
	if e.Code == client.CodeUsage || e.Code == client.CodeInsecure {
		kind = cause.Usage
	}
	return &cause.Error{Kind: kind, Message: e.Message, Hint: e.Hint, Err: err}
}
