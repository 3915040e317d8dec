package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// attachHere runs the turn at the server that holds the data directory, if it is one;
// held is the answer if it is not.
func (m *Main) attachHere(ctx context.Context, f runFlags, j job, path string, held error) error {
	if !serverAt(path) {
		return held
	}
	f.server.dataFlag = path
	return m.attachTo(ctx, f, j)
}

// serverAt answers whether a server works with a data directory at this moment. A file
// that an earlier one has left behind says nothing.
func serverAt(path string) bool {
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

// isRunning answers whether there is such a process. What a killed server leaves behind
// names one that is gone, and asking the lock itself could keep another from taking it.
func isRunning(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}

// attachTo runs the turn at a server, and tells and answers it here.
func (m *Main) attachTo(ctx context.Context, f runFlags, j job) error {
	_, err := m.attachedTurn(ctx, f, j)
	return err
}

// attachedTurn is attachTo, and says which session it was, where there was one that ended.
func (m *Main) attachedTurn(ctx context.Context, f runFlags, j job) (session string, err error) {
	if j.outside && !j.object {
		return "", cause.Misuse("the arguments of "+cause.OneLine(j.request.Agent)+" are not one JSON object", `for example earshot run counter '{"text":"one two"}'`)
	}
	if f.policy != "" {
		return "", cause.Misuse("--policy does not go with a server, which has its own", "start `earshot up` with --policy")
	}
	remote, err := m.dial(ctx, f.server, "earshot-run")
	if err != nil {
		return "", err
	}
	signals := make(chan os.Signal, 4)
	defer signal.Stop(signals)
	heed(signals)
	if session, err = m.beginThere(ctx, remote, j); err != nil {
		return "", err
	}
	m.tellf("Attached: the turn runs at %s. `earshot run --resume %s` comes back to it.", remote.Server(), session)
	defer m.reportUnclaimed(ctx, remote, session)()
	port := terminal.NewServer(remote, terminal.ServerOptions{Session: session, Resumed: j.resume, Items: itemsOf})
	me, err := remote.Identity(ctx)
	if err != nil {
		return "", serverFailure(err)
	}
	a := attendance{
		port: port, session: session, person: me.Name, leaves: true, resume: resumeHint(session),
		stop: func(ctx context.Context, _ os.Signal) error { return port.Stop(ctx, terminal.Stop{At: m.Now()}) },
	}
	signalled, failure := m.follow(ctx, f, signals, a)
	switch {
	case signalled != nil:
		return "", &exitError{code: signalCode(signalled)}
	case failure != nil:
		return "", failure
	}
	return session, verdictThere(ctx, remote, session)
}

// aloneTime is how long a turn may wait for its agent before that is told.
const aloneTime = 3 * time.Second

// reportUnclaimed tells once that nobody has taken a turn up: its agent may be a process of its own
// that was never started, and the turn would wait for it without a word. Done has to be called.
func (m *Main) reportUnclaimed(ctx context.Context, remote *client.Client, session string) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	var owned sync.WaitGroup
	owned.Go(func() {
		timer := time.NewTimer(aloneTime)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		told, err := remote.Session(ctx, session)
		if err == nil && told.Status == string(turn.Queued) {
			m.tellf("Waiting: no process of the agent %s has taken this up. Start one, if none runs; it goes on by itself then.", cause.OneLine(told.Agent))
		}
	})
	return func() {
		cancel()
		owned.Wait()
	}
}

// verdictThere is the exit code, from what the server's ledger says.
func verdictThere(ctx context.Context, remote *client.Client, session string) error {
	told, err := remote.Session(ctx, session)
	switch {
	case err != nil:
		return serverFailure(err)
	case told.End == nil:
		return cause.Fail(nil, "the turn has not ended", resumeHint(session))
	}
	if code := exitCode(told.End.Status, told.End.Tally); code != exitDone {
		return &exitError{code: code}
	}
	return nil
}

// beginThere starts the turn, or finds the one to go on with.
func (m *Main) beginThere(ctx context.Context, remote *client.Client, j job) (string, error) {
	if !j.resume {
		started, err := remote.Start(ctx, api.TurnStart{Agent: j.request.Agent, Args: j.request.Args, Request: j.request.Request, Label: j.request.Label, Answer: j.request.Answer})
		return started.Session, serverFailure(err)
	}
	open, err := remote.Sessions(ctx, true)
	if err != nil {
		return "", serverFailure(err)
	}
	rows := make([]unfinished, 0, len(open))
	for _, s := range open {
		rows = append(rows, unfinished{session: s.ID, turn: s.Turn, agent: s.Agent, created: s.Created})
	}
	row, err := pick(rows, j.session)
	return row.session, err
}

// serverFlags say which server a command speaks to.
type serverFlags struct {
	dataFlag, url, tokenFile string
}

// given answers whether a server is named, rather than found by its data.
func (f serverFlags) given() bool { return f.url != "" || f.tokenFile != "" }

// elsewhere answers whether the server is another machine, whose folders are not ours.
func (f serverFlags) elsewhere() bool { return f.url != "" && !client.IsLocal(f.url) }

// dial finds the server.
func (m *Main) dial(ctx context.Context, f serverFlags, name string) (*client.Client, error) {
	o := client.Options{Name: name, Now: m.Now, OnConnection: m.onConnection}
	switch {
	case f.given() && f.dataFlag != "":
		return nil, cause.Misuse("both --data and --url are named", "name the server by one of them")
	case f.given() && (f.url == "" || f.tokenFile == ""):
		return nil, cause.Misuse("--url and --token-file go together", "make a token on the server with `earshot token add`, and put it into a file")
	case f.given():
		o.URL, o.TokenFile = f.url, f.tokenFile
	default:
		path, err := m.dataPath(f.dataFlag, false)
		if err != nil {
			return nil, err
		}
		if err := foundServer(path); err != nil {
			return nil, err
		}
		o.ServerFile, o.TokenFile = filepath.Join(path, datadir.ServerFile), filepath.Join(path, datadir.PersonFile) // a person has typed the command
	}
	remote, err := client.Dial(ctx, o)
	return remote, serverFailure(err)
}

// foundServer says why there is no server to speak to.
func foundServer(path string) error {
	if _, err := os.Stat(path); err == nil {
		if err := datadir.CheckOwner(path); err != nil {
			return err
		}
	}
	if serverAt(path) {
		return nil
	}
	return cause.Fail(nil, "no `earshot up` works with the data in "+path, "start it with `earshot up`, or name another with --data DIR or --url")
}

func (m *Main) onConnection(c client.Connection) {
	if c.Lost != nil {
		m.tellf("Connection: lost; trying again. Nothing is decided meanwhile but by the question's own deadline.")
		return
	}
	m.tellf("Connection: back; nothing was missed.")
}

// serverFailure is what a server or the way there has said, in words with a hint.
func serverFailure(err error) error {
	if _, told := errors.AsType[*cause.Error](err); told {
		return err // what was made of it says more
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

// timeText is a time of today, or with its day, or with its day and year.
func (m *Main) timeText(at time.Time) string {
	now := m.Now()
	at = at.In(now.Location())
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04:05")
	}
	if at.Year() == now.Year() {
		return at.Format("2 Jan 15:04:05")
	}
	return at.Format("2 Jan 2006 15:04:05")
}
