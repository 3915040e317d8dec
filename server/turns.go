package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/internal/transport/web"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/worker"
)

// Agent is an agent in this process.
type Agent struct {
	worker.Agent

	// Parameters is the JSON Schema of the arguments that the agent takes: of an object, at most 32 KiB. A turn with others does
	// not begin, and the page makes a form of it. Parameters in an operator's definition of the agent come
	// first. Default: any arguments, and no form.
	Parameters jsontext.Value
	// Check validates a turn before it is recorded; an [*Error] refuses it. It may set Request and Label if they are
	// empty. Default: the arguments must be one JSON object.
	Check func(t *api.TurnStart) error
	// Resume checks the arguments of a turn that an earlier process left. After an error, the turn stays suspended; the
	// error completes the sentence "Parked: the session …". Default: every turn is resumed.
	Resume func(args jsontext.Value) error
	// Start lets people start the agent from the page. Default: the page does not offer it.
	Start *Start
}

// Start is how people start an agent from the page: in their own words, and in a folder.
type Start struct {
	// About says in a sentence what the agent does.
	About string
	// Folders are those that it may work in, or below; none if it takes no folder.
	Folders []string
	// Args makes the turn's arguments. The request and the folder may be empty, and the folder may be any text. An [*Error]
	// refuses them.
	Args func(request, folder string) (jsontext.Value, error)
}

// invalid refuses what a person or a program has asked for.
func invalid(message, hint string) error {
	return &web.Refusal{Kind: api.KindInvalid, Message: message, Hint: hint}
}

// refused turns an [*Error] into a refusal; other errors stay as they are.
func refused(err error) error {
	if failure, is := errors.AsType[*Error](err); is {
		return &web.Refusal{Kind: api.KindInvalid, Message: failure.Message, Hint: failure.Hint, Field: failure.Field}
	}
	return err
}

// startable returns the agents that people start from the page.
func startable(agents []Agent) []web.StartAgent {
	var out []web.StartAgent
	for _, a := range agents {
		if a.Start == nil {
			continue
		}
		out = append(out, web.StartAgent{
			Name: a.Name, About: a.Start.About, Folders: a.Start.Folders,
			Args: func(request, folder string) (jsontext.Value, error) {
				args, err := a.Start.Args(request, folder)
				return args, refused(err)
			},
		})
	}
	return out
}

// knownAgents returns the agents of this process, and those with a credential for the bus.
func (s *Server) knownAgents() ([]web.KnownAgent, error) {
	outside, err := s.instance.Members.AgentConnections()
	if err != nil {
		return nil, err
	}
	var known []web.KnownAgent
	for _, name := range slices.Sorted(maps.Keys(s.agents)) {
		known = append(known, web.KnownAgent{Name: name})
	}
	for _, one := range outside {
		known = append(known, web.KnownAgent{Name: one.Principal.Name, Credential: one.Principal.String(), Since: one.Since})
	}
	return known, nil
}

// definitions returns what operators have defined about agents, and for those of this process the parameters that they were given.
func (s *Server) definitions(ctx context.Context) ([]api.AgentDefinition, error) {
	all, err := s.instance.Hub.Definitions(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(s.agents)) {
		own := s.agents[name].Parameters
		i := slices.IndexFunc(all, func(d api.AgentDefinition) bool { return d.Name == name })
		switch {
		case i < 0 && len(own) > 0:
			all = append(all, api.AgentDefinition{Name: name, Parameters: own})
		case i >= 0 && len(all[i].Parameters) == 0:
			all[i].Parameters = own
		}
	}
	return all, nil
}

// check validates a turn before it is recorded.
func (s *Server) check(_ context.Context, t *api.TurnStart) error {
	if t.Agent == api.OperatorAgent {
		var args api.OperatorArgs
		if err := json.Unmarshal(t.Args, &args, json.RejectUnknownMembers(true)); err != nil || args.Tool == "" || args.Args.Kind() != '{' {
			return invalid("the arguments of operator cannot be read", `send {"tool":"a.tool","args":{}}`)
		}
		return nil
	}
	agent, here := s.agents[t.Agent]
	if here && agent.Check != nil {
		return refused(agent.Check(t))
	}
	if outside := s.instance.Members.Agents(); !here && !slices.Contains(outside, t.Agent) {
		known := slices.Concat(slices.Sorted(maps.Keys(s.agents)), []string{api.OperatorAgent}, outside)
		return invalid(fmt.Sprintf("there is no agent %.64q", t.Agent), settings.Meant("agents", t.Agent, known))
	}
	if t.Args.Kind() != '{' {
		return invalid("the arguments of an agent are one JSON object", "send {} where it takes none")
	}
	return nil
}

// resumeAll resumes every turn of an earlier process, except those that their agent leaves suspended.
func (s *Server) resumeAll(ctx context.Context) error {
	switch {
	case s.instance.LedgerMoved:
		s.notice("Ledger: taken over from another data directory. What was under way is not repeated; you will be asked about it.")
	case s.instance.Restored:
		s.notice(instance.RestoredNote)
	}
	open, err := s.instance.Hub.Sessions(ctx, true)
	if err != nil {
		return cause.Fail(err, "the ledger could not be read", "")
	}
	for _, row := range open {
		line, err := s.resume(ctx, row)
		if err != nil {
			return err
		}
		s.notice(line)
	}
	return nil
}

// resume resumes one turn, and returns a line that says so.
func (s *Server) resume(ctx context.Context, row api.SessionRow) (string, error) {
	rec, err := s.instance.Kernel.Turn(ctx, row.Turn)
	if rpc.Spoiled(err) {
		return "Left alone: " + row.Session + " cannot be read. The others go on; a backup may have it whole.", nil
	}
	if err != nil {
		return "", cause.Fail(err, "the session "+row.Session+" cannot be read", "")
	}
	if agent := s.agents[rec.State.Agent]; agent.Resume != nil {
		if err := agent.Resume(rec.Args); err != nil {
			return "Parked: " + row.Session + " " + cause.Of(err) + ".", nil
		}
	}
	if err := s.instance.Kernel.Resume(ctx, row.Turn); err != nil {
		return "", cause.Fail(err, "the session "+row.Session+" cannot be resumed", "")
	}
	return "Resumed: " + row.Session + ".", nil
}
