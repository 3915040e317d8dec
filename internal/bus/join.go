package bus

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"
)

// CredentialsVariable names the credential file if [JoinOptions] do not.
const CredentialsVariable = "EARSHOT_CREDENTIALS" //nolint:gosec // It is a name, and no secret.

// JoinOptions are the options of [Join].
type JoinOptions struct {
	// File is the credential file; default: the value of [CredentialsVariable].
	File string
	// Who is the required principal of the credentials; an empty name allows any of that kind.
	Who Principal
	// Logger receives log entries without content. Default: none.
	Logger *slog.Logger
	// Meanwhile says what becomes of the process's work while the connection is lost. The loss is logged with it, and the return.
	// Default: neither is.
	Meanwhile string
}

// reportConnection logs that the connection is lost, and that it is back.
func (o JoinOptions) reportConnection() func(lost bool) {
	if o.Meanwhile == "" || o.Logger == nil {
		return nil
	}
	return func(lost bool) {
		if lost {
			o.Logger.Warn("The connection to the server is lost; trying again.", "meanwhile", o.Meanwhile)
			return
		}
		o.Logger.Info("The connection to the server is back.")
	}
}

// The pauses between attempts.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
)

// Join connects a process to the bus that its credential file names, and retries until the bus is there. Errors:
// invalid for a problem with the file, refused, and that of ctx.
func Join(ctx context.Context, o JoinOptions) (*Client, error) {
	log := Options{Logger: o.Logger}.withDefaults().Logger
	c, err := o.credentials()
	if err != nil {
		return nil, err
	}
	missing := absence{log: log, url: c.URL}
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		client, err := Dial(ctx, c, DialOptions{Logger: log, OnConnection: o.reportConnection()})
		switch {
		case err == nil:
			missing.over(time.Now())
			return client, nil
		case ctx.Err() != nil:
			return nil, wireError("join "+c.Principal.String(), false, ctx.Err())
		case !passing(err):
			return nil, err
		}
		missing.noted(time.Now(), err)
		pause(ctx, wait)
	}
}

// absence logs that the bus is not there: at once, after half a minute, then ever more rarely, and when it is there. One goroutine
// uses it.
type absence struct {
	log   *slog.Logger
	url   string
	since time.Time     // zero while nothing was logged
	due   time.Duration // after what time it is logged again
}

// The time after which it is logged again that the bus is not there, and the longest between two such entries.
const (
	firstReminder = 30 * time.Second
	mostReminders = 10 * time.Minute
)

// noted takes an attempt that failed.
func (a *absence) noted(now time.Time, err error) {
	if a.since.IsZero() {
		a.since, a.due = now, firstReminder
		a.log.Info("The bus is not there yet; trying again until it is. `earshot up --nats-listen ADDRESS` brings it.", "url", a.url, "error", err)
		return
	}
	passed := now.Sub(a.since)
	if passed < a.due {
		return
	}
	a.due = passed + min(a.due, mostReminders)
	a.log.Info("The bus is still not there; trying again.", "url", a.url, "after", passed.Round(time.Second), "error", err)
}

// over takes an attempt that succeeded.
func (a *absence) over(now time.Time) {
	if !a.since.IsZero() {
		a.log.Info("The bus is there.", "url", a.url, "after", now.Sub(a.since).Round(time.Second))
	}
}

// Reconnect calls run, and calls it again if it ended only because the bus was temporarily unavailable. It returns nil
// once ctx has ended. Errors: refused if the server no longer accepts the credentials, closed, and other errors of run.
func (c *Client) Reconnect(ctx context.Context, run func(context.Context) error) error {
	runCtx, end := context.WithCancel(ctx)
	defer end()
	defer context.AfterFunc(c.Life(), end)()
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		err := run(runCtx)
		switch {
		case ctx.Err() != nil:
			return nil // it was asked to end
		case c.Life().Err() != nil:
			return c.closedError()
		case !passing(err):
			return err
		}
		pause(runCtx, wait)
	}
}

// closedError returns why the connection was closed permanently.
func (c *Client) closedError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed("attend")
	}
	return &Error{Code: CodeRefused, Message: "the server does not take the credentials any more; have new ones made with `earshot credential add`"}
}

// passing reports whether the bus was only temporarily unavailable.
func passing(err error) bool {
	return errors.Is(err, ErrDisconnected) || errors.Is(err, ErrTimeout) || errors.Is(err, ErrClosed)
}

// pause waits for d or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (o JoinOptions) credentials() (Credentials, error) {
	path := o.File
	if path == "" {
		path = os.Getenv(CredentialsVariable)
	}
	if path == "" {
		return Credentials{}, invalidf("no credentials; name their file in %s (`earshot credential add` makes one)", CredentialsVariable)
	}
	c, err := ReadCredentials(path)
	switch {
	case err != nil:
		return c, err
	case c.URL == "":
		return c, invalidf("%s does not say where the bus is; start `earshot up --nats-listen 127.0.0.1:4222`, which writes it there", path)
	case c.Principal.Kind != o.Who.Kind || o.Who.Name != "" && c.Principal.Name != o.Who.Name:
		return c, invalidf("%s holds the credentials of %s; those of %s are wanted", path, c.Principal, o.Who)
	}
	return c, nil
}
