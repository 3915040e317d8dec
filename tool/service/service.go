// Package service runs tools in a process of their own: it connects to the bus with a
// file of credentials, registers the tools, serves until it is told to end, and is found
// by `nats micro ls`. The tools themselves are made with package tool, which knows no
// transport.
//
// A bus that is not there, or goes away, is waited for. What runs meanwhile goes on by
// the rules of package tool: an effect that is not begun is not begun without the kernel.
package service

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/tool"
)

// Variable names the file of credentials where [Options] do not.
const Variable = bus.CredentialsVariable

// Options of a service's process.
type Options struct {
	// Credentials is the file that `earshot credential add NAME --role tool` has made, whose
	// name is the part of the tools' names before the dot. Default: what [Variable] names.
	Credentials string
	// Source tells the tools, where they come and go; then Run is given none, and Target names the service.
	Source tool.Source
	Target string
	// Version is told to who asks what is there, such as 1.2.3; one that is not semantic is told
	// as 0.0.0. Default: the version of the program's module.
	Version string
	// Parallel calls at most; default 4.
	Parallel int
	// Logger takes notes without content. Default: none.
	Logger *slog.Logger
}

// Run serves the tools until ctx ends, and returns when the calls under way have told what
// they did, within five seconds.
//
// Errors: what is wrong with a tool or the credentials, and a connection or a registration
// that was refused. One that is only not possible yet is tried again.
func Run(ctx context.Context, o Options, tools ...tool.Tool) error {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	link := &found{}
	s, err := tool.New(tool.Options{Conn: link, Tools: tools, Source: o.Source, Target: o.Target, Parallel: o.Parallel, Logger: o.Logger})
	if err != nil {
		return err
	}
	client, err := bus.Join(ctx, bus.JoinOptions{File: o.Credentials, Who: bus.Principal{Kind: bus.Tool, Name: s.Target()}, Logger: o.Logger})
	if err != nil && ctx.Err() != nil {
		return nil // it was told to end before there was a bus
	}
	if err != nil {
		return fmt.Errorf("service: %w", err)
	}
	defer client.Close()
	link.Client, link.card = client, o.card(s)
	return client.Reconnect(ctx, s.Run)
}

// card is what discovery tells of the service.
func (o Options) card(s *tool.Service) func() bus.Card {
	version := o.version()
	return func() bus.Card {
		known := map[string]map[string]string{}
		for _, d := range s.Definitions() {
			digest, _ := d.Digest() // it was checked when the service took the tool
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
