package instance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/projectfile"
)

// inForcePoll is the interval at which changes of what is in force are recorded in the audit chain.
const inForcePoll = time.Second

// providerRow is what the audit chain calls the tokens of the identity provider. No token has such a name.
const providerRow = "the identity provider"

// inForce records in the audit chain what is in force outside the ledger: the operator's rules, and the valid tokens,
// logins and credentials. It belongs to one goroutine.
type inForce struct {
	of   *Instance
	last map[string][]store.InForce // the last recorded state, by kind
}

// recordInForce records what is in force, and starts recording changes. If the ledger is opened for one command,
// nothing comes into force.
func (i *Instance) recordInForce(ctx context.Context) error {
	if i.options.Visit {
		return nil
	}
	now := &inForce{of: i, last: map[string][]store.InForce{}}
	if err := now.record(ctx); err != nil {
		return cause.Fail(err, "the ledger could not be written", "make room on its disk, or see `earshot doctor`")
	}
	i.lower.owned.Go(func() { now.watch(ctx) })
	return nil
}

// watch records changes until the context ends, and once more then. A failed record is retried.
func (f *inForce) watch(ctx context.Context) {
	ticker := time.NewTicker(inForcePoll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := f.record(ctx); err != nil && ctx.Err() == nil {
			f.of.options.Logger.Warn("what is in force could not be noted in the audit chain; it is tried again", slog.Any("error", err))
		}
	}
}

// record compares what is in force with the last record.
func (f *inForce) record(ctx context.Context) error {
	kinds := map[string]func() ([]store.InForce, error){api.ActPolicy: f.of.Policy.InForce}
	if f.of.Project == projectfile.Default {
		kinds[api.ActProject] = f.of.projectsInForce
	}
	if f.of.Access != nil { // without a store nobody has access, and there is nothing to record
		kinds[api.ActToken], kinds[api.ActLogin] = f.of.tokensInForce, f.of.loginsInForce
		kinds[api.ActCredential] = f.of.Members.inForce
	}
	for kind, read := range kinds {
		now, err := read()
		if before, kept := f.last[kind]; err != nil || kept && slices.Equal(before, now) {
			continue // an unreadable file is reported elsewhere
		}
		if err := f.of.Kernel.Admin().RecordInForce(ctx, kind, now); err != nil {
			return err
		}
		f.last[kind] = now
	}
	return nil
}

func (i *Instance) tokensInForce() ([]store.InForce, error) {
	all, err := i.Access.List()
	rows := make([]store.InForce, 0, len(all)+1)
	if provider := i.options.Provider; provider != nil {
		rows = append(rows, store.InForce{Subject: providerRow, Digest: digestOf([]byte(provider.Describe())), Detail: provider.Describe()})
	}
	for _, t := range all {
		raw, err := json.Marshal(t, json.Deterministic(true))
		if err != nil {
			return nil, cause.Fail(err, "a token cannot be written", "")
		}
		rows = append(rows, store.InForce{Subject: t.Name, Digest: digestOf(raw), Detail: t.Describe()})
	}
	return rows, AccessFailure(err)
}

func (i *Instance) loginsInForce() ([]store.InForce, error) {
	all, err := i.Access.Logins()
	rows := make([]store.InForce, 0, len(all))
	for _, l := range all {
		rows = append(rows, store.InForce{
			Subject: l.ID, Digest: digestOf([]byte(l.ID + " " + l.Person + " " + l.Begun.UTC().Format(time.RFC3339Nano))), Detail: l.Browser, By: l.Person,
		})
	}
	return rows, AccessFailure(err)
}

// projectsInForce returns the projects of the server besides its own. One whose file cannot be read stays as it was recorded.
func (i *Instance) projectsInForce() ([]store.InForce, error) {
	all, err := projectfile.List(i.Data.Path)
	rows := make([]store.InForce, 0, len(all))
	for _, p := range all {
		if p.Trouble != nil {
			return nil, p.Trouble
		}
		row := store.InForce{
			Subject: p.Name, Digest: digestOf([]byte(p.Name + "\n" + p.Config + "\n" + p.By + "\n" + p.Added.UTC().Format(time.RFC3339Nano))), By: p.By, Detail: "in " + p.Path,
		}
		if p.Config != "" {
			row.Detail += ", with the configuration " + p.Config
		}
		rows = append(rows, row)
	}
	return rows, err
}

func (m *Members) inForce() ([]store.InForce, error) {
	all := m.counting()
	rows := make([]store.InForce, 0, len(all))
	for _, c := range all {
		rows = append(rows, credentialInForce(c))
	}
	return rows, nil
}

func credentialInForce(c bus.Credentials) store.InForce {
	parts := []string{c.Principal.String(), c.Request.Password, c.Subscribe.Password, c.Discovery.Password, strings.Join(c.Tools, " ")}
	row := store.InForce{Subject: c.Principal.String(), Digest: digestOf([]byte(strings.Join(parts, "\n")))}
	if len(c.Tools) > 0 {
		row.Detail = "may also register " + strings.Join(c.Tools, ", ")
	}
	return row
}

// digestOf returns the SHA-256 of bytes, in hex.
func digestOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
