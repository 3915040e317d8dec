// Package service runs tools in a separate process. It connects to the bus with a credentials file, registers the
// tools, serves them until it is stopped, and is listed by `nats micro ls`. Package tool, which knows no transport,
// defines the tools.
//
// If the bus is missing or goes away, the process waits for it. Meanwhile running calls continue by the rules of
// package tool: no effect begins without the kernel.
package service

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/tool"
)

// Variable names the credentials file if [Options] do not.
const Variable = bus.CredentialsVariable

// Options of a service's process.
type Options struct {
	// Credentials is the file that `earshot credential add NAME --role tool` created, where NAME is the part of the
	// tools' names before the dot. Default: the file named by [Variable].
	Credentials string
	// Source supplies the tools if they come and go; then Run receives none, and Target names the service.
	Source tool.Source
	Target string
	// Version is the version in discovery, such as 1.2.3; one that is not a semantic version becomes 0.0.0. Default:
	// the version of the program's module.
	Version string
	// Parallel is the maximum number of concurrent calls; default 4.
	Parallel int
	// Logger receives log records, which hold no content: what is served and where, and when the connection is lost and back. Default: none.
	Logger *slog.Logger
}

// Run serves the tools until ctx ends, and returns when the running calls have reported their results, within five
// seconds.
//
// It returns an error if a tool or the credentials are invalid, or if a connection or a registration is refused. It
// retries what is only temporarily impossible.
func Run(ctx context.Context, o Options, tools ...tool.Tool) error {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	link := &found{}
	s, err := tool.New(tool.Options{Conn: link, Tools: tools, Source: o.Source, Target: o.Target, Parallel: o.Parallel, Logger: o.Logger})
	if err != nil {
		return err
	}
	client, err := bus.Join(ctx, bus.JoinOptions{
		File: o.Credentials, Who: bus.Principal{Kind: bus.Tool, Name: s.Target()}, Logger: o.Logger, Meanwhile: "calls that run go on, and none begins",
	})
	if err != nil && ctx.Err() != nil {
		return nil // stopped before there was a bus
	}
	if err != nil {
		return fmt.Errorf("service: %w", err)
	}
	defer client.Close()
	link.Client, link.card = client, o.card(s)
	at := client.Server()
	link.serving = sync.OnceFunc(func() {
		o.Logger.Info("Serving.", "tools", serves(s), "connected_to", at)
	})
	return client.Reconnect(ctx, s.Run)
}

// serves names the tools of a service.
func serves(s *tool.Service) string {
	all := s.Definitions()
	names := make([]string, 0, len(all))
	for _, d := range all {
		names = append(names, d.Tool)
	}
	if len(names) == 0 {
		return s.Target() + ", which has no tools yet"
	}
	return strings.Join(names, ", ")
}

// card returns what discovery says about the service.
func (o Options) card(s *tool.Service) func() bus.Card {
	version := o.version()
	return func() bus.Card {
		known := map[string]map[string]string{}
		for _, d := range s.Definitions() {
			digest, _ := d.Digest() // it was validated when the service accepted the tool
			known[d.Tool] = map[string]string{"tool": d.Tool, "class": string(d.Class), "risk": string(d.Risk), "definition": digest, "description": d.Description}
		}
		card := bus.Card{Version: version, Description: "Tool service of Earshot", Metadata: map[string]string{"earshot": "tool"}}
		for _, one := range s.Stats() {
			card.Endpoints = append(card.Endpoints, bus.Endpoint{
				Name: strings.ReplaceAll(one.Tool, ".", "_"), Metadata: known[one.Tool],
				Requests: one.Started, Errors: one.Failed, LastError: string(one.LastError), Busy: one.Busy,
			})
		}
		return card
	}
}

func (o Options) version() string {
	if o.Version != "" {
		return o.Version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}
