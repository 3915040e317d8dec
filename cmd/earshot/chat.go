package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/config"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/worker"
)

// chatFlags are the flags of `earshot run chat`.
type chatFlags struct {
	model        cli.ModelFlags
	roots, tools []string
	modelGiven   bool // on the command line
}

// given returns a flag that only chat has and that was given; "" if there is none.
func (f chatFlags) given() string {
	switch {
	case f.modelGiven:
		return "--model"
	case len(f.roots) > 0:
		return "--root"
	case len(f.tools) > 0:
		return "--tools"
	}
	return ""
}

// chatJob parses the arguments of a run of chat.
func (m *Main) chatJob(f runFlags, args []string) (job, error) {
	text := strings.TrimSpace(strings.Join(args, " "))
	switch {
	case text == "":
		return job{}, cause.Misuse("nothing is asked for", `for example earshot run chat --root ~/Pictures "Find the duplicates and remove them"`)
	case f.trash:
		return job{}, cause.Misuse("--trash is for tidy", "leave --trash out, and say it in words")
	case f.request != "":
		return job{}, cause.Misuse("--request is for agents of your own; chat is asked by its argument", "leave --request out")
	}
	roots, err := m.chatFolders(f)
	if err != nil {
		return job{}, err
	}
	raw, err := cli.ChatArgs(text, roots)
	if err != nil {
		return job{}, err
	}
	return job{chat: true, roots: roots, request: api.EnqueueRequest{
		Agent: cli.ChatName, Owner: instance.LocalUser(), Args: raw, Request: text, Answer: int(f.answerWithin / time.Second),
	}}, nil
}

// chatFolders returns the folders that the tools for files may work in.
func (m *Main) chatFolders(f runFlags) ([]string, error) {
	if f.server.Named() {
		if given := f.chat.given(); given != "" {
			return nil, serverHasIt(given)
		}
		return nil, nil
	}
	var roots []string
	for _, folder := range f.chat.roots {
		root, err := resolve(folder)
		if err != nil {
			return nil, err
		}
		roots = append(roots, root)
	}
	if f.sample {
		root, err := m.makeSample()
		if err != nil {
			return nil, err
		}
		roots = append(roots, root)
	}
	return roots, nil
}

func serverHasIt(flag string) error {
	return cause.Misuse(flag+" does not go with a server, which has its own model, folders and tools", "leave "+flag+" out, or start `earshot up` with it")
}

// parts are what a run needs in its own process: an agent and tool services.
type parts struct {
	agents   []worker.Agent
	services []instance.Service
}

// chatParts prepares chat before the ledger is opened. A run that resumes needs it only if the session is one of chat.
func (m *Main) chatParts(f runFlags, j job, data string) (parts, error) {
	if !j.chat && !j.resume {
		return parts{}, nil
	}
	for _, root := range j.roots {
		if err := apart(root, data); err != nil {
			return parts{}, err
		}
	}
	agent, err := m.ChatAgent(f.chat.model, nil)
	if err != nil && j.resume && f.chat.given() == "" {
		return parts{}, nil // it is reported if the session turns out to need it
	}
	if err != nil {
		return parts{}, err
	}
	services, err := m.readToolFiles(f.chat.tools, data)
	if err != nil {
		return parts{}, err
	}
	p := parts{agents: []worker.Agent{agent.Agent}}
	for _, s := range services {
		p.services = append(p.services, instance.Service{Name: s.Name, Tools: s.Tools, Source: s.Source, Close: s.Close})
	}
	return p, nil
}

// startParts starts the agent of the session, and the services that its tools come from.
func (m *Main) startParts(ctx context.Context, h *instance.Instance, p parts, j job, data string) error {
	files := m.FilesService(j.folders(), data)
	if err := h.Serve(ctx, instance.Service{Name: files.Name, Open: files.Open}); err != nil {
		return err
	}
	if !j.chat {
		return h.Work(ctx, tidy.Agent())
	}
	if len(p.agents) == 0 {
		_, err := m.ChatAgent(cli.ModelFlags{}, nil)
		return err
	}
	if err := h.Start(ctx); err != nil {
		return err
	}
	for _, agent := range p.agents {
		if err := h.Work(ctx, agent); err != nil {
			return err
		}
	}
	return nil
}

// folders are those that the tools for files may work in.
func (j job) folders() []string {
	if j.chat {
		return j.roots
	}
	return []string{j.root}
}

// fillModel sets the flags of the model that were not given from their variables, such as EARSHOT_MODEL.
func (m *Main) fillModel(c *cobra.Command) error {
	only, set := &cobra.Command{}, pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	new(cli.ModelFlags).Add(only)
	only.Flags().VisitAll(func(f *pflag.Flag) { set.AddFlag(c.Flags().Lookup(f.Name)) })
	_, err := config.Fill(set, func(name string) string {
		if name == "EARSHOT_CONFIG" { // it is a server's
			return ""
		}
		return m.Getenv(name)
	})
	return err
}
