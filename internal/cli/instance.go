package cli

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/build"
	"github.com/earshot-dev/earshot/internal/fault"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/oauth"
	"github.com/earshot-dev/earshot/internal/policyfile"
	"github.com/earshot-dev/earshot/internal/toolfile"
	"github.com/earshot-dev/earshot/tool/mcp"
	"github.com/earshot-dev/earshot/utp"
)

// OpenInstance opens the ledger of a data directory in this process, for a run or, if visit is set, for one operator
// command. The services are those beside that for files.
func (m *Program) OpenInstance(
	ctx context.Context, data string, policy *policyfile.File, debug, visit bool, services ...instance.Service,
) (*instance.Instance, error) {
	shipped, err := tidy.Definitions()
	if err != nil {
		return nil, err
	}
	h, err := instance.Open(ctx, instance.Options{
		Data: data, Policy: policy, Visit: visit, Agents: []string{TidyName, ChatName}, Services: services, Reviewed: map[string][]utp.Definition{tidy.Target: shipped},
		Keepers: []instance.Keeper{m.FilesService(nil, data).Keeper},
		Now:     m.Now, LookupEnv: m.LookupEnv, Logger: m.Logger(debug), Reached: fault.Points(m.Getenv(fault.Variable)),
	})
	if err != nil {
		return nil, err
	}
	prefers, err := h.Hub.Prefer(ctx, api.PreferRequest{Person: instance.LocalUser()})
	if err == nil { // where it cannot be read, times are told as to everybody
		m.zone.Store(ZoneOf(prefers.Preferences, nil))
	}
	return h, nil
}

// Visit opens the ledger of a data directory for an operator command.
func (m *Program) Visit(ctx context.Context, data string) (*instance.Instance, error) {
	policy, err := policyfile.Open("")
	if err != nil {
		return nil, err
	}
	h, err := m.OpenInstance(ctx, data, policy, false, true)
	if err != nil {
		return nil, err
	}
	if h.Restored {
		m.Notef("%s", instance.RestoredNote)
	}
	return h, nil
}

// ZoneOf returns the time zone that a person prefers, or the usual one.
func ZoneOf(prefers api.Preferences, usual *time.Location) *time.Location {
	if zone, err := api.Zone(api.Chosen(prefers.TimeZone)); err == nil {
		return zone
	}
	return usual
}

// Logger returns a logger on standard error if debug is set, otherwise one that discards.
func (m *Program) Logger(debug bool) *slog.Logger {
	if !debug {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(m.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// ToolOptions returns the options for reading a tools file. private is the folder for private copies of programs.
func (m *Program) ToolOptions(private string) toolfile.Options {
	return toolfile.Options{LookupEnv: m.LookupEnv, Private: private, Version: build.This().Version, Notice: m.Note}
}

// ServedTools returns the options for serving the tools of a file, with the logins of a data directory.
func (m *Program) ServedTools(private, data string) toolfile.Options {
	o, logins := m.ToolOptions(private), m.Logins(data)
	o.Login = func(name, url string) mcp.Login { return logins.Source(name, url) }
	return o
}

// Logins returns the logins at MCP servers of a data directory.
func (m *Program) Logins(data string) *oauth.Store {
	return &oauth.Store{Dir: filepath.Join(data, oauth.Folder), Now: m.Now, LookupEnv: m.LookupEnv, Reached: fault.Points(m.Getenv(fault.Variable))}
}
