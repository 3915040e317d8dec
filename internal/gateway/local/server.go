package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
)

// Options configure [Dial].
type Options struct {
	// Data is the data directory.
	Data string
	// Agent is the agent's name.
	Agent string
	// Program is the earshot program to start if no server runs; "" starts none.
	Program string
	Now     func() time.Time
	// AgentProcess is the process id of the agent, if this program has started it; 0 means that the agent's host has
	// started this program.
	AgentProcess int
	// Notice is called with messages about what Dial does.
	Notice func(string)
}

const (
	// startTime is how long a server may take to start.
	startTime = 30 * time.Second
	// glance is the interval of checks meanwhile.
	glance = 100 * time.Millisecond
	// logName is the log file of a server that was started here.
	logName = "up.log"
)

// Dial finds the server of a data directory, starts one if none runs, and connects to it as the agent.
func Dial(ctx context.Context, o Options) (*client.Agent, error) {
	token, err := TokenFile(ctx, o.Data, o.Agent, o.Now)
	if err != nil {
		return nil, err
	}
	options := client.Options{
		ServerFile: filepath.Join(o.Data, datadir.ServerFile), TokenFile: token, Name: o.Agent, Gateway: o.AgentProcess == 0, AgentProcess: o.AgentProcess,
	}
	agent, err := client.DialAgent(ctx, options)
	if err == nil || !away(err) || o.Program == "" {
		return agent, err
	}
	o.Notice("Earshot does not run; starting it on " + o.Data + ".")
	if err := start(o); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, cause.Fail(err, "Earshot did not start within "+startTime.String(), "look into "+filepath.Join(o.Data, logName)+", or start it by hand with `earshot up`")
		case <-ticker.C:
		}
		if agent, err = client.DialAgent(ctx, options); err == nil {
			return agent, nil
		}
	}
}

// away reports whether no server was found, in contrast to one that refuses.
func away(err error) bool {
	var e *client.Error
	if !errors.As(err, &e) {
		return false
	}
	// The recorded token of a dead server is no longer valid, and another program may have its port.
	return e.Code == client.CodeUnreachable || e.Code == client.CodeUsage || e.Code == client.CodeStrange || errors.Is(err, os.ErrNotExist)
}

// start starts a server that outlives this process. If two are started at once, one finds the data directory locked and
// ends.
func start(o Options) error {
	log, err := os.OpenFile(filepath.Join(o.Data, logName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("local: %w", err)
	}
	defer func() { _ = log.Close() }()
	up := exec.Command(o.Program, "up", "--data", o.Data) //nolint:gosec,noctx // it is this very program, and outlives us
	up.Stdout, up.Stderr = log, log
	up.Dir = o.Data
	up.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := up.Start(); err != nil {
		return cause.Fail(err, "Earshot could not be started", "start it by hand with `earshot up`")
	}
	return up.Process.Release() //nolint:wrapcheck // it cannot fail here
}
