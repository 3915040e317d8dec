package bus

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"
)

// CredentialsVariable names the file of credentials where [JoinOptions] do not.
const CredentialsVariable = "EARSHOT_CREDENTIALS" //nolint:gosec // It is a name, and no secret.

// JoinOptions are the options of [Join].
type JoinOptions struct {
	// File holds the credentials; default: what [CredentialsVariable] names.
	File string
	// Who the credentials have to belong to; an empty name is anybody of that kind.
	Who Principal
	// Logger takes notes without content. Default: none.
	Logger *slog.Logger
}

// The pauses between attempts to join.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
)

// Join connects a process to the bus by its file of credentials, which says where the bus
// is, and waits until there is one. Errors: invalid for what is wrong with the file, refused,
// and that of ctx.
func Join(ctx context.Context, o JoinOptions) (*Client, error) {
	log := Options{Logger: o.Logger}.withDefaults().Logger
	c, err := o.credentials()
	if err != nil {
		return nil, err
	}
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		client, err := Dial(ctx, c, DialOptions{Logger: log})
		switch {
		case err == nil:
			return client, nil
		case ctx.Err() != nil:
			return nil, wireError("join "+c.Principal.String(), false, ctx.Err())
		case !errors.Is(err, ErrDisconnected) && !errors.Is(err, ErrTimeout):
			return nil, err
		}
		log.Info("the bus is not there yet", "url", c.URL, "error", err)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
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
