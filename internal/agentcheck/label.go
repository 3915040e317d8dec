package agentcheck

import (
	"strings"

	"github.com/earshot-dev/earshot/utp"
)

// Facts are what is known of a host on this machine.
type Facts struct {
	Title string
	// MCP: Earshot is among its MCP servers. Hook: its file has Earshot's hook.
	MCP, Hook bool
	// Blocks: it blocks where its hook fails.
	Blocks bool
	// Driven: it was run, with the result.
	Driven bool
	Result Result
}

// Verdict is what follows from them.
type Verdict struct {
	// Label is how far the host is held to the answers of people; "" where it is not connected, or that is not known.
	Label utp.Enforcement
	// Why is one sentence.
	Why string
	// Problem: what the user has set up does not hold.
	Problem bool
	// NotGated are sentences about what nobody is asked for.
	NotGated []string
}

// Judge labels a host.
func (f Facts) Judge() Verdict {
	v := f.label()
	if f.Driven && f.Result.Denied && len(f.Result.Quiet) > 0 {
		v.NotGated = append(v.NotGated, "Nobody is asked for "+strings.Join(f.Result.Quiet, ", ")+": they read, or concern the agent alone.")
	}
	if f.Driven && f.Result.Denied && len(f.Result.Unhooked) > 0 {
		v.NotGated = append(v.NotGated, f.Title+" runs no hook before "+strings.Join(f.Result.Unhooked, ", ")+".")
	}
	if f.Driven && f.Result.Asked && !f.Result.Denied && len(f.Result.AgentTools) > 0 {
		v.NotGated = append(v.NotGated, "Nobody is asked through Earshot for "+strings.Join(f.Result.AgentTools, ", ")+".")
	}
	if f.Hook && !f.Blocks {
		v.NotGated = append(v.NotGated, f.Title+" goes on where the hook is killed or its program is missing.")
	}
	return v
}

func (f Facts) label() Verdict {
	r := f.Result
	switch {
	case f.Hook && f.Driven && r.Asked && r.Shell && (r.Ran || !r.Denied):
		what := "did not run it"
		if r.Denied {
			what = "did not keep to its no"
		}
		return Verdict{Label: f.without(), Why: f.Title + " has Earshot's hook in its file, and " + what + ": its own tools are not asked for.", Problem: true}
	case f.Driven && r.Asked && f.MCP && len(r.AgentTools) == 0:
		return Verdict{Label: utp.Enforced, Why: f.Title + " offers its model no tool of its own that changes something, so Earshot's tools are the only way."}
	case f.Driven && r.Denied:
		return Verdict{Label: utp.Advisory, Why: f.Title + " runs Earshot's hook before its own tools, and a no held; it could leave the hook out."}
	case f.Hook:
		return Verdict{Label: utp.Advisory, Why: f.Title + " has Earshot's hook in its file; whether a no holds was not seen."}
	case f.MCP:
		return Verdict{Label: utp.BrokerOnly, Why: "Calls of Earshot's tools go through the gate; what " + f.Title + " does with tools of its own does not."}
	}
	return Verdict{Why: "Earshot is not in " + f.Title + ": nothing that it does is asked for."}
}

// without is the label of the host without its hook.
func (f Facts) without() utp.Enforcement {
	if f.MCP {
		return utp.BrokerOnly
	}
	return ""
}
