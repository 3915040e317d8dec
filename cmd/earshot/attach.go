package main

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// attachHere runs the turn at the server that holds the data directory. If that is no server, it returns held.
func (m *Main) attachHere(ctx context.Context, f runFlags, j job, path string, held error) error {
	if !cli.ServerAt(path) {
		return held
	}
	f.server.DataFlag = path
	return m.attachTo(ctx, f, j)
}

// attachTo runs the turn at a server, and narrates it and takes the answers here.
func (m *Main) attachTo(ctx context.Context, f runFlags, j job) error {
	_, err := m.attachedTurn(ctx, f, j)
	return err
}

// attachedTurn is attachTo, and also returns the session if there was one that ended.
func (m *Main) attachedTurn(ctx context.Context, f runFlags, j job) (session string, err error) {
	if j.outside && !j.object {
		return "", cause.Misuse("the arguments of "+cause.OneLine(j.request.Agent)+" are not one JSON object", `for example earshot run counter '{"text":"one two"}'`)
	}
	if f.policy != "" {
		return "", cause.Misuse("--policy does not go with a server, which has its own", "start `earshot up` with --policy")
	}
	if given := f.chat.given(); given != "" {
		return "", serverHasIt(given)
	}
	remote, err := m.Dial(ctx, f.server, "earshot-run")
	if err != nil {
		return "", err
	}
	if !f.noInput && !f.inputRead && cli.IsTerminal(m.Stdin) {
		if err := m.offerLogin(ctx, remote); err != nil {
			return "", err
		}
	}
	me, err := remote.Identity(ctx) // before anything begins: then a server that is started again costs the turn no listener
	if err != nil {
		return "", cli.ServerFailure(err)
	}
	prefers, _ := remote.Preferences(ctx) // where it fails, told as to everybody
	signals := m.NewSignals()
	defer signals.Stop()
	signals.Heed()
	if session, err = m.beginThere(ctx, remote, j); err != nil {
		return "", err
	}
	m.Notef("Attached: the turn runs at %s. `earshot run --resume %s` comes back to it.", remote.Server(), session)
	defer m.reportUnclaimed(ctx, remote, session)()
	defer m.reportReady(ctx, remote.Ready)()
	port := terminal.NewServer(remote, terminal.ServerOptions{Session: session, Resumed: j.resume, Items: cli.ItemsOf})
	a := attendance{
		port: port, session: session, person: me.Name, prefers: prefers, leaves: true, resume: resumeHint(session),
		stop: func(ctx context.Context, _ os.Signal) error { return port.Stop(ctx, terminal.Stop{At: m.Now()}) },
	}
	signalled, failure := m.follow(ctx, f, signals.C, a)
	switch {
	case signalled != nil:
		return "", &cli.ExitError{Code: cli.SignalCode(signalled)}
	case failure != nil:
		return "", failure
	}
	return session, verdictThere(ctx, remote, session)
}

// aloneTime is how long a turn may wait for its agent before that is reported.
const aloneTime = 3 * time.Second

// reportUnclaimed reports once that nobody has claimed a turn: its agent may be a separate process that was never
// started, and the turn would silently wait for it. The caller must call done.
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
			m.Notef("Waiting: no process of the agent %s has taken this up. Start one, if none runs; it goes on by itself then.", cause.OneLine(told.Agent))
		}
	})
	return func() {
		cancel()
		owned.Wait()
	}
}

// verdictTime is how long a server that does not answer, or takes no work, is asked for how a session ended, and verdictPause
// is the pause before it is asked again.
const (
	verdictTime  = 30 * time.Second
	verdictPause = time.Second
)

// sessionThere reads a session whose end was heard. A server that is started again just then, or whose database is away, is asked again.
func sessionThere(ctx context.Context, read func(context.Context) (api.Session, error)) (api.Session, error) {
	limit := time.NewTimer(verdictTime)
	defer limit.Stop()
	for {
		told, err := read(ctx)
		if e, is := errors.AsType[*client.Error](err); !is || !e.Retry && e.Code != client.CodeUnreachable {
			return told, err
		}
		pause := time.NewTimer(verdictPause)
		select {
		case <-ctx.Done():
			pause.Stop()
			return told, err
		case <-limit.C:
			pause.Stop()
			return told, err
		case <-pause.C:
		}
	}
}

// verdictThere returns the exit code, according to the server's ledger.
func verdictThere(ctx context.Context, remote *client.Client, session string) error {
	told, err := sessionThere(ctx, func(ctx context.Context) (api.Session, error) { return remote.Session(ctx, session) })
	switch {
	case err != nil:
		return cli.ServerFailure(err)
	case told.End == nil:
		return cause.Fail(nil, "the turn has not ended", resumeHint(session))
	}
	if code := exitCode(told.End.Status, told.End.Tally); code != cli.ExitDone {
		return &cli.ExitError{Code: code}
	}
	return nil
}

// beginThere starts the turn, or finds the one to resume.
func (m *Main) beginThere(ctx context.Context, remote *client.Client, j job) (string, error) {
	if !j.resume {
		started, err := remote.Start(ctx, api.TurnStart{Agent: j.request.Agent, Args: j.request.Args, Request: j.request.Request, Label: j.request.Label, Answer: j.request.Answer})
		if j.chat {
			return started.Session, cli.ChatFailure(err)
		}
		return started.Session, cli.ServerFailure(err)
	}
	open, err := remote.Sessions(ctx, true)
	if err != nil {
		return "", cli.ServerFailure(err)
	}
	rows := make([]unfinished, 0, len(open))
	for _, s := range open {
		rows = append(rows, unfinished{session: s.ID, turn: s.Turn, agent: s.Agent, created: s.Created})
	}
	row, err := pick(rows, j.session, m.TimeText)
	return row.session, err
}
