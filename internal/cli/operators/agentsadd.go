package operators

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/kernel/roster"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/rosterfile"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/utp"
)

func (m *commands) agentsAddCommand() *cobra.Command {
	digest := ""
	c := m.Operated(&cobra.Command{
		Use:   "add FILE|- [--digest DIGEST]",
		Short: "Look at what a file of agents changes, then record it",
		Long: `Without --digest, show what the file changes in the definitions of its agents, and the command that records it. With
--digest, record it: exactly the changes that were looked at, or nothing. Agents that the file does not name stay as they are.

The file, or standard input for -, is YAML: agents, a list. Each has a name, and as needed display_name; tools, the names of
the tools that it may use, or beginnings of names followed by *; may_ask, the agents that it may start turns of, named
likewise; must_end_with, the tools with one of which its turns have to end; result_fields, the fields that its answers have;
max_steps; max_open; and active: false for one that may not work. A list that is left out does not restrict, and an empty one, [], allows nothing.`,
		Example: `  earshot agents add agents.yaml
  earshot agents add agents.yaml --digest 3f9a…`,
		Args: usage.One("the file of the definitions, or - for standard input"),
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, args []string) error {
		changes, err := m.agentChanges(ctx, ask, args[0])
		if err != nil {
			return err
		}
		if digest == "" {
			return m.offerAgentChanges(ctx, ask, f, args[0], changes)
		}
		if digest != changesDigest(changes) {
			return cause.Fail(nil, "the file, or what is recorded, has changed since it was looked at; nothing was recorded",
				"look at it again: `earshot agents add "+cause.OneLine(args[0])+"`")
		}
		return m.recordAgents(ctx, ask, f, changes)
	})
	c.Flags().StringVar(&digest, "digest", "", "digest of the changes that were looked at")
	c.ValidArgsFunction = cli.FileFirst(nil)
	return c
}

// agentChange is what a file makes of one definition. Before has no digest if there is none, and equals after if nothing changes.
type agentChange struct {
	Before api.AgentDetail `json:"before,omitzero"`
	After  api.AgentDetail `json:"after"`
}

func (c agentChange) changes() bool { return c.Before.Digest != c.After.Digest }

// agentChanges compares a file with what is recorded.
func (m *commands) agentChanges(ctx context.Context, ask operate.Ask, path string) ([]agentChange, error) {
	raw, err := m.definitionFile(path)
	if err != nil {
		return nil, cause.Fail(err, cause.OneLine(path)+" cannot be read", "name a file of agents, or - for standard input")
	}
	all, err := rosterfile.Parse(raw)
	if err != nil {
		return nil, cause.Misuse(cause.OneLine(path)+": "+cause.OneLine(cause.Of(err)), "see `earshot agents add --help`")
	}
	changes := make([]agentChange, 0, len(all))
	for _, d := range all {
		c := agentChange{After: api.AgentDetail{AgentDefinition: d}}
		if c.After.Digest, err = roster.Digest(d); err != nil {
			return nil, err
		}
		if c.Before, _, err = agentNamed(ctx, ask, d.Name); err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// changesDigest returns a digest of the changes: only what was looked at is recorded.
func changesDigest(changes []agentChange) string {
	h := sha256.New()
	for _, c := range changes {
		fmt.Fprintf(h, "%s %s %s\n", c.After.Name, c.Before.Digest, c.After.Digest)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// offerAgentChanges shows changes, and the command that records them.
func (m *commands) offerAgentChanges(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, path string, changes []agentChange) error {
	if err := m.noteUnknownTools(ctx, ask, changes); err != nil {
		return err
	}
	if f.AsJSON {
		return m.WriteJSON(map[string]any{"digest": changesDigest(changes), "changes": changes})
	}
	changed := false
	for _, c := range changes {
		name := cause.OneLine(c.After.Name)
		switch {
		case !c.changes():
			m.Printf("%s: as it is recorded.", name)
			continue
		case c.Before.Digest == "":
			m.Printf("New: %s.", agentLine(c.After.AgentDefinition))
		default:
			m.Printf("Changed: %s.", name)
			for _, one := range roster.Changes(c.Before.AgentDefinition, c.After.AgentDefinition) {
				m.Printf("  before: %s; now: %s", legible.Line(one[0]), legible.Line(one[1]))
			}
		}
		changed = true
	}
	if !changed {
		m.Printf("The file changes nothing.")
		return nil
	}
	m.Printf("To record that you have looked at these very changes:")
	m.Printf("  earshot agents add %s --digest %s", cause.Quoted(path), changesDigest(changes))
	return nil
}

// noteUnknownTools warns of entries that match no registered tool. Tools come and go, so this is no error.
func (m *commands) noteUnknownTools(ctx context.Context, ask operate.Ask, changes []agentChange) error {
	var known []string
	err := operate.EachTool(ctx, ask, func(t api.ToolDetail) error {
		known = append(known, t.Tool)
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range changes {
		var odd []string
		for _, entry := range slices.Concat(c.After.Tools, c.After.MustEndWith) {
			if entry != utp.SubmitResult && !slices.ContainsFunc(known, func(tool string) bool { return roster.Matches(entry, tool) }) {
				odd = append(odd, cause.OneLine(entry))
			}
		}
		if len(odd) > 0 {
			m.Notef("%s: no registered tool matches %s. It counts once there is one.", cause.OneLine(c.After.Name), strings.Join(odd, ", "))
		}
	}
	return nil
}

// recordAgents records changes one by one. Each is refused if somebody has changed that definition meanwhile.
func (m *commands) recordAgents(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, changes []agentChange) error {
	list := m.NewRows(f.AsJSON)
	for i, c := range changes {
		if !c.changes() {
			continue
		}
		var a api.AgentDetail
		if err := ask(ctx, api.OpDefineAgent, api.DefineAgentRequest{Definition: c.After.AgentDefinition, Before: c.Before.Digest}, &a); err != nil {
			if f.AsJSON {
				list.End("")
			}
			if len(changes) > 1 {
				m.Notef("Of %d agents, %s is not recorded, and none after it. Look at the file again; what is recorded stays.", len(changes), changes[i].After.Name)
			}
			return err
		}
		if err := list.Add(a, "Recorded: "+agentLine(a.AgentDefinition)); err != nil {
			return err
		}
	}
	list.End("The file changes nothing.")
	return nil
}
