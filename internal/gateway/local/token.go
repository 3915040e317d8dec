package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/instance"
)

// TokenFile returns the path of the token file of an agent of this machine. It creates the token if there is none.
func TokenFile(ctx context.Context, data, agent string, now func() time.Time) (string, error) {
	path := filepath.Join(data, "agents", agent+".token")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err //nolint:wrapcheck // it names the file
	}
	if err := datadir.Make(data); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err //nolint:wrapcheck // it names the folder
	}
	store, err := instance.OpenAccess(data, now)
	if err != nil {
		return "", err
	}
	// Two programs may come at once: each creates a token of its own, and the one that is written first stays.
	name := agent + "-" + strings.ToLower(rand.Text()[:8])
	var secret string
	err = inTurn(ctx, func() error {
		secret, _, err = store.Add(access.NewToken{Name: name, Person: agent, Roles: []access.Role{access.Agent}})
		return err
	})
	if err != nil {
		return "", instance.AccessFailure(err)
	}
	fresh := path + "." + name
	if err := os.WriteFile(fresh, []byte(secret+"\n"), 0o600); err != nil {
		return "", err //nolint:wrapcheck // it names the file
	}
	defer func() { _ = os.Remove(fresh) }()
	if err := os.Link(fresh, path); err != nil {
		if rerr := inTurn(ctx, func() error { _, err := store.Revoke(name); return err }); rerr != nil {
			return "", instance.AccessFailure(rerr)
		}
		if errors.Is(err, fs.ErrExist) {
			return path, nil
		}
		return "", fmt.Errorf("local: the token of %s: %w", agent, err)
	}
	return path, nil
}

// inTurn changes the tokens, and retries while another process does.
func inTurn(ctx context.Context, change func() error) error {
	const longest = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for {
		err := change()
		if !errors.Is(err, access.ErrBusy) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-ticker.C:
		}
	}
}
